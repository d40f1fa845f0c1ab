"""One look at a deployment as lines: the same on a live screen and in a pipe."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.top import (
        BlockedSession,
        Connections,
        LastRun,
        OpenJobs,
        RowStates,
        RunningJob,
        SearchLoad,
        Top,
    )

Style = Callable[[str, str], str]
_LABEL = 13
_STEPS = "▁▂▃▄▅▆▇█"
_ENDED = {"succeeded": "ok", "failed": "fail", "cancelled": "warn", "running": "name"}
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def draw_top(console: Console, top: Top) -> None:
    """One look, after which the command ends."""
    console.out(f"{one_line(top.target)} · schema {top.schema_name} · app {one_line(top.app)}")
    console.out()
    for line in top_lines(top, console.style, console.width):
        console.out(line)


def top_lines(top: Top, style: Style, width: int | None, rates: Sequence[int] = ()) -> list[str]:
    """The parts, a line each, then what runs, ran and waits; no line wider than `width` columns.

    Args: rates, searches a minute of the looks before, the oldest first.
    """
    lines: list[str] = []
    lines += _facts("queue", _queue(top.queue, style), style, width)
    lines += _facts("searches", _searches(top.searches, rates, style), style, width)
    lines += _facts("rows", _rows(top.rows, top.queue), style, width)
    lines += _facts("drift", _drift(top, style), style, width)
    lines += _facts("locks", _locks(top.blocked, style), style, width)
    lines += _facts("connections", _connections(top.connections, style), style, width)
    lines += _facts("scheduler", _scheduler(top, style), style, width)
    for part in top.unread:
        lines += _facts(part.part, [style("not read: ", "warn") + one_line(part.why)], style, width)
    if top.running:
        lines += ["", *_table(("RUNNING JOB", "FOR", "TRY", "WORKER"), map(_running, top.running))]
    if top.runs:
        lines += [
            "",
            *_table(("LAST RUN OF", "BEGAN", "TOOK", "ROWS", "ENDED"), map(_run, top.runs)),
        ]
    if top.blocked:
        lines += ["", *_table(("WAITS", "FOR", "BEHIND", "WANTS"), map(_blocked, top.blocked))]
    return [_cut(_coloured(line, style), width) for line in lines]


def _queue(queue: OpenJobs | None, style: Style) -> list[str]:
    if queue is None:
        return []
    oldest = "" if queue.oldest_due_s is None else f", oldest {span(queue.oldest_due_s)}"
    due = f"{queue.due:,} due{oldest}"
    found = [due, f"{queue.running:,} running", f"{queue.waiting:,} wait for another try"]
    if queue.held_back:
        found.append(f"{queue.held_back:,} held back")
    parked = f"{_counted(queue.parked)} parked"
    found.append(style(parked, "warn") if queue.parked else parked)
    return found


def _searches(searches: SearchLoad | None, rates: Sequence[int], style: Style) -> list[str]:
    if searches is None:
        return []
    drawn = f" {spark(rates)}" if len(rates) > 1 else ""
    found = [f"{searches.in_1_minute:,} in the last minute{drawn}"]
    if searches.in_5_minutes:
        found.append(f"{searches.in_5_minutes:,} in 5 min")
    if searches.p95_ms is not None and searches.p50_ms is not None:
        found.append(f"p50 {searches.p50_ms:,.0f} ms")
        found.append(f"p95 {searches.p95_ms:,.0f} ms")
    if searches.empty:
        found.append(f"{searches.empty:,} found nothing")
    if searches.fell:
        found.append(style(f"{searches.fell:,} fell to a lower level", "warn"))
    return found


def _rows(rows: RowStates | None, queue: OpenJobs | None) -> list[str]:
    found = []
    if rows is not None:
        about = "about " if rows.is_sampled else ""
        found = [
            f"{about}{rows.live:,} live",
            f"{rows.pinned:,} pinned",
            f"{rows.removed:,} removed",
            f"{rows.added_today:,} added in 24 h",
        ]
    if queue is not None and queue.accesses is not None:
        found.append(f"{_counted(queue.accesses)} accesses queued")
    return found


def _drift(top: Top, style: Style) -> list[str]:
    if top.drift is None:
        return []
    looked = f"looked {span(top.drift.looked_s)} ago" if top.drift.looked_s >= 1 else "looked now"
    if not top.drift.drift:
        return [style("none", "ok"), looked]
    return [style(f"{top.drift.changes:,} differ", "warn") + ": negmem diff", looked]


def _locks(blocked: Sequence[BlockedSession] | None, style: Style) -> list[str]:
    if blocked is None:
        return []
    return [style(f"{len(blocked):,} blocked", "warn") if blocked else "nobody waits"]


def _connections(found: Connections | None, style: Style) -> list[str]:
    if found is None:
        return []
    full = f"{found.total:,} of {found.most:,}"
    parts = [style(full, "warn") if found.total > 0.8 * found.most else full]
    parts += [f"{found.active:,} active", f"{found.of_negmem:,} of negmem"]
    idle = f"{found.idle_in_transaction:,} idle in a transaction"
    parts.append(style(idle, "warn") if found.idle_in_transaction else idle)
    if found.hidden:
        parts.append(f"the state of {found.hidden:,} is hidden from this role")
    return parts


def _scheduler(top: Top, style: Style) -> list[str]:
    found = top.scheduler
    if found is None:
        return [] if any(one.part == "scheduler" for one in top.unread) else ["none is running"]
    where = f"{one_line(found.host)} process {found.process_id}"
    beat = f"last sign {span(found.beat_s)} ago"
    state = f"leads on {where}" if found.is_alive else style(f"gone: {where}", "warn")
    return [state, beat]


def _running(job: RunningJob) -> tuple[str, ...]:
    worker = one_line(job.worker or "–")
    lost = "" if job.lease_s is None or job.lease_s >= 0 else "  lease over"
    since = "–" if job.since_s is None else span(job.since_s)
    return (job.job, since, f"{job.attempts}/{job.max_attempts}", worker + lost)


def _run(run: LastRun) -> tuple[str, ...]:
    rows = "–" if run.rows_touched is None else f"{run.rows_touched:,}"
    took = "–" if run.took_s is None else span(run.took_s)
    said = f"  {one_line(run.message)}" if run.message else ""
    return (one_line(run.job), f"{span(run.ago_s)} ago", took, rows, f"{run.status}{said}")


def _blocked(one: BlockedSession) -> tuple[str, ...]:
    waits = "–" if one.waits_s is None else span(one.waits_s)
    behind = ", ".join(map(str, one.blocked_by)) or "–"
    return (
        f"{one.pid} {one_line(one.application, 24)}".rstrip(),
        waits,
        behind,
        f"{one_line(one.wants)} ({one.mode})",
    )


def _facts(label: str, parts: Sequence[str], style: Style, width: int | None) -> list[str]:
    """A label with its parts, on as many lines as they need."""
    if not parts:
        return []
    lines, current = [], ""
    room = None if width is None else max(10, width - _LABEL - 2)
    for part in parts:
        joined = f"{current} · {part}" if current else part
        if room is not None and current and _long(joined) > room:
            lines.append(current)
            joined = part
        current = joined
    lines.append(current)
    first = f"  {style(f'{label:<{_LABEL}}', 'name')}{lines[0]}"
    return [first, *(f"  {'':<{_LABEL}}{line}" for line in lines[1:])]


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Columns as wide as they need to be; the last takes what is left."""
    cells = [head, *rows]
    widths = [max(len(row[n]) for row in cells) for n in range(len(head) - 1)]
    return [
        "  " + "  ".join([*(f"{row[n]:<{w}}" for n, w in enumerate(widths)), row[-1]])
        for row in cells
    ]


def _coloured(line: str, style: Style) -> str:
    """A line of a table with the word of its outcome in colour."""
    for word, name in _ENDED.items():
        if f"  {word}" in line and "\x1b" not in line:
            return line.replace(f"  {word}", f"  {style(word, name)}", 1)
    return line


def _cut(line: str, width: int | None) -> str:
    """The line within the width, … where something is left out; escapes take no room."""
    if width is None or _long(line) <= width:
        return line.rstrip()
    found, room, at = "", width - 1, 0
    for match in _ESCAPES.finditer(line):
        found += line[at : match.start()][:room]
        room -= min(room, match.start() - at)
        found += match.group()
        at = match.end()
    return f"{found}{line[at:][:room]}…"


def _long(line: str) -> int:
    return len(_ESCAPES.sub("", line))


def _counted(number: int) -> str:
    return f"{number:,} or more" if number >= 10_000 else f"{number:,}"


def spark(values: Sequence[int]) -> str:
    """The values as a row of small bars."""
    top = max([*values, 1])
    return "".join(_STEPS[min(7, round(value / top * 7))] for value in values)


def span(seconds: float) -> str:
    """A length of time in its two largest units: 0.4 s, 12 s, 3 min, 4 h 5 min, 9 d."""
    if seconds < 0:
        return "0 s"
    if seconds < 10:
        return f"{seconds:.1f} s".replace(".0 ", " ")
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = int(seconds // 60)
    if minutes < 120:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes and hours < 10 else f"{hours} h"
    return f"{hours // 24} d"
