"""`negmem bench …`: measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, Limit, command, new_app
from negmem.errors import UsageError

app = new_app("Measure retrieval.")

_FORMATS = ("text", "json", "github", "junit")


@command(app, "retrieval", path="bench retrieval")
def retrieval(
    common: Common,
    dataset: Annotated[
        str,
        typer.Option(
            "--dataset", metavar="SET", help="locomo, longmemeval, memdaily, memorybank or own."
        ),
    ],
    data: Annotated[
        str, typer.Option("--data", metavar="DIR", help="The folder of its sessions and qa files.")
    ],
    level: Annotated[
        str,
        typer.Option("--level", metavar="LEVEL", help="auto, hybrid, vector, keyword or ilike."),
    ] = "auto",
    variant: Annotated[
        str | None,
        typer.Option("--variant", metavar="plain|noise100", help="memdaily. Default: noise100."),
    ] = None,
    mini: Annotated[bool, typer.Option("--mini", help="longmemeval: 50 questions.")] = False,
    pooled: Annotated[
        bool, typer.Option("--pooled", help="longmemeval: all sessions in one store.")
    ] = False,
    compare: Annotated[
        str | None,
        typer.Option(
            "--compare", metavar="A,B", help="Levels or YAML files, measured side by side."
        ),
    ] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-under",
            metavar="METRIC=X",
            help="Exit 3 below, as recall@5=0.8 or session.recall@5=0.9; repeatable.",
        ),
    ] = None,
    no_record: Annotated[
        bool, typer.Option("--no-record", help="Keep the run out of bench history.")
    ] = False,
    format_name: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="text, json, github or junit.")
    ] = "text",
) -> int:
    """Recall, NDCG, MRR and latency on a data set, in a scratch schema that is removed afterwards."""
    from negmem.cli.render.bench import draw_bench, write_bench_report
    from negmem.core.bench.retrieval import BenchOptions, run
    from negmem.core.models.bench import DATASETS

    _one_of("--dataset", dataset, DATASETS)
    _one_of("--format", format_name, _FORMATS)
    common.json = common.json or format_name == "json"
    console = common.console
    options = BenchOptions(
        dataset=dataset,
        folder=Path(data).expanduser(),
        level=level,
        variant=variant,
        mini=mini,
        pooled=pooled,
        compare=[name.strip() for name in compare.split(",") if name.strip()] if compare else (),
        bars=[_bar(text) for text in fail_under or ()],
        record=not no_record,
    )
    with common.session() as session:
        found = run(session, options, on_step=console.note)
    if format_name in ("github", "junit"):
        write_bench_report(console, found, format_name)
    else:
        console.answer("bench.retrieval/1", found, draw_bench)
    return ExitCode.DONE if all(bar.passed for bar in found.bars) else ExitCode.ATTENTION


@command(app, "history", path="bench history")
def history(
    common: Common,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", help="retrieval, load or judge.")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="SET", help="Runs on this set alone.")
    ] = None,
    limit: Limit = 20,
) -> int:
    """Recorded runs with what changed since the run before on the same data."""
    from negmem.cli.render.bench_history import draw_history
    from negmem.core.bench.history import history as read

    with common.session() as session:
        session.require_installed()
        found = read(session, kind=kind, dataset=dataset, limit=limit)
        common.console.answer("bench.history/1", found, draw_history)
    return ExitCode.DONE


def _bar(text: str) -> tuple[str, float]:
    metric, _, least = text.partition("=")
    try:
        value = float(least)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise UsageError(
            "bench_bar_malformed",
            f"--fail-under {text[:60]!r} is no bar",
            why="a bar is METRIC=X with X in 0..1",
            hint="--fail-under recall@5=0.8",
        )
    return metric.strip(), value


def _one_of(flag: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(
            "usage",
            f"{flag} is one of {', '.join(allowed)}",
            why=f"got {value[:60]!r}",
            hint="negmem bench retrieval --help",
        )
