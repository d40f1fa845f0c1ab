"""`bench load`: many clients at once on a scratch schema, beside one alone; nothing is left behind."""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any

from negmem.core.bench.history import keep
from negmem.core.bench.retrieval import versions_of
from negmem.core.bench.scoring import SEED, percentile
from negmem.core.bench.scratch import scratch_session
from negmem.core.bench.synthetic import SyntheticEmbedder, sentence, vocabulary
from negmem.core.formation.ingest import Ingest, IngestOptions
from negmem.core.models.bench import Bar, Latency, LoadBench, LoadConfig, LoadRun
from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError

MAX_ROWS = 10_000_000
MAX_CLIENTS = 256
_TURNS_A_SESSION = 20
FIGURES = ("ratio", "operations_per_s", "single_operations_per_s")


@dataclass(frozen=True)
class LoadOptions:
    """How much is stored, by whom it is asked, for how long; `reads` is the share of searches."""

    rows: int = 20_000
    users: int = 20
    clients: int = 8
    seconds: float = 10.0
    reads: float = 0.9
    bars: Sequence[tuple[str, float]] = ()
    record: bool = True


def run(
    session: Session, options: LoadOptions, on_step: Callable[[str], None] = lambda text: None
) -> LoadBench:
    """Throughput and latency of one client, then of many, on the same rows.

    After both, every search must have its log, and every result of it its access: what is missing is told.
    Raises: UsageError `bench_load_malformed`, `bench_bar_malformed`; NegmemError `bench_client_failed` and
    of the database.
    """
    _check(options)
    started, started_at = time.perf_counter(), datetime.now(timezone.utc)
    with (
        scratch_session(session, SyntheticEmbedder(), on_step) as scratch,
        tempfile.TemporaryDirectory() as folder,
    ):
        on_step(f"storing {options.rows:,} memories of {options.users:,} users")
        _fill(scratch, options, Path(folder))
        raw = []
        for clients in (1, options.clients):
            on_step(f"{clients} at work for {options.seconds:g} s")
            raw.append(_clients(scratch, options, clients, Path(folder)))
            scratch.database.run_alone("bench", "settle")
        expected = sum(one["items"] for few in raw for one in few)
        lost = expected - _counted(scratch)
        lost_logs = sum(one["retrievals"] for few in raw for one in few) - _logs(scratch)
        versions = versions_of(scratch)
    single, many = (_run(few) for few in raw)
    config = LoadConfig(
        name=f"{options.rows} rows, {options.users} users, {options.clients} clients",
        rows=options.rows,
        users=options.users,
        clients=options.clients,
        reads=options.reads,
        seconds=options.seconds,
    )
    ratio = round(many.operations_per_s / single.operations_per_s, 3)
    figures = {
        "ratio": ratio,
        "operations_per_s": many.operations_per_s,
        "single_operations_per_s": single.operations_per_s,
        "search_p50_ms": many.search_ms.p50,
        "search_p95_ms": many.search_ms.p95,
        "errors": float(single.errors + many.errors),
        "lost_accesses": float(lost),
    }
    recorded = []
    if options.record:
        recorded = keep(
            session, "load", None, [(config, figures)], versions, None, SEED, started_at
        )
    return LoadBench(
        config=config,
        single=single,
        many=many,
        ratio=ratio,
        expected_accesses=expected,
        lost_accesses=lost,
        lost_logs=lost_logs,
        error_texts=[text for few in raw for one in few for text in one["errors"]][:5],
        versions=versions,
        bars=[
            Bar(
                metric=metric,
                wanted=wanted,
                reached=figures[metric],
                passed=figures[metric] >= wanted,
            )
            for metric, wanted in options.bars
        ],
        took_s=round(time.perf_counter() - started, 1),
        seed=SEED,
        recorded=recorded,
    )


def _check(options: LoadOptions) -> None:
    wrong = ""
    if not 1 <= options.rows <= MAX_ROWS:
        wrong = f"--rows goes from 1 to {MAX_ROWS:,}, got {options.rows:,}"
    elif not 1 <= options.users <= options.rows:
        wrong = f"--users goes from 1 to the number of rows, got {options.users:,}"
    elif not 1 <= options.clients <= MAX_CLIENTS:
        wrong = f"--clients goes from 1 to {MAX_CLIENTS}, got {options.clients:,}"
    elif not 0.1 <= options.seconds <= 86_400:
        wrong = f"--seconds goes from 0.1 to 86,400, got {options.seconds:g}"
    elif not 0 <= options.reads <= 1:
        wrong = f"--reads is a share in 0..1, got {options.reads:g}"
    if wrong:
        raise UsageError(
            "bench_load_malformed",
            "such a load can't be made",
            why=wrong,
            hint="negmem bench load --rows 20000 --users 20 --clients 8",
        )
    for metric, _ in options.bars:
        if metric not in FIGURES:
            raise UsageError(
                "bench_bar_malformed",
                f"{metric[:60]!r} is no figure of a load",
                why=f"known: {', '.join(FIGURES)}",
                hint="--fail-under ratio=1.6",
            )


def _fill(session: Session, options: LoadOptions, folder: Path) -> None:
    """Ingest sessions of invented turns, by the same service that people use."""
    path = folder / "load.jsonl"
    chance, words = random.Random(SEED), vocabulary(SEED)
    with path.open("w", encoding="utf-8") as file:
        for number, start in enumerate(range(0, options.rows, _TURNS_A_SESSION)):
            turns = [
                {"id": str(place), "role": "user", "text": sentence(chance, words)}
                for place in range(min(_TURNS_A_SESSION, options.rows - start))
            ]
            line = {"thread": f"t{number}", "user": f"user{number % options.users}", "turns": turns}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    Ingest(session, IngestOptions(path=str(path), format="jsonl")).run()
    session.database.run_alone("bench", "settle")


def _clients(
    session: Session, options: LoadOptions, count: int, folder: Path
) -> list[dict[str, Any]]:
    """What `count` processes measured that began together."""
    config = folder / "client.yaml"
    config.write_text("{}\n", encoding="utf-8")
    with contextlib.ExitStack() as stack:
        started = []
        for number in range(count):
            orders = {
                "params": dict(session.database.target.params),
                "schema": session.database.schema,
                "app": session.app,
                "config": str(config),
                "retrieval": session.config.retrieval.model_dump(mode="json"),
                "users": options.users,
                "reads": options.reads,
                "seconds": options.seconds,
                "seed": SEED,
                "number": number + (0 if count == 1 else 1_000),
            }
            client = stack.enter_context(_client(folder))
            _say(client, json.dumps(orders))
            started.append(client)
        for client in started:
            _heard(client, "ready")
        for client in started:
            _say(client, "go")
        return [json.loads(_heard(client)) for client in started]


@contextlib.contextmanager
def _client(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A client's process; ended whatever happens."""
    client = subprocess.Popen(
        [sys.executable, "-m", "negmem.core.bench.load_client"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        cwd=folder,
        start_new_session=True,
    )
    try:
        yield client
    finally:
        for stream in (client.stdin, client.stdout, client.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            client.wait(5)
        except subprocess.TimeoutExpired:
            client.kill()
            client.wait()


def _say(client: subprocess.Popen[str], line: str) -> None:
    assert client.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # its last words are read by `_heard`
        client.stdin.write(line + "\n")
        client.stdin.flush()


def _heard(client: subprocess.Popen[str], wanted: str | None = None) -> str:
    """The next line of a client. Raises: NegmemError `bench_client_failed`."""
    assert client.stdout is not None and client.stderr is not None
    out: IO[str] = client.stdout
    line = out.readline()
    if not line or (wanted is not None and line.strip() != wanted):
        client.kill()
        last = client.stderr.read().strip().splitlines()[-1:] or ["it ended without a word"]
        raise NegmemError(
            "bench_client_failed",
            "a client of the load ended early",
            why=last[0],
            hint="negmem bench load … --clients 1    to see whether one alone can work",
        )
    return line


def _run(few: Sequence[dict[str, Any]]) -> LoadRun:
    searches = [took for one in few for took in one["searches"]]
    writes = [took for one in few for took in one["writes"]]
    rate = sum((len(one["searches"]) + len(one["writes"])) / one["seconds"] for one in few)
    return LoadRun(
        clients=len(few),
        searches=len(searches),
        writes=len(writes),
        errors=sum(one["failed"] for one in few),
        operations_per_s=round(rate, 2),
        search_ms=_latency(searches),
        write_ms=_latency(writes),
    )


def _latency(values: Sequence[float]) -> Latency:
    return Latency(p50=round(percentile(values, 0.5), 2), p95=round(percentile(values, 0.95), 2))


def _counted(session: Session) -> int:
    """How many accesses the memories have, once the queue of the logs is empty."""
    while True:
        row = session.database.row("bench", "apply_accesses", {"app_name": session.app})
        if row is None or not row["applied"]:
            break
    found = session.database.row("bench", "accesses", {"app_name": session.app})
    return 0 if found is None else int(found["accesses"])


def _logs(session: Session) -> int:
    found = session.database.row("bench", "logs", {"app_name": session.app})
    return 0 if found is None else int(found["logs"])
