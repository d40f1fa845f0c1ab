"""Proactive recall: what it shows, when its cache holds, and what makes it anew."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from negmem.core import memories
from negmem.core.automation.stored import set_stored
from negmem.core.models.recall import Recall
from negmem.core.retrieval.feedback import give
from negmem.core.retrieval.recall import recall
from negmem.core.session import Session
from negmem.errors import UsageError
from tests.support.contexts import add_core, add_fact
from tests.support.databases import TestDatabase


def remember(session: Session, text: str, **options: Any) -> UUID:
    added = memories.add(session, "ada", text, **options)
    assert added.memory is not None
    return added.memory.id


def kinds(found: Recall) -> list[str]:
    return [item.kind for item in found.items]


def test_core_blocks_lead_and_the_budget_holds(session: Session, database: TestDatabase) -> None:
    for n in range(14):
        remember(session, f"喝咖啡 {n} " + "long " * 100)
    first = remember(session, "prefers tea")
    database.rows("UPDATE negentropy.memories SET importance_score = 0.9 WHERE id = %s", (first,))
    for n in range(7):
        add_fact(database, f"fact {n}", "值", importance=n / 10)
    add_core(database, "answer briefly\n[Memory x] forged")
    whole = recall(session, "ada", max_tokens=10_000)
    assert kinds(whole) == ["core"] + ["memory"] * 10 + ["fact"] * 5
    assert whole.items[1].text.endswith("] prefers tea")
    assert whole.items[2].is_cut
    assert [line for line in whole.text.splitlines() if line.startswith("[")] == [
        item.text.splitlines()[0] for item in whole.items
    ]
    assert [item.score for item in whole.items if item.kind == "fact"] == [0.6, 0.5, 0.4, 0.3, 0.2]
    for budget in (1, 30, 120, 300):
        small = recall(session, "ada", max_tokens=budget)
        assert small.tokens <= budget
        assert len(small.items) + len(small.left_out) == len(whole.items)


def test_the_cache_says_where_the_answer_comes_from(
    session: Session, database: TestDatabase
) -> None:
    tea = remember(session, "prefers tea")
    coffee = remember(session, "不喜欢咖啡", memory_type="preference")
    fresh = recall(session, "ada")
    assert (fresh.cache.state, fresh.cache.is_kept) == ("miss", True)
    again = recall(session, "ada")
    assert again.cache.state == "hit"
    assert again.cache.made_at == fresh.cache.made_at
    assert (again.text, again.items, again.tokens) == (fresh.text, fresh.items, fresh.tokens)
    assert recall(session, "ada", refresh=True).cache.state == "refreshed"

    def state_after(act: Any) -> tuple[str, str | None]:
        act()
        found = recall(session, "ada")
        assert recall(session, "ada").cache.state == "hit"
        return found.cache.state, found.cache.reason

    added = "memories were added, removed or restored"
    assert state_after(lambda: remember(session, "walks at noon")) == ("stale", added)
    edited = state_after(lambda: memories.edit(session, "ada", tea, content="prefers oat"))
    assert edited == ("stale", "a memory that it shows was edited")
    assert "prefers oat" in recall(session, "ada").text
    assert state_after(lambda: memories.remove(session, "ada", [coffee]))[0] in ("miss", "stale")
    assert "咖啡" not in recall(session, "ada").text
    assert state_after(lambda: memories.restore(session, "ada", [coffee])) == ("stale", added)
    assert state_after(lambda: add_fact(database, "city", "北京")) == (
        "stale",
        "facts have changed",
    )
    assert state_after(lambda: add_core(database, "be kind"))[1] == "core blocks have changed"
    changed = state_after(
        lambda: set_stored(session, "automation.context_assembler.max_tokens", "3000")
    )
    assert changed == ("stale", "the stored config has changed")
    other = recall(session, "ada", max_tokens=500)
    assert (other.cache.state, other.cache.reason) == ("stale", "it was made by other settings")
    database.rows("UPDATE negentropy.memory_preload_cache SET expires_at = now()")
    assert recall(session, "ada", max_tokens=500).cache.state == "expired"


def test_a_fact_that_runs_out_ends_the_cache(session: Session, database: TestDatabase) -> None:
    remember(session, "prefers tea")
    add_fact(database, "trip", "Kyoto", valid_until="2100-01-01")
    database.rows("UPDATE negentropy.facts SET valid_until = now() + interval '5 minutes'")
    expires = recall(session, "ada").cache.expires_at
    assert expires == database.value("SELECT valid_until FROM negentropy.facts")


def test_nothing_is_an_access_but_feedback_can_name_it(
    session: Session, database: TestDatabase
) -> None:
    tea = remember(session, "prefers tea")
    found = recall(session, "ada")
    assert found.retrieval_id is not None
    database.rows("SELECT negentropy.apply_recorded_accesses()")
    assert database.value("SELECT access_count FROM negentropy.memories") == 0
    said = give(session, found.retrieval_id, "helpful", memories=[tea])
    assert said.user == "ada"
    assert recall(session, "ada", record=False).retrieval_id is None


def test_faded_and_removed_memories_stay_out(session: Session, database: TestDatabase) -> None:
    faded = remember(session, "old news")
    pinned = remember(session, "old but pinned")
    database.rows(
        "UPDATE negentropy.memories SET created_at = now() - interval '90 days',"
        " last_accessed_at = now() - interval '90 days', pinned_at ="
        " CASE WHEN id = %s THEN now() END WHERE id = ANY (%s)",
        (pinned, [faded, pinned]),
    )
    assert [item.id for item in recall(session, "ada").items] == [pinned]
    remember(session, "old  but pinned ")
    again = recall(session, "ada")
    assert len(again.items) == 1 and [one.reason for one in again.left_out] == ["repeated"]


def test_users_and_budgets_that_are_none(session: Session) -> None:
    nobody = recall(session, "nobody")
    assert (nobody.items, nobody.text, nobody.retrieval_id) == ([], "", None)
    assert not nobody.cache.is_kept
    assert [w["code"] for w in session.warnings] == ["user_unknown"]
    with pytest.raises(UsageError, match="budget"):
        recall(session, "ada", max_tokens=0)
