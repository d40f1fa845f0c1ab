"""How the database searches: every arm starts at the owner, by index, whatever the size."""

from __future__ import annotations

import re

import pytest

from negmem.core.session import Session
from tests.support.databases import TestDatabase
from tests.support.embedder import hash_vector
from tests.support.plans import fill_indexed, plan_of_search, scans, vacuum_indexed
from tests.support.searching import ask
from tests.support.waiting import eventually


@pytest.fixture
def filled(session: Session, database: TestDatabase) -> TestDatabase:
    for number in range(5):
        fill_indexed(database, f"other{number}", 800)
    fill_indexed(database, "small", 400)
    fill_indexed(database, "large", 4_500)
    vacuum_indexed(database)
    return database


def test_both_arms_are_index_scans_that_start_at_the_owner(filled: TestDatabase) -> None:
    small = scans(plan_of_search(filled, "small"))
    large = scans(plan_of_search(filled, "large"))
    for found in (small, large):
        assert found and not [scan for scan in found if "Seq Scan" in scan]
        for scan in found:
            if "Recheck Cond" not in scan:
                assert re.search(r"Index Cond: \(*\(user_id(\)::text)? = \$", scan), scan
        assert any("Index Only Scan using memory_terms_pkey" in scan for scan in found)
    assert any("Index Only Scan using idx_memory_vectors_bits" in scan for scan in large)
    assert not any("idx_memory_vectors_bits on" in scan and "Only" in scan for scan in small)


def test_index_only_scans_fetch_nothing_from_the_heap(filled: TestDatabase) -> None:
    def fetched() -> list[int]:
        filled.rows("VACUUM negentropy.memory_terms, negentropy.memory_vectors")
        plan = plan_of_search(filled, "large")
        return [int(number) for number in re.findall(r"Heap Fetches: (\d+)", plan)]

    # A vacuum skips pages that a snapshot of another connection may still need.
    assert eventually(lambda: bool(found := fetched()) and sum(found) == 0)


def test_the_plan_that_is_told_is_the_one_that_ran(session: Session, filled: TestDatabase) -> None:
    small = ask(session, "tea by the river", "small", explain=True, record=False).plan
    large = ask(session, "tea by the river", "large", explain=True, record=False).plan
    assert small is not None and large is not None
    assert small.strategy == "exact + postings" and large.strategy == "sign_bits + postings"
    assert small.rows_scanned >= 400 and large.rows_scanned >= 4_500
    assert (small.semantic_candidates, small.reranked) == (400, 0)
    assert large.semantic_candidates == large.reranked == 1_680


def test_sign_bits_rank_as_the_exact_distance_does(filled: TestDatabase) -> None:
    params = ("large", str(hash_vector("violin garden", 32)))
    exact = filled.value(
        "SELECT array_agg(round(c::numeric, 5) ORDER BY c DESC) FROM (SELECT 1 - (v.embedding"
        " <=> %s::halfvec) AS c FROM negentropy.memory_vectors AS v WHERE v.user_id = %s"
        " ORDER BY c DESC LIMIT 20) AS best",
        params[::-1],
    )
    found = filled.value(
        "SELECT array_agg(round(cosine::numeric, 5) ORDER BY cosine DESC) FROM"
        " negentropy.search_items(%s, 'negmem', '', %s::vector, 'vector', 20)",
        params,
    )
    assert found == exact


def test_where_the_first_vectors_mislead_as_many_are_compared(
    session: Session, filled: TestDatabase
) -> None:
    filled.rows(
        "UPDATE negentropy.memory_vectors AS v SET embedding = far.embedding, bits = far.bits"
        " FROM negentropy.memories AS m, (SELECT f.embedding, f.bits FROM negentropy.memory_vectors AS f"
        " WHERE f.user_id = 'large' ORDER BY f.embedding <=> %s::halfvec DESC LIMIT 1) AS far"
        " WHERE m.id = v.memory_id AND m.user_id = 'large' AND (m.metadata ->> 'n')::int > 2000",
        (str(hash_vector("tea", 32)),),
    )
    vacuum_indexed(filled)
    plan = ask(session, "tea", "large", level="vector", explain=True, record=False).plan
    assert plan is not None and plan.semantic_candidates == plan.reranked == 1_680


def test_few_memories_beside_many_of_others_are_all_found(
    session: Session, filled: TestDatabase
) -> None:
    fill_indexed(filled, "tiny", 100)
    assert len(ask(session, "tea", "tiny", level="vector", limit=100).results) == 100
