"""`negmem curator` as it is typed."""

from __future__ import annotations

import pytest

from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.memories import add_many, add_memory, live


def aged(database: TestDatabase, count: int) -> None:
    add_many(database, count, days=100)
    database.rows("UPDATE negentropy.memories SET updated_at = created_at")
    database.rows(
        "INSERT INTO negentropy.users (user_id, app_name) VALUES ('ada', 'negmem') ON CONFLICT DO NOTHING"
    )


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
    aged(database, 30)
    asked = ("curator", "prune", "--user", "ada", "--max-age-days", "30", "--dry-run")
    lines = negmem(*asked).ok().stdout.splitlines()
    assert len(lines) == 22 and "… and 13 more: -v or --json lists all" in lines
    assert len(negmem(*asked, "-v").ok().stdout.splitlines()) == 34
    assert len(negmem(*asked, "--json").ok().json["items"]) == 33


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


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/Los_Angeles", "Asia/Kathmandu"])
def test_no_zone_moves_an_age(negmem: CliRunner, database: TestDatabase, zone: str) -> None:
    add_memory(database, "said now 刚刚")
    old = add_memory(database, "said thirteen hours ago", days=13 / 24)
    database.rows("UPDATE negentropy.memories SET updated_at = created_at")
    database.rows(
        "INSERT INTO negentropy.users (user_id, app_name) VALUES ('ada', 'negmem') ON CONFLICT DO NOTHING"
    )
    env = {"TZ": zone, "PGTZ": zone}
    line = ("curator", "prune", "-u", "ada", "--max-age-days", "0.5", "--yes", "--json")
    assert [item["id"] for item in negmem(*line, env=env).ok().json["items"]] == [old]
    compat = negmem(*line, "--compat", env=env).ok()
    assert (compat.json["removed"], compat.json["kept"]) == (0, 1)


def test_a_column_without_a_zone_is_refused(negmem: CliRunner, database: TestDatabase) -> None:
    aged(database, 2)
    database.rows("ALTER TABLE negentropy.memories DROP COLUMN due_at CASCADE")
    database.rows("ALTER TABLE negentropy.memories ALTER COLUMN created_at TYPE timestamp")
    refused = negmem("curator", "prune", "-u", "ada", "--max-age-days", "30", "--yes", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "timestamp_without_zone")


def twice(database: TestDatabase) -> None:
    for text in (
        "我喜欢喝茶",
        "我喜欢 喝茶。",
        "The service listens on port 8080",
        "unlike the others",
    ):
        add_memory(database, text)
    database.rows(
        "INSERT INTO negentropy.users (user_id, app_name) VALUES ('ada', 'negmem') ON CONFLICT DO NOTHING"
    )


def test_duplicates_are_shown_before_they_go(negmem: CliRunner, database: TestDatabase) -> None:
    twice(database)
    before = live(database)
    shown = negmem("curator", "dedup", "--user", "ada", "--dry-run", "--json").ok().json
    assert shown["schema"] == "negmem.curator.dedup/1"
    counts = {key: shown[key] for key in ("groups", "removed", "kept", "vetoed", "dry_run")}
    assert counts == {"groups": 1, "removed": 1, "kept": 3, "vetoed": 0, "dry_run": True}
    assert {shown["pairs"][0][f"{side}_content"] for side in ("survivor", "removed")} == {
        "我喜欢喝茶",
        "我喜欢 喝茶。",
    }
    text = negmem("curator", "dedup", "-u", "ada", "--dry-run", env={"NO_COLOR": "1"}).ok()
    assert text.stdout.startswith("keep  我喜欢喝茶\n")
    assert "would remove 1 for 1 that stay · 3 live · 0 near pairs kept apart" in text.stdout
    assert live(database) == before

    refused = negmem("curator", "dedup", "-u", "ada", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (2, "confirmation_needed")
    done = negmem("curator", "dedup", "-u", "ada", "--yes", "--json").ok().json
    assert (done["removed"], len(live(database))) == (1, 3)
    undo = ("curator", "dedup", "-u", "ada", "--undo", done["run_id"])
    assert "brought back 1 · 4 are live" in negmem(*undo).ok().stdout
    assert live(database) == before
    assert negmem(*undo, "--json").ok().json["warnings"][0]["code"] == "run_unknown"


def test_dedup_holds_its_options_together(negmem: CliRunner, database: TestDatabase) -> None:
    for line in (
        ("--semantic", "--exact"),
        ("--threshold", "0.5"),
        ("--semantic", "--threshold", "1.5"),
        ("--undo", "no-id"),
        ("--store", "profile"),
    ):
        assert negmem("curator", "dedup", "-u", "ada", *line).code == 2
    done = negmem("curator", "dedup", "-u", "nobody", "--semantic", "--yes", "--json").ok().json
    assert (done["removed"], done["kept"], done["pairs"]) == (0, 0, [])
    assert done["warnings"][0]["code"] == "user_unknown"
