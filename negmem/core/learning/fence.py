"""A store of somebody's own, held to what a store gives: whatever it does instead is its failure alone."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any

from negmem.core.learning.protocol import Bound, Item, Message, Processed, Recalled, Store, Tool
from negmem.errors import NegmemError

if TYPE_CHECKING:
    from negmem.providers.generation import Generator

RECALL_S = 5.0
"""How long a context waits for one of them."""


class Fenced:
    """A store under the name that the config has for it; each answer is looked at before it is used."""

    def __init__(self, name: str, made: Store) -> None:
        self.name = name
        self._made = made

    def recall(self, bound: Bound, message: str, *, limit: int = 10) -> Recalled:
        """What it recalled, under its name. Raises: NegmemError `store_answer_unfit`, `store_late`; its own."""
        found = self._in_time(bound, message, limit)
        self._expect(isinstance(found, Recalled), "recall", found)
        items = tuple(found.items)
        for one in items:
            self._expect(isinstance(one, Item) and isinstance(one.text, str), "recall", one)
        return Recalled(self.name, items, int(found.left_out))

    def _in_time(self, bound: Bound, message: str, limit: int) -> Any:
        """What it recalls in a thread and session of its own: one that hangs keeps nobody, and holds no connection
        that others use."""
        from negmem.core.formation.pipeline_run import another_session

        own = another_session(bound.session)
        answer: Future[Any] = Future()

        def run() -> None:
            try:
                answer.set_result(self._made.recall(bound.using(own), message, limit=limit))
            except BaseException as error:
                answer.set_exception(error)
            finally:
                own.close()

        threading.Thread(target=run, name=f"negmem-store-{self.name}", daemon=True).start()
        wait([answer], RECALL_S)
        if not answer.done():
            raise NegmemError(
                "store_late",
                f"the store {self.name} did not answer in {RECALL_S:g} seconds",
                why="a context waits no longer for one store",
                hint="negmem config show learning.stores",
            )
        for one in own.warnings:
            bound.session.warn(one["code"], one["message"])
        return answer.result()

    def process(
        self, bound: Bound, messages: Sequence[Message], generator: Generator | None
    ) -> Processed:
        """What it made of messages. Raises: NegmemError `store_answer_unfit`; its own."""
        done = self._made.process(bound, messages, generator)
        self._expect(isinstance(done, Processed), "process", done)
        for number in done.counts.values():
            self._expect(isinstance(number, int), "process", number)
        return done

    def build_context(self, recalled: Recalled) -> str:
        """Its text for a prompt. Raises: NegmemError `store_answer_unfit`; its own."""
        text = self._made.build_context(recalled)
        self._expect(isinstance(text, str), "build_context", text)
        return text

    def tools(self, bound: Bound) -> Sequence[Tool]:
        """Its tools. Raises: NegmemError `store_answer_unfit`; its own."""
        tools = list(self._made.tools(bound))
        for one in tools:
            fits = isinstance(one, Tool) and isinstance(one.parameters, Mapping)
            self._expect(fits and isinstance(one.name, str) and callable(one.call), "tools", one)
        return tools

    def _expect(self, fits: bool, method: str, given: Any) -> None:
        if not fits:
            raise NegmemError(
                "store_answer_unfit",
                f"{method} of the store {self.name} gave no such thing as a store gives",
                why=f"it gave a {type(given).__name__}; negmem/core/learning/protocol.py says what it may be",
                hint="negmem config show learning.stores",
            )


class Unloaded:
    """A store whose package can't be loaded: it fails at every call, with the reason, and the others go on."""

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        self._why = why

    def recall(self, bound: Bound, message: str, *, limit: int = 10) -> Recalled:
        """Raises: NegmemError `store_unfit`."""
        raise self._failure()

    def process(
        self, bound: Bound, messages: Sequence[Message], generator: Generator | None
    ) -> Processed:
        """Raises: NegmemError `store_unfit`."""
        raise self._failure()

    def build_context(self, recalled: Recalled) -> str:
        """Raises: NegmemError `store_unfit`."""
        raise self._failure()

    def tools(self, bound: Bound) -> Sequence[Tool]:
        """Raises: NegmemError `store_unfit`."""
        raise self._failure()

    def _failure(self) -> NegmemError:
        return NegmemError(
            "store_unfit",
            f"the store {self.name} can't be loaded",
            why=self._why,
            hint="negmem config show learning.stores",
        )
