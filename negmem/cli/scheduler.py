"""`negmem scheduler …`: the built-in scheduler, where pg_cron can't be had."""

from __future__ import annotations

import json
import signal
import sys
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, command, new_app
from negmem.errors import UsageError

if TYPE_CHECKING:
    from negmem.core.scheduler import Emit

app = new_app("The built-in scheduler, where pg_cron can't be had.")

LogFormat = Annotated[
    str,
    typer.Option("--log-format", metavar="text|json", help="Log lines on stderr, one an event."),
]
Once = Annotated[bool, typer.Option("--once", help="Do what is due, then end.")]
Grace = Annotated[
    float,
    typer.Option(
        "--grace", metavar="SECONDS", min=0, help="How long a run may go on after a stop."
    ),
]


@command(app, "scheduler run")
def run(
    common: Common, log_format: LogFormat = "text", once: Once = False, grace: Grace = 10.0
) -> int:
    """Run the jobs that are on as their schedules say, in UTC, until stopped by SIGTERM or Ctrl-C.

    Any number of processes may do so: one leads, and another takes over when it dies. What was
    missed is caught up once. A second stop signal does not hurry: --grace bounds the wait.
    """
    from negmem.cli.render.scheduler import draw_ended
    from negmem.core.scheduler import Scheduler

    if log_format not in ("text", "json"):
        raise UsageError(
            "usage",
            "--log-format is text or json",
            why=f"got {log_format!r}",
            hint="negmem scheduler run --log-format json",
        )
    with common.installed() as session:
        scheduler = Scheduler(session, emit=_logger(common, log_format), grace_s=grace)
        before = {
            number: signal.signal(number, lambda n, frame: scheduler.stop(signal.Signals(n).name))
            for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            ended = scheduler.run(once=once)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        common.answer(ended, draw_ended)
    if ended.stopped_by == "SIGINT":
        return ExitCode.INTERRUPTED
    return ExitCode.ATTENTION if once and ended.failed else ExitCode.DONE


@command(app, "scheduler status")
def status(common: Common) -> int:
    """Say which process leads and what is due; exit 3 where none is alive."""
    from negmem.cli.render.scheduler import draw_status
    from negmem.core.scheduler import status as read_status

    with common.installed() as session:
        found = read_status(session)
        common.answer(found, draw_status)
    return ExitCode.DONE if found.is_alive else ExitCode.ATTENTION


def _logger(common: Common, log_format: str) -> Emit:
    def emit(event: str, **fields: object) -> None:
        if common.quiet and event in ("run_started", "run_ended"):
            return
        entry = {"time": _now(), "event": event, **fields}
        if log_format == "json":
            line = json.dumps(entry, ensure_ascii=False)
        else:
            line = " ".join(f"{name}={_plain(value)}" for name, value in entry.items())
        sys.stderr.write(line + "\n")
        sys.stderr.flush()

    return emit


def _now() -> str:
    return f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}"


def _plain(value: object) -> str:
    """A value as a log line takes it: in quotes where it would not be one word."""
    text = str(value)
    return text if text and not set(text) & set(' "=\n\\') else json.dumps(text, ensure_ascii=False)
