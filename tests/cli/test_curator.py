"""`negmem curator prune` as it is typed."""

from __future__ import annotations

from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.memories import add_many, live


def aged(database: TestDatabase, count: int) -> None:
    add_many(database, count, days=100)
    database.rows("UPDATE negentropy.memories SET updated_at = created_at")
    database.rows("INSERT INTO negentropy.users (user_id, app_name) VALUES ('ada', 'negmem')")


def test_a_dry_run_shows_and_touches_nothing(negmem: CliRunner, database: TestDatabase) -> None:
    aged(database, 3)
    before = live(database)
    shown = negmem("curator", "prune", "--user", "ada", "--max-count", "1", "--dry-run", "--json")
    document = shown.ok().json
    assert document["schema"] == "negmem.curator.prune/1"
    assert (document["removed"], document["kept"]) == (2, 1)
    assert document["reasons"] == {"age": 0, "count": 2}
    assert document["dry_run"] is True
    assert document["items"][0]["content"].startswith("number ")
    assert live(database) == before
    text = negmem("curator", "prune", "--user", "ada", "--max-age-days", "30", "--dry-run").ok()
    assert "would remove 3: 3 by age, 0 by number · 0 stay" in text.stdout


def test_without_a_terminal_it_needs_yes(negmem: CliRunner, database: TestDatabase) -> None:
    aged(database, 3)
    refused = negmem("curator", "prune", "--user", "ada", "--max-age-days", "30", "--json")
    assert refused.code == 2
    assert refused.json["error"]["code"] == "confirmation_needed"
    assert "--yes" in refused.json["error"]["hint"]
    assert len(live(database)) == 3
    done = negmem("curator", "prune", "--user", "ada", "--max-age-days", "30", "--yes", "--json")
    assert (done.ok().json["removed"], done.json["dry_run"]) == (3, False)
    assert live(database) == set()


def test_nothing_to_do_asks_nothing(negmem: CliRunner, database: TestDatabase) -> None:
    aged(database, 2)
    done = negmem("curator", "prune", "--user", "ada", "--max-count", "5", "--json").ok()
    assert (done.json["removed"], done.json["kept"], done.json["dry_run"]) == (0, 2, False)


def test_without_a_limit_all_stay_and_that_is_said(
    negmem: CliRunner, database: TestDatabase
) -> None:
    aged(database, 2)
    done = negmem("curator", "prune", "--user", "ada", "--max-count", "-1", "--yes", "--json").ok()
    assert done.json["kept"] == 2
    assert [warning["code"] for warning in done.json["warnings"]] == ["no_limit"]


def test_an_unknown_user_is_an_empty_answer(negmem: CliRunner) -> None:
    done = negmem("curator", "prune", "--user", "nobody", "--max-count", "1", "--json").ok()
    assert (done.json["removed"], done.json["kept"], done.json["items"]) == (0, 0, [])
    assert done.json["warnings"][0]["code"] == "user_unknown"


def test_an_empty_user_is_refused(negmem: CliRunner) -> None:
    assert negmem("curator", "prune", "--user", " ", "--max-count", "1").code == 2
    assert negmem("curator", "prune", "--max-count", "1").code == 2


def test_what_was_removed_is_listed(negmem: CliRunner, database: TestDatabase) -> None:
    aged(database, 2)
    done = negmem("curator", "prune", "-u", "ada", "--max-count", "1", "--yes").ok()
    assert "count  number 2 第2条" in done.stdout
    assert "removed 1: 0 by age, 1 by number · 1 stay, 0 of them protected" in done.stdout
    assert "negmem memory restore" in done.stderr
