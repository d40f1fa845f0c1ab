"""`uninstall` beside what others made: nothing of theirs goes."""

from __future__ import annotations

import pytest

from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.roles import as_role, login_role

# what somebody made, and what must still be there afterwards
MADE = {
    "view": (
        "CREATE VIEW public.v AS SELECT negentropy.estimate_tokens('猫') AS n",
        "SELECT n > 0 FROM public.v",
    ),
    "default": (
        "CREATE TABLE public.t (n integer DEFAULT negentropy.estimate_tokens('猫'))",
        "SELECT atthasdef FROM pg_attribute WHERE attrelid = 'public.t'::regclass AND attnum = 1",
    ),
    "check": (
        "CREATE TABLE public.t (n integer CHECK (n < negentropy.estimate_tokens('猫') + 9))",
        "SELECT count(*) = 1 FROM pg_constraint WHERE conrelid = 'public.t'::regclass AND contype = 'c'",
    ),
    "foreign key": (
        "CREATE TABLE public.t (a varchar, b varchar, FOREIGN KEY (a, b)"
        " REFERENCES negentropy.users (user_id, app_name))",
        "SELECT count(*) = 1 FROM pg_constraint WHERE conrelid = 'public.t'::regclass AND contype = 'f'",
    ),
    "column": (
        "CREATE TABLE public.t (m negentropy.memories)",
        "SELECT count(*) = 1 FROM pg_attribute WHERE attrelid = 'public.t'::regclass AND attname = 'm'"
        " AND NOT attisdropped",
    ),
    "function": (
        "CREATE FUNCTION public.f(m negentropy.memories) RETURNS integer LANGUAGE sql AS 'SELECT 1'",
        "SELECT to_regproc('public.f') IS NOT NULL",
    ),
    "index": (
        "CREATE TABLE public.t (n text); CREATE INDEX ti ON public.t (negentropy.estimate_tokens(n))",
        "SELECT to_regclass('public.ti') IS NOT NULL",
    ),
    "table within": (
        "CREATE TABLE negentropy.theirs AS SELECT 1 AS n",
        "SELECT n = 1 FROM negentropy.theirs",
    ),
}


@pytest.mark.parametrize("made", MADE)
def test_what_others_made_stops_it(negmem: CliRunner, database: TestDatabase, made: str) -> None:
    statement, still_there = MADE[made]
    database.rows(statement)
    for words in (("--dry-run",), ("--yes",)):
        done = negmem("uninstall", *words, "--json")
        assert (done.code, done.json["error"]["code"]) == (1, "uninstall_dependents")
        assert done.json["error"]["why"]
    assert database.value(still_there)
    assert database.value("SELECT count(*) FROM negentropy.schema_migrations") > 0


def test_a_table_within_can_be_moved_as_the_hint_says(
    negmem: CliRunner, database: TestDatabase
) -> None:
    database.rows('CREATE TABLE negentropy."Theirs" AS SELECT 1 AS n')
    hint = negmem("uninstall", "--yes", "--json").json["error"]["hint"]
    database.rows(hint)
    negmem("uninstall", "--yes").ok()
    assert database.value('SELECT n FROM public."Theirs"') == 1


def test_who_does_not_own_the_schema_removes_nothing(
    negmem: CliRunner, database: TestDatabase
) -> None:
    with login_role(database.server, database.name) as role:
        database.rows(f'GRANT USAGE ON SCHEMA negentropy TO "{role}"')
        database.rows(f'GRANT SELECT, DELETE ON ALL TABLES IN SCHEMA negentropy TO "{role}"')
        done = negmem("uninstall", "--yes", "--json", "--dsn", as_role(database.dsn, role))
        assert (done.code, done.json["error"]["code"]) == (1, "privilege_missing")
        assert f"{role} does not own schema negentropy" in done.json["error"]["why"]
        shown = negmem("uninstall", "--dry-run", "--json", "--dsn", as_role(database.dsn, role))
        assert f"{role} does not own schema negentropy" in shown.ok().json["refused"]
        text = negmem("uninstall", "--dry-run", "--dsn", as_role(database.dsn, role)).ok().stdout
        assert f"not as this role: {role} does not own" in text
    assert database.value("SELECT count(*) FROM negentropy.schema_migrations") > 0
