"""Single memories on a real database: what is stored, what search tables follow, what is kept."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone

import pytest

from negmem.core import memories
from negmem.core.session import Session, open_session
from negmem.errors import NegmemError, UsageError
from negmem.providers.embedding import EmbedderAbsent
from tests.support.databases import TestDatabase
from tests.support.ingesting import session_on


@pytest.fixture
def session(database: TestDatabase) -> Iterator[Session]:
    with session_on(database) as opened:
        yield opened


def terms_of(database: TestDatabase, memory_id: uuid.UUID) -> set[str]:
    rows = database.rows(
        "SELECT term FROM negentropy.memory_terms WHERE memory_id = %s", (memory_id,)
    )
    return {row[0] for row in rows}


def documents(database: TestDatabase, user: str) -> tuple[int, int]:
    rows = database.rows(
        "SELECT documents, total_len FROM negentropy.memory_term_stats WHERE user_id = %s", (user,)
    )
    return tuple(rows[0]) if rows else (0, 0)


@pytest.mark.servers("embedded", "sixteen", "pooled")
def test_a_memory_arrives_intact_and_indexed(session: Session, database: TestDatabase) -> None:
    text = "我喜欢喝咖啡 ☕️，编号 order-1234\n\tdef f(x): return x"
    added = memories.add(
        session,
        "alice",
        text,
        thread="会话一",
        metadata={"speaker": "王芳", "tags": ["饮料"]},
        occurred_at=datetime(2016, 3, 2, tzinfo=timezone.utc),
    )
    assert added.memory is not None
    assert added.memory.content == text
    assert added.memory.thread == "会话一"
    assert added.memory.metadata == {"source": "manual", "speaker": "王芳", "tags": ["饮料"]}
    assert {"咖啡", "order-1234", "王芳"} <= terms_of(database, added.memory.id)
    assert documents(database, "alice")[0] == 1


def test_old_talk_keeps_its_date_and_is_not_forgotten_for_it(session: Session) -> None:
    added = memories.add(
        session, "alice", "说过很久了", occurred_at=datetime(2016, 3, 2, tzinfo=timezone.utc)
    ).memory
    assert added is not None and added.occurred_at is not None and added.fades_at is not None
    assert added.occurred_at.year == 2016
    assert added.retention == pytest.approx(0.3, abs=1e-4)
    assert (added.fades_at - added.created_at).days == 640


def test_nul_and_lone_surrogates_are_replaced_and_counted(session: Session) -> None:
    added = memories.add(session, "alice", "a\x00b\ud800c \\u0000", metadata={"k": "x\x00"})
    assert added.memory is not None
    assert added.memory.content == "a\ufffdb\ufffdc \\u0000"
    assert added.replaced_characters == 2


def test_blank_text_and_unknown_types_are_refused(session: Session) -> None:
    for text in ("", "  \n "):
        with pytest.raises(UsageError) as raised:
            memories.add(session, "alice", text)
        assert raised.value.code == "text_refused"
    with pytest.raises(UsageError) as raised:
        memories.add(session, "alice", "x", memory_type="wisdom")
    assert raised.value.code == "memory_type_unknown"


def test_removed_then_restored_is_as_before(session: Session, database: TestDatabase) -> None:
    kept = memories.add(session, "alice", "keeps a cat").memory
    gone = memories.add(session, "alice", "养了一只猫").memory
    assert kept is not None and gone is not None
    before = (terms_of(database, gone.id), documents(database, "alice"))
    change = memories.remove(session, "alice", [gone.id, gone.id, uuid.uuid4()])
    assert (change.changed, len(change.unknown)) == ([gone.id], 1)
    assert terms_of(database, gone.id) == set()
    assert documents(database, "alice")[0] == 1
    assert [m.id for m in memories.list_memories(session, "alice").memories] == [kept.id]
    assert memories.remove(session, "alice", [gone.id]).changed == []
    memories.restore(session, "alice", [gone.id])
    assert (terms_of(database, gone.id), documents(database, "alice")) == before
    decisions = database.rows(
        "SELECT decision, version FROM negentropy.memory_audit_logs WHERE memory_id = %s ORDER BY version",
        (str(gone.id),),
    )
    assert decisions == [("delete", 1), ("retain", 2)]


def test_the_trail_names_nobody(session: Session, database: TestDatabase) -> None:
    added = memories.add(session, "张伟", "secret").memory
    assert added is not None
    memories.remove(session, "张伟", [added.id], reason="张伟 asked")
    row = database.rows("SELECT l::text FROM negentropy.memory_audit_logs AS l")[0][0]
    assert "张伟" not in row
    detail = database.rows("SELECT user_id, note FROM negentropy.audit_details")
    assert detail == [("张伟", "张伟 asked")]


def test_dry_run_touches_nothing(session: Session, database: TestDatabase) -> None:
    added = memories.add(session, "alice", "stays").memory
    assert added is not None
    assert memories.add(session, "bob", "not stored", dry_run=True).memory is None
    assert memories.remove(session, "alice", [added.id], dry_run=True).changed == [added.id]
    assert memories.edit(session, "alice", added.id, content="x", dry_run=True).content == "x"
    now = memories.show(session, "alice", added.id)
    assert now.model_copy(update={"retention": added.retention}) == added
    assert database.value("SELECT count(*) FROM negentropy.users") == 1


def test_edit_keeps_what_it_said_and_search_follows(
    session: Session, database: TestDatabase
) -> None:
    added = memories.add(session, "alice", "likes tea", metadata={"topic": "drinks"}).memory
    assert added is not None
    edited = memories.edit(
        session, "alice", added.id, content="喜欢咖啡", metadata={"topic": None, "sure": True}
    )
    assert (edited.content, edited.version) == ("喜欢咖啡", 2)
    assert edited.metadata == {"source": "manual", "sure": True}
    assert "咖啡" in terms_of(database, added.id) and "tea" not in terms_of(database, added.id)
    assert documents(database, "alice")[0] == 1
    before = database.rows("SELECT version, before ->> 'content' FROM negentropy.memory_versions")
    assert before == [(1, "likes tea")]


def test_a_stale_edit_is_refused(session: Session) -> None:
    added = memories.add(session, "alice", "one").memory
    assert added is not None
    memories.edit(session, "alice", added.id, content="two")
    with pytest.raises(NegmemError) as raised:
        memories.edit(session, "alice", added.id, content="three", expected_version=1)
    assert raised.value.code == "version_conflict"


def test_one_users_memories_are_out_of_reach_of_another(session: Session) -> None:
    added = memories.add(session, "a_b", "mine").memory
    assert added is not None
    assert memories.list_memories(session, "axb").memories == []
    assert memories.list_memories(session, "%").memories == []
    with pytest.raises(NegmemError) as raised:
        memories.show(session, "axb", added.id)
    assert raised.value.code == "memory_unknown"
    assert memories.remove(session, "axb", [added.id]).unknown == [added.id]
    assert memories.show(session, "a_b", added.id).deleted_at is None


def test_pinned_memories_say_so(session: Session) -> None:
    added = memories.add(session, "alice", "never forget").memory
    assert added is not None
    assert memories.pin(session, "alice", [added.id]).changed == [added.id]
    assert memories.pin(session, "alice", [added.id]).changed == []
    assert [m.id for m in memories.list_memories(session, "alice", pinned=True).memories] == [
        added.id
    ]
    assert memories.unpin(session, "alice", [added.id]).changed == [added.id]


def test_writers_at_once_lose_nothing(database: TestDatabase) -> None:
    def write(number: int) -> None:
        opened = open_session(dsn=database.dsn, env={})
        opened.use_embedder(EmbedderAbsent("embedder_none", "none"))
        with opened:
            for turn in range(5):
                memories.add(opened, "alice", f"note {number} {turn} 记录", thread="t")

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(6)))
    assert database.value("SELECT count(*) FROM negentropy.memories") == 30
    assert documents(database, "alice")[0] == 30
    assert (
        database.value(
            "SELECT sum(len) FROM (SELECT DISTINCT memory_id, len FROM negentropy.memory_terms) AS d"
        )
        == documents(database, "alice")[1]
    )


def test_a_list_says_when_it_is_cut(session: Session) -> None:
    for number in range(5):
        memories.add(session, "alice", f"note {number}")
    page = memories.list_memories(session, "alice", limit=2, offset=1)
    assert (len(page.memories), page.total, page.truncated) == (2, 5, True)
    rest = memories.list_memories(session, "alice", limit=2, offset=3)
    assert (len(rest.memories), rest.truncated) == (2, False)


@pytest.mark.servers("embedded", "pooled")
def test_another_date_style_of_the_database_hinders_nothing(database: TestDatabase) -> None:
    database.rows(f"ALTER DATABASE \"{database.name}\" SET datestyle = 'SQL, DMY'")
    database.rows(f"ALTER DATABASE \"{database.name}\" SET timezone = 'Pacific/Auckland'")
    opened = open_session(dsn=database.dsn, env={})
    opened.use_embedder(EmbedderAbsent("embedder_none", "none"))
    with opened:
        said = datetime(2026, 3, 2, 23, 30, tzinfo=timezone.utc)
        added = memories.add(opened, "alice", "三月二日说的", occurred_at=said).memory
        assert added is not None and added.occurred_at == said


@pytest.mark.parametrize("dims", [384, 1536, 3072, 4000])
@pytest.mark.servers("embedded")
def test_vectors_of_any_size_are_stored_and_small_ones_inline(
    database: TestDatabase, dims: int
) -> None:
    database.rows(
        "INSERT INTO negentropy.embedding_models (app_name, id, provider, model, version, dims)"
        " VALUES ('negmem', 1, 'test', 'test', '1', %s)",
        (dims,),
    )
    database.rows(
        "INSERT INTO negentropy.memories (user_id, app_name, id, content)"
        " SELECT 'alice', 'negmem', gen_random_uuid(), 'x' FROM generate_series(1, 20)"
    )
    database.rows(
        "INSERT INTO negentropy.memory_vectors (user_id, app_name, memory_id, model_id, bits, embedding)"
        " SELECT m.user_id, m.app_name, m.id, 1, negentropy.embedding_bits(e.v, NULL), e.v::halfvec"
        " FROM negentropy.memories AS m, LATERAL (SELECT array_agg(random() - 0.5)::vector AS v"
        " FROM generate_series(1, %s) WHERE m.id IS NOT NULL) AS e",
        (dims,),
    )
    out_of_line = database.value(
        "SELECT pg_relation_size(reltoastrelid) FROM pg_class"
        " WHERE oid = 'negentropy.memory_vectors'::regclass"
    )
    assert database.value("SELECT count(*) FROM negentropy.memory_vectors") == 20
    assert (out_of_line > 0) == (dims == 4000)
