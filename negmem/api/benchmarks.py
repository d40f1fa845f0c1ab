"""`mem.bench`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from negmem.api.arguments import Noun

if TYPE_CHECKING:
    from negmem.core.models.bench import BenchHistory, JudgeBench, LoadBench, RetrievalBench


class Benchmarks(Noun):
    """`mem.bench`: measurements, each on a scratch schema that is removed afterwards."""

    def retrieval(
        self,
        dataset: str,
        data: str | Path,
        *,
        level: str = "auto",
        variant: str | None = None,
        mini: bool = False,
        pooled: bool = False,
        compare: Sequence[str] = (),
        fail_under: Mapping[str, float] | None = None,
        record: bool = True,
    ) -> RetrievalBench:
        """Recall, NDCG, MRR and latency on a data set; `fail_under` holds least values by figure."""
        from negmem.core.bench.retrieval import BenchOptions, run

        options = BenchOptions(
            dataset=dataset,
            folder=Path(data).expanduser(),
            level=level,
            variant=variant,
            mini=mini,
            pooled=pooled,
            compare=compare,
            bars=list((fail_under or {}).items()),
            record=record,
        )
        return run(self._owner.session, options)

    def load(
        self,
        *,
        rows: int = 20_000,
        users: int = 20,
        clients: int = 8,
        seconds: float = 10.0,
        reads: float = 0.9,
        record: bool = True,
    ) -> LoadBench:
        """Throughput and latency of many clients beside one; `reads` is the share of searches."""
        from negmem.core.bench.load import LoadOptions, run

        options = LoadOptions(rows, users, clients, seconds, reads, record=record)
        return run(self._owner.session, options)

    def judge(
        self,
        dataset: str,
        data: str | Path,
        *,
        level: str = "auto",
        variant: str | None = None,
        mini: bool = False,
        questions: int | None = None,
        context_tokens: int = 4_000,
        max_calls: int | None = None,
        max_cost_usd: float | None = None,
        record: bool = True,
    ) -> JudgeBench:
        """Answers of the configured model from what the search finds, graded against the known ones."""
        from negmem.core.bench.judge import JudgeOptions, run

        options = JudgeOptions(
            dataset=dataset,
            folder=Path(data).expanduser(),
            level=level,
            variant=variant,
            mini=mini,
            questions=questions,
            context_tokens=context_tokens,
            max_calls=max_calls,
            max_cost_usd=max_cost_usd,
            record=record,
        )
        return run(self._owner.session, options)

    def history(
        self, *, kind: str | None = None, dataset: str | None = None, limit: int = 20
    ) -> BenchHistory:
        """Recorded runs, newest first, with what changed since the run before on the same data."""
        from negmem.core.bench.history import history

        return history(self._owner.session, kind=kind, dataset=dataset, limit=limit)
