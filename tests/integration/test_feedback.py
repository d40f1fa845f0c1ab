"""Feedback: whose it is, what it may name, what counts once, and how it reaches the ranking."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from negmem.core.models.retrieval import SearchAnswer
from negmem.core.retrieval.context import assemble
from negmem.core.retrieval.feedback import give
from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError
from tests.support.contexts import add_fact
from tests.support.databases import TestDatabase
from tests.support.searching import ask, remember

REWEIGHT = "SELECT negentropy.reweight_all_users_relevance()"


def retrieved(answer: SearchAnswer) -> UUID:
    assert answer.retrieval_id is not None
    return answer.retrieval_id


def test_the_loop_is_closed(session: Session, database: TestDatabase) -> None:
    good, bad = remember(session, "咖啡 coffee one", "咖啡 coffee two")
    before = {r.id: r.score for r in ask(session, "coffee 咖啡").results}
    for n in range(3):
        found = retrieved(ask(session, f"coffee 咖啡 {n}"))
        give(session, found, "helpful", memories=[good], used=[good])
        give(session, found, "harmful", memories=[bad])
    assert database.value(REWEIGHT) == 2
    after = {r.id: r.score for r in ask(session, "coffee 咖啡").results}
    assert after[good] > before[good]
    assert after[bad] < before[bad]
    log = database.rows(
        "SELECT outcome_feedback, was_referenced, reference_count"
        " FROM negentropy.memory_retrieval_logs WHERE query LIKE '%% 1'"
    )
    assert log == [("harmful", True, 1)]


def test_saying_the_same_again_counts_once(session: Session, database: TestDatabase) -> None:
    tea, coffee = remember(session, "tea 茶", "coffee with tea")
    found = retrieved(ask(session, "tea"))
    first = give(session, found, "helpful", memories=[tea], rating=5)
    assert not first.replayed
    give(session, found, "irrelevant", memories=[coffee])
    again = give(session, found, "helpful", memories=[tea], rating=5)
    assert (again.replayed, again.id) == (True, first.id)
    assert not give(session, found, "irrelevant", memories=[tea]).replayed
    assert not give(session, found, "helpful", memories=[tea], rating=5).replayed
    assert give(session, found, "helpful", dry_run=True).id is None
    assert database.value("SELECT count(*) FROM negentropy.retrieval_feedback") == 4


def test_of_each_retrieval_the_last_word_is_the_vote(
    session: Session, database: TestDatabase
) -> None:
    (tea,) = remember(session, "tea 茶")
    for n in range(3):
        found = retrieved(ask(session, f"tea {n}"))
        give(session, found, "irrelevant", memories=[tea])
        give(session, found, "helpful", memories=[tea])
    assert database.value(REWEIGHT) == 1
    assert database.value("SELECT relevance_weight FROM negentropy.memories") == 1.75


def test_only_what_was_given_may_be_named(session: Session, database: TestDatabase) -> None:
    (tea,) = remember(session, "tea 茶")
    (stranger,) = remember(session, "tea of somebody else", user="bob")
    add_fact(database, "drink", "tea")
    answer = ask(session, "tea")
    fact = next(r.id for r in answer.results if r.kind == "fact")
    found = retrieved(answer)
    for wrong in (stranger, uuid4(), fact):
        with pytest.raises(UsageError, match="did not give") as caught:
            give(session, found, "helpful", memories=[tea, wrong])
        assert caught.value.code == "feedback_not_returned"
        assert f"helpful --memory {tea}" in caught.value.hint
        assert ("is a fact: --used" in caught.value.why) == (wrong == fact)
    said = give(session, found, "helpful", used=[fact, tea, tea])
    assert said.used == sorted([fact, tea])
    with pytest.raises(NegmemError, match="no such retrieval"):
        give(session, uuid4(), "helpful")
    with pytest.raises(NegmemError, match="no such retrieval"):
        give(session, found, "helpful", user="bob")
    with pytest.raises(UsageError, match="no outcome"):
        give(session, found, "good")
    with pytest.raises(UsageError, match="rating"):
        give(session, found, "helpful", rating=6)
    assert database.value("SELECT count(*) FROM negentropy.retrieval_feedback") == 1


def test_a_context_can_be_judged_too(session: Session) -> None:
    (tea,) = remember(session, "tea 茶")
    context = assemble(session, "ada", "tea")
    assert context.retrieval_id is not None
    assert give(session, context.retrieval_id, "helpful", used=[tea]).returned == 1
