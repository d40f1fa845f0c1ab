"""Values that a caller or another SQL client may give: refused in plain words, or read all the same."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import date, datetime, timezone
from typing import Any

import pytest

import negmem
from negmem.api import Memory
from negmem.errors import UsageError
from negmem.providers.embedding import EmbedderAbsent
from tests.support.databases import TestDatabase

NAMES = ["", "  ", "x" * 256, "a\0b", "王\ud800", 5]


@pytest.fixture
def mem(database: TestDatabase) -> Iterator[Memory]:
    with negmem.connect(database.dsn) as opened:
        opened._session.use_embedder(EmbedderAbsent("embedder_disabled", "by keyword"))
        yield opened


def code_of(act: Any) -> str:
    with pytest.raises(UsageError) as raised:
        act()
    return raised.value.code


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_names_that_no_row_can_have(mem: Memory, name: Any) -> None:
    assert code_of(lambda: mem.memory.add("猫", user="u", thread=name)) == "name_invalid"
    assert code_of(lambda: mem.memory.list(user="u", thread=name)) == "name_invalid"
    assert code_of(lambda: mem.search("猫", user="u", thread=name)) == "name_invalid"
    assert code_of(lambda: mem.search("猫", user="u", types=[name])) == "name_invalid"
    assert code_of(lambda: mem.context("猫", user="u", thread=name)) == "name_invalid"
    assert code_of(lambda: mem.memory.add("猫", user=name)).startswith("user_")


@pytest.mark.parametrize("text", [None, 5, b"bytes"])
def test_what_is_no_text(mem: Memory, text: Any) -> None:
    assert code_of(lambda: mem.memory.add(text, user="u")) == "text_refused"
    assert code_of(lambda: mem.search(text, user="u")) == "text_refused"
    assert code_of(lambda: mem.context(text, user="u")) == "text_refused"
    members: Any = [text]
    assert code_of(lambda: mem.memory.add("猫", user="u", metadata=members)) == "text_refused"


def test_ids_that_are_none(mem: Memory) -> None:
    given: list[Any] = ["zz", 5, None, []]
    for wrong in given:
        assert code_of(lambda w=wrong: mem.memory.show(w, user="u")) == "id_malformed"
    assert code_of(lambda: mem.memory.rm(given[:2], user="u")) == "id_malformed"
    assert code_of(lambda: mem.memory.add("猫", user="u", id="zz")) == "id_malformed"
    wanted = uuid.uuid4()
    added = mem.memory.add("猫", user="u", id=str(wanted)).memory
    assert added is not None and added.id == wanted


def test_pages_that_no_list_has(mem: Memory) -> None:
    for page in (
        {"limit": 0},
        {"limit": -1},
        {"limit": 10**30},
        {"offset": -1},
        {"offset": 10**30},
    ):
        assert code_of(lambda page=page: mem.memory.list(user="u", **page)) == "limit_invalid"


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/New_York"])
def test_a_moment_without_a_zone_is_utc_whatever_the_database_says(
    database: TestDatabase, zone: str
) -> None:
    database.rows(f"ALTER DATABASE \"{database.name}\" SET timezone = '{zone}'")
    with negmem.connect(database.dsn) as mem:
        mem._session.use_embedder(EmbedderAbsent("embedder_disabled", "by keyword"))
        added = mem.memory.add("猫", user="u", occurred_at=datetime(2026, 3, 2, 9)).memory
        assert added is not None
        assert added.occurred_at == datetime(2026, 3, 2, 9, tzinfo=timezone.utc)
        for hours, found in ((8, 1), (9, 1), (10, 0)):
            since = datetime(2026, 3, 2, hours)
            assert len(mem.memory.list(user="u", since=since).memories) == found
            assert len(mem.search("猫", user="u", since=since).results) == found


def test_what_is_no_moment(mem: Memory) -> None:
    for moment in ("yesterday", date(2026, 3, 2), 0):
        moments: Any = moment
        assert code_of(lambda m=moments: mem.memory.list(user="u", since=m)) == "moment_malformed"
        assert code_of(lambda m=moments: mem.search("猫", user="u", until=m)) == "moment_malformed"
        assert (
            code_of(lambda m=moments: mem.memory.add("猫", user="u", occurred_at=m))
            == "moment_malformed"
        )
    for year in (1, 1899, 2100, 9999):
        far = datetime(year, 1, 1, tzinfo=timezone.utc)
        assert code_of(lambda f=far: mem.memory.add("猫", user="u", occurred_at=f)) == (
            "moment_malformed"
        )


@pytest.mark.parametrize(
    "moment", ["infinity", "-infinity", "0044-03-15 BC", "20000-01-01", "0001-01-01"]
)
@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/New_York"])
def test_a_moment_beyond_pythons_years_hides_nothing(
    database: TestDatabase, moment: str, zone: str
) -> None:
    database.rows(f"ALTER DATABASE \"{database.name}\" SET timezone = '{zone}'")
    with negmem.connect(database.dsn) as mem:
        mem._session.use_embedder(EmbedderAbsent("embedder_disabled", "by keyword"))
        mem.memory.add("一只猫 cat", user="u")
        database.rows("UPDATE negentropy.memories SET occurred_at = %s::timestamptz", [moment])
        listed = mem.memory.list(user="u").memories
        assert len(listed) == len(mem.search("猫", user="u").results) == 1
        assert "一只猫" in mem.context("猫", user="u").text
        is_late = moment in ("infinity", "20000-01-01")
        assert listed[0].occurred_at is not None
        assert (listed[0].occurred_at.year > 5000) == is_late


def test_surrogates_are_cleaned_in_records_as_in_files(mem: Memory) -> None:
    turn = {"role": "user", "text": "一只\0猫 \ud800"}
    done = mem.ingest([{"thread": "t", "turns": [turn]}], user="u")
    assert (done.memories, done.rejected, done.replaced.nul, done.replaced.surrogates) == (
        1,
        0,
        1,
        1,
    )
