"""`doctor` on what is stored, and what `--fix` mends of it."""

from __future__ import annotations

from typing import Any

import pytest

from negmem.core.diagnostics.checks import functions
from negmem.core.diagnostics.probe import Probe
from negmem.core.diagnostics.registry import REGISTRY, Check, Found, check
from negmem.core.diagnostics.runner import choose, diagnose, run
from negmem.errors import NegmemError
from negmem.providers.embedding import EmbedderAbsent
from tests.support.databases import TestDatabase
from tests.support.doctor import area, codes, examine, finding, outcome, session_on
from tests.support.embedder import FakeEmbedder

S = "negentropy"
USER = "李雷"


def remember(database: TestDatabase, *contents: str, user: str = USER) -> list[str]:
    """Store memories with their search terms, and no vector. Returns: their ids."""
    ids = [
        str(
            database.value(
                f"INSERT INTO {S}.memories (user_id, app_name, content) VALUES (%s, 'negmem', %s)"
                " RETURNING id",
                (user, content),
            )
        )
        for content in contents
    ]
    database.rows(f"SELECT {S}.index_memories(%s, 'negmem', %s::uuid[])", (user, ids))
    return ids


def register(database: TestDatabase, embedder: FakeEmbedder) -> None:
    """Make the embedder's model the active one of the app."""
    database.rows(
        f"INSERT INTO {S}.embedding_models (app_name, id, provider, model, version, dims)"
        " VALUES ('negmem', 1, %s, %s, %s, %s)",
        (embedder.name, embedder.model, embedder.version, embedder.dims),
    )


def embed(database: TestDatabase, ids: list[str], dims: int) -> None:
    """Give memories a vector of model 1."""
    for memory_id in ids:
        database.rows(
            f"INSERT INTO {S}.memory_vectors (user_id, app_name, memory_id, model_id, bits, embedding)"
            " VALUES (%s, 'negmem', %s, 1, %s::bit varying, %s::text::halfvec)",
            (USER, memory_id, "1" * dims, "[" + ",".join(["0.5"] * dims) + "]"),
        )


def test_memories_without_vectors(database: TestDatabase) -> None:
    embedder = FakeEmbedder(8)
    register(database, embedder)
    ids = remember(database, "我在杭州出差", "Booked the sleeper train", "喜欢喝龙井茶")
    embed(database, ids[:2], 8)
    found = examine(database.dsn, embedder=embedder)
    assert codes(found) == ["embedding_missing"], found.findings
    assert "1 of 3 looked at (33.3%)" in finding(found, "embedding_missing").evidence
    assert "3 memories · 33.3% without embedding" in area(found, "data")
    found = examine(database.dsn, embedder=embedder, fix=True)
    assert (found.status, area(found, "data")) == ("healthy", "ok: 3 memories · all embedded")
    assert [r.action for r in found.repairs] == ["embedded 1 of 1 memories that had no vector"]
    assert database.value(f"SELECT count(*) FROM {S}.memory_vectors WHERE live") == 3


def test_a_text_that_the_model_refuses_is_not_tried_for_ever(database: TestDatabase) -> None:
    embedder = FakeEmbedder(8, park=["这句话"])
    register(database, embedder)
    remember(database, "这句话", "another one")
    found = examine(database.dsn, embedder=embedder, fix=True)
    assert [r.action for r in found.repairs] == ["embedded 1 of 2 memories that had no vector"]
    assert codes(found) == ["embedding_missing"]


def test_vectors_of_other_dimensions(database: TestDatabase) -> None:
    embedder = FakeEmbedder(8)
    register(database, embedder)
    embed(database, remember(database, "尺寸不对"), 6)
    found = examine(database.dsn, embedder=embedder, only=["vector_dims_differ"])
    assert "1 have other dimensions" in finding(found, "vector_dims_differ").evidence


def test_terms_of_memories_that_are_gone(database: TestDatabase) -> None:
    ids = remember(database, "the red bicycle", "蓝色的自行车", "a third one")
    database.rows(f"DELETE FROM {S}.memories WHERE id = ANY (%s::uuid[])", (ids[:2],))
    found = examine(database.dsn)
    assert codes(found) == ["orphan_terms"]
    found = examine(database.dsn, fix=True)
    assert (found.status, codes(found)) == ("healthy", [])
    assert [(r.code, r.done) for r in found.repairs] == [("orphan_terms", True)]
    assert found.repairs[0].action == "removed the terms of 2 memories that are gone"
    assert database.value(f"SELECT documents FROM {S}.memory_term_stats") == 1


def test_statistics_that_are_off(database: TestDatabase) -> None:
    remember(database, "coffee without sugar", "咖啡不加糖")
    remember(database, "tea", user="韩梅梅")
    right = database.rows(f"SELECT user_id, documents, total_len FROM {S}.memory_term_stats")
    database.rows(f"UPDATE {S}.memory_term_stats SET documents = 99, total_len = 7")
    found = examine(database.dsn)
    assert codes(found) == ["term_statistics_wrong"]
    assert "99 memories and length 7 on record" in finding(found, "term_statistics_wrong").evidence
    found = examine(database.dsn, fix=True)
    assert (found.status, found.repairs[0].action) == (
        "healthy",
        "counted the terms of 2 users, corrected 2",
    )
    after = database.rows(f"SELECT user_id, documents, total_len FROM {S}.memory_term_stats")
    assert sorted(after) == sorted(right)


def test_memories_that_no_word_finds(database: TestDatabase) -> None:
    remember(database, "indexed")
    for number in range(9):
        database.rows(
            f"INSERT INTO {S}.memories (user_id, app_name, content) VALUES (%s, 'negmem', %s)",
            (USER, f"未索引的第{number}条"),
        )
    found = examine(database.dsn)
    assert codes(found) == ["words_missing"]
    found = examine(database.dsn, fix=True)
    assert (found.status, found.repairs[0].action) == (
        "healthy",
        "indexed 9 memories by their words",
    )


def edit(database: TestDatabase, name: str) -> None:
    """Change a managed function by hand: it answers a half."""
    arguments, result = database.rows(
        "SELECT pg_get_function_arguments(oid), pg_get_function_result(oid) FROM pg_proc"
        f" WHERE proname = '{name}' AND pronamespace = '{S}'::regnamespace"
    )[0]
    database.rows(
        f"CREATE OR REPLACE FUNCTION {S}.{name}({arguments}) RETURNS {result}"
        " LANGUAGE sql IMMUTABLE AS 'SELECT 0.5::double precision'"
    )


def test_a_missing_function_comes_back_and_edits_stay(database: TestDatabase) -> None:
    database.rows(f"DROP FUNCTION {S}.rrf_score")
    edit(database, "rocchio_weight")
    found = examine(database.dsn)
    assert (found.status, found.degraded_reasons) == (
        "degraded",
        ["function_missing", "function_drifted"],
    )
    assert "rrf_score" in finding(found, "function_missing").title
    assert "rocchio_weight" in finding(found, "function_drifted").title
    assert "edited by hand" in finding(found, "function_drifted").title
    assert "1 missing · 1 drifted" in area(found, "functions")
    assert outcome(found, "function_answers_wrong") == "skipped"
    with session_on(database.dsn) as session:
        planned = diagnose(session, fix=True, dry_run=True)
    assert [(r.code, r.done) for r in planned.repairs] == [("function_missing", False)]
    assert "function_missing" in codes(examine(database.dsn))
    found = examine(database.dsn, fix=True)
    assert [(r.code, r.done) for r in found.repairs] == [("function_missing", True)]
    assert found.repairs[0].action.startswith("wrote rrf_score")
    assert codes(found) == ["function_drifted"]


def test_functions_are_outdated_when_the_config_changed(database: TestDatabase) -> None:
    database.rows(
        f"UPDATE {S}.memory_automation_configs SET config ="
        " jsonb_set(config, '{retention,decay_lambda}', '0.2')"
    )
    found = examine(database.dsn)
    assert set(codes(found)) == {"function_drifted"}
    drifted = finding(found, "function_drifted")
    assert "calculate_retention_score" in drifted.title
    assert "outdated" in drifted.title
    assert drifted.evidence.endswith("; defaults differ")
    assert examine(database.dsn, fix=True).status == "healthy"


def test_a_function_that_is_only_written_differently(database: TestDatabase) -> None:
    text = database.value(
        f"SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname = 'apply_recorded_accesses'"
        f" AND pronamespace = '{S}'::regnamespace"
    )
    database.rows(text.replace("BEGIN", "begin  -- 开始", 1).replace("%", "%%"), ())
    found = examine(database.dsn)
    assert (found.status, codes(found)) == ("healthy", [])
    assert "does the same" in finding(found, "function_drifted").title


def test_a_function_of_nobody(database: TestDatabase) -> None:
    database.rows(f"COMMENT ON FUNCTION {S}.rrf_score IS NULL")
    assert examine(database.dsn).status == "healthy"
    edit(database, "rrf_score")
    found = examine(database.dsn, only=["function_drifted"])
    assert "not written by negmem" in finding(found, "function_drifted").title


def test_a_function_that_answers_wrongly(database: TestDatabase) -> None:
    edit(database, "rrf_score")
    found = examine(database.dsn, only=["function_answers_wrong"])
    assert "rrf_score gives 0.500000, not 0.016393" in (
        finding(found, "function_answers_wrong").evidence
    )


def test_a_search_that_fails(database: TestDatabase) -> None:
    database.rows(f"ALTER TABLE {S}.memory_terms RENAME TO memory_words")
    found = examine(database.dsn)
    assert "table_missing" in codes(found)
    database.rows(f"ALTER TABLE {S}.memory_words RENAME TO memory_terms")
    database.rows(f"ALTER TABLE {S}.memory_terms RENAME COLUMN tf TO times")
    found = examine(database.dsn, only=["search_fails"])
    assert "42703" in finding(found, "search_fails").evidence


def test_a_search_that_takes_long(database: TestDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "_SLOW_SEARCH_MS", 0)
    found = examine(database.dsn, only=["search_slow"])
    assert "jit is off" in finding(found, "search_slow").evidence
    database.rows(f'ALTER DATABASE "{database.name}" SET jit = on')
    found = examine(database.dsn, only=["search_slow"])
    available = database.value("SELECT pg_jit_available()")
    assert ("jit is on" in finding(found, "search_slow").evidence) is available


def log_searches(database: TestDatabase, number: int, age: str) -> None:
    database.rows(
        f"INSERT INTO {S}.memory_retrieval_logs (user_id, app_name, query, retrieved_memory_ids,"
        " created_at) SELECT %s, 'negmem', '茶', '{}', now() - %s::interval"
        " FROM generate_series(1, %s)",
        (USER, age, number),
    )


def test_accesses_that_wait(database: TestDatabase) -> None:
    log_searches(database, 3, "1 hour")
    assert codes(examine(database.dsn), "info", "warn") == [
        "pg_cron_not_installed",
        "embedder_absent",
    ]
    log_searches(database, 1, "2 days")
    found = examine(database.dsn)
    assert (found.status, finding(found, "accesses_waiting").severity) == ("healthy", "info")
    log_searches(database, 1200, "3 days")
    found = examine(database.dsn)
    assert codes(found) == ["accesses_waiting"]
    assert "1,000 or more searches" in finding(found, "accesses_waiting").evidence
    found = examine(database.dsn, fix=True)
    assert found.repairs[0].action == "added the accesses of 1,204 searches"
    assert found.status == "healthy"


def test_a_sweep_that_was_held_back(database: TestDatabase) -> None:
    database.rows(
        f"SELECT {S}.record_automation_run('cleanup_memories', NULL, 'succeeded', 20,"
        " '180 more wait: at most 0.2 of one user''s memories in a day', now())"
    )
    found = examine(database.dsn)
    assert found.status == "healthy"
    assert "180 more wait" in finding(found, "forgetting_held_back").evidence
    assert "some wait to be forgotten" in area(found, "data")


def test_nobody_purges(database: TestDatabase) -> None:
    database.rows(
        f"INSERT INTO {S}.users (user_id, app_name) VALUES (%s, 'negmem') ON CONFLICT DO NOTHING",
        (USER,),
    )
    database.rows(
        f"INSERT INTO {S}.memories (user_id, app_name, content, deleted_at)"
        " VALUES (%s, 'negmem', '旧的', now() - interval '91 days')",
        (USER,),
    )
    assert outcome(examine(database.dsn, only=["data"]), "purge_overdue") == "ok"
    database.rows(f"UPDATE {S}.memories SET deleted_at = deleted_at - interval '2 days'")
    found = examine(database.dsn, only=["data"])
    assert finding(found, "purge_overdue").severity == "info" and found.status == "healthy"
    daily = {"retention.purge_daily": True}
    found = examine(database.dsn, overrides=daily, only=["data"])
    assert finding(found, "purge_overdue").severity == "warn"
    assert "scheduler run" in finding(found, "purge_overdue").remedy
    database.rows(f"UPDATE {S}.users SET held_at = now()")
    assert outcome(examine(database.dsn, only=["data"]), "purge_overdue") == "ok"


def test_parked_jobs(database: TestDatabase) -> None:
    database.rows(
        f"INSERT INTO {S}.consolidation_jobs (user_id, app_name, job_type, status, attempts, error,"
        " parked_at) VALUES (%s, 'negmem', 'fast_replay', 'failed', 5, '模型没有回答', now())",
        (USER,),
    )
    found = examine(database.dsn)
    assert codes(found) == ["jobs_parked"]
    assert "模型没有回答" in finding(found, "jobs_parked").evidence


def test_jobs_that_nobody_works_on(database: TestDatabase) -> None:
    database.rows(
        f"INSERT INTO {S}.consolidation_jobs (user_id, app_name, job_type, next_attempt_at)"
        " VALUES (%s, 'negmem', 'fast_replay', now() - interval '2 days')",
        (USER,),
    )
    found = examine(database.dsn)
    assert found.status == "healthy"
    assert finding(found, "jobs_waiting").evidence.startswith("1 jobs, the oldest due since")


def test_no_embedder_is_told_and_not_counted(database: TestDatabase) -> None:
    found = examine(database.dsn)
    assert finding(found, "embedder_absent").severity == "info"
    assert area(found, "providers") == "ok: keyword search only"


def test_vectors_that_nothing_can_ask_for(database: TestDatabase) -> None:
    register(database, FakeEmbedder(8))
    embed(database, remember(database, "有向量"), 8)
    found = examine(database.dsn)
    assert codes(found) == ["embedder_absent"]
    assert "can't be searched" in finding(found, "embedder_absent").title


def test_an_embedder_that_was_asked_for_and_is_not_there(database: TestDatabase) -> None:
    overrides = {"embedding.provider": "local"}
    absent = EmbedderAbsent("embedder_not_installed", "not installed", hint="pip install x")
    found = examine(database.dsn, embedder=absent, overrides=overrides)
    assert codes(found) == ["embedder_absent"]
    assert finding(found, "embedder_absent").remedy == "pip install x"


@pytest.mark.parametrize(
    ("change", "field"),
    [({"model": "another"}, "model"), ({"version": "2"}, "version"), ({"dims": 16}, "dims")],
)
def test_another_model_than_the_stored_one(
    database: TestDatabase, change: dict[str, Any], field: str
) -> None:
    register(database, FakeEmbedder(8))
    found = examine(database.dsn, embedder=FakeEmbedder(**{"dims": 8, **change}))
    assert codes(found) == ["embedder_differs"]
    assert field in finding(found, "embedder_differs").evidence


def test_an_embedder_that_fails(database: TestDatabase) -> None:
    embedder = FakeEmbedder(8)
    register(database, embedder)
    embedder.fail = NegmemError("embedder_failed", "no answer", why="out of memory", hint="x")
    found = examine(database.dsn, embedder=embedder)
    assert codes(found) == ["embedder_fails"]
    assert finding(found, "embedder_fails").evidence == "no answer: out of memory"


def test_a_hosted_embedder_is_not_called(database: TestDatabase) -> None:
    embedder = FakeEmbedder(8, name="litellm")
    register(database, embedder)
    overrides = {
        "embedding.provider": "litellm",
        "embedding.model": "hashed-words",
        "embedding.api_key_env": "NEGMEM_NO_SUCH_KEY",
    }
    found = examine(database.dsn, embedder=embedder, overrides=overrides)
    assert codes(found) == ["embedder_key_missing"]
    assert embedder.calls == []
    assert "hosted, not called" in area(found, "providers")


def test_the_clock_is_compared(database: TestDatabase) -> None:
    with session_on(database.dsn) as session:
        import time

        for hours, side in ((2, "behind"), (-2, "ahead of")):
            probe = Probe(session, wall_clock=lambda h=hours: time.time() + h * 3600)
            found = run(probe, choose(["clock_differs"]), 0.0)
            assert codes(found) == ["clock_differs"]
            assert f"7,200.0 s {side}" in finding(found, "clock_differs").evidence


def test_a_check_that_crashes_is_a_finding(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(probe: Probe) -> None:
        raise ZeroDivisionError("七除以零")

    broken = Check("config_missing", "schema", "crashes", crash)
    monkeypatch.setitem(REGISTRY.checks, "config_missing", broken)
    found = examine(database.dsn)
    assert codes(found) == ["check_failed"]
    assert "ZeroDivisionError: 七除以零" in finding(found, "check_failed").evidence
    assert outcome(found, "stored_config_invalid") == "skipped"


def test_a_check_that_takes_too_long_is_a_finding(database: TestDatabase) -> None:
    holder = database.connect(autocommit=False)
    holder.execute(f"LOCK TABLE {S}.consolidation_jobs IN ACCESS EXCLUSIVE MODE".encode())
    found = examine(database.dsn, overrides={"doctor.check_timeout_ms": 500}, only=["data"])
    holder.rollback()
    late = [f for f in found.findings if f.code == "check_timed_out"]
    assert "negmem doctor --only jobs_parked -vv" in [f.remedy for f in late]
    assert outcome(found, "jobs_parked") == "crashed"
    assert outcome(found, "forgetting_held_back") == "ok"


def test_a_connection_that_breaks_ends_the_look(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(probe: Probe) -> None:
        pid = probe.row("capabilities", "backend")["backend_pid"]
        database.rows("SELECT pg_terminate_backend(%s)", (pid,))
        probe.row("capabilities", "backend")

    monkeypatch.setitem(
        REGISTRY.checks, "letters_lost", Check("letters_lost", "connection", "", cut)
    )
    found = examine(database.dsn)
    assert (found.status, found.degraded_reasons[0]) == ("unusable", "connection_lost")


def test_two_checks_may_not_share_a_code() -> None:
    with pytest.raises(ValueError, match="two checks have the code schema_missing"):

        @check("schema_missing", "schema")
        def again(probe: Probe) -> Found | None:
            """Nothing."""
            return None
