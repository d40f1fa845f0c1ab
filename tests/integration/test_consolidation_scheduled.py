"""The built-in scheduler empties the queue, within its gates and beside its jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from negmem.core.formation.pipeline import StepOutcome, Work
from negmem.core.scheduler import Scheduler
from tests.support.consolidating import JOBS, consolidating, queue_threads
from tests.support.databases import TestDatabase
from tests.support.memories import add_app, add_thread
from tests.support.steps import steps

S = "negentropy"
ENABLE = f"""
    UPDATE {S}.memory_automation_configs
    SET config = config || '{{"consolidation": {{"enabled": true, "schedule": "0 * * * *"}}}}',
        updated_at = now() - interval '3 hours'
    WHERE is_main
"""


def run_once(database: TestDatabase, folder: Path) -> list[tuple[str, dict[str, Any]]]:
    events: list[tuple[str, dict[str, Any]]] = []
    with consolidating(database, folder, ["probe"]) as session:
        emit = Scheduler(session, emit=lambda event, **fields: events.append((event, fields)))
        emit.run(once=True)
    return events


def test_the_queue_is_emptied_where_consolidation_is_enabled(
    database: TestDatabase, tmp_path: Path
) -> None:
    seen: list[tuple[str, str]] = []

    def probe(work: Work) -> StepOutcome:
        seen.append((work.app, work.user))
        return StepOutcome("done", counts={"facts": 2})

    queue_threads(database, users=2, threads=1)
    database.rows(f"UPDATE {S}.users SET paused_at = now() WHERE user_id = 'user2'")
    add_app(database, "crm")
    for app in ("crm", "unlisted"):
        add_thread(database, "茶", user="ada", app=app)
        database.rows(
            f"SELECT {S}.enqueue_consolidation(%(app)s, ARRAY['ada'], ARRAY[t.id])"
            f" FROM {S}.threads AS t WHERE t.app_name = %(app)s",
            {"app": app},
        )
    with steps({"probe": probe}):
        assert run_once(database, tmp_path)[-1][0] == "stopped"
        assert seen == []
        database.rows(ENABLE)
        events = run_once(database, tmp_path)
    # trigger_consolidation was due too: it queued a full consolidation of each thread that it may.
    assert sorted(seen) == [("negmem", "user1")] * 2 + [("unlisted", "ada")] * 2
    told = [fields for event, fields in events if event == "consolidated"]
    assert [(one["app"], one["done"], one["facts"]) for one in told] == [
        ("negmem", 2, 4),
        ("unlisted", 2, 4),
    ]
    assert {row[2] for row in database.rows(JOBS)} == {"completed", "pending"}


def test_a_run_that_can_not_begin_is_told_and_stops_no_job(
    database: TestDatabase, tmp_path: Path
) -> None:
    queue_threads(database, users=1, threads=1)
    database.rows(ENABLE)
    events = run_once(database, tmp_path)  # no module bears the name of its step
    assert ("consolidation_failed", "step_unknown") in [
        (event, fields.get("code")) for event, fields in events
    ]
    assert events[-1][1]["succeeded"] == 1
