"""Stores of somebody's own that give anything but what a store gives: they fail alone, and say so."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from negmem.core.learning import fence, machine, profile, stores
from negmem.core.learning.processing import process
from negmem.core.learning.protocol import Item, Processed, Recalled, Tool
from negmem.core.tools import listing
from negmem.errors import UsageError
from tests.support.databases import TestDatabase
from tests.support.ingesting import session_on

FINE: dict[str, Any] = {
    "recall": Recalled("another's name", (Item("1", "it rains"),)),
    "process": Processed("x", {"added": 1}),
    "build_context": "<weather>it rains</weather>",
    "tools": [Tool("forecast", "Says it.", {"type": "object"}, False, lambda given: {})],
}
UNFIT: list[Mapping[str, Any]] = [
    {"recall": "no Recalled"},
    {"recall": Recalled("x", ("no item",))},  # type: ignore[arg-type]
    {"build_context": 5},
    {"tools": ["no tool"], "process": None},
    {"tools": [Tool("forecast", "", None, False, print)], "process": Processed("x", {"a": "b"})},  # type: ignore[arg-type,dict-item]
]


class Given:
    """Gives what it is told to give."""

    name = "given"

    def __init__(self, **answers: Any) -> None:
        for method, answer in {**FINE, **answers}.items():
            setattr(self, method, lambda *a, answer=answer, **k: answer)


def test_what_a_store_gives_is_looked_at(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    own: dict[str, Any] = {"learning.stores": "weather", "formation.steps": "learn"}
    with session_on(database, **own) as session:
        profile.set_field(session, "alice", "city", "杭州")

        def seen() -> tuple[str, list[str], bool]:
            session.warnings.clear()
            built = machine.build_context(session, "alice", "Will it rain?")
            has_tool = any(one.name == "forecast" for one in listing.list_tools(session).tools)
            assert "City: 杭州" in str(built) and len(listing.list_tools(session).tools) >= 13
            return str(built), [one.code for one in built.failed], has_tool

        monkeypatch.setattr(stores, "_announced", lambda name: Given())
        text, failed, has_tool = seen()
        assert "<weather>it rains</weather>" in text and not failed and has_tool
        for number, answers in enumerate(UNFIT):
            monkeypatch.setattr(stores, "_announced", lambda name, given=answers: Given(**given))
            text, failed, has_tool = seen()
            assert failed == ([] if "tools" in answers else ["store_answer_unfit"]), answers
            assert has_tool == ("tools" not in answers), answers
            if "process" in answers:
                turn = [{"role": "user", "content": "The rain came early today."}]
                done = process(session, "alice", turn, thread=f"t{number}", wait=True)
                assert done.worked is not None and done.worked.jobs.failed == 1
                assert "store_answer_unfit" in str(done.worked.failures)

        # One that hangs is waited for so long, and no longer; its thread ends when it does.
        let_go = threading.Event()
        slow = Given()
        slow.recall = lambda *a, **k: let_go.wait(60)  # type: ignore[attr-defined]
        monkeypatch.setattr(stores, "_announced", lambda name: slow)
        monkeypatch.setattr(fence, "RECALL_S", 0.2)
        assert seen()[1] == ["store_late"]
        let_go.set()

        def broken(name: str) -> Any:
            raise ModuleNotFoundError("No module named 'clouds'")

        monkeypatch.setattr(stores, "_announced", broken)
        text, failed, has_tool = seen()
        assert failed == ["store_unfit"] and not has_tool
        assert "weather can't be loaded" in str(session.warnings)
        # A name that is built in is nobody else's.
        with pytest.raises(UsageError) as taken:
            stores.custom_store("memory")
        assert taken.value.code == "store_not_found"
