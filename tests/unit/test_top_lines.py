"""The lines of `top`: none wider than the screen, nothing cut off in the middle of a colour."""

from __future__ import annotations

import re
from datetime import datetime, timezone

import pytest

from negmem.cli.render.top import span, spark, top_lines
from negmem.core.models.top import (
    BlockedSession,
    Connections,
    DriftState,
    LastRun,
    OpenJobs,
    RowStates,
    RunningJob,
    SchedulerState,
    SearchLoad,
    Top,
    UnreadPart,
)

BUSY = Top(
    app="记忆",
    target="db1",
    schema_name="negentropy",
    at=datetime(2026, 3, 2, 9, tzinfo=timezone.utc),
    queue=OpenJobs(
        due=1_204, waiting=3, running=2, held_back=4, parked=10_000, oldest_due_s=7_300, accesses=12
    ),
    running=[
        RunningJob(
            job="deep_reflection", worker="host\x1b[31m:7", attempts=2, max_attempts=5, since_s=0.4, lease_s=-3
        )
    ],
    searches=SearchLoad(in_1_minute=42, in_5_minutes=180, empty=3, fell=2, p50_ms=14.2, p95_ms=90.8),
    runs=[
        LastRun(
            job="cleanup_memories", status="failed", source="pg_cron", rows_touched=None,
            message="lock timeout", ago_s=90_000, took_s=2,
        )
    ],
    rows=RowStates(live=48_210, pinned=12, removed=300, added_today=900, is_sampled=True),
    drift=DriftState(drift=True, changes=3, looked_s=31),
    connections=Connections(total=90, active=4, idle_in_transaction=1, of_negmem=3, hidden=2, most=100),
    blocked=[
        BlockedSession(
            pid=4711, application="negmem search", wants="negentropy.facts", mode="AccessShareLock",
            blocked_by=[12], waits_s=6.1,
        )
    ],
    scheduler=SchedulerState(host="h1", process_id=9, is_alive=False, beat_s=400),
    unread=[UnreadPart(part="locks", code="privilege_missing", why="no SELECT")],
    took_ms=8,
)  # fmt: skip


def painted(text: str, style: str) -> str:
    return f"\x1b[31m{text}\x1b[0m"


@pytest.mark.parametrize("width", [24, 46, 80, 200])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    lines = top_lines(BUSY, painted, width, [1, 5, 42])
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    assert max(map(len, plain)) <= width
    assert all("\x1b" not in line for line in plain)
    assert all(line.count("\x1b[31m") == line.count("\x1b[0m") for line in lines)
    text = " ".join(" ".join(line.split()) for line in plain)
    told = (
        ("p95 91 ms", "2 running") if width < 40 else ("1,204 due, oldest 2 h 1 min", "48,210 live")
    )
    assert all(words in text for words in told)


def test_everything_is_told() -> None:
    text = "\n".join(top_lines(BUSY, lambda text, style: text, None))
    for words in (
        "10,000 or more parked", "4 held back", "2 fell to a lower level", "about 48,210 live",
        "3 differ: negmem diff · looked 31 s ago", "1 blocked", "90 of 100", "2 is hidden", "gone: h1 process 9",
        "not read: no SELECT", "lease over", "25 h ago", "failed  lock timeout", "negentropy.facts (AccessShareLock)",
    ):  # fmt: skip
        assert words in text
    assert "\x1b" not in text


def test_spans_and_sparks() -> None:
    said = [span(s) for s in (-1, 0.44, 5, 12, 150, 7_200, 15_000, 90_000, 900_000)]
    assert said == ["0 s", "0.4 s", "5 s", "12 s", "2 min", "2 h", "4 h 10 min", "25 h", "10 d"]
    assert spark([0, 5, 10]) == "▁▅█" and spark([0, 0]) == "▁▁"
