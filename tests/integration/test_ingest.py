"""Conversations into threads, events and memories, checked by plain SQL."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from negmem.core.formation.ingest import Ingest, IngestOptions
from negmem.errors import NegmemError, UsageError
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import (
    contents,
    conversation,
    ingest_file,
    many_conversations,
    session_on,
    write_lines,
)


def test_a_turn_becomes_an_event_and_a_memory_that_knows_it(
    database: TestDatabase, tmp_path: Path
) -> None:
    line = {
        "thread": "coffee",
        "datetime": "2024-03-02T09:00:00Z",
        "user": "mei",
        "turns": [
            {
                "id": "7",
                "speaker": "Mei",
                "text": "我喝咖啡不加糖 ☕",
                "datetime": "2024-03-02T17:01:00+08:00",
                "metadata": {"channel": "app", "source": "theirs"},
            },
            {"role": "assistant", "text": "好的"},
        ],
    }
    path = write_lines(tmp_path / "a.jsonl", [line])
    with session_on(database) as session:
        result = ingest_file(session, path, me="Mei")
    assert (result.sessions, result.events, result.memories) == (1, 2, 2)
    assert (result.rejected, result.duplicates, result.users) == (0, 0, ["mei"])
    said, answer = contents(database)["turns"]
    moment = datetime(2024, 3, 2, 9, 1, tzinfo=timezone.utc)
    assert said[:5] == ("mei", "coffee", 1, "Mei", "message")
    assert said[5] == {
        "role": "user",
        "parts": [{"text": "我喝咖啡不加糖 ☕"}],
        "speaker": "Mei",
        "id": "7",
        "metadata": {"channel": "app", "given": {"source": "theirs"}},
    }
    assert said[6:8] == (moment, "我喝咖啡不加糖 ☕")
    assert said[8] == {
        "source": "session",
        "role": "user",
        "speaker": "Mei",
        "turn_id": "7",
        "channel": "app",
        "given": {"source": "theirs"},
    }
    assert said[9:12] == (moment, 1, "episodic")
    assert (answer[3], answer[6]) == ("assistant", moment - timedelta(minutes=1))
    assert database.rows("SELECT author, extractor, item_kind, model FROM negentropy.events AS e "
        "JOIN negentropy.item_sources AS s ON s.event_id = e.id ORDER BY e.position") == [
        ("Mei", "ingest", "memory", None),
        ("assistant", "ingest", "memory", None),
    ]  # fmt: skip


def test_old_conversations_keep_their_date_and_are_not_forgotten_for_it(
    database: TestDatabase, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "a.jsonl", [conversation("t", "x", datetime="2009-01-02")])
    with session_on(database) as session:
        ingest_file(session, path)
    row = database.rows(
        "SELECT occurred_at, created_at > now() - interval '1 minute', fades_at > now() + interval '20 days', "
        "due_at = fades_at, retention_score, last_accessed_at = created_at FROM negentropy.memories"
    )[0]
    assert row[0] == datetime(2009, 1, 2, tzinfo=timezone.utc)
    assert row[1:4] == (True, True, True)
    assert row[4] == pytest.approx(0.3) and row[5]


def test_scores_and_fading_times_are_those_of_the_functions(
    database: TestDatabase, tmp_path: Path
) -> None:
    threads = [conversation(f"t{n}", *(f"text {n} {i}" for i in range(n))) for n in range(1, 9)]
    slow = {"role": "user", "text": "slow", "metadata": {"decay_override": 0.01}}
    threads.append({"thread": "slow", "turns": [slow]})
    path = write_lines(tmp_path / "a.jsonl", threads)
    with session_on(database) as session:
        ingest_file(session, path)
        before = database.rows("SELECT id, retention_score, fades_at, fades_basis FROM negentropy.memories ORDER BY id")  # fmt: skip
    assert database.value("SELECT negentropy.rescore_memories('alice', 'negmem')") <= len(before)
    after = database.rows("SELECT id, retention_score, fades_at, fades_basis FROM negentropy.memories ORDER BY id")  # fmt: skip
    assert [row[2:] for row in after] == [row[2:] for row in before]
    assert [row[1] for row in after] == pytest.approx([row[1] for row in before], abs=1e-3)
    assert database.rows(
        "SELECT fades_threshold, fades_lambda, fades_next FROM negentropy.users"
    ) == [(0.0001, 0.1, None)]


def test_a_thread_that_grows_lifts_the_scores_of_its_first_members(
    database: TestDatabase, tmp_path: Path
) -> None:
    grown = [conversation("t", *(f"turn {n}" for n in range(size))) for size in (1, 3, 8)]
    with session_on(database) as session:
        for value in grown:
            ingest_file(session, write_lines(tmp_path / "a.jsonl", [value]))
            assert database.value(
                "SELECT count(*) FROM negentropy.memories AS m WHERE m.fades_at IS DISTINCT FROM "
                "negentropy.retention_fades_at(0, m.last_accessed_at, m.created_at, 'episodic', "
                "negentropy.related_count(m.user_id, m.app_name, m.thread_id, m.id), NULL, "
                "m.importance_score, 0.0001, 0.1, 640, 0.9)"
            ) == 0  # fmt: skip


def test_the_same_file_twice_adds_nothing(database: TestDatabase, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", many_conversations(30))
    with session_on(database, FakeEmbedder()) as session:
        first = ingest_file(session, path)
        before = contents(database)
        second = ingest_file(session, path)
    assert (first.sessions, first.events, first.memories, first.duplicates) == (30, 300, 300, 0)
    assert first.embedding.vectors == 300 and first.jobs == 30
    assert (second.sessions, second.events, second.memories, second.duplicates) == (0, 0, 0, 300)
    assert (second.jobs, second.embedding.vectors, second.read_sessions) == (0, 0, 30)
    assert contents(database) == before


def test_a_file_that_grew_adds_what_is_new(database: TestDatabase, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    first = [conversation("t1", "a", "b"), conversation(None, "unnamed", "c")]
    grown = [
        conversation("t1", "a", "b", "新的"),
        conversation(None, "unnamed", "c", "d"),
        conversation("t2", "e"),
    ]
    embedder = FakeEmbedder()
    with session_on(database, embedder) as session:
        ingest_file(session, write_lines(path, first))
        embedder.calls.clear()
        result = ingest_file(session, write_lines(path, grown))
    assert (result.sessions, result.events, result.memories, result.duplicates) == (3, 3, 3, 4)
    assert embedder.calls == [("documents", 3)]
    turns = contents(database)["turns"]
    assert len({row[1] for row in turns}) == 3
    assert [row[7] for row in turns if row[1] == "t1"] == ["a", "b", "新的"]


def test_one_file_that_holds_growing_copies_of_a_thread(
    database: TestDatabase, tmp_path: Path
) -> None:
    copies = [conversation("t1", *"abcde"[:size]) for size in (2, 4, 5)]
    later = conversation("t1", "b", "a", datetime="2026-03-09T09:00:00Z")
    with session_on(database) as session:
        result = ingest_file(session, write_lines(tmp_path / "a.jsonl", [*copies, later, *copies]))
        assert (result.events, result.duplicates) == (7, 17)
        again = ingest_file(session, tmp_path / "a.jsonl")
    assert (again.events, again.duplicates) == (0, 24)
    assert [(row[2], row[7]) for row in contents(database)["turns"]] == list(
        enumerate("abcdeba", start=1)
    )


def test_single_turn_lines_follow_each_other_and_only_exact_repeats_are_dropped(
    database: TestDatabase, tmp_path: Path
) -> None:
    lines = [
        {"thread": "t", "role": "user", "text": "好的"},
        {"thread": "u", "role": "user", "text": "好的"},
        {"thread": "t", "role": "user", "text": "好的"},
        {"thread": "t", "id": "9", "role": "user", "text": "dated", "datetime": "2026-01-01"},
        {"thread": "t", "id": "9", "role": "user", "text": "dated", "datetime": "2026-01-01"},
    ]
    path = write_lines(tmp_path / "a.jsonl", lines)
    with session_on(database) as session:
        result = ingest_file(session, path)
        again = ingest_file(session, path)
    assert (result.events, result.duplicates) == (4, 1)
    assert (again.events, again.duplicates) == (0, 5)
    assert [(row[1], row[2]) for row in contents(database)["turns"]] == [
        ("t", 1),
        ("t", 2),
        ("t", 3),
        ("u", 1),
    ]


def test_who_owns_a_session(database: TestDatabase, tmp_path: Path) -> None:
    named = conversation("t", "a", user="named")
    bare = conversation("t", "b")
    stored = conversation(None, "c", conversation_id="conv-1", session_id="s1")
    with session_on(database) as session:
        result = ingest_file(
            session, write_lines(tmp_path / "a.jsonl", [named, stored, bare]), user=None
        )
        assert result.rejects[0].reason == "user_missing"
        ingest_file(session, write_lines(tmp_path / "b.jsonl", [named, stored, bare]))
        with pytest.raises(UsageError) as refused:
            ingest_file(session, write_lines(tmp_path / "c.jsonl", [bare, named]), user=None)
        assert refused.value.code == "user_missing"
        blank = write_lines(tmp_path / "d.jsonl", [conversation("t", "a", user=" ")])
        assert ingest_file(session, blank).rejects[0].reason == "user_empty"
    assert database.rows("SELECT user_id, external_id FROM negentropy.threads ORDER BY 1, 2") == [
        ("alice", "conv-1/s1"),
        ("alice", "t"),
        ("conv-1", "conv-1/s1"),
        ("named", "t"),
    ]


def test_users_and_apps_do_not_meet(database: TestDatabase, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [conversation("t", "same words", "同样的话")])
    with session_on(database) as session:
        ingest_file(session, path, user="a_b")
        ingest_file(session, path, user="axb")
        assert ingest_file(session, path, user="a_b").duplicates == 2
    with session_on(database, **{"connection.app": "second"}) as session:
        assert ingest_file(session, path, user="a_b").events == 2
    assert database.rows(
        "SELECT app_name, user_id, count(*) FROM negentropy.memories GROUP BY 1, 2 ORDER BY 1, 2"
    ) == [("negmem", "a_b", 2), ("negmem", "axb", 2), ("second", "a_b", 2)]


def test_text_of_every_kind_comes_back_as_it_was_said(
    database: TestDatabase, tmp_path: Path
) -> None:
    texts = [
        "纯中文，标点「全角」；半角;也有",
        "👩‍👩‍👧‍👦 family, 🇨🇳 flag, 👍🏽 tone",
        "def f(x):\n\treturn {'a': [1, 2]}  # 注释\r\n\n\n```sql\nSELECT 1;\n```",
        "  blanks before and after \t\n",
        r"C:\tmp\new and \u0000 and \\ and %s %(x)s {0} $1 ?",
        "\"quotes\" 'single' `back` <b>&amp;</b> [bold]x[/bold]",
        "e\u0301 é \ufb01 ﷺ \u200b \u202e mixed \U0010ffff",
        '{a,b} \\ NULL null {"json": [1]}',
    ]
    with session_on(database, FakeEmbedder()) as session:
        ingest_file(session, write_lines(tmp_path / "a.jsonl", [conversation("t", *texts)]))
    turns = contents(database)["turns"]
    assert [row[7] for row in turns] == texts
    assert [row[5]["parts"][0]["text"] for row in turns] == texts


def test_what_postgresql_cannot_hold_is_replaced_counted_and_told(
    database: TestDatabase, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        r'{"thread": "t", "turns": [{"role": "user", "text": "W\u0000s\u0000l \\u0000", '
        r'"metadata": {"raw\u0000": {"deep": ["\u0000", "\ud83d"]}}}]}' + "\n"
        + json.dumps(conversation("t2", "the rest")) + "\n",
        encoding="utf-8",
    )  # fmt: skip
    with session_on(database) as session:
        result = ingest_file(session, path)
        assert [warning["code"] for warning in session.warnings][-1] == "characters_replaced"
    assert (result.replaced.nul, result.replaced.surrogates, result.events) == (4, 1, 2)
    row = contents(database)["turns"][0]
    assert row[7] == "W\ufffds\ufffdl \\u0000"
    assert row[8]["raw\ufffd"] == {"deep": ["\ufffd", "\ufffd"]}


def test_turns_of_one_and_two_megabytes_arrive_whole_beside_short_ones(
    database: TestDatabase, tmp_path: Path
) -> None:
    long = "".join(f"词{number} word{number} " for number in range(60_000))
    distinct = " ".join(f"w{number:06d}" for number in range(260_000))
    assert len(long.encode()) > 1_000_000 and len(distinct) > 2_000_000
    with session_on(database, FakeEmbedder()) as session:
        path = write_lines(tmp_path / "a.jsonl", [conversation("t", "短", long, distinct, "short")])
        result = ingest_file(session, path)
    assert (result.memories, result.rejected) == (4, 0)
    assert [row[7] for row in contents(database)["turns"]] == ["短", long, distinct, "short"]


def test_blank_turns_are_events_without_a_memory(database: TestDatabase, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [conversation("t", "a", "", " \n\t　", "b")])
    with session_on(database, FakeEmbedder()) as session:
        result = ingest_file(session, path)
        again = ingest_file(session, path)
    assert (result.events, result.memories, result.blank) == (4, 2, 2)
    assert (again.events, again.duplicates) == (0, 4)


def test_rejects_are_kept_with_line_and_reason_and_the_rest_is_stored(
    database: TestDatabase, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    good = json.dumps(conversation("t", "a")).encode()
    turn = json.dumps(conversation("t3", "a", "b") | {"turns": [{"role": "user"}, {"role": "user", "text": "c"}]})  # fmt: skip
    path.write_bytes(b"\n".join([b"{broken", good, b'{"x": "caf\xe9"}', turn.encode()]) + b"\n")
    with session_on(database) as session:
        result = ingest_file(session, path)
    assert (result.events, result.rejected) == (2, 3)
    assert [(r.line, r.turn, r.reason) for r in result.rejects] == [
        (1, None, "not_json"),
        (3, None, "invalid_utf8"),
        (4, 1, "text_missing"),
    ]
    assert result.reject_file == str(tmp_path / "a.jsonl.rejects.jsonl")
    kept = [json.loads(line) for line in Path(result.reject_file).read_text().splitlines()]
    assert [entry["line"] for entry in kept] == [1, 3, 4]
    assert kept[0]["raw"] == "{broken" and kept[1]["raw"] == '{"x": "caf\\xe9"}'


def test_a_repaired_reject_lands_in_its_place(database: TestDatabase, tmp_path: Path) -> None:
    broken = conversation("t", "a", "b", "c")
    mended = conversation("t", "a", "b", "c")
    broken["turns"][1] = {"role": "assistant"}  # type: ignore[index]
    with session_on(database) as session:
        ingest_file(session, write_lines(tmp_path / "a.jsonl", [broken]))
        result = ingest_file(session, write_lines(tmp_path / "a.jsonl", [mended]))
    assert (result.events, result.duplicates) == (1, 2)
    assert [(row[2], row[7]) for row in contents(database)["turns"]] == [
        (1, "a"),
        (2, "b"),
        (3, "c"),
    ]


def test_a_dry_run_counts_and_touches_nothing(database: TestDatabase, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [conversation("t", "a", "b"), {"turns": 1}])
    embedder = FakeEmbedder()
    with session_on(database, embedder) as session:
        result = ingest_file(session, path, dry_run=True)
        assert contents(database) == {"turns": [], "stats": [], "jobs": []}
        assert embedder.calls == [] and not list(tmp_path.glob("*.rejects*"))
        assert (result.events, result.memories, result.rejected, result.dry_run) == (2, 2, 1, True)
        ingest_file(session, write_lines(path, [conversation("t", "a")]))
        grown = write_lines(path, [conversation("t", "a", "b")])
        result = ingest_file(session, grown, dry_run=True)
    assert (result.events, result.duplicates) == (1, 1)


def test_vectors_hold_the_speaker_and_are_those_of_the_sql_functions(
    database: TestDatabase, tmp_path: Path
) -> None:
    turns = [
        {"speaker": "Ann", "text": "I moved to Bern"},
        {"role": "user", "text": "我搬到了伯尔尼"},
    ]
    embedder = FakeEmbedder()
    with session_on(database, embedder) as session:
        ingest_file(session, write_lines(tmp_path / "a.jsonl", [{"thread": "t", "turns": turns}]))
    rows = database.rows(
        "SELECT m.content, v.embedding::vector::real[], v.bits::text, "
        "negentropy.embedding_bits(v.embedding::vector, e.mean)::text "
        "FROM negentropy.memory_vectors AS v "
        "JOIN negentropy.memories AS m ON m.id = v.memory_id "
        "JOIN negentropy.embedding_models AS e ON e.id = v.model_id ORDER BY m.position"
    )
    said = ["Ann: I moved to Bern", "我搬到了伯尔尼"]
    expected = FakeEmbedder().embed_documents(said)
    for row, vector in zip(rows, expected, strict=True):
        assert row[1] == pytest.approx(list(vector), abs=1e-3)
        assert row[2] == row[3] and len(row[2]) == 32
    assert [row[0] for row in rows] == ["I moved to Bern", "我搬到了伯尔尼"]
    assert database.value("SELECT count(*) FROM negentropy.memory_terms WHERE term = 'ann'") == 1


def test_an_embedder_that_fails_leaves_memories_without_vectors_and_the_next_run_mends_them(
    database: TestDatabase, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "a.jsonl", many_conversations(4))
    down = NegmemError("embedder_unreachable", "no answer", why="connection refused")
    with session_on(database, FakeEmbedder(fail=down)) as session:
        run = Ingest(session, IngestOptions(path=str(path)))
        result = run.run()
        assert run.needs_attention
        assert [warning["code"] for warning in session.warnings] == ["embedder_unreachable"]
    assert (result.memories, result.embedding.vectors, result.embedding.missing) == (40, 0, 40)
    with session_on(database, FakeEmbedder()) as session:
        run = Ingest(session, IngestOptions(path=str(path)))
        result = run.run()
        assert not run.needs_attention
    assert (result.memories, result.duplicates, result.embedding.repaired) == (0, 40, 40)
    assert all(row[-1] == 1 for row in contents(database)["turns"])


def test_an_embedder_that_stays_down_is_asked_twice_and_no_more(
    database: TestDatabase, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "a.jsonl", many_conversations(60))
    embedder = FakeEmbedder(fail=NegmemError("embedder_timeout", "no answer"))
    with session_on(database, embedder) as session:
        result = ingest_file(session, path)
        assert session.warnings[-1]["code"] == "embedding_stopped"
    assert (result.memories, result.embedding.missing, len(embedder.calls)) == (600, 600, 2)


def test_a_text_that_the_model_refuses_costs_its_own_vector_alone(
    database: TestDatabase, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "a.jsonl", [conversation("t", "a", "太长了", "b")])
    with session_on(database, FakeEmbedder(park=["太长了"])) as session:
        run = Ingest(session, IngestOptions(path=str(path), user="alice"))
        result = run.run()
        assert run.needs_attention
    assert (result.embedding.vectors, result.embedding.parked, result.embedding.missing) == (
        2,
        1,
        1,
    )


def test_another_model_than_the_stored_one_is_refused_before_anything_is_written(
    database: TestDatabase, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "a.jsonl", [conversation("t", "a")])
    with session_on(database, FakeEmbedder(dims=32)):
        pass
    with session_on(database, FakeEmbedder(dims=16)) as session:
        with pytest.raises(NegmemError) as refused:
            ingest_file(session, path)
        assert refused.value.code == "embedding_space_mismatch" and refused.value.hint
    assert contents(database)["turns"] == []


def test_without_an_embedder_everything_is_stored_and_it_is_said(
    database: TestDatabase, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "a.jsonl", [conversation("t", "a")])
    with session_on(database) as session:
        run = Ingest(session, IngestOptions(path=str(path), user="alice"))
        assert run.run().memories == 1
        assert [warning["code"] for warning in session.warnings] == ["embedder_disabled"]
        assert not run.needs_attention


def test_a_running_job_is_told_that_there_is_more(database: TestDatabase, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with session_on(database) as session:
        ingest_file(session, write_lines(path, [conversation("t", "a")]))
        ingest_file(session, write_lines(path, [conversation("t", "a", "b")]))
        first = "SELECT min(created_at) FROM negentropy.events"
        assert database.rows(
            f"SELECT status, (payload ->> 'since')::timestamptz = ({first}), payload - 'since'"
            " FROM negentropy.consolidation_jobs"
        ) == [("pending", True, {})]
        database.rows("UPDATE negentropy.consolidation_jobs SET status = 'running'")
        ingest_file(session, write_lines(path, [conversation("t", "a", "b", "c")]))
        last = "SELECT max(created_at) FROM negentropy.events"
        assert database.rows(
            f"SELECT status, (payload ->> 'again_since')::timestamptz = ({last}), payload -> 'again'"
            " FROM negentropy.consolidation_jobs"
        ) == [("running", True, True)]
        database.rows("UPDATE negentropy.consolidation_jobs SET status = 'completed'")
        result = ingest_file(session, write_lines(path, [conversation("t", "a", "b", "c", "d")]))
    assert result.jobs == 1
    assert database.value("SELECT count(*) FROM negentropy.consolidation_jobs") == 2


def test_a_forgotten_memory_stays_forgotten(database: TestDatabase, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [conversation("t", "a", "b")])
    with session_on(database, FakeEmbedder()) as session:
        ingest_file(session, path)
        database.rows(
            "SELECT negentropy.forget_memories('alice', 'negmem', array_agg(id), 'test') "
            "FROM negentropy.memories WHERE content = 'a'"
        )
        result = ingest_file(session, path)
    assert (result.memories, result.duplicates, result.embedding.repaired) == (0, 2, 0)
    assert database.value("SELECT count(*) FROM negentropy.memories WHERE deleted_at IS NULL") == 1


@pytest.mark.servers("pooled", "sixteen", "full")
def test_through_a_pooler_and_on_other_servers(database: TestDatabase, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", many_conversations(60))
    with session_on(database, FakeEmbedder()) as session:
        first = ingest_file(session, path)
        second = ingest_file(session, path)
    assert (first.memories, first.embedding.vectors) == (600, 600)
    assert (second.memories, second.duplicates) == (0, 600)
    assert len(contents(database)["turns"]) == 600


def test_the_written_tables_have_no_triggers_but_those_of_keys(database: TestDatabase) -> None:
    assert database.value(
        "SELECT count(*) FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid "
        "JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        "WHERE n.nspname = 'negentropy' AND NOT t.tgisinternal AND c.relname <> 'memory_audit_logs'"
    ) == 0  # fmt: skip


def test_what_a_batch_reads_does_not_grow_with_what_is_stored(
    database: TestDatabase, tmp_path: Path
) -> None:
    """Without statistics, as while a load fills a new database, plans must not read whole tables."""
    database.rows("ALTER TABLE negentropy.memories SET (autovacuum_enabled = false)")
    values = [
        conversation(f"t{thread}", *(f"turn {number}" for number in range(10)))
        for thread in range(200)
    ]
    grown = [conversation(f"t{thread}", *(f"turn {n}" for n in range(11))) for thread in range(200)]
    path = tmp_path / "a.jsonl"
    reads = []
    with session_on(database, FakeEmbedder(), **{"formation.batch_turns": 20}) as session:
        for part in (values[:100], values[100:], grown):
            before = rows_read(database)
            ingest_file(session, write_lines(path, part))
            session.database.close()
            reads.append(
                {table: count - before[table] for table, count in rows_read(database).items()}
            )
    assert database.value("SELECT count(*) FROM negentropy.memories") == 2200
    for table in reads[0]:
        assert reads[1][table] < 2 * reads[0][table] + 200, (table, reads)
        assert max(read[table] for read in reads) < 20 * 1000, (table, reads)


def rows_read(database: TestDatabase) -> dict[str, int]:
    """Rows read so far, by table, whatever the plan."""
    return dict(
        database.rows(
            "SELECT relname::text, (seq_tup_read + coalesce(idx_tup_fetch, 0) + (SELECT "
            "coalesce(sum(i.idx_tup_read), 0) FROM pg_stat_user_indexes AS i WHERE i.relid = t.relid))::int "
            "FROM pg_stat_user_tables AS t WHERE relname IN "
            "('events', 'memories', 'item_sources', 'memory_vectors')"
        )
    )
