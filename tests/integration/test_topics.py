"""Topics on a real database: stable ids, bounded, the same after a cut."""

from __future__ import annotations

from uuid import UUID

import pytest

from negmem.core import memories, topics
from negmem.core.session import Session, open_session
from negmem.providers.embedding import EmbedderAbsent
from tests.support.databases import TestDatabase

TEXTS = (
    "espresso machine repair",
    "the espresso machine needs repair again",
    "杭州西湖边喝茶",
    "周末去杭州西湖边喝茶",
    "quarterly budget review",
)


def add(session: Session, text: str, user: str = "ada") -> UUID:
    added = memories.add(session, user, text).memory
    assert added is not None
    return added.id


def groups(database: TestDatabase) -> set[frozenset[str]]:
    rows = database.rows(
        """
        SELECT array_agg(m.content) FROM negentropy.memory_topic_members AS b
        JOIN negentropy.memories AS m ON m.id = b.memory_id GROUP BY b.topic_id
        """
    )
    return {frozenset(row[0]) for row in rows}


@pytest.mark.servers("embedded", "sixteen")
def test_similar_memories_share_a_topic_whose_id_stays(
    session: Session, database: TestDatabase
) -> None:
    ids = [add(session, text) for text in TEXTS]
    add(session, TEXTS[0], user="bob")
    done = topics.cluster_new(session, "ada", threshold=0.5)
    assert done is not None
    assert (done.memories, done.joined, done.begun) == (5, 2, 3)
    assert frozenset(TEXTS[2:4]) in groups(database)
    found = topics.list_topics(session, "ada")
    assert found.total == 2
    labels = {topic.label for topic in found.topics}
    assert any("espresso" in label and "repair" in label for label in labels)
    assert any("西湖" in label for label in labels)
    before = {topic.id for topic in found.topics}
    mine = memories.show(session, "ada", ids[3])
    assert (mine.topic_id in before, mine.topic in labels) == (True, True)
    assert memories.show(session, "ada", ids[4]).topic is None, "alone it has none"

    assert topics.cluster_new(session, "ada", threshold=0.5) == topics.Clustered(0, 0, 0)
    add(session, "espresso machine repair today")
    memories.edit(session, "ada", ids[3], content="the quarterly budget review was moved")
    topics.cluster_new(session, "ada", threshold=0.5)
    again = topics.list_topics(session, "ada")
    assert max(topic.members for topic in again.topics) == 3
    assert before & {topic.id for topic in again.topics}
    assert not any("budget" in text for one in groups(database) if TEXTS[2] in one for text in one)

    memories.remove(session, "ada", [ids[0], ids[1]])
    shown = topics.list_topics(session, "ada")
    assert all(TEXTS[0] != e["content"] for topic in shown.topics for e in topic.examples)


def test_cut_off_and_bounded(
    session: Session, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n, text in enumerate(TEXTS * 2):
        add(session, f"{text} {'晚上' if n > 4 else ''}".strip())
    topics.cluster_new(session, "ada", threshold=0.5)
    whole = groups(database)
    for table in ("memory_topics", "memory_formation"):
        database.rows(f"DELETE FROM negentropy.{table}")
    monkeypatch.setattr(topics, "BATCH", 3)
    calls = iter(range(100))

    def killed() -> None:
        if next(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        topics.cluster_new(session, "ada", threshold=0.5, checkpoint=killed)
    topics.cluster_new(session, "ada", threshold=0.5)
    assert groups(database) == whole

    monkeypatch.setattr(topics, "MAX_TOPICS", 3)
    for n in range(8):
        add(session, f"unlike anything else {n * 'x'} {n}")
    topics.cluster_new(session, "ada", threshold=0.999)
    kept = database.rows("SELECT member_count FROM negentropy.memory_topics")
    assert len(kept) == 3, "topics of several members stay, those of one go"
    assert topics.cluster_new(session, "ada", threshold=0.999) == topics.Clustered(0, 0, 0)


def test_without_a_model_there_is_nothing_to_compare(database: TestDatabase) -> None:
    with open_session(dsn=database.dsn, env={}) as bare:
        bare.use_embedder(EmbedderAbsent("embedder_none", "none in this test"))
        add(bare, "text")
        assert topics.cluster_new(bare, "ada", threshold=0.5) is None
