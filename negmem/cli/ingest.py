"""`negmem ingest`: conversations in."""

from __future__ import annotations

import contextlib
import sys
import time
from datetime import timezone, tzinfo
from typing import TYPE_CHECKING, Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, User, command, new_app
from negmem.errors import NegmemError, UsageError

if TYPE_CHECKING:
    from negmem.core.formation.ingest import Progress

app = new_app("Read conversations into threads, events and memories.")

Path = Annotated[
    str, typer.Argument(metavar="PATH|-", help="A file, gzip too; - reads standard input.")
]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="auto, jsonl, openai, adk, locomo, longmemeval or markdown.",
    ),
]
Thread = Annotated[
    str | None,
    typer.Option("--thread", metavar="NAME", help="The name of sessions that have none."),
]
Me = Annotated[
    str | None,
    typer.Option("--me", metavar="NAME", help="The speaker who is the user."),
]
TimeZone = Annotated[
    str | None,
    typer.Option(
        "--timezone",
        metavar="ZONE",
        help="Of times that name none, as Asia/Shanghai. Default: UTC.",
    ),
]
Rejects = Annotated[
    str | None,
    typer.Option("--rejects", metavar="FILE", help="Default: beside PATH, NAME.rejects.jsonl."),
]

_REDRAW_S = 0.1


@command(app, "ingest", writes=True)
def ingest(
    common: Common,
    path: Path,
    format: Format = "auto",
    user: User = None,
    thread: Thread = None,
    me: Me = None,
    time_zone: TimeZone = None,
    rejects: Rejects = None,
) -> int:
    """Read conversations into threads, events and memories.

    The same input twice adds nothing; one that grew adds what is new. What can't be read is kept
    aside with its line and reason, and the command ends with 3.
    """
    from negmem.cli.render.ingest import draw_ingested
    from negmem.core.formation.ingest import Ingest, IngestOptions

    options = IngestOptions(
        path=path,
        format=format,
        user=common.checked_user(user),
        thread=thread or None,
        me=me or None,
        zone=_zone(time_zone),
        reject_path=rejects,
        dry_run=common.dry_run,
    )
    line = _ProgressLine(common)
    with common.session() as session:
        run = Ingest(session, options, stdin=sys.stdin.buffer, on_progress=line.show)
        try:
            result = run.run()
        except KeyboardInterrupt:
            line.clear()
            common.console.note(
                f"interrupted: {run.result.memories:,} memories are stored; the same command goes on "
                "from there"
            )
            if common.json:
                common.answer(run.result, draw_ingested)
            return ExitCode.INTERRUPTED
        except NegmemError:
            line.clear()
            if run.result.events:
                common.console.note(
                    f"stored before the failure: {run.result.memories:,} memories; the same command "
                    "goes on from there"
                )
            raise
        line.clear()
        common.answer(result, draw_ingested)
        return ExitCode.ATTENTION if run.needs_attention else ExitCode.DONE


def _zone(name: str | None) -> tzinfo:
    if name is None or name.upper() in ("UTC", "Z"):
        return timezone.utc
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UsageError(
            "time_zone_unknown",
            f"no time zone {name[:60]!r}",
            why="it is not in this machine's time zone database",
            hint="negmem ingest … --timezone Asia/Shanghai",
        ) from None


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 1e6 else f"{count / 1e3:,.0f} kB"


class _ProgressLine:
    """One line on stderr that is drawn over, on a terminal alone."""

    def __init__(self, common: Common) -> None:
        is_quiet = common.json or common.quiet or common.no_color
        self._is_drawn = not is_quiet and sys.stderr.isatty()
        self._next_at = 0.0

    def show(self, progress: Progress) -> None:
        """Draw how far the run is; a closed stderr does not matter."""
        now = time.monotonic()
        if not self._is_drawn or now < self._next_at:
            return
        self._next_at = now + _REDRAW_S
        share = _size(progress.bytes_read)
        if progress.bytes_total:
            done = progress.bytes_read / progress.bytes_total
            share = f"{done:4.0%} of {_size(progress.bytes_total)}"
        self._write(
            f"\r\x1b[K{share} · {progress.turns:,} turns · {progress.memories:,} memories"
            + (f" · {progress.rejected:,} rejected" if progress.rejected else "")
        )

    def clear(self) -> None:
        """Take the line away."""
        if self._is_drawn:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            self._is_drawn = False
            with contextlib.suppress(OSError):
                sys.stderr.close()
