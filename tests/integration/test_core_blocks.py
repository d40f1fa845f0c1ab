"""Core blocks and instructions on a real database: versions, scopes, limits, two writers at once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from negmem.core import core_blocks, instructions, memories
from negmem.core.models.core_block import MAX_TOKENS
from negmem.core.retrieval.context import assemble
from negmem.core.session import Session, open_session
from negmem.errors import NegmemError, UsageError
from tests.support.databases import TestDatabase
from tests.support.ingesting import session_on


@pytest.fixture
def session(database: TestDatabase) -> Iterator[Session]:
    with session_on(database) as opened:
        yield opened


@pytest.mark.servers("embedded", "sixteen", "pooled")
def test_a_block_counts_its_versions_and_keeps_what_it_said(session: Session) -> None:
    first = core_blocks.set_block(session, "ada", "住在杭州", label="home", metadata={"a": 1})
    assert first.block is not None and first.changed
    assert (first.block.version, first.block.scope, first.block.user) == (1, "user", "ada")
    assert first.block.tokens and first.block.metadata == {"a": 1}
    assert not core_blocks.set_block(session, "ada", "住在杭州", label="home").changed
    more = core_blocks.set_block(
        session, "ada", "Works there too", label="home", append=True, metadata={"b": 2, "a": None}
    )
    assert more.block is not None
    assert more.block.content == "住在杭州\nWorks there too"
    assert (more.block.version, more.block.metadata) == (2, {"b": 2})
    with pytest.raises(NegmemError) as raised:
        core_blocks.set_block(session, "ada", "x", label="home", expected_version=1)
    assert raised.value.code == "version_conflict"
    planned = core_blocks.set_block(session, "ada", "y", label="home", dry_run=True)
    assert planned.changed and planned.block == more.block

    core_blocks.remove(session, "ada", label="home")
    assert core_blocks.show(session, "ada").blocks == []
    again = core_blocks.set_block(session, "ada", "moved", label="home").block
    assert again is not None and again.version == 3
    shown = core_blocks.show(session, "ada", label="home", history=True)
    assert [(v.version, v.content, v.reason) for v in shown.history] == [
        (1, "住在杭州", "set"),
        (2, "住在杭州\nWorks there too", "removed"),
    ]
    with pytest.raises(NegmemError) as raised:
        core_blocks.remove(session, "ada", label="other")
    assert raised.value.code == "core_block_unknown"


def test_scopes_meet_in_a_context_in_their_order(session: Session) -> None:
    memories.add(session, "ada", "hello", thread="t1")
    memories.add(session, "bob", "hello", thread="t1")
    core_blocks.set_block(session, "ada", "is a doctor")
    core_blocks.set_block(session, None, "answer briefly", scope="app", label="tone")
    core_blocks.set_block(session, "ada", "about the trip", scope="thread", thread="t1")
    core_blocks.set_block(session, "bob", "is a cook")
    found = core_blocks.show(session, "ada").blocks
    assert [(b.scope, b.content) for b in found] == [
        ("thread", "about the trip"),
        ("app", "answer briefly"),
        ("user", "is a doctor"),
    ]
    assert [b.content for b in core_blocks.show(session, None).blocks] == ["answer briefly"]
    text = assemble(session, "ada", "hello", thread="t1", record=False).text
    assert "[CoreBlock:thread:persona] about the trip" in text
    assert "answer briefly" in text and "is a doctor" in text and "cook" not in text
    wrong: list[tuple[str, dict[str, object]]] = [
        ("scope_unknown", {"scope": "team"}),
        ("thread_missing", {"scope": "thread"}),
        ("thread_unknown", {"scope": "thread", "thread": "nowhere"}),
        ("label_invalid", {"label": "a" * 65}),
        ("label_invalid", {"label": "a] [User"}),
    ]
    for code, values in wrong:
        with pytest.raises(UsageError) as raised:
            core_blocks.set_block(session, "ada", "x", **values)  # type: ignore[arg-type]
        assert raised.value.code == code
    with pytest.raises(UsageError) as raised:
        core_blocks.set_block(session, None, "x")
    assert raised.value.code == "user_missing"


def test_a_block_that_is_too_long_is_cut_and_says_so(session: Session) -> None:
    long = "我们去西湖边喝茶聊天。walks by the lake and tea, again and again. " * 400
    done = core_blocks.set_block(session, "ada", long)
    assert done.cut and done.block is not None
    assert done.block.content.endswith("...") and long.startswith(done.block.content[:-3])
    assert done.block.tokens is not None and 0.9 * MAX_TOKENS < done.block.tokens <= MAX_TOKENS
    assert done.block.metadata["truncated"] is True
    assert [w["code"] for w in session.warnings if w["code"] == "core_block_cut"]
    short = core_blocks.set_block(session, "ada", "short").block
    assert short is not None and "truncated" not in short.metadata


def test_two_writers_of_one_block_lose_none(database: TestDatabase, session: Session) -> None:
    def write(number: int) -> None:
        with open_session(dsn=database.dsn, env={}) as own:
            core_blocks.set_block(own, "ada", f"line {number}", append=True)

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(write, range(12)))
    block = core_blocks.show(session, "ada").blocks[0]
    assert block.version == 12
    assert sorted(block.content.splitlines()) == sorted(f"line {n}" for n in range(12))


def test_instructions_are_versions_of_an_app(database: TestDatabase, session: Session) -> None:
    assert instructions.set_instruction(session, "tone", "简短回答", metadata={"by": "ops"}).changed
    assert not instructions.set_instruction(session, "tone", "简短回答").changed
    second = instructions.set_instruction(session, "tone", "Answer in full").instruction
    assert second is not None and (second.version, second.metadata) == (2, {"by": "ops"})
    with pytest.raises(NegmemError) as raised:
        instructions.set_instruction(session, "tone", "x", expected_version=1)
    assert raised.value.code == "version_conflict"
    instructions.set_instruction(session, "limits", "no promises", expected_version=0)
    found = instructions.list_instructions(session).instructions
    assert [(i.key, i.version, i.versions) for i in found] == [("limits", 1, 1), ("tone", 2, 2)]
    shown = instructions.show(session, "tone", history=True).instructions
    assert [(i.content, i.is_current) for i in shown] == [
        ("简短回答", False),
        ("Answer in full", True),
    ]
    assert instructions.show(session, "tone", version=1).instructions[0].content == "简短回答"
    for key in ("nothing", "limits"):
        with pytest.raises(NegmemError) as raised:
            instructions.show(session, key, version=9)
        assert raised.value.code == "instruction_unknown"

    with open_session(dsn=database.dsn, app="other", env={}) as other:
        assert instructions.list_instructions(other).instructions == []

    def write(number: int) -> None:
        with open_session(dsn=database.dsn, env={}) as own:
            instructions.set_instruction(own, "race", f"text {number}")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(8)))
    raced = instructions.show(session, "race", history=True).instructions
    assert [i.version for i in raced] == list(range(1, 9))
    assert {i.content for i in raced} == {f"text {n}" for n in range(8)}
