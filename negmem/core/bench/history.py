"""The record of benchmark runs: with the data's hash, configuration, versions and seed, to compare over time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.models.base import Model
from negmem.core.models.bench import BenchHistory, BenchRun, RecordedRun
from negmem.core.session import Session
from negmem.db.failures import DatabaseError
from negmem.errors import NegmemError, UsageError

KINDS = ("retrieval", "load", "judge")
MAX_RUNS = 1_000


def record(
    session: Session,
    kind: str,
    dataset: str | None,
    runs: Sequence[BenchRun],
    versions: dict[str, str],
    data_hash: str | None,
    seed: int | None,
    started_at: datetime,
) -> list[UUID]:
    """Keep runs of retrieval, one a configuration; none, with a warning, where that can't be."""
    entries = []
    for run in runs:
        figures = {
            **run.metrics,
            **{f"session.{name}": value for name, value in run.session_metrics.items()},
            "latency_p50_ms": run.latency_ms.p50,
            "latency_p95_ms": run.latency_ms.p95,
            "questions": run.questions,
        }
        entries.append((run.config, figures))
    return keep(session, kind, dataset, entries, versions, data_hash, seed, started_at)


def keep(
    session: Session,
    kind: str,
    dataset: str | None,
    entries: Sequence[tuple[Model, dict[str, float]]],
    versions: dict[str, str],
    data_hash: str | None,
    seed: int | None,
    started_at: datetime,
) -> list[UUID]:
    """Keep (configuration, figures) of runs; none, with a warning, where the schema can't take them."""
    try:
        session.require_installed()
        with session.database.transaction():
            return [
                session.database.rows(
                    "bench",
                    "record",
                    {
                        "kind": kind,
                        "dataset": dataset,
                        "data_hash": data_hash,
                        "config": Jsonb(config.model_dump(mode="json")),
                        "versions": Jsonb(versions),
                        "metrics": Jsonb(figures),
                        "seed": seed,
                        "started_at": started_at,
                    },
                )[0]["id"]
                for config, figures in entries
            ]
    except (DatabaseError, NegmemError) as error:
        session.warn(
            "bench_not_recorded", f"the run is in no history: {error.message}; {error.why}"
        )
        return []


def history(
    session: Session, *, kind: str | None = None, dataset: str | None = None, limit: int = 20
) -> BenchHistory:
    """Recorded runs, newest first, each with what changed since the run before it on the same data.

    Raises: UsageError `limit_invalid`, `bench_kind_unknown`; NegmemError of the database.
    """
    if kind is not None and kind not in KINDS:
        raise UsageError(
            "bench_kind_unknown",
            f"{kind[:60]!r} is no kind of benchmark",
            why=f"the kinds are {', '.join(KINDS)}",
            hint="negmem bench history --kind retrieval",
        )
    if not 1 <= limit <= MAX_RUNS:
        raise UsageError(
            "limit_invalid",
            "no list goes so far",
            why=f"--limit goes from 1 to {MAX_RUNS:,}, got {limit:,}",
            hint="negmem bench history --limit 100",
        )
    params = {"kind": kind, "dataset": dataset, "row_limit": limit + 1}
    rows = session.database.rows("bench", "history", params)
    return BenchHistory(runs=[_run(row) for row in rows[:limit]], truncated=len(rows) > limit)


def _run(row: dict[str, Any]) -> RecordedRun:
    before = row["metrics_before"] or {}
    metrics: dict[str, float] = row["metrics"]
    return RecordedRun(
        id=row["id"],
        kind=row["kind"],
        dataset=row["dataset"],
        name=str(row["config"].get("name", row["kind"])),
        data_hash=row["data_hash"],
        seed=row["seed"],
        config=row["config"],
        versions=row["versions"],
        metrics=metrics,
        changes={
            name: round(value - before[name], 6)
            for name, value in metrics.items()
            if name in before
        },
        started_at=row["started_at"],
        finished_at=row["finished_at"],
    )
