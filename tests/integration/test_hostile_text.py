"""Texts that are long and of many different words: stored and found all the same."""

from __future__ import annotations

import random

import pytest

from tests.support.databases import TestDatabase


def _distinct_words(count: int) -> str:
    rng = random.Random(7)
    return " ".join(f"w{rng.getrandbits(28):x}" for _ in range(count))


@pytest.mark.servers("full", "sixteen", "embedded")
def test_the_terms_of_a_long_text_do_not_carry_it_along(database: TestDatabase) -> None:
    connection = database.connect()
    connection.execute("SET work_mem = '4MB'")
    connection.execute(
        "SET temp_file_limit = '100MB'"
    )  # the groups spill; the text itself must not
    found = connection.execute(
        "SELECT count(*), sum(tf), min(len), max(len)"
        " FROM negentropy.index_terms(NULL, %s::text, '2026-03-02 09:00+00')",
        [_distinct_words(120_000)],
    ).fetchone()
    assert found is not None
    terms, occurrences, shortest, longest = found
    assert terms > 110_000
    assert shortest == longest == occurrences
