"""What `diff` sees of functions and what `sync` does about it, on each server version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from negmem.core.automation.sync import Consent, diff, sync
from negmem.core.models.change import Change
from negmem.core.session import Session, open_session
from negmem.errors import NegmemError
from tests.support.databases import TestDatabase

EVERY_VERSION = pytest.mark.servers("embedded", "full", "sixteen", "pooled")
UNSTAMP = """
    DO $$
    DECLARE f record;
    BEGIN
        FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc AS p
            WHERE p.pronamespace = 'negentropy'::regnamespace
        LOOP
            EXECUTE format('COMMENT ON FUNCTION %s IS NULL', f.name);
        END LOOP;
    END $$
"""
RRF = "negentropy.rrf_score(p_rank bigint, p_k integer DEFAULT 60)"
RRF_BODY = """
    SELECT CASE WHEN p_rank >= 1 THEN 1 / (GREATEST(0, p_k) + p_rank)::float8 ELSE 0 END
"""


@pytest.fixture
def session(database: TestDatabase) -> Iterator[Session]:
    with open_session(dsn=database.dsn, env={}) as opened:
        yield opened


def only(changes: list[Change]) -> Change:
    assert len(changes) == 1, [change.name for change in changes]
    return changes[0]


@EVERY_VERSION
def test_nothing_differs_after_init_and_after_sync(session: Session) -> None:
    found = diff(session)
    assert (found.drift, found.changes, found.unmanaged) == (False, [], [])
    report = sync(session)
    assert (report.applied, report.skipped, report.degraded_reasons) == ([], [], [])
    assert report.unchanged == found.unchanged > 30


@EVERY_VERSION
def test_what_the_server_says_of_each_function_is_what_stands(
    session: Session, database: TestDatabase
) -> None:
    """Without stamps every function is compared in full, in pg_temp: no false alarm."""
    database.rows(UNSTAMP)
    found = diff(session)
    assert (found.drift, found.changes) == (False, [])
    assert sync(session).applied == []
    stamped = database.value(
        "SELECT bool_and(obj_description(oid, 'pg_proc') LIKE '%[negmem %')"
        " FROM pg_proc WHERE pronamespace = 'negentropy'::regnamespace"
    )
    assert stamped
    assert database.value("SELECT count(*) FROM pg_namespace WHERE nspname = 'pg_temp_1'") <= 1


CHANGES = {
    "body": f"CREATE OR REPLACE FUNCTION {RRF} RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE"
    " AS $$ SELECT 0.5::float8 $$",
    "default": "CREATE OR REPLACE FUNCTION negentropy.rrf_score(p_rank bigint, p_k integer"
    f" DEFAULT 61) RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $${RRF_BODY}$$",
    "volatility": "ALTER FUNCTION negentropy.rrf_score VOLATILE",
    "parallel": "ALTER FUNCTION negentropy.rrf_score PARALLEL UNSAFE",
    "strict": "ALTER FUNCTION negentropy.rrf_score STRICT",
    "security": "ALTER FUNCTION negentropy.rrf_score SECURITY DEFINER",
    "leakproof": "ALTER FUNCTION negentropy.rrf_score LEAKPROOF",
    "settings": "ALTER FUNCTION negentropy.rrf_score SET search_path = public",
    "language": f"CREATE OR REPLACE FUNCTION {RRF} RETURNS float8 LANGUAGE plpgsql IMMUTABLE"
    " PARALLEL SAFE AS $$ BEGIN RETURN 1; END $$",
    "result": f"DROP FUNCTION negentropy.rrf_score; CREATE FUNCTION {RRF} RETURNS real"
    f" LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $${RRF_BODY}$$",
    "parameter": "DROP FUNCTION negentropy.rrf_score; CREATE FUNCTION negentropy.rrf_score(p_rank"
    " bigint, p_const integer DEFAULT 60) RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE"
    " AS $$ SELECT 1.0::float8 $$",
    "types": "DROP FUNCTION negentropy.rrf_score; CREATE FUNCTION negentropy.rrf_score(p_rank"
    " integer, p_k integer DEFAULT 60) RETURNS float8 LANGUAGE sql AS $$ SELECT 1.0::float8 $$",
    "more defaults": "CREATE OR REPLACE FUNCTION negentropy.rrf_score(p_rank bigint DEFAULT 1, p_k"
    f" integer DEFAULT 60) RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $${RRF_BODY}$$",
    "search path of a writer": "ALTER FUNCTION negentropy.forget_memories RESET search_path",
    "standard body": "CREATE OR REPLACE FUNCTION negentropy.index_terms(p_speaker text, p_content"
    " text, p_occurred_at timestamptz) RETURNS TABLE (term text, tf smallint, len integer)"
    " LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 25 AS $$ SELECT 'x', 1::smallint, 1 $$",
    "missing": "DROP FUNCTION negentropy.proactive_rank",
}


def test_each_manual_change_is_put_right_by_itself(
    session: Session, database: TestDatabase
) -> None:
    for name, statement in CHANGES.items():
        database.rows(statement)
        found = diff(session)
        assert found.drift, name
        change = only(found.changes)
        assert change.significance == "semantic", name
        is_missing = name in ("missing", "types")
        assert change.state == ("missing" if is_missing else "drifted"), name
        if not is_missing:
            assert change.before != change.after, name
            was_dropped = name in ("result", "parameter")
            assert change.reason == ("unmanaged" if was_dropped else "edited"), name
            assert only(list(sync(session).skipped)).name == change.name
            assert diff(session).drift, name
        if name == "types":
            # A form of the name that is not negmem's: shown, left alone, the wanted one is made.
            assert [thing.name for thing in found.unmanaged] == ["rrf_score(integer, integer)"]
        report = sync(session, Consent(overwrite_edited=True))
        assert only(report.applied).name == change.name
        after = diff(session)
        assert (after.drift, after.changes) == (False, []), name
        database.rows("DROP FUNCTION IF EXISTS negentropy.rrf_score(integer, integer)")


def test_a_file_run_by_hand_is_taken_over(session: Session, database: TestDatabase) -> None:
    """A DBA may run sql/functions with psql: same definition, so nothing is to be done."""
    from negmem.config.model import Automation
    from negmem.db import functions

    values = functions.variables(Automation().model_dump(mode="json"), "negentropy", "public")
    database.rows("DROP FUNCTION negentropy.rrf_score")
    database.rows(str(functions.rendered(values)["rrf_score"]))
    assert not diff(session).drift
    assert sync(session).applied == []


def test_an_older_negmem_wrote_it(session: Session, database: TestDatabase) -> None:
    """Stamped as written and not as this program has it: outdated, and put right without a word."""
    from negmem.db.function_catalog import Stamp, live_functions

    database.rows(CHANGES["body"])
    with session.database.transaction() as connection:
        live = next(
            f
            for f in live_functions(session.database, connection)
            if f.definition.name == "rrf_score"
        )
        comment = Stamp("0.0.9", "0" * 16, live.definition.digest).comment("older")
        connection.execute(f"COMMENT ON FUNCTION negentropy.rrf_score IS '{comment}'".encode())
    change = only(diff(session).changes)
    assert (change.reason, change.action) == ("outdated", "update")
    assert "negmem 0.0.9" in change.detail
    assert only(sync(session).applied).name == change.name
    assert not diff(session).drift


def test_a_changed_config_moves_the_defaults(session: Session, database: TestDatabase) -> None:
    database.rows(
        "UPDATE negentropy.memory_automation_configs"
        " SET config = jsonb_set(config, '{retention,low_retention_threshold}', '0.05')"
    )
    found = diff(session)
    assert {c.reason for c in found.changes} == {"outdated"}
    assert {tuple(c.differences) for c in found.changes} == {("defaults",)}
    assert {c.name.partition("(")[0] for c in found.changes} == {
        "cleanup_low_value_memories",
        "retention_crossing_time",
        "retention_settings",
    }
    sync(session)
    assert not diff(session).drift
    assert "0.05" in database.value(
        "SELECT pg_get_function_arguments('negentropy.cleanup_low_value_memories'::regproc)"
    )


def test_owner_and_grants_survive_a_replace(session: Session, database: TestDatabase) -> None:
    database.rows("CREATE ROLE negmem_t_reader; CREATE ROLE negmem_t_owner")
    try:
        database.rows(CHANGES["result"])
        database.rows(
            "REVOKE ALL ON FUNCTION negentropy.rrf_score FROM PUBLIC;"
            " GRANT EXECUTE ON FUNCTION negentropy.rrf_score TO negmem_t_reader WITH GRANT OPTION;"
            " ALTER FUNCTION negentropy.rrf_score OWNER TO negmem_t_owner"
        )
        access = (
            "SELECT proowner::regrole::text, proacl::text FROM pg_proc"
            " WHERE proname = 'rrf_score' AND pronamespace = 'negentropy'::regnamespace"
        )
        before = database.rows(access)
        applied = sync(session, Consent(overwrite_edited=True)).applied
        assert [(c.reason, c.action) for c in applied] == [
            ("unmanaged", "replace"),
            ("owner_changed", "update"),
            ("grants_changed", "update"),
        ]
        assert database.rows(access) == before
        assert before[0][0] == "negmem_t_owner"
        assert [w["code"] for w in session.warnings] == ["access_recorded"] * 2
        assert not diff(session).drift
    finally:
        database.rows("DROP OWNED BY negmem_t_owner, negmem_t_reader")
        database.rows("DROP ROLE negmem_t_reader; DROP ROLE negmem_t_owner")


def test_what_depends_on_a_dropped_form_stops_everything(
    session: Session, database: TestDatabase
) -> None:
    database.rows(CHANGES["result"])
    database.rows("CREATE VIEW public.ranks AS SELECT negentropy.rrf_score(1)")
    database.rows(CHANGES["missing"])
    with pytest.raises(NegmemError) as refused:
        sync(session, Consent(overwrite_edited=True))
    assert refused.value.code == "function_has_dependents"
    assert "view ranks" in refused.value.why or "view public.ranks" in refused.value.why
    assert len(diff(session).changes) == 2


def test_the_overwritten_text_is_kept(session: Session, database: TestDatabase) -> None:
    database.rows(CHANGES["body"])
    sync(session, Consent(overwrite_edited=True))
    name, definition, reason = database.rows(
        "SELECT name, definition, reason FROM negentropy.replaced_definitions"
    )[0]
    assert (name, reason) == ("rrf_score(bigint, integer)", "edited")
    assert "SELECT 0.5::float8" in definition


def written_once(session: Session, database: TestDatabase, name: str) -> None:
    """A function without parameters that an earlier version wrote."""
    from negmem.db.function_catalog import Stamp, live_functions

    database.rows(f"CREATE FUNCTION negentropy.{name}() RETURNS integer LANGUAGE sql AS 'SELECT 1'")
    with session.database.transaction() as connection:
        live = next(
            f
            for f in live_functions(session.database, connection)
            if f.definition.signature == f"{name}()"
        )
        comment = Stamp("0.0.9", "0" * 16, live.definition.digest).comment("older")
        connection.execute(f"COMMENT ON FUNCTION negentropy.{name}() IS '{comment}'".encode())


def test_a_function_no_longer_shipped_goes_with_prune_only(
    session: Session, database: TestDatabase
) -> None:
    written_once(session, database, "once_wanted")
    change = only(diff(session).changes)
    assert (change.reason, change.action) == ("leftover", "delete")
    assert only(list(sync(session).skipped)).name == "once_wanted()"
    assert only(sync(session, Consent(prune=True)).applied).name == "once_wanted()"
    assert not diff(session).drift


@pytest.mark.parametrize("act", ["sync", "install"])
def test_the_old_form_of_a_function_goes_when_the_new_one_comes(
    session: Session, database: TestDatabase, act: str
) -> None:
    from negmem.core import installation
    from negmem.providers.embedding import EmbedderAbsent

    database.rows("DROP FUNCTION negentropy.rrf_score")
    written_once(session, database, "rrf_score")
    written_once(session, database, "once_wanted")
    session.use_embedder(EmbedderAbsent("embedder_none", "not needed"))
    sync(session) if act == "sync" else installation.install(session)
    assert [change.name for change in diff(session).changes] == ["once_wanted()"]


def test_init_again_leaves_hand_edits_and_makes_what_is_missing(
    session: Session, database: TestDatabase
) -> None:
    from negmem.core import installation
    from negmem.providers.embedding import EmbedderAbsent

    database.rows(CHANGES["body"])
    database.rows(CHANGES["missing"])
    session.use_embedder(EmbedderAbsent("embedder_none", "none here"))
    installation.install(session)
    assert only(diff(session).changes).name == "rrf_score(bigint, integer)"


def test_a_dry_run_writes_nothing(session: Session, database: TestDatabase) -> None:
    database.rows(CHANGES["missing"])
    report = sync(session, dry_run=True)
    assert [change.name for change in report.applied] == ["proactive_rank"]
    assert only(diff(session).changes).state == "missing"


def test_nothing_to_do_writes_nothing_and_asks_little(session: Session) -> None:
    asked: list[str] = []
    written: list[object] = []

    class CountingCursor(psycopg.Cursor[Any]):
        def execute(self, query: Any, *arguments: Any, **options: Any) -> Any:
            if "COMMIT" in str(query):
                super().execute("SELECT pg_current_xact_id_if_assigned()")
                written.append(self.fetchone())
            asked.append(str(query))
            return super().execute(query, *arguments, **options)

    session.database.connection.cursor_factory = CountingCursor
    assert sync(session).applied == []
    assert written == [(None,)]
    assert len(asked) <= 12, asked


def test_a_server_that_takes_no_writes_compares_bodies_and_says_so(
    database: TestDatabase,
) -> None:
    database.rows(CHANGES["body"])
    database.rows(CHANGES["missing"])
    database.rows(f'ALTER DATABASE "{database.name}" SET default_transaction_read_only = on')
    with open_session(dsn=database.dsn, env={}) as session:
        found = diff(session)
        assert {(c.name.partition("(")[0], c.state) for c in found.changes} == {
            ("rrf_score", "drifted"),
            ("proactive_rank", "missing"),
        }
        assert [warning["code"] for warning in session.warnings] == ["comparison_reduced"]


def test_a_role_without_temp_compares_bodies_and_says_so(database: TestDatabase) -> None:
    database.rows(CHANGES["volatility"])
    database.rows(CHANGES["missing"])
    database.rows("CREATE ROLE negmem_t_auditor LOGIN")
    try:
        database.rows(
            f'REVOKE TEMPORARY ON DATABASE "{database.name}" FROM PUBLIC;'
            " GRANT USAGE ON SCHEMA negentropy TO negmem_t_auditor;"
            " GRANT SELECT ON ALL TABLES IN SCHEMA negentropy TO negmem_t_auditor"
        )
        dsn = database.dsn.replace("negmem@", "negmem_t_auditor@", 1)
        with open_session(dsn=dsn, env={}) as session:
            found = diff(session)
            assert [c.state for c in found.changes] == ["missing"]
            assert [warning["code"] for warning in session.warnings] == ["comparison_reduced"]
            with pytest.raises(NegmemError) as refused:
                sync(session)
            assert refused.value.code in ("function_not_owned", "privilege_missing")
    finally:
        database.rows("DROP OWNED BY negmem_t_auditor; DROP ROLE negmem_t_auditor")
