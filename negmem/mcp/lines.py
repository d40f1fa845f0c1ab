"""What a client writes to stdin, line by line, so that every line that is JSON can be answered."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

_ESCAPES = re.compile(
    r"\\\\|\\u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def mended(line: str) -> str:
    r"""A line whose halves of surrogate pairs are U+FFFD: clients may write `\ud83d` alone, the SDK drops such a line."""
    return _ESCAPES.sub(lambda found: r"\ufffd" if found[1] else found[0], line)


class Lines:
    """The lines of stdin, mended; stdin itself is empty for everybody else from now on."""

    def __init__(self) -> None:
        import anyio

        own = os.dup(0)
        with Path(os.devnull).open("rb") as empty:
            os.dup2(empty.fileno(), 0)
        self._file: Any = anyio.wrap_file(os.fdopen(own, encoding="utf-8", errors="replace"))

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._file:
            yield mended(line)
