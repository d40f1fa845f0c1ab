"""`negmem bench …`: measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, Limit, command, new_app
from negmem.errors import UsageError

app = new_app("Measure retrieval, load and answers; compare over time.")

Dataset = Annotated[
    str,
    typer.Option(
        "--dataset", metavar="SET", help="locomo, longmemeval, memdaily, memorybank or own."
    ),
]
Data = Annotated[
    str, typer.Option("--data", metavar="DIR", help="The folder of its sessions and qa files.")
]
Level = Annotated[
    str,
    typer.Option("--level", metavar="LEVEL", help="auto, hybrid, vector, keyword or ilike."),
]
Variant = Annotated[
    str | None,
    typer.Option("--variant", metavar="plain|noise100", help="memdaily. Default: noise100."),
]
Mini = Annotated[bool, typer.Option("--mini", help="longmemeval: 50 questions.")]
NoRecord = Annotated[bool, typer.Option("--no-record", help="Keep the run out of bench history.")]
_FORMATS = ("text", "json", "github", "junit")


@command(app, "bench retrieval")
def retrieval(
    common: Common,
    dataset: Dataset,
    data: Data,
    level: Level = "auto",
    variant: Variant = None,
    mini: Mini = False,
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
    no_record: NoRecord = False,
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
        common.answer(found, draw_bench)
    return ExitCode.DONE if all(bar.passed for bar in found.bars) else ExitCode.ATTENTION


@command(app, "bench load")
def load(
    common: Common,
    rows: Annotated[
        int, typer.Option("--rows", metavar="N", min=1, help="Memories to store first.")
    ] = 20_000,
    users: Annotated[
        int, typer.Option("--users", metavar="M", min=1, help="Whose memories they are.")
    ] = 20,
    clients: Annotated[
        int, typer.Option("--clients", metavar="C", min=1, help="Processes at once.")
    ] = 8,
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="S", min=0.1, help="For one, then for all.")
    ] = 10.0,
    reads: Annotated[
        float, typer.Option("--reads", metavar="0..1", min=0, max=1, help="Share of searches.")
    ] = 0.9,
    fail_under: Annotated[
        list[str] | None,
        typer.Option("--fail-under", metavar="FIGURE=X", help="Exit 3 below, as ratio=1.6."),
    ] = None,
    no_record: NoRecord = False,
) -> int:
    """Searches and writes of many clients beside one, on a scratch schema that is removed afterwards.

    Checks that no access of a recorded search was lost.
    """
    from negmem.cli.render.bench_load import draw_load
    from negmem.core.bench.load import LoadOptions, run

    options = LoadOptions(
        rows=rows,
        users=users,
        clients=clients,
        seconds=seconds,
        reads=reads,
        bars=[_bar(text, most=None) for text in fail_under or ()],
        record=not no_record,
    )
    with common.session() as session:
        found = run(session, options, on_step=common.console.note)
        common.answer(found, draw_load)
    is_well = not (
        found.lost_accesses or found.lost_logs or found.many.errors or found.single.errors
    )
    return (
        ExitCode.DONE if is_well and all(bar.passed for bar in found.bars) else ExitCode.ATTENTION
    )


@command(app, "bench judge")
def judge(
    common: Common,
    dataset: Dataset,
    data: Data,
    level: Level = "auto",
    variant: Variant = None,
    mini: Mini = False,
    questions: Annotated[
        int | None,
        typer.Option("--questions", metavar="N", min=1, help="At most N, evenly over the set."),
    ] = None,
    context_tokens: Annotated[
        int,
        typer.Option("--context-tokens", metavar="N", min=256, help="What the model reads."),
    ] = 4_000,
    max_calls: Annotated[
        int | None, typer.Option("--max-calls", metavar="N", min=1, help="Stop after N calls.")
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", metavar="USD", min=0, help="Stop when so much is spent."),
    ] = None,
    no_record: NoRecord = False,
) -> int:
    """Answers of the configured model from what the search finds, graded by it against the known ones.

    Two calls a question. Refused without llm.model.
    """
    from negmem.cli.render.bench_judge import draw_judge
    from negmem.core.bench.judge import JudgeOptions, run
    from negmem.core.models.bench import DATASETS

    _one_of("--dataset", dataset, DATASETS)
    options = JudgeOptions(
        dataset=dataset,
        folder=Path(data).expanduser(),
        level=level,
        variant=variant,
        mini=mini,
        questions=questions,
        context_tokens=context_tokens,
        max_calls=max_calls,
        max_cost_usd=max_cost,
        record=not no_record,
    )
    with common.session() as session:
        found = run(session, options, on_step=common.console.note)
        common.answer(found, draw_judge)
    return ExitCode.ATTENTION if found.stopped or found.refusals else ExitCode.DONE


@command(app, "bench history")
def history(
    common: Common,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", help="retrieval, load or judge.")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="SET", help="Runs on this set alone.")
    ] = None,
    limit: Limit = 20,
) -> None:
    """Recorded runs with what changed since the run before on the same data."""
    from negmem.cli.render.bench_history import draw_history
    from negmem.core.bench.history import history as read

    with common.installed() as session:
        found = read(session, kind=kind, dataset=dataset, limit=limit)
        common.answer(found, draw_history)


def _bar(text: str, *, most: float | None = 1.0) -> tuple[str, float]:
    metric, _, least = text.partition("=")
    try:
        value = float(least)
    except ValueError:
        value = -1.0
    if not 0 <= value <= (float("1e12") if most is None else most):
        raise UsageError(
            "bench_bar_malformed",
            f"--fail-under {text[:60]!r} is no bar",
            why="a bar is METRIC=X with X " + ("from 0" if most is None else "in 0..1"),
            hint="--fail-under ratio=1.6" if most is None else "--fail-under recall@5=0.8",
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
