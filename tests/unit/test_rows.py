"""Rows of a list, as wide as the terminal."""

from __future__ import annotations

from datetime import datetime, timezone
from uuid import UUID

import pytest

from negmem.cli.options import Common
from negmem.cli.render.console import Console
from negmem.cli.render.retention_curve import draw_explanation
from negmem.cli.render.text import columns, counted
from negmem.core.models.retention import RetentionExplanation, RetentionFactor

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


@pytest.mark.parametrize(("width", "lines"), [(80, 10), (60, 11), (None, 9)])
def test_factors_stand_in_their_column(
    width: int | None, lines: int, capsys: pytest.CaptureFixture[str]
) -> None:
    basis = "exp(-0.1 × 1168.42 days since the last access)"
    factor = RetentionFactor(name="time_decay", basis=basis, value=0.5, contribution=-0.1)
    found = RetentionExplanation(
        **dict.fromkeys(("crosses_at", "goes_at", "deleted_at", "deleted_reason")),
        id=UUID(int=1),
        type="episodic",
        content=TEXT,
        score=0.1,
        rate=0.1,
        rate_from="its type",
        threshold=0.0001,
        factors=[factor],
        kept_by=[],
        now=datetime(2026, 1, 1, tzinfo=timezone.utc),
    )
    draw_explanation(Screen(width), found)
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == lines
    assert width is None or all(columns(line) <= width for line in shown)
    assert "".join(line[41:] for line in shown[1 : lines - 7]).replace(" ", "") == basis.replace(
        " ", ""
    )
