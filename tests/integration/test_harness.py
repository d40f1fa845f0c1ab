"""The harness itself: clones are separate, complete, and leave nothing behind."""

from __future__ import annotations

from tests.support.databases import TestDatabase


def test_clone_holds_what_negmem_installs(database: TestDatabase) -> None:
    assert database.value("SELECT count(*) FROM negentropy.memories") == 0


def test_empty_database_holds_nothing(empty_database: TestDatabase) -> None:
    assert empty_database.value("SELECT to_regnamespace('negentropy')") is None
