"""Everything that people do to a database by hand is found, named and classed; what is harmless is not.

The table is tests/support/alterations.py. Each line runs in a transaction that is rolled back, so that one
database serves them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from negmem.core.automation.plan import Plan, make_plan
from negmem.core.automation.sync import Consent, diff, sync
from negmem.core.models.change import Change
from negmem.core.session import Session, open_session
from tests.support.alterations import (
    CONFIG,
    COSMETIC,
    EXTENSIONS,
    FUNCTIONS,
    INDEXES,
    UNSEEN,
    Alteration,
    Edit,
)
from tests.support.databases import TestDatabase

YAML = """
embedding: {provider: litellm, model: text-embedding-3-small, dims: 384}
automation:
  retention:
    low_retention_threshold: 0.1
    min_age_days: 8
    auto_cleanup_enabled: false
  consolidation: {schedule: "0 * * * *", lookback_interval: 1 hour}
  context_assembler: {max_tokens: 4000}
"""
MODEL = """
    INSERT INTO negentropy.embedding_models (app_name, id, provider, model, version, dims, status, calibration)
    VALUES ('negmem', 1, 'litellm', 'text-embedding-3-small', '1', 384, 'active', '{}')
"""
EVERYTHING = (*FUNCTIONS, *INDEXES, *EXTENSIONS, *CONFIG)


@pytest.fixture
def session(database: TestDatabase, tmp_path: Path) -> Iterator[Session]:
    """A database whose config is declared, with a role that is not negmem's, right after `sync`."""
    path = tmp_path / "negmem.yaml"
    path.write_text(YAML, encoding="utf-8")
    database.rows(MODEL)
    database.rows(
        "DO $$ BEGIN CREATE ROLE negmem_t_other; EXCEPTION WHEN duplicate_object THEN NULL; END $$;"
        " GRANT CREATE, USAGE ON SCHEMA negentropy TO negmem_t_other"
    )
    with open_session(dsn=database.dsn, config_path=str(path), env={}) as opened:
        sync(opened)
        yield opened


def seen_after(session: Session, act: str | Edit) -> Plan:
    """What `diff` sees after something was done, which is then undone."""
    try:
        with session.database.transaction() as connection:
            Alteration("", act, ()).run(connection)
            plan = make_plan(session, connection)
            raise _UndoneError(plan)
    except _UndoneError as undone:
        return undone.plan


class _UndoneError(Exception):
    def __init__(self, plan: Plan) -> None:
        self.plan = plan


def named(change: Change) -> tuple[str, str, str]:
    return change.kind, change.name.partition("(")[0], change.reason


def complaint(line: Alteration, changes: list[Change]) -> str | None:
    """What is wrong with what was found, None where all is right. Jobs have tests of their own."""
    changes = [change for change in changes if change.kind != "job"]
    found = sorted(named(change) for change in changes)
    if found != sorted(line.found):
        return f"found {found}"
    if {change.significance for change in changes} != {line.significance}:
        return "is classed otherwise"
    if line.differs and set(changes[0].differences) != set(line.differs):
        return f"differs in {changes[0].differences}"
    states = {change.reason: change.state for change in changes}
    if any((state == "missing") != (reason == "missing") for reason, state in states.items()):
        return f"is in state {states}"
    without_texts = [c.name for c in changes if c.before == c.after]
    return f"shows nothing of {without_texts}" if without_texts else None


def test_the_table_is_as_long_as_it_should_be() -> None:
    assert len(EVERYTHING) >= 60
    assert len(UNSEEN) + len(COSMETIC) >= 20
    names = [(kind, line.name) for kind in (FUNCTIONS, INDEXES, CONFIG) for line in kind]
    assert len(set(names)) == len(names)


@pytest.mark.servers("embedded", "full", "sixteen")
def test_each_alteration_is_found_named_and_classed(session: Session) -> None:
    assert diff(session).changes == []
    wrong = {}
    for line in (*EVERYTHING, *COSMETIC):
        reason = complaint(line, seen_after(session, line.act).changes)
        if reason is not None:
            wrong[line.name] = reason
    assert not wrong, "\n".join(f"{name}: {reason}" for name, reason in wrong.items())
    assert diff(session).changes == []


@pytest.mark.servers("embedded", "full", "sixteen")
def test_what_is_harmless_is_not_found(session: Session) -> None:
    wrong = {}
    for name, act in UNSEEN.items():
        changes = seen_after(session, act).changes
        if changes:
            wrong[name] = [(*named(change), change.differences) for change in changes]
    assert not wrong, "\n".join(f"{name}: {found}" for name, found in wrong.items())


@pytest.mark.servers("embedded", "full", "sixteen", "pooled")
def test_many_at_once_are_put_right_by_one_sync(session: Session, database: TestDatabase) -> None:
    """One alteration a thing, committed; then `sync` with every consent leaves no difference."""
    done = set()
    for line in (*FUNCTIONS, *INDEXES):
        things = {name for _, name, _ in line.found}
        if things & done:
            continue
        done |= things
        with session.database.transaction() as connection:
            line.run(connection)
    found = diff(session)
    assert {named(change)[1] for change in found.changes} == done
    report = sync(session, Consent(overwrite_edited=True, prune=True))
    assert report.skipped == []
    assert {change.name for change in report.applied} == {c.name for c in found.changes}
    assert diff(session).changes == []
    assert sync(session).applied == []
