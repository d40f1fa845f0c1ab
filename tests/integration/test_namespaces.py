"""Namespaces: roles given and taken, and the one rule that says who may read and write."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from negmem.core.automation.sync import diff, sync
from negmem.core.learning import entities, learnings, namespaces
from negmem.core.learning.access import Owner, access_of, owner_of, reach
from negmem.errors import NegmemError, UsageError
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.ingesting import session_on

GLOBAL, SALES = Owner("global", ""), Owner("team", "销售")


def test_the_rule_follows_every_grant_and_the_yaml(database: TestDatabase) -> None:
    with session_on(database) as session:
        assert namespaces.create(session, "销售", admin="王芳").changed
        assert not namespaces.create(session, "销售").changed
        assert namespaces.create(session, "ops", dry_run=True).changed
        with pytest.raises(NegmemError) as raised:
            namespaces.create(session, "销售", admin="mallory")
        assert raised.value.code == "namespace_exists"
        assert namespaces.grant(session, "销售", "bob").previous_role is None
        assert not namespaces.grant(session, "销售", "bob").changed
        mine, his, hers = (access_of(session, who) for who in ("bob", "mallory", "王芳"))
        assert mine.may(SALES, "read") and not mine.may(SALES, "write")
        assert hers.may(SALES, "write") and not his.may(SALES, "read")
        assert his.may(GLOBAL, "write") and his.may(Owner("user", "mallory"), "write")
        assert not his.may(Owner("user", "bob"), "read")
        assert access_of(session, None).readable == [GLOBAL]
        assert reach(session, "bob", "all", "read") == [Owner("user", "bob"), SALES, GLOBAL]
        for user, team in (("mallory", "销售"), ("mallory", "no such team")):
            with pytest.raises(NegmemError) as raised:
                reach(session, user, team, "read")
            assert raised.value.code == "namespace_denied"
        assert namespaces.grant(session, "销售", "bob", role="writer").previous_role == "reader"
        assert access_of(session, "bob").may(SALES, "write")
        assert namespaces.revoke(session, "销售", "bob").changed
        assert not namespaces.revoke(session, "销售", "bob").changed
        assert not access_of(session, "bob").may(SALES, "read")
        listed = namespaces.list_namespaces(session)
        assert [(one.name, [m.user for m in one.members]) for one in listed.namespaces] == [
            ("global", []),
            ("销售", ["王芳"]),
        ]
        for act in (
            lambda: namespaces.create(session, "global"),
            lambda: namespaces.grant(session, "user", "bob"),
            lambda: namespaces.grant(session, "销售", "bob", role="owner"),
            lambda: owner_of(None, "销售"),
            lambda: reach(session, "bob", "all", "write"),
        ):
            with pytest.raises(UsageError):
                act()
        with pytest.raises(NegmemError) as raised:
            namespaces.grant(session, "nobody's", "bob")
        assert raised.value.code == "namespace_unknown"
    with session_on(database, **{"learning.global_access": "read"}) as session:
        assert access_of(session, "bob").may(GLOBAL, "read")
        assert not access_of(session, "bob").may(GLOBAL, "write")
        namespaces.grant(session, "global", "bob", role="writer")
        assert access_of(session, "bob").may(GLOBAL, "write")
    with session_on(database, **{"learning.global_access": "members"}) as session:
        assert access_of(session, "bob").may(GLOBAL, "write")
        assert not access_of(session, "mallory").may(GLOBAL, "read")
        assert access_of(session, None).readable == []
    with session_on(database, **{"connection.app": "other"}) as session:
        assert not access_of(session, "王芳").may(SALES, "read")


def test_made_once_by_many_and_as_typed(database: TestDatabase, negmem: CliRunner) -> None:
    def make(number: int) -> bool:
        with session_on(database) as session:
            made = namespaces.create(session, "ops").changed
            namespaces.grant(session, "ops", f"user{number % 4}", role="writer")
            return made

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(make, range(32))) == 1
    found = negmem("namespace", "list", "--user", "user1", "--json").ok().json
    assert found["schema"] == "negmem.namespace.list/1"
    assert [one["name"] for one in found["namespaces"]] == ["ops"]
    assert len(found["namespaces"][0]["members"]) == 4
    assert (
        "would be writer"
        in negmem("namespace", "grant", "ops", "李雷", "--role", "writer", "--dry-run").ok().stdout
    )
    assert (
        "李雷 in ops: writer"
        in negmem("namespace", "grant", "ops", "李雷", "--role", "writer").stdout
    )
    assert "taken away" in negmem("namespace", "revoke", "ops", "李雷").ok().stdout
    assert negmem("namespace", "create", "user").code == 2
    assert "李雷" not in negmem("namespace", "list").ok().stdout


def test_functions_called_from_sql_keep_to_what_is_declared_of_global(
    database: TestDatabase,
) -> None:
    with session_on(database) as session:
        learnings.save(
            session, None, title="苍鹭", learning="herons nest in the reeds 苍鹭在芦苇里筑巢"
        )
        entities.add(session, None, "heron", entity_type="bird", name="苍鹭")
        namespaces.grant(session, "global", "bob", role="reader")

    def seen(user: str, app: str = "negmem") -> set[str]:
        window = database.rows(
            "SELECT context_type FROM negentropy.get_context_window(%s, %s, '苍鹭 herons', NULL)",
            [user, app],
        )
        found = database.rows(
            "SELECT 'search' FROM negentropy.search_shared_items(%s, '{global}', '{\"\"}', 'learning',"
            " 'herons', p_user_id => %s)",
            [app, user],
        )
        return {kind for (kind,) in (*window, *found)} & {"entity", "knowledge", "search"}

    everything = {"entity", "knowledge", "search"}
    assert seen("mallory") == everything
    with session_on(database, **{"learning.global_access": "members"}) as session:
        told = {change.name: (change.before, change.after) for change in diff(session).changes}
        assert told == {"learning.global_access": ("write", "members")}
        assert sync(session, dry_run=True).applied and seen("mallory") == everything
        assert [change.name for change in sync(session).applied] == ["learning.global_access"]
        assert not diff(session).drift
    assert (seen("mallory"), seen("bob")) == (set(), everything)
    nobody = database.rows(
        "SELECT id FROM negentropy.search_shared_items('negmem', '{global}', '{\"\"}', 'learning', 'herons')"
    )
    assert nobody == []
    # Another app without a config of its own keeps to the main app's.
    database.rows("UPDATE negentropy.learnings SET app_name = 'other'")
    database.rows("UPDATE negentropy.shared_terms SET app_name = 'other'")
    database.rows("UPDATE negentropy.shared_term_stats SET app_name = 'other'")
    assert seen("mallory", "other") == set()
    with session_on(database, **{"learning.global_access": "read"}) as session:
        sync(session)
    assert seen("mallory", "other") == {"knowledge", "search"}
