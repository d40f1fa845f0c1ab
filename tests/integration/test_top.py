"""`top`: what it sees of a busy database, what it does when the server goes away, and its bounds."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from negmem.core import top
from negmem.core.session import open_session
from negmem.errors import NegmemError
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.deployment import fill
from tests.support.ingesting import session_on
from tests.support.roles import as_role, login_role
from tests.support.waiting import eventually

_NOW = """
    INSERT INTO negentropy.consolidation_jobs (user_id, app_name, status, job_type, locked_by, attempts,
        started_at, lease_until)
    VALUES ('bob', 'negmem', 'running', 'deep_reflection', 'host:7', 1, now() - interval '9 s', now());
    INSERT INTO negentropy.consolidation_jobs (user_id, app_name, job_type, next_attempt_at)
    VALUES ('ada', 'negmem', 'fast_replay', now() - interval '5 min'),
        ('noor', 'negmem', 'fast_replay', now() + interval '5 min');
    UPDATE negentropy.users SET paused_at = now() WHERE user_id = 'erin';
    INSERT INTO negentropy.consolidation_jobs (user_id, app_name, job_type) VALUES ('erin', 'negmem', 'fast_replay');
    INSERT INTO negentropy.memory_retrieval_logs (user_id, app_name, query, retrieved_memory_ids, latency_ms)
    SELECT 'ada', 'negmem', '茶', '{}', n FROM generate_series(1, 20) AS n
"""


@pytest.mark.servers("embedded", "sixteen")
def test_a_busy_moment(database: TestDatabase, negmem: CliRunner) -> None:
    fill(database, memories=120)
    for statement in _NOW.split(";"):
        database.rows(statement)
    holder = database.connect(autocommit=False, application_name="dba")
    holder.execute("LOCK TABLE negentropy.facts IN ACCESS EXCLUSIVE MODE")

    def wait() -> None:
        with database.connect(application_name="waiter") as other:
            other.execute("SELECT count(*) FROM negentropy.facts")

    waiting = threading.Thread(target=wait)
    waiting.start()
    try:
        with session_on(database) as session:
            watch = top.Watch(session)
            assert eventually(lambda: bool(watch.look().blocked))
            seen = watch.look()
            holder.execute("LOCK TABLE negentropy.memories IN ACCESS EXCLUSIVE MODE")
            locked = watch.look(afresh=True)
    finally:
        holder.close()
        waiting.join()
    # Whoever locks the memories themselves hides their number, not who waits for whom.
    assert locked.blocked and locked.queue and locked.searches and locked.rows is None
    assert {one.part: one.code for one in locked.unread} == {
        "rows": "lock_timeout",
        "drift": "lock_timeout",
    }
    assert (
        seen.queue and seen.running and seen.searches and seen.rows and seen.blocked and seen.runs
    )
    assert (seen.queue.due, seen.queue.waiting, seen.queue.running, seen.queue.held_back) == (
        1,
        1,
        1,
        1,
    )
    assert 290 < (seen.queue.oldest_due_s or 0) < 400 and seen.queue.accesses == 20
    assert (seen.running[0].worker, seen.running[0].job) == ("host:7", "deep_reflection")
    assert (seen.searches.in_1_minute, seen.searches.empty, seen.searches.p95_ms) == (20, 20, 19.05)
    assert (seen.rows.live + seen.rows.removed, seen.rows.is_sampled) == (120, False)
    (blocked,) = seen.blocked
    assert blocked.application == "waiter" and blocked.wants == "negentropy.facts"
    assert seen.connections and seen.connections.total >= 3
    assert seen.runs[0].status == "failed"
    # The lock that is held keeps diff from looking: told, and the rest stands.
    assert [(one.part, one.code) for one in seen.unread] == [("drift", "lock_timeout")]
    document = negmem("top", "--json").ok().json
    assert document["schema"] == "negmem.top/1" and document["drift"] == {
        "drift": False, "changes": 0, "looked_s": document["drift"]["looked_s"],
    }  # fmt: skip
    lines = negmem("top", "--json", "--interval", "0.2", "--count", "2").ok().stdout.splitlines()
    assert [json.loads(line)["searches"]["in_5_minutes"] for line in lines] == [20, 20]
    assert "1 running" in negmem("top").ok().stdout  # one look where nobody watches


@pytest.mark.servers("embedded", "full")
def test_looks_are_bounded(database: TestDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(database)
    database.rows(
        "INSERT INTO negentropy.memory_retrieval_logs (user_id, app_name, query, retrieved_memory_ids, applied_at,"
        " created_at) SELECT 'ada', 'negmem', repeat('q', 200), '{}', now(), now() - interval '1 min' * (30000 - n)"
        " FROM generate_series(1, 30000) AS n"
    )
    database.rows("ANALYZE negentropy.memory_retrieval_logs")
    monkeypatch.setattr(top, "SAMPLE_PAGES", 3)
    with session_on(database) as session:
        seen = top.Watch(session).look()
        assert seen.rows and seen.rows.is_sampled and seen.rows.live > 0
        statement = str(session.database.queries("top", "searches"))
        plan = "\n".join(
            row[0]
            for row in database.rows(
                f"EXPLAIN (ANALYZE, COSTS OFF) {statement}", {"app_name": "negmem"}
            )
        )
    # By time, or, from PostgreSQL 18 on, with a skip over the few users of an index by user and time.
    assert "ix_memory_retrieval_logs" in plan and "Seq Scan" not in plan
    assert seen.searches and 1 <= seen.searches.in_5_minutes <= 6


def test_what_a_role_may_not_see(database: TestDatabase) -> None:
    with login_role(database.server, database.name) as name:
        database.rows(f'GRANT USAGE ON SCHEMA negentropy TO "{name}"')
        for table in ("schema_migrations", "memories", "automation_runs"):
            database.rows(f'GRANT SELECT ON negentropy.{table} TO "{name}"')
        with open_session(dsn=as_role(database.dsn, name), env={}) as session:
            seen = top.Watch(session).look()
    assert seen.rows and seen.connections and seen.runs == []
    parts = {one.part: one.why for one in seen.unread}
    assert set(parts) >= {"queue", "running", "searches", "scheduler", "drift"}
    assert "consolidation_jobs" in parts["queue"]


def test_it_survives_a_connection_that_breaks(database: TestDatabase, tmp_path: Path) -> None:
    """On a terminal of its own: told, made again, ended by a key."""
    ours, theirs = pty.openpty()
    env = {
        **os.environ,
        "NEGMEM_DSN": database.dsn,
        "TERM": "xterm",
        "COLUMNS": "90",
        "LINES": "30",
    }
    command = [sys.executable, "-m", "negmem", "top", "--interval", "0.2"]
    running = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, cwd=tmp_path
    )
    os.close(theirs)
    shown = bytearray()

    def read() -> None:
        while True:
            try:
                got = os.read(ours, 65_536)
            except OSError:
                return
            shown.extend(got)

    reading = threading.Thread(target=read)
    reading.start()
    end = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name = 'negmem top'"
    )
    try:
        assert eventually(lambda: b"nobody waits" in shown, limit_s=60)
        assert eventually(lambda: bool(database.rows(end)))
        assert eventually(lambda: b"NOT CONNECTED" in shown, limit_s=30)
        assert eventually(lambda: b"connected again after" in shown, limit_s=30)
        os.write(ours, b"q")
        assert running.wait(30) == 0
        assert b"\x1b[?1049l" in shown  # the screen as it was before
    finally:
        running.kill()
        running.wait()
        reading.join(5)
        os.close(ours)


def test_a_server_that_is_away_from_the_start_is_an_error(negmem: CliRunner) -> None:
    gone = {"NEGMEM_DSN": "postgresql://nobody@127.0.0.1:9/none"}
    assert negmem("top", env=gone).code == 1
    refused = negmem("top", "--json", "--interval", "0.2", env=gone)
    assert (refused.code, refused.json["error"]["code"]) == (1, "server_unreachable")
    with open_session(dsn=gone["NEGMEM_DSN"], env={}) as session, pytest.raises(NegmemError):
        top.Watch(session).look()
