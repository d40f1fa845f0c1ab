"""`negmem consolidate` as typed: exit codes, answers, Ctrl-C, a worker that was killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from negmem.errors import NegmemError
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.ingesting import conversation
from tests.support.signals import hear_interrupts
from tests.support.waiting import eventually

ROOT = Path(__file__).parents[2]
S = "negentropy"
KEYS = {"jobs", "memories", "facts", "conflicts", "links", "duplicates_merged", "llm"}


def ingest(negmem: CliRunner, *texts: str, thread: str = "t") -> None:
    session = conversation(thread, *texts, user="alice")
    negmem("ingest", "-", stdin=json.dumps(session, ensure_ascii=False)).ok()


def test_what_was_said_becomes_facts(negmem: CliRunner) -> None:
    ingest(negmem, "I live in Berlin. I don't like coffee.", "Noted.", "我最喜欢的茶是龙井。")
    planned = negmem("consolidate", "--dry-run", "--json").ok().json
    assert (planned["queue"]["due"], planned["planned"][0]["thread"]) == (1, "t")
    done = negmem("consolidate", "--json").ok().json
    assert done.keys() >= KEYS
    assert done["jobs"] == {
        "done": 1,
        "failed": 0,
        "skipped": 0,
        "parked": 0,
        "released": 0,
        "lost": 0,
    }
    assert done["facts"] == 3
    assert done["llm"].items() >= {"calls": 0, "tokens": 0, "fallbacks": 0}.items()
    again = negmem("consolidate").ok()
    assert "queue     empty" in again.stdout
    listed = negmem("consolidate", "--list", "--json").ok().json
    assert listed["jobs"][0]["steps"]["fact_extract"]["counts"]["facts"] == 3
    full = (
        negmem("consolidate", "--job", "full_consolidation", "--workers", "2", "--json").ok().json
    )
    assert (full["queued"], full["jobs"]["done"], full["facts"]) == (1, 1, 0)
    assert "--again" in negmem("consolidate", "--job", "full_consolidation").ok().stderr
    nobody = negmem("consolidate", "--user", "nobody", "--json").ok().json
    assert [warning["code"] for warning in nobody["warnings"]] == ["user_unknown"]


def test_parked_jobs_are_told_with_their_reason(negmem: CliRunner, database: TestDatabase) -> None:
    ingest(negmem, "a", "b")
    database.rows(
        f"UPDATE {S}.consolidation_jobs SET status = 'failed', parked_at = now(), attempts = 5,"
        " error = 'fact_extract: 说不出'"
    )
    found = negmem("consolidate")
    assert (found.code, "1 parked" in found.stdout) == (3, True)
    listed = negmem("consolidate", "--list", "--state", "parked")
    assert (listed.code, "fact_extract: 说不出" in listed.stdout) == (3, True)
    assert "would do  1 jobs" in negmem("consolidate", "--retry", "--dry-run").stdout
    retried = negmem("consolidate", "--retry", "--json").ok().json
    assert (retried["retried"], retried["queue"]["parked"]) == (1, 0)
    assert retried["jobs"]["done"] + retried["jobs"]["skipped"] == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--thread", "t"], "user_missing"),
        (["--user", "alice", "--thread", "nowhere"], "thread_unknown"),
        (["--job", "cleanup_memories"], "job_unknown"),
        (["--again"], "job_missing"),
        (["--extractor", "llm"], "llm_model_unset"),
        (["--extractor", "魔法"], "extractor_unknown"),
        (["--list", "--state", "lost"], "job_state_unknown"),
    ],
)
def test_what_can_not_be_meant_is_refused(
    negmem: CliRunner, arguments: list[str], code: str
) -> None:
    ingest(negmem, "a")
    result = negmem("consolidate", *arguments, "--json")
    assert (result.code, result.json["error"]["code"]) == (2, code)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_ended_is_finished_by_the_next(
    negmem: CliRunner, database: TestDatabase, number: signal.Signals
) -> None:
    ingest(negmem, "I live in Berlin.", "Noted.")
    holder = database.connect(autocommit=False)
    holder.execute(f"LOCK TABLE {S}.facts IN ACCESS EXCLUSIVE MODE".encode())
    process = subprocess.Popen(
        [sys.executable, "-m", "negmem.cli", "consolidate", "--json"],
        stdout=subprocess.PIPE,
        env=negmem.environment({"PYTHONPATH": str(ROOT)}),
        cwd=negmem.cwd,
        preexec_fn=hear_interrupts,
    )
    # What is read before the first job waits for the same lock: the job must have begun.
    waits = (
        f"SELECT count(*) FROM pg_locks, {S}.consolidation_jobs AS j"
        f" WHERE NOT granted AND relation = '{S}.facts'::regclass AND j.status = 'running'"
    )
    assert eventually(lambda: database.value(waits) > 0, limit_s=60)
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    holder.rollback()
    jobs = f"SELECT status, attempts FROM {S}.consolidation_jobs"
    if number == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
        assert database.rows(jobs) == [("running", 1)]
    else:
        assert process.returncode == 130
        answer = json.loads(out)
        assert (answer["interrupted"], answer["jobs"]["released"]) == (True, 1)
        assert database.rows(jobs) == [("pending", 0)]
    assert negmem("consolidate", "--json").ok().json["jobs"]["done"] == 1
    assert database.value(f"SELECT count(*) FROM {S}.facts") == 1


def test_the_api_has_the_same(database: TestDatabase) -> None:
    import negmem

    with negmem.connect(database.dsn) as memory:
        memory.ingest([conversation("t", "My name is Mei.", "Hello.")], user="alice")
        assert memory.consolidate(user="alice").facts == 1
        assert memory.consolidation.list(user="alice").jobs[0].state == "completed"
        with pytest.raises(NegmemError, match="no job"):
            memory.consolidate(job="cleanup_memories")
