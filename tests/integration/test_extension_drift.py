"""pgvector out of date, moved or gone, and a server that takes no writes: what `diff` and `sync` say."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from negmem.core.automation.sync import diff, sync
from negmem.core.session import Session, open_session
from negmem.errors import NegmemError
from tests.support.databases import TestDatabase
from tests.support.standby import Standby


@pytest.fixture
def session(database: TestDatabase) -> Iterator[Session]:
    with open_session(dsn=database.dsn, env={}) as opened:
        yield opened


def test_an_older_pgvector_is_brought_up_by_sync(session: Session, database: TestDatabase) -> None:
    available = database.value(
        "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'"
    )
    database.rows("UPDATE pg_extension SET extversion = '0.8.0' WHERE extname = 'vector'")
    change = diff(session).changes[0]
    assert (change.kind, change.reason, change.action) == ("extension", "outdated", "update")
    assert (change.before, change.after) == ("0.8.0", available)
    assert [c.name for c in sync(session).applied] == ["vector"]
    installed = database.value("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    assert installed == available
    assert diff(session).changes == []


def test_an_update_that_fails_is_told_and_leaves_nothing_half_done(
    session: Session, database: TestDatabase
) -> None:
    """The scripts of the extension find what they would make."""
    database.rows("UPDATE pg_extension SET extversion = '0.5.0' WHERE extname = 'vector'")
    database.rows("DROP FUNCTION negentropy.proactive_rank")
    with pytest.raises(NegmemError) as refused:
        sync(session)
    assert refused.value.code == "extension_not_updated"
    assert [c.name for c in diff(session).changes] == ["vector", "proactive_rank"]


def test_who_does_not_own_pgvector_is_told_the_statement(
    session: Session, database: TestDatabase
) -> None:
    database.rows("UPDATE pg_extension SET extversion = '0.8.0' WHERE extname = 'vector'")
    database.rows("CREATE ROLE negmem_t_operator LOGIN; GRANT negmem_t_operator TO CURRENT_USER")
    try:
        database.rows(
            "GRANT USAGE ON SCHEMA negentropy TO negmem_t_operator;"
            " GRANT SELECT ON ALL TABLES IN SCHEMA negentropy TO negmem_t_operator"
        )
        dsn = database.dsn.replace("negmem@", "negmem_t_operator@", 1)
        with open_session(dsn=dsn, env={}) as own:
            (skipped,) = sync(own).skipped
            assert (skipped.kind, skipped.hint) == ("extension", "ALTER EXTENSION vector UPDATE;")
    finally:
        database.rows("DROP OWNED BY negmem_t_operator; DROP ROLE negmem_t_operator")


@pytest.mark.servers("embedded", "sixteen")
def test_the_functions_follow_a_pgvector_that_moved(
    session: Session, database: TestDatabase
) -> None:
    database.rows("CREATE SCHEMA elsewhere; ALTER EXTENSION vector SET SCHEMA elsewhere")
    found = diff(session)
    reasons = {(change.kind, change.reason) for change in found.changes}
    assert reasons == {("extension", "moved"), ("function", "outdated")}
    sync(session)
    assert diff(session).changes == []
    assert "elsewhere" in database.value(
        "SELECT proconfig::text FROM pg_proc WHERE proname = 'hybrid_search'"
    )


def test_without_pgvector_diff_still_answers_and_sync_refuses(
    session: Session, database: TestDatabase
) -> None:
    database.rows("DROP EXTENSION vector CASCADE")
    found = diff(session)
    assert ("extension", "vector", "missing") in {(c.kind, c.name, c.reason) for c in found.changes}
    with pytest.raises(NegmemError):
        sync(session)


def test_a_standby_compares_what_it_can_and_says_so() -> None:
    standby = Standby()
    try:
        dsn = standby.up()
        with open_session(dsn=dsn, env={}) as session:
            found = diff(session)
            assert (found.drift, found.changes, session.warnings) == (False, [], [])
            with pytest.raises(NegmemError) as refused:
                sync(session)
            assert refused.value.code == "read_only_server"
            assert sync(session, dry_run=True).applied == []
    finally:
        standby.down()
