"""`negmem consolidate`: works the queue, shows it, and makes parked jobs due again."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, Limit, User, command, new_app
from negmem.errors import NegmemError

if TYPE_CHECKING:
    from negmem.core.formation.consolidate import Consolidation, Progress

app = new_app("Turn conversations into facts, summaries and links: work the queue.")

Job = Annotated[
    str | None,
    typer.Option(
        "--job",
        metavar="JOB",
        help="fast_replay, deep_reflection or full_consolidation: only these, queued first for what"
        " changed since the last one.",
    ),
]
Thread = Annotated[
    str | None, typer.Option("--thread", metavar="NAME", help="Of the user's threads this one.")
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", metavar="N", min=1, max=64, help="Jobs at once. Default: the YAML's."
    ),
]
Extractor = Annotated[
    str | None,
    typer.Option("--extractor", metavar="NAME", help="auto, llm or pattern. Default: the YAML's."),
]
MaxCalls = Annotated[
    int | None,
    typer.Option("--max-calls", metavar="N", min=0, help="Calls of the model in this run."),
]
MaxTokens = Annotated[
    int | None,
    typer.Option("--max-tokens", metavar="N", min=0, help="Tokens of the model in this run."),
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", metavar="USD", min=0, help="US dollars for the model in this run."),
]
Again = Annotated[
    bool, typer.Option("--again", help="With --job: also what did not change since the last one.")
]
Retry = Annotated[
    bool, typer.Option("--retry", help="Also jobs that are parked or wait for their next attempt.")
]
List = Annotated[bool, typer.Option("--list", help="Show the queue, work on nothing.")]
State = Annotated[
    str | None,
    typer.Option(
        "--state",
        metavar="STATE",
        help="With --list: running, parked, due, waiting, held_back, completed or cancelled.",
    ),
]


@command(app, "consolidate", writes=True)
def consolidate(
    common: Common,
    job: Job = None,
    user: User = None,
    thread: Thread = None,
    workers: Workers = None,
    extractor: Extractor = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    again: Again = False,
    retry: Retry = False,
    list_: List = False,
    state: State = None,
    limit: Limit = 20,
) -> int:
    """Turn conversations into facts, summaries and links: work the queue until nothing is due.

    Ends with 3 where jobs failed or are parked. A run that was cut off, by Ctrl-C or by the machine,
    is finished by the next one, here or elsewhere.
    """
    from negmem.cli.render.consolidation import draw_consolidated, draw_queue
    from negmem.core.formation.consolidate import Consolidation, Options, list_queue

    owner = common.checked_user(user)
    if list_ or state is not None:
        with common.session() as session:
            session.require_installed()
            found = list_queue(
                session, job=job, user=owner, thread=thread, state=state, limit=limit
            )
            common.console.answer("consolidate.list/1", found, draw_queue)
        return ExitCode.ATTENTION if found.counts.parked else ExitCode.DONE
    options = Options(
        job=job,
        user=owner,
        thread=thread,
        workers=workers,
        extractor=extractor,
        max_calls=max_calls,
        max_tokens=max_tokens,
        max_cost_usd=max_cost,
        again=again,
        retry=retry,
        dry_run=common.dry_run,
    )
    line = _ProgressLine(common)
    with common.session() as session:
        run = Consolidation(session, options, on_progress=line.show)
        before = signal.signal(signal.SIGTERM, lambda number, frame: run.stop())
        try:
            result = run.run()
        except KeyboardInterrupt:
            line.clear()
            common.answer(run.result, draw_consolidated)
            return ExitCode.INTERRUPTED
        except NegmemError:
            line.clear()
            _tell_what_stands(common, run)
            raise
        finally:
            signal.signal(signal.SIGTERM, before)
        line.clear()
        common.answer(result, draw_consolidated)
        if result.interrupted:
            return ExitCode.INTERRUPTED
        return ExitCode.ATTENTION if run.needs_attention else ExitCode.DONE


def _tell_what_stands(common: Common, run: Consolidation) -> None:
    if run.ended:
        common.console.note(f"{run.ended:,} jobs ended before the failure; what they did stays")


class _ProgressLine:
    """One line on stderr that is drawn over, on a terminal alone."""

    def __init__(self, common: Common) -> None:
        is_quiet = common.json or common.quiet or common.no_color
        self._is_drawn = not is_quiet and sys.stderr.isatty()

    def show(self, progress: Progress) -> None:
        """Draw how far the run is."""
        if self._is_drawn:
            sys.stderr.write(
                f"\r\x1b[K{progress.ended:,} jobs done · {progress.open:,} to go"
                f" · {progress.facts:,} facts"
            )
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._is_drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
