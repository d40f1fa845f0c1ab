"""`bench retrieval`: a data set through ingest and search in a scratch schema, and the figures."""

from __future__ import annotations

import json
import platform
import tempfile
import time
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import negmem
from negmem.config.load import load_config
from negmem.config.model import Retrieval
from negmem.core.bench.datasets import Dataset, Question, data_hash, load
from negmem.core.bench.history import record
from negmem.core.bench.scoring import (
    MRR_DEPTH,
    SEED,
    SESSION_KS,
    Ranked,
    differences,
    figures,
    percentile,
    session_figures,
    turn_figures,
)
from negmem.core.bench.scratch import scratch_session
from negmem.core.formation.ingest import Ingest, IngestOptions
from negmem.core.formulas.ranking import distinct
from negmem.core.models.bench import (
    Bar,
    BenchConfig,
    BenchRun,
    Latency,
    MetricDifference,
    RetrievalBench,
)
from negmem.core.models.retrieval import LEVELS, SearchAnswer
from negmem.core.retrieval.search import search
from negmem.core.session import Session
from negmem.db.embedded import home
from negmem.errors import NegmemError, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from negmem.providers.calibration import Calibration
    from negmem.providers.embedding import Embedder, EmbedderAbsent, EmbeddingBatch

RANKED = 100
DEEPER = 1_000
SHOWN = 10
SESSIONS_WANTED = 10
_QUESTIONS_PER_STEP = 100
_COMPARED = ("recall@1", "recall@5", "recall@10", "ndcg@10", f"mrr@{MRR_DEPTH}")
_SESSION = "session."


@dataclass(frozen=True)
class Variant:
    """One configuration: how it is called, its level, and the weights of every part of the ranking."""

    name: str
    level: str
    retrieval: Retrieval


@dataclass(frozen=True)
class BenchOptions:
    """What to measure; `compare` are levels or YAML files, `bars` (metric, least value) pairs."""

    dataset: str
    folder: Path
    level: str = "auto"
    variant: str | None = None
    mini: bool = False
    pooled: bool = False
    compare: Sequence[str] = ()
    bars: Sequence[tuple[str, float]] = ()
    record: bool = True


@dataclass(frozen=True)
class _Measured:
    """One run, with the figures of each headline question for a comparison."""

    run: BenchRun
    scored: list[dict[str, float]]


@dataclass(frozen=True)
class _Store:
    """The scratch schema, filled: how turns that were stored map to those that questions name."""

    session: Session
    dataset: Dataset
    sessions: dict[tuple[str, str], str]
    memories: int
    ingest_s: float


class _RememberedQueries:
    """An embedder that embeds each question once: ranking asks for more results than timing does."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._known: dict[str, array[float]] = {}
        self.name, self.model, self.version = inner.name, inner.model, inner.version
        self.dims, self.max_tokens = inner.dims, inner.max_tokens

    @property
    def calibration(self) -> Calibration:
        return self._inner.calibration

    def embed_batch(self, texts: Sequence[str]) -> EmbeddingBatch:
        return self._inner.embed_batch(texts)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._inner.embed_documents(texts)

    def embed_query(self, text: str) -> array[float]:
        if text not in self._known:
            self._known[text] = self._inner.embed_query(text)
        return self._known[text]


def run(
    session: Session, options: BenchOptions, on_step: Callable[[str], None] = lambda text: None
) -> RetrievalBench:
    """Measure retrieval on a data set.

    Everything happens in a scratch schema of the session's database, which is removed at the end, also
    after an error or Ctrl-C. Nothing is recorded as an access. Vectors of documents are cached on disk,
    so that a second run embeds nothing.
    Raises: UsageError `dataset_…`, `level_unknown`, `bench_bar_malformed`; NegmemError of the database.
    """
    started = time.perf_counter()
    started_at = datetime.now(timezone.utc)
    variants = _variants(session, options)
    dataset = load(
        options.dataset,
        options.folder,
        variant=options.variant,
        mini=options.mini,
        pooled=options.pooled,
    )
    _check_bars(options.bars, dataset)
    with ExitStack() as stack:
        embedder = embedder_for(session, variants, stack)
        scratch = stack.enter_context(scratch_session(session, embedder, on_step))
        store = fill_store(scratch, dataset, on_step)
        measured = [_measure(store, variant, on_step) for variant in variants]
        versions = versions_of(scratch)
    runs = [one.run for one in measured]
    first = runs[0]
    digest = data_hash(options.dataset, options.folder, options.variant)
    recorded = []
    if options.record:
        name = options.dataset + (f" {dataset.variant}" if dataset.variant else "")
        recorded = record(session, "retrieval", name, runs, versions, digest, SEED, started_at)
    return RetrievalBench(
        dataset=options.dataset,
        **{name: getattr(first, name) for name in BenchRun.model_fields},
        versions=versions,
        compared=runs[1:],
        differences=_differences(measured),
        bars=[_bar(metric, wanted, runs) for metric, wanted in options.bars],
        took_s=round(time.perf_counter() - started, 1),
        data_hash=digest,
        seed=SEED,
        recorded=recorded,
    )


def _differences(measured: Sequence[_Measured]) -> list[MetricDifference]:
    """How each run differs from the first, question by question."""
    first = measured[0]
    names = [name for name in _COMPARED if name in first.run.metrics]
    return [
        MetricDifference(
            name=other.run.config.name,
            metric=metric,
            difference=difference,
            interval=interval,
            is_clear=interval[0] > 0 or interval[1] < 0,
        )
        for other in measured[1:]
        for metric, difference, interval in differences(first.scored, other.scored, names)
    ]


def _variants(session: Session, options: BenchOptions) -> list[Variant]:
    retrieval = session.config.retrieval
    own = Variant(options.level, options.level, retrieval)
    variants = []
    for name in options.compare or (options.level,):
        if name in LEVELS:
            variants.append(replace(own, name=name, level=name))
        elif Path(name).suffix in (".yaml", ".yml"):
            config = load_config(Path(name), {}, {}).config
            if config.embedding != session.config.embedding:
                raise UsageError(
                    "bench_variant_unknown",
                    f"{name} has another embedding section",
                    why="configurations are compared over the same vectors",
                    hint=f"negmem bench retrieval … --config {name}",
                )
            variants.append(replace(own, name=Path(name).name, retrieval=config.retrieval))
        else:
            raise UsageError(
                "bench_variant_unknown",
                f"{name[:60]!r} can't be measured",
                why=f"it is neither a level ({', '.join(LEVELS)}) nor a YAML file",
                hint="--compare keyword,hybrid",
            )
    return variants


def embedder_for(
    session: Session, variants: Sequence[Variant], stack: ExitStack
) -> Embedder | EmbedderAbsent:
    """The configured embedder behind the cache; none where no level needs vectors."""
    from negmem.providers.cache import FILE_NAME, CachedEmbedder, EmbeddingCache
    from negmem.providers.embedding import EmbedderAbsent

    if not any(variant.level in ("auto", "hybrid", "vector") for variant in variants):
        return EmbedderAbsent("embedder_disabled", "this benchmark needs no vectors")
    found = session.configured_embedder
    if isinstance(found, EmbedderAbsent):
        if any(variant.level in ("hybrid", "vector") for variant in variants):
            raise found.error()
        session.warn(found.code, f"measured without vectors: {found.message}")
        return found
    cache = stack.enter_context(EmbeddingCache(home(session.env) / "cache" / FILE_NAME))
    return _RememberedQueries(CachedEmbedder(found, cache))


def fill_store(session: Session, dataset: Dataset, on_step: Callable[[str], None]) -> _Store:
    """Ingest the conversations, by the same service that people use."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for conversation in dataset.conversations:
                turns = [
                    {
                        "id": turn.evidence_id,
                        "role": turn.role or turn.speaker or "user",
                        "speaker": turn.speaker,
                        "text": turn.text,
                        "datetime": turn.moment,
                    }
                    for turn in conversation.turns
                ]
                line = {
                    "thread": conversation.name,
                    "user": conversation.store,
                    "datetime": conversation.moment,
                    "turns": [{k: v for k, v in turn.items() if v is not None} for turn in turns],
                }
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        count = sum(len(c.turns) for c in dataset.conversations)
        on_step(f"storing {count:,} turns of {len(dataset.conversations):,} sessions")
        ingest = Ingest(session, IngestOptions(path=str(path), format="jsonl"))
        stored = ingest.run()
    if stored.rejected:
        raise NegmemError(
            "dataset_rejected",
            f"{stored.rejected} sessions or turns could not be stored",
            why="the figures would not be those of the whole set",
            hint="negmem bench retrieval … -vv",
        )
    session.database.run_alone("bench", "settle")
    names = {(c.store, c.name): c.session_id for c in dataset.conversations}
    return _Store(session, dataset, names, stored.memories, time.perf_counter() - started)


def _measure(store: _Store, variant: Variant, on_step: Callable[[str], None]) -> _Measured:
    dataset = store.dataset
    loaded = store.session.loaded
    store.session.loaded = replace(
        loaded, config=loaded.config.model_copy(update={"retrieval": variant.retrieval})
    )
    asked = [q for q in dataset.questions if q.evidence]
    on_step(f"asking {len(asked):,} questions, {variant.name}")
    ranked: list[Ranked] = []
    took: list[float] = []
    fell: Counter[str] = Counter()
    for number, question in enumerate(asked, start=1):
        shown = _search(store, question, variant, SHOWN)
        # Without the embedding: the first level would pay for the questions of all.
        took.append(shown.took_ms.total - shown.took_ms.embed)
        fell.update(f"{step.from_level} to {step.to_level}" for step in shown.fallbacks)
        ranked.append(_rank(store, question, variant))
        if number % _QUESTIONS_PER_STEP == 0:
            on_step(f"{number:,} of {len(asked):,}")
    headline = [item for item in ranked if item.question.is_headline]
    scored = [turn_figures(item, dataset.ks) for item in headline]
    turn = figures(scored)
    session = figures(session_figures(item) for item in headline if item.question.sessions)
    categories = sorted({item.question.category for item in ranked})
    run = BenchRun(
        questions=turn.questions,
        metrics=turn.metrics,
        intervals=turn.intervals,
        session_metrics=session.metrics,
        session_intervals=session.intervals,
        by_category={
            category: figures(
                turn_figures(item, dataset.ks)
                for item in ranked
                if item.question.category == category
            )
            for category in categories
        },
        latency_ms=Latency(
            p50=round(percentile(took, 0.5), 2), p95=round(percentile(took, 0.95), 2)
        ),
        mean_characters_in_10=round(
            sum(item.characters_in_10 for item in headline) / len(headline), 1
        ),
        fallbacks=dict(fell),
        config=_config(store, variant),
    )
    return _Measured(run, scored)


def _search(store: _Store, question: Question, variant: Variant, limit: int) -> SearchAnswer:
    return search(
        store.session,
        question.store,
        question.text,
        level=variant.level,
        limit=limit,
        kinds=("memory",),
        record=False,
    )


def _rank(store: _Store, question: Question, variant: Variant) -> Ranked:
    """The ranked turns and sessions; deeper where that many turns are of too few sessions."""
    found: list[tuple[str, str, int]] = []
    for limit in (RANKED, DEEPER):
        answer = _search(store, question, variant, limit)
        found = []
        for result in answer.results:
            session_id = store.sessions[question.store, str(result.thread_id)]
            if session_id not in question.excluded:
                turn = str((result.metadata or {})["turn_id"])
                found.append((turn, session_id, len(result.content)))
        if len(answer.results) < limit or len({s for _, s, _ in found}) >= SESSIONS_WANTED:
            break
    return Ranked(
        question=question,
        turns=distinct(turn for turn, _, _ in found),
        sessions=distinct(session for _, session, _ in found),
        characters_in_10=sum(length for _, _, length in found[:SHOWN]),
    )


def _config(store: _Store, variant: Variant) -> BenchConfig:
    embedder = store.session.embedder
    return BenchConfig(
        name=variant.name,
        level=variant.level,
        semantic_weight=variant.retrieval.semantic_weight,
        keyword_weight=variant.retrieval.keyword_weight,
        retrieval=variant.retrieval.model_dump(),
        embedding=None
        if embedder is None
        else f"{embedder.name} {embedder.model} {embedder.version}",
        conversations=len({c.store for c in store.dataset.conversations}),
        memories=store.memories,
        variant=store.dataset.variant,
        results_ranked=RANKED,
        ingest_s=round(store.ingest_s, 1),
    )


def versions_of(session: Session) -> dict[str, str]:
    """Of what is measured: negmem, server, pgvector, Python."""
    row = session.database.row("bench", "versions") or {}
    return {
        "negmem": negmem.__version__,
        "postgresql": str(row.get("postgresql")),
        "pgvector": str(row.get("pgvector")),
        "python": platform.python_version(),
    }


def _check_bars(bars: Sequence[tuple[str, float]], dataset: Dataset) -> None:
    names = ("recall", "any", "all", "ndcg")
    known = {f"{name}@{k}" for name in names for k in dataset.ks} | {f"mrr@{MRR_DEPTH}"}
    if any(question.sessions for question in dataset.questions):
        known |= {f"{_SESSION}{name}@{k}" for name in names for k in SESSION_KS}
        known.add(f"{_SESSION}mrr@{MRR_DEPTH}")
    for metric, _ in bars:
        if metric not in known:
            raise UsageError(
                "bench_bar_malformed",
                f"{metric[:60]!r} is no figure of this set",
                why=f"known: {', '.join(sorted(known))}",
                hint="--fail-under recall@5=0.8    or, of sessions: session.recall@5=0.9",
            )


def _bar(metric: str, wanted: float, runs: Sequence[BenchRun]) -> Bar:
    name = metric.removeprefix(_SESSION)
    reached = min(
        (run.session_metrics if metric.startswith(_SESSION) else run.metrics)[name] for run in runs
    )
    return Bar(metric=metric, wanted=wanted, reached=reached, passed=reached >= wanted)
