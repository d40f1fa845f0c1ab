"""Rows of a list, as wide as the terminal."""

from __future__ import annotations

import pytest

from negmem.cli.options import Common
from negmem.cli.render.console import Console
from negmem.cli.render.text import columns, counted

HEAD = "01a22b37-dfdd-7513-aad0-3a77c385a97f  2026-01-15  episodic  "
TEXT = "对了，我对虾过敏，吃饭的时候千万别点虾，also no prawns in the soup, please and thank you"


class Screen(Console):
    """A console on a terminal of a width that the test gives."""

    def __init__(self, columns: int | None) -> None:
        super().__init__(Common("test"))
        self.columns = columns

    @property
    def width(self) -> int | None:
        return self.columns


@pytest.mark.parametrize("width", [40, 70, 80, 90, 120, 200])
def test_a_row_fits_the_screen(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    Screen(width).row(HEAD, TEXT)
    first, *below = capsys.readouterr().out.splitlines()
    assert HEAD.strip() in first
    assert all(columns(line) <= max(width, len(HEAD.rstrip())) for line in [first, *below])
    assert bool(below) == (width < len(HEAD) + 30)
    assert "对了" in (below or [first])[0]


def test_in_a_pipe_a_row_is_one_whole_line(capsys: pytest.CaptureFixture[str]) -> None:
    Screen(None).row(HEAD, TEXT)
    assert capsys.readouterr().out == f"{HEAD}{TEXT}\n"


def test_one_is_no_plural() -> None:
    assert [counted(n, "row") for n in (0, 1, 1200)] == ["0 rows", "1 row", "1,200 rows"]
