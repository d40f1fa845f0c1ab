"""What is shared is found however old it is, and as much of it as was asked for."""

from __future__ import annotations

from negmem.core.learning import entities, learnings
from tests.support.databases import TestDatabase
from tests.support.ingesting import session_on


def test_the_oldest_is_found_and_none_is_short(database: TestDatabase) -> None:
    with session_on(database) as session:
        entities.add(
            session, None, "f0", entity_type="company", name="First", description="锻造铁砧"
        )
        for number in range(1, 41):
            entities.add(session, None, f"f{number}", entity_type="company", name=f"Firm {number}")
        found = entities.search_entities(session, None, "谁锻造铁砧", limit=5).entities
        assert found[0].entity_id == "f0"
        # What another keeps to himself fits better, and takes no place of those that may be read.
        for number in range(25):
            learnings.save(
                session,
                "alice",
                title=f"anvil anvil {number}",
                learning=f"anvil anvil {'anvil ' * number}",
                namespace="user",
            )
            if number % 4 == 0:
                text = f"An anvil of sort {number}, in words that have nothing else in common: {'x' * (number + 1)}."
                learnings.save(session, None, title=f"Lesson {number}", learning=text, anyway=True)
        for user, own in (("bob", 0), ("alice", 5)):
            page = learnings.search_learnings(session, user, "anvil", namespace="all", limit=5)
            spaces = [one.namespace for one in page.learnings]
            assert len(spaces) == 5 and spaces.count("user") == own, (user, spaces)
