"""Two streams: stdout for the answer, stderr for everything else."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from negmem.cli.render.text import columns, one_line, safe_text
from negmem.core.models.base import Model
from negmem.errors import UsageError

if TYPE_CHECKING:
    from negmem.cli.options import Common

_STYLES = {"ok": "32", "warn": "33", "fail": "31", "name": "36", "dim": "2", "bold": "1"}
_ROOM_BESIDE = 30


class Console:
    """Writes the answer of one command."""

    def __init__(self, common: Common) -> None:
        self.common = common

    @property
    def is_terminal(self) -> bool:
        """Whether stdout is a person's terminal."""
        return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"

    @property
    def colored(self) -> bool:
        """Whether colour may be used on stdout."""
        return self.is_terminal and not self.common.no_color and "NO_COLOR" not in os.environ

    @property
    def width(self) -> int | None:
        """Columns to fit on a terminal; None in a pipe, where nothing is cut."""
        return shutil.get_terminal_size((80, 24)).columns if self.is_terminal else None

    def style(self, text: str, style: str) -> str:
        """`text` in a style (ok, warn, fail, name, dim, bold) where colour may be used."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.colored else text

    def out(self, text: str = "") -> None:
        """One line of the answer."""
        sys.stdout.write(text + "\n")

    def row(self, head: str, text: str) -> None:
        """A row of a list: what tells rows apart, then text that a terminal cuts.

        The text stands below its head where fewer than 30 columns are left beside it.
        """
        room = None if self.width is None else self.width - columns(head)
        if room is None or room >= _ROOM_BESIDE:
            self.out(head + one_line(text, room))
            return
        self.out(head.rstrip())
        self.out("    " + one_line(text, max(20, (self.width or 80) - 4)))

    def lines(self, lines: Iterable[str]) -> None:
        """Lines of the answer, all of them; a closed pipe as in `answer`."""
        try:
            for line in lines:
                self.out(line)
            sys.stdout.flush()
        except BrokenPipeError:
            silence_stdout()

    def note(self, text: str) -> None:
        """One line beside the answer, on stderr; not with -q."""
        if not self.common.quiet:
            sys.stderr.write(safe_text(text) + "\n")

    def page(self, text: str) -> None:
        """The answer as a page of its own, with the warnings beside it; a closed pipe as in `answer`."""
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            silence_stdout()
        self._warn()

    def answer(
        self,
        schema: str,
        model: Model,
        render: Callable[[Console, Any], None],
        extra: dict[str, Any] | None = None,
    ) -> None:
        """Write the answer: one JSON document with --json, else `render`, then the warnings.

        A reader that closed the pipe changes nothing of how the command ends.
        """
        try:
            self._answer(schema, model, render, extra)
            sys.stdout.flush()
        except BrokenPipeError:
            silence_stdout()

    def _answer(
        self,
        schema: str,
        model: Model,
        render: Callable[[Console, Any], None],
        extra: dict[str, Any] | None,
    ) -> None:
        if self.common.json:
            document: dict[str, Any] = {"schema": f"negmem.{schema}"}
            document.update(model.model_dump(mode="json"))
            document.update(extra or {})
            document["warnings"] = [*document.get("warnings", []), *self.common.warnings]
            self.json(document)
            return
        render(self, model)
        self._warn()

    def _warn(self) -> None:
        for warning in self.common.warnings:
            self.note(f"warning[{warning['code']}]: {one_line(warning['message'])}")

    def json(self, document: Any) -> None:
        """One JSON document, UTF-8, characters as they are."""
        sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")

    def confirm(self, question: str, *, deed: str = "destroys") -> None:
        """Ask before destroying, or before another deed that nobody should meet unasked.

        Raises: UsageError `confirmation_needed` without a terminal and without --yes, or
        `not_confirmed` when the answer is no.
        """
        if self.common.yes:
            return
        if not sys.stdin.isatty():
            raise UsageError(
                "confirmation_needed",
                f"negmem {self.common.name} {deed}, and there is nobody to ask",
                why="stdin is not a terminal",
                hint=self.common.again("--yes"),
            )
        sys.stderr.write(f"{safe_text(question)} [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise UsageError("not_confirmed", "nothing was done", why="the answer was not yes")


def silence_stdout() -> None:
    """Point stdout at nothing, so that neither a later line nor the last flush meets a closed pipe."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
