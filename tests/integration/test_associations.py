"""Links on a real database: bounded, idempotent, walked within a budget, never another person's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from uuid import UUID, uuid4

import pytest

from negmem.core import associations, memories
from negmem.core.session import Session, open_session
from negmem.errors import NegmemError, UsageError
from negmem.providers.embedding import EmbedderAbsent
from tests.support.databases import TestDatabase


def add(session: Session, text: str, user: str = "ada", **more: object) -> UUID:
    added = memories.add(session, user, text, **more).memory  # type: ignore[arg-type]
    assert added is not None
    return added.id


def pairs(database: TestDatabase) -> set[tuple[str, str, str]]:
    rows = database.rows(
        """
        SELECT s.content, t.content, a.association_type FROM negentropy.memory_associations AS a
        JOIN negentropy.memories AS s ON s.id = a.source_id
        JOIN negentropy.memories AS t ON t.id = a.target_id
        WHERE a.expired_at IS NULL
        """
    )
    return {(*sorted(row[:2]), row[2]) for row in rows}


@pytest.mark.servers("embedded", "sixteen", "full")
def test_new_memories_are_linked_to_few_neighbours_and_only_once(
    session: Session, database: TestDatabase
) -> None:
    chat = [add(session, f"第{n}句话 turn number {n} of talk", thread="谈话") for n in range(12)]
    twin = add(session, "第3句话 turn number 3 of talk")
    stranger = add(session, "第3句话 turn number 3 of talk", user="bob")
    removed = add(session, "第3句话 turn number 3 of talk again")
    memories.remove(session, "ada", [removed])

    linked, added = associations.link_new(session, "ada")
    assert linked == 13
    degree = database.rows(
        """
        SELECT association_type, count(*) FROM negentropy.memory_associations
        WHERE user_id = 'ada' GROUP BY 1 ORDER BY 1
        """
    )
    counts = {str(kind): int(number) for kind, number in degree}
    assert counts["thread_shared"] == 11 + 10, "two turns to either side"
    assert counts["temporal"] <= 3 * 13
    assert 0 < counts["semantic"] <= 5 * 13
    assert added == sum(counts.values())
    ends = database.rows(
        "SELECT source_id, target_id FROM negentropy.memory_associations WHERE user_id = 'ada'"
    )
    touched = {one for row in ends for one in row}
    assert twin in touched and not {stranger, removed} & touched
    assert all(source < target for source, target in ends)
    assert associations.link_new(session, "ada") == (0, 0), "nothing is pending"
    database.rows("DELETE FROM negentropy.memory_formation")  # as if it had been killed
    assert associations.link_new(session, "ada")[1] == 0
    heaviest = database.rows(
        "SELECT association_type, max(weight) FROM negentropy.memory_associations GROUP BY 1"
    )
    weights = {str(kind): float(weight) for kind, weight in heaviest}
    assert weights["thread_shared"] == 0.6
    assert weights["temporal"] <= 1 and weights["semantic"] == pytest.approx(1, abs=1e-3)
    assert chat[0] in touched


def test_a_batch_cut_off_ends_as_an_undisturbed_run(
    session: Session, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(9):
        add(session, f"memory {n} about tea {n % 3}", thread=f"t{n % 2}")
    monkeypatch.setattr(associations, "BATCH", 2)
    calls = iter(range(100))

    def killed() -> None:
        if next(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        associations.link_new(session, "ada", checkpoint=killed)
    associations.link_new(session, "ada")
    resumed = pairs(database)
    database.rows("DELETE FROM negentropy.memory_associations")
    database.rows("DELETE FROM negentropy.memory_formation")
    monkeypatch.setattr(associations, "BATCH", 200)
    associations.link_new(session, "ada")
    assert pairs(database) == resumed


def test_an_edited_memory_is_linked_anew_and_keeps_what_people_made(
    session: Session, database: TestDatabase
) -> None:
    one, other = add(session, "green tea in the morning"), add(session, "green tea in the evening")
    far = add(session, "quarterly budget of the team")
    associations.link(session, "ada", one, far, association_type="causes", weight=7)
    associations.link_new(session, "ada", threshold=0.5)
    assert ("green tea in the evening", "green tea in the morning", "semantic") in pairs(database)
    memories.edit(session, "ada", other, content="the train to 北京 leaves late")
    associations.link_new(session, "ada", threshold=0.5)
    kinds = {(a, b): t for a, b, t in pairs(database) if t in ("semantic", "causes")}
    assert ("green tea in the morning", "the train to 北京 leaves late") not in kinds
    assert kinds["green tea in the morning", "quarterly budget of the team"] == "causes"


def test_entities_that_a_memory_names_are_linked(session: Session, database: TestDatabase) -> None:
    database.rows(
        """
        INSERT INTO negentropy.entities (owner_kind, owner, app_name, entity_id, entity_type, name, aliases)
        VALUES ('user', 'ada', 'negmem', 'art', 'firm', 'Art', '{}'),
            ('user', 'ada', 'negmem', 'hz', 'city', 'Hangzhou', '{杭州}'),
            ('user', 'bob', 'negmem', 'tea', 'thing', 'tea', '{}')
        """
    )
    one = add(session, "我在杭州喝 tea")
    add(session, "the party starts at eight")
    associations.link_new(session, "ada")
    walked = associations.links(session, "ada", one, types=["entity"])
    assert [(item.kind, item.content, item.weight) for item in walked.items] == [
        ("entity", "Hangzhou", 0.5)
    ]


def test_a_walk_ends_in_cycles_keeps_to_its_budget_and_to_the_user(
    session: Session, database: TestDatabase
) -> None:
    ids = [add(session, f"step {n} 第{n}步") for n in range(6)]
    for one, other in combinations(ids[:4], 2):  # everything with everything: cycles
        associations.link(session, "ada", one, other, weight=0.5)
    associations.link(session, "ada", ids[3], ids[4], weight=0.8)
    associations.link(session, "ada", ids[4], ids[5], weight=0.5)
    stranger = add(session, "somebody else's", user="bob")
    database.rows(  # what no command can write
        """
        INSERT INTO negentropy.memory_associations (user_id, app_name, source_id, target_id, weight)
        VALUES ('ada', 'negmem', %s, %s, 1)
        """,
        (ids[0], stranger),
    )
    walked = associations.links(session, "ada", ids[0], depth=5)
    assert {item.id for item in walked.items} == set(ids[1:])
    depths = {item.id: item.depth for item in walked.items}
    assert [depths[one] for one in ids[1:]] == [1, 1, 1, 2, 3]
    strengths = {item.id: item.strength for item in walked.items}
    assert strengths[ids[4]] == pytest.approx(0.4)
    assert strengths[ids[5]] == pytest.approx(0.2)
    assert [item.depth for item in walked.items] == sorted(depths.values())

    room = walked.items[0].tokens + walked.items[1].tokens
    few = associations.links(session, "ada", ids[0], depth=5, max_tokens=room)
    assert few.tokens <= room and len(few.items) == 2 and len(few.left_out) == 3
    in_sql = database.rows(
        "SELECT id, tokens FROM negentropy.linked_memories('ada', 'negmem', %s, 5, %s)",
        (ids[0], room * 2),
    )
    assert in_sql and sum(row[1] for row in in_sql) <= room * 2

    memories.remove(session, "ada", [ids[3]])
    again = associations.links(session, "ada", ids[0], depth=5)
    assert {item.id for item in again.items} == set(ids[1:3]), (
        "nothing is reached through a removed one"
    )
    with pytest.raises(NegmemError) as raised:
        associations.links(session, "ada", ids[3])
    assert raised.value.code == "memory_unknown"
    with pytest.raises(NegmemError) as raised:
        associations.links(session, "bob", ids[0])
    assert raised.value.code == "memory_unknown"


def test_links_by_hand(session: Session, database: TestDatabase) -> None:
    one, other = add(session, "配置在 src/app.py 里"), add(session, "call load_config() first")
    stranger = add(session, "theirs", user="bob")
    planned = associations.link(session, "ada", one, other, weight=0.7, dry_run=True)
    assert planned.changed and pairs(database) == set()
    made = associations.link(session, "ada", one, other, weight=0.7)
    assert made.changed and made.links[0].origin == "manual"
    again = associations.link(session, "ada", other, one, weight=0.7)
    assert not again.changed and again.links[0].id == made.links[0].id, "it has no direction"
    directed = associations.link(session, "ada", other, one, association_type="causes")
    assert (directed.links[0].source_id, directed.links[0].target_id) == (other, one)

    found = associations.links(session, "ada", one)
    assert found.items[0].verify == ["function"]
    gone = associations.unlink(session, "ada", one, other)
    assert gone.changed and len(gone.links) == 2
    assert associations.links(session, "ada", one).items == []
    assert not associations.unlink(session, "ada", one, other).changed

    for ends in ((one, stranger), (one, uuid4())):
        with pytest.raises(NegmemError) as raised:
            associations.link(session, "ada", *ends)
        assert raised.value.code == "memory_unknown"
    for wrong in (
        {"association_type": "magic"},
        {"weight": float("nan")},
    ):
        with pytest.raises(UsageError):
            associations.link(session, "ada", one, other, **wrong)
    with pytest.raises(UsageError):
        associations.link(session, "ada", one, one)


def test_a_link_taken_back_is_not_made_again_by_itself(
    session: Session, database: TestDatabase
) -> None:
    one, other = add(session, "first", thread="t"), add(session, "second", thread="t")
    associations.link_new(session, "ada")
    associations.unlink(session, "ada", one, other)
    database.rows("DELETE FROM negentropy.memory_formation")
    associations.link_new(session, "ada")
    assert associations.links(session, "ada", one).items == []


def test_two_at_once_make_one_link_each(database: TestDatabase, session: Session) -> None:
    for n in range(40):
        add(session, f"note {n}", thread="t")

    def work(_: int) -> int:
        with open_session(dsn=database.dsn, env={}) as own:
            own.use_embedder(EmbedderAbsent("embedder_none", "none in this test"))
            return associations.link_new(own, "ada")[1]

    with ThreadPoolExecutor(4) as threads:
        added = sum(threads.map(work, range(4)))
    assert added == database.value("SELECT count(*) FROM negentropy.memory_associations")
