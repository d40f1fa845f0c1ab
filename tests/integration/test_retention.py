"""`negmem retention …` as it is typed: run, preview, curve, explain, purge."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.memories import add_many, add_memory, live

pytestmark = pytest.mark.servers("embedded", "sixteen")

RETENTION = "UPDATE negentropy.memory_automation_configs SET config = jsonb_set(config, '{retention}', config -> 'retention' || %s::jsonb)"


def configure(database: TestDatabase, **numbers: float) -> None:
    database.rows(RETENTION, (json.dumps(numbers),))


def hold(database: TestDatabase, user: str) -> None:
    database.rows(
        "INSERT INTO negentropy.users (user_id, app_name, held_at) VALUES (%s, 'negmem', now())"
        " ON CONFLICT (user_id, app_name) DO UPDATE SET held_at = now()",
        (user,),
    )


def test_a_run_forgets_what_its_plan_counts(negmem: CliRunner, database: TestDatabase) -> None:
    configure(database, low_retention_threshold=0.1, min_age_days=7, max_rows=25)
    add_many(database, 150, user="ada")
    add_many(database, 15, user="bob")
    add_many(database, 5, user="eve")
    kept = add_memory(database, "重要 important", user="bob", days=90)
    database.rows("UPDATE negentropy.memories SET importance_score = 0.95 WHERE id = %s", (kept,))
    hold(database, "eve")
    planned = negmem("retention", "run", "--dry-run", "--json").ok().json
    assert planned["schema"] == "negmem.retention.run/1"
    assert (planned["forgotten"], planned["waiting"], planned["status"]) == (45, 120, "not_run")
    assert [(u["user"], u["due"], u["today"]) for u in planned["users"]] == [
        ("ada", 150, 30),
        ("bob", 15, 15),
    ]
    assert database.value("SELECT count(*) FROM negentropy.automation_runs") == 0
    assert "would forget 45" in negmem("retention", "run", "--dry-run").ok().stdout
    one = negmem("retention", "run", "--user", "bob", "--json").ok().json
    assert (one["forgotten"], one["user"]) == (15, "bob")
    assert live(database, user="bob") == {kept}
    assert len(live(database, user="ada")) == 150
    done = negmem("retention", "run", "--json").ok().json
    assert (done["forgotten"], done["waiting"], done["status"]) == (30, 120, "succeeded")
    assert done["calls"] == 3
    assert len(live(database, user="ada")) == 120
    assert len(live(database, user="eve")) == 5
    trail = "SELECT count(*) FROM negentropy.memory_audit_logs WHERE decision = 'delete'"
    assert database.value(trail) == 45
    again = negmem("retention", "run").ok()
    assert "forgot 0" in again.stdout
    assert "120 more are due and wait" in again.stdout
    wider = negmem("retention", "preview", "--days", "1", "--set", "max_share=1").ok().stdout
    assert "with max_share 1: 120 more would go today" in wider
    held = negmem("retention", "run", "--user", "eve", "--json").ok().json
    assert held["warnings"][0]["code"] == "user_on_hold"
    unknown = negmem("retention", "run", "--user", "nobody", "--json").ok().json
    assert unknown["warnings"][0]["code"] == "user_unknown"


def test_a_second_run_leaves_to_the_first(negmem: CliRunner, database: TestDatabase) -> None:
    add_memory(database, days=900)
    first = database.connect(autocommit=False)
    first.execute(b"SELECT negentropy.cleanup_low_value_memories()")
    done = negmem("retention", "run", "--json").ok().json
    assert (done["status"], done["forgotten"]) == ("skipped", 0)
    assert done["warnings"][0]["code"] == "sweep_under_way"
    first.rollback()
    assert negmem("retention", "run", "--json").ok().json["forgotten"] == 1


def test_a_waiting_read_counts_as_it_will_once_it_is_counted(database: TestDatabase) -> None:
    read, most, old = (add_memory(database, "茶 tea", days=40) for _ in range(3))
    core, pinned = (add_memory(database, "stays 留", days=40) for _ in range(2))
    database.rows(
        f"UPDATE negentropy.memories SET memory_type = 'core' WHERE id = '{core}';"
        f"UPDATE negentropy.memories SET pinned_at = now() WHERE id = '{pinned}';"
        "UPDATE negentropy.memories SET access_count = 2147483647, importance_score = 0.99,"
        f" last_accessed_at = now() + interval '1 day' WHERE id = '{most}';"
        "INSERT INTO negentropy.memory_retrieval_logs (user_id, app_name, query, retrieved_memory_ids, counted)"
        f" SELECT 'ada', 'negmem', 'q', ARRAY['{read}', '{most}', '{core}', '{pinned}']"
        "::uuid[], n < 3 FROM generate_series(1, 3) AS n"
    )
    stands = "SELECT id, access_count, last_accessed_at, importance_score FROM negentropy."
    told = database.rows(f"{stands}retention_reads('ada', 'negmem') ORDER BY id")
    assert {str(row[0]) for row in told} == {read, most}
    database.rows("SELECT negentropy.apply_recorded_accesses()")
    assert told == database.rows(
        f"{stands}memories WHERE id IN ('{read}', '{most}') AND id <> '{old}' ORDER BY id"
    )
    assert database.rows("SELECT id FROM negentropy.retention_reads('ada', 'negmem')") == []


def test_the_preview_says_what_goes_when_and_by_which_change(
    negmem: CliRunner, database: TestDatabase
) -> None:
    configure(database, low_retention_threshold=0.1, min_age_days=7)
    soon = add_memory(database, "soon 快了", days=25)
    now = add_memory(database, "already 已经", days=40)
    read = add_memory(database, "just read 刚读", days=40)
    young = add_memory(database, "young 新", days=1)
    database.rows(
        "INSERT INTO negentropy.memory_retrieval_logs (user_id, app_name, query, retrieved_memory_ids)"
        " VALUES ('ada', 'negmem', 'q', ARRAY[%s]::uuid[])",
        (read,),
    )
    database.rows("SELECT negentropy.rescore_memories('ada', 'negmem')")
    before = database.rows("SELECT id, xmin::text FROM negentropy.memories ORDER BY id")
    found = negmem("retention", "preview", "--days", "10", "--json").ok().json
    assert found["schema"] == "negmem.retention.preview/1"
    assert [item["id"] for item in found["items"]] == [now, soon]
    assert (found["total"], found["difference"]) == (2, None)
    assert found["tokens"] == sum(item["tokens"] for item in found["items"]) > 0
    when = datetime.fromisoformat(found["items"][1]["goes_at"].replace("Z", "+00:00"))
    stored = database.value("SELECT fades_at FROM negentropy.memories WHERE id = %s", (soon,))
    assert when == stored
    assert "falls under the threshold: episodic, never read" in found["items"][1]["why"]
    more = negmem(
        "retention", "preview", "--days", "10", "--set", "decay_lambda=0.9", "--set",
        "automation.retention.min_age_days=1", "--json",
    ).ok().json  # fmt: skip
    assert (more["total"], more["unchanged_total"], more["difference"]) == (4, 2, 2), (
        "the read one too"
    )
    harder = ("retention", "preview", "--set", "low_retention_threshold=0.25", "--days", "10")
    assert "with low_retention_threshold 0.25: 2 more would go within 10 days" in (
        negmem(*harder).ok().stdout
    )
    far = negmem("retention", "preview", "--days", "500", "--json").ok().json["items"]
    assert [item["access_count"] for item in far if item["id"] == read] == [1], "a queued access"
    assert young in {item["id"] for item in negmem(*harder, "--json").ok().json["items"]}
    key = "automation.retention.low_retention_threshold"
    told = negmem("config", "set", key, "0.25", "--dry-run", "--json").ok().json["warnings"][0]
    assert told["code"] == "retention_effect"
    assert "with low_retention_threshold 0.25: 1 more would go within 7 days" in told["message"]
    assert negmem("retention", "preview", "--set", "max_rows=5").code == 2
    assert negmem("retention", "preview", "--set", "decay_lambda=-1").code == 2
    assert negmem("retention", "preview", "--set", "decay_lambda").code == 2
    assert negmem("retention", "preview", "--days", "99999").code == 2
    assert database.rows("SELECT id, xmin::text FROM negentropy.memories ORDER BY id") == before


def test_the_days_of_the_preview_are_what_goes_then(
    negmem: CliRunner, database: TestDatabase
) -> None:
    configure(database, low_retention_threshold=0.1, min_age_days=30, max_share=1)
    for days in range(20, 45):
        add_memory(database, f"{days} 天", days=days, accessed_days=days / 2, access_count=days % 3)
    found = negmem("retention", "preview", "--days", "8", "--json", "--limit", "100").ok().json
    planned = {item["id"] for item in found["items"]}
    assert found["total"] == len(planned) > 0
    database.rows(
        "UPDATE negentropy.memories SET created_at = created_at - interval '8 days',"
        " last_accessed_at = last_accessed_at - interval '8 days'"
    )
    before = live(database)
    negmem("retention", "run").ok()
    assert before - live(database) == planned


def test_a_curve_is_drawn_with_what_the_terminal_shows(
    negmem: CliRunner, database: TestDatabase
) -> None:
    memory = add_memory(database, "我喜欢茶 I like tea", days=100, accessed_days=20, access_count=2)
    found = negmem("retention", "curve", memory, "--user", "ada", "--json").ok().json
    scores = [point["score"] for point in found["points"]]
    assert len(scores) == 61
    assert scores == sorted(scores, reverse=True)
    assert found["points"][0]["days"] == pytest.approx(-20, abs=0.01)
    assert found["kept_by"] == ["min_age"]
    assert found["goes_at"] > found["crosses_at"]
    text = negmem("retention", "curve", memory, "--user", "ada").ok().stdout
    assert "█" in text and "now" in text
    assert "\x1b[" not in text
    plain = negmem("retention", "curve", memory, "--user", "ada", env={"LC_ALL": "C"})
    assert "#" in plain.ok().stdout
    assert "█" not in plain.stdout
    few = negmem("retention", "curve", memory, "--user", "ada", "--points", "2", "--json").ok().json
    assert len(few["points"]) == 2
    assert negmem("retention", "curve", memory, "--user", "bob").code == 1
    assert negmem("retention", "curve", "junk", "--user", "ada").code == 2
    assert negmem("retention", "curve", memory).code == 2


def test_each_factor_says_what_it_adds(negmem: CliRunner, database: TestDatabase) -> None:
    memories = {
        name: add_memory(
            database, name, days=days, access_count=count, memory_type=kind, metadata=metadata
        )
        for name, days, count, kind, metadata in (
            ("plain", 10, 3, "preference", "{}"),
            ("full", 0, 100_000, "semantic", "{}"),
            ("slow", 90, -4, "episodic", '{"decay_override": 0.003}'),
            ("core", 4000, 0, "core", "{}"),
            ("odd", 90, 0, "fact", '{"decay_override": "slow"}'),
        )
    }
    found = {
        name: negmem("retention", "explain", memory, "--user", "ada", "--json").ok().json
        for name, memory in memories.items()
    }
    for name, told in found.items():
        total = sum(factor["contribution"] for factor in told["factors"])
        assert total == pytest.approx(told["score"], abs=1e-12), name
        stored = database.value(
            "SELECT negentropy.calculate_retention_score(access_count, last_accessed_at, created_at,"
            " memory_type, 0, negentropy.retention_decay_override(metadata)) FROM negentropy.memories"
            " WHERE id = %s",
            (memories[name],),
        )
        assert told["score"] == pytest.approx(stored, abs=1e-6), name
    assert found["full"]["factors"][-1]["name"] == "limit"
    assert (found["slow"]["rate"], found["slow"]["rate_from"]) == (
        0.003,
        "decay_override in its metadata",
    )
    assert found["odd"]["rate_from"].endswith("is no number from 0 to 1e6")
    assert (found["core"]["goes_at"], found["core"]["kept_by"]) == (None, ["core"])
    shown = negmem("retention", "explain", memories["plain"], "--user", "ada").ok().stdout
    assert "time_decay" in shown and "kept by     min_age" in shown


def test_purging_ends_the_way_back_and_keeps_the_trail(
    negmem: CliRunner, database: TestDatabase
) -> None:
    old = add_memory(database, "gone long ago 早已删除")
    recent = add_memory(database, "gone lately 刚删除")
    pinned = add_memory(database, "pinned 钉住", pinned=True)
    held = add_memory(database, "held 保全", user="eve")
    for memory, days in ((old, 91), (recent, 89), (pinned, 400), (held, 400)):
        database.rows(
            "UPDATE negentropy.memories SET deleted_at = now() - %s * interval '24 hours',"
            " deleted_reason = 'retention' WHERE id = %s",
            (days, memory),
        )
    database.rows(
        "INSERT INTO negentropy.memory_associations (user_id, app_name, source_id, target_id)"
        " VALUES ('ada', 'negmem', %s, %s)",
        (recent, old),
    )
    hold(database, "eve")
    database.rows(
        """
        INSERT INTO negentropy.memory_retrieval_logs
            (user_id, app_name, query, retrieved_memory_ids, created_at, applied_at)
        SELECT u, 'negmem', '茶', '{}', now() - d * interval '24 hours', CASE WHEN a THEN now() END
        FROM (VALUES ('ada', 91, true), ('ada', 91, false), ('ada', 89, true), ('eve', 91, true))
            AS l (u, d, a)
        """
    )
    refused = negmem("retention", "purge", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (2, "confirmation_needed")
    planned = negmem("retention", "purge", "--dry-run", "--json").ok().json
    assert (planned["memories"], planned["retrieval_logs"], planned["dry_run"]) == (1, 1, True)
    assert planned["warnings"][0]["code"] == "user_on_hold"
    done = negmem("retention", "purge", "--yes", "--json").ok().json
    assert (done["memories"], done["retrieval_logs"], done["waiting"]) == (1, 1, 3)
    left = {row[0] for row in database.rows("SELECT id::text FROM negentropy.memories")}
    assert left == {recent, pinned, held}
    assert database.value("SELECT count(*) FROM negentropy.memory_associations") == 0
    assert database.value("SELECT count(*) FROM negentropy.memory_retrieval_logs") == 3
    trail = database.rows("SELECT memory_id, decision FROM negentropy.memory_audit_logs")
    assert trail == [(old, "purge")]
    assert "purged 0 memories" in negmem("retention", "purge").ok().stdout
    negmem("memory", "restore", recent, "--user", "ada").ok()
    assert live(database) == {recent}
    negmem("retention", "run").ok()
    assert live(database) == {recent}


def test_clocks_dates_and_counts_never_stop_a_run(
    negmem: CliRunner, database: TestDatabase
) -> None:
    for accessed, created in (
        ("'infinity'", "'-infinity'"),
        ("'-infinity'", "'infinity'"),
        ("NULL", "'0044-03-15 BC'"),
        ("'4713-01-01 BC'", "'294276-12-31'"),
        ("'2026-03-29 02:30 Europe/Berlin'", "'1582-10-10'"),
        ("now() + interval '300 years'", "now() - interval '300 years'"),
    ):
        database.rows(
            "INSERT INTO negentropy.memories (user_id, app_name, content, access_count, importance_score,"
            " last_accessed_at, created_at, metadata) VALUES ('ada', 'negmem', 'x 旧', -2147483648, 'NaN',"
            f""" {accessed}, {created}, '{{"decay_override": 1e400}}')"""
        )
    ids = sorted(live(database))
    zone = {"TZ": "Pacific/Auckland", "PGTZ": "America/St_Johns"}
    found = negmem("retention", "preview", "--days", "36500", "--json", env=zone).ok().json
    assert found["total"] == 2
    for memory in ids:
        negmem("retention", "curve", memory, "--user", "ada", env=zone).ok()
        negmem("retention", "explain", memory, "--user", "ada", "--json", env=zone).ok()
    done = negmem("retention", "run", "--json", env=zone).ok().json
    assert done["forgotten"] == 2
    assert negmem("retention", "run", "--json", env=zone).ok().json["forgotten"] == 0


def test_what_is_young_or_important_is_not_read_at_every_sweep(
    negmem: CliRunner, database: TestDatabase
) -> None:
    """The fading time holds the minimum age and the importance: such rows are not in the index range."""
    configure(database, low_retention_threshold=0.1, min_age_days=200)
    add_many(database, 30, days=100)
    important = add_memory(database, "vital 关键", days=400)
    negmem("retention", "run").ok()
    assert live(database).isdisjoint({important})
    negmem("memory", "restore", important, "--user", "ada").ok()
    database.rows(
        "UPDATE negentropy.memories SET importance_score = 0.9, created_at = created_at - interval '1 year',"
        " last_accessed_at = last_accessed_at - interval '1 year' WHERE id = %s",
        (important,),
    )
    negmem("retention", "run").ok()
    due = "SELECT count(*) FROM negentropy.memories WHERE due_at <= now()"
    assert database.value(due) == 0
    assert important in live(database)
    configure(database, min_age_days=50)
    assert negmem("retention", "run", "--json").ok().json["forgotten"] == 20
    assert important in live(database)


EXPIRED = """
INSERT INTO negentropy.facts (user_id, app_name, fact_type, key, value, deleted_at)
SELECT u, 'negmem', 'profile', 'k' || u || d, '"茶"', now() - d * interval '24 hours'
FROM unnest(ARRAY['ada', 'eve']) AS u, unnest(ARRAY[89, 91, 92]) AS d;
INSERT INTO negentropy.consolidation_jobs (user_id, app_name, status, job_type, completed_at)
SELECT 'ada', 'negmem', 'completed', 'fast_replay', now() - d * interval '24 hours' FROM unnest(ARRAY[91, 95, 99]) AS d;
INSERT INTO negentropy.consolidation_jobs (user_id, app_name, status, job_type, parked_at, created_at)
VALUES ('ada', 'negmem', 'failed', 'fast_replay', '2020-01-01', '2020-01-01');
INSERT INTO negentropy.learnings (owner_kind, owner, app_name, title, learning, written_by, body_hash, deleted_at)
SELECT k, o, 'negmem', '标题', '内容', 'me', sha256(convert_to(k || d, 'UTF8')), now() - d * interval '24 hours'
FROM (VALUES ('user', 'ada'), ('user', 'eve'), ('global', '')) AS l (k, o), unnest(ARRAY[89, 91]) AS d;
INSERT INTO negentropy.entities (id, owner_kind, owner, app_name, entity_id, entity_type, name, written_by, deleted_at)
VALUES (gen_random_uuid(), 'global', '', 'negmem', 'firm', 'company', '公司', 'me', '2020-01-01');
INSERT INTO negentropy.tool_calls (user_id, app_name, tool, window_start, calls)
SELECT 'ada', 'negmem', 'search', now() - d * interval '24 hours', 1 FROM unnest(ARRAY[0, 2]) AS d;
INSERT INTO negentropy.proposals (owner_kind, owner, app_name, user_id, store, op, payload, status, decided_at, expires_at)
SELECT 'global', '', 'negmem', u, 'knowledge', 'add', '{}', s, now() - d * interval '24 hours', now() - interval '91 days'
FROM unnest(ARRAY['ada', 'eve']) AS u, (VALUES ('rejected', 91), ('rejected', 89), ('pending', NULL), ('applied', 99)) AS p (s, d);
INSERT INTO negentropy.proposals (owner_kind, owner, app_name, store, op, payload, status, decided_at, expires_at, applied_id)
SELECT 'user', 'ada', 'negmem', 'knowledge', 'add', '{}', 'applied', now() - d * interval '24 hours', now(), l.id
FROM negentropy.learnings AS l, unnest(ARRAY[89, 91]) AS d WHERE l.owner = 'ada';
"""


def test_what_is_over_its_lifetime_goes_and_what_is_held_stays(
    negmem: CliRunner, database: TestDatabase
) -> None:
    database.rows(EXPIRED)
    hold(database, "eve")
    expected = {"facts": 2, "consolidation_jobs": 2, "learnings": 2, "entities": 1, "tool_calls": 1}
    expected |= {"proposals": 4}  # one of them goes with the lesson that it wrote
    planned = negmem("retention", "purge", "--dry-run", "--json").ok().json
    assert {one["table"]: one["rows"] for one in planned["others"]} == expected
    one_user = negmem("retention", "purge", "--dry-run", "--json", "--user", "eve").ok().json
    assert one_user["others"] == []
    scheduled = {"NEGMEM_RETENTION__PURGE_DAILY": "true"}
    told = negmem("scheduler", "run", "--once", env=scheduled)
    assert "event=rows_purged" in told.stderr
    left = "SELECT count(*) FROM negentropy."
    assert database.value(f"{left}facts WHERE user_id = 'ada'") == 1
    assert database.value(f"{left}facts WHERE user_id = 'eve'") == 3
    assert database.value(f"{left}learnings") == 4 and database.value(f"{left}entities") == 0
    jobs = database.rows("SELECT status::text FROM negentropy.consolidation_jobs ORDER BY 1")
    assert jobs == [("completed",), ("failed",)], "the last completed and the parked one stay"
    again = negmem("retention", "purge", "--yes", "--json").ok().json
    assert again["others"] == [] and again["memories"] == 0
    trail = database.rows("SELECT DISTINCT decision FROM negentropy.memory_audit_logs")
    assert trail == [("purge",)]
    told = negmem("automation", "export", "--format", "crontab", env=scheduled)
    assert "retention purge" in told.stdout
