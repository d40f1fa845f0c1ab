"""Charts and figures of the report's page: scales, gaps, escapes, formats."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negmem.core.report import charts, page
from negmem.core.report.drawings import _begin

HOSTILE = "\"><script>alert('出去')</script>&"


@given(st.floats(min_value=1e-6, max_value=1e12))
def test_a_scale_holds_its_values_and_wastes_little(value: float) -> None:
    top = charts.nice_top(value)
    assert value * 0.999 <= top <= value * 2.01


@given(
    st.lists(st.integers(0, 10**9), min_size=1, max_size=40),
    st.lists(st.integers(0, 10**9), min_size=40, max_size=40),
)
def test_bars_stay_inside_and_are_well_formed(values: list[int], below: list[int]) -> None:
    hints = [HOSTILE for _ in values]
    drawn = charts.bars(values, hints, ["a"], label=HOSTILE, below=below[: len(values)], marker=0.5)
    root = ElementTree.fromstring(drawn.svg)
    assert root.attrib["aria-label"] == HOSTILE
    assert {one.text for one in root.iter("title")} == {HOSTILE}
    for bar in root.iter("rect"):
        y, height = float(bar.attrib["y"]), float(bar.attrib["height"])
        assert y >= -0.7 and y + height <= charts.HEIGHT + 0.7
    shown = [one for one in root.iter("rect") if one.attrib["class"] == "bar a"]
    assert len(shown) == sum(value > 0 for value in values)
    heights = [at for at, _ in drawn.y_labels]
    assert heights == sorted(heights) and heights[0] >= 0 and heights[-1] <= charts.HEIGHT


def test_a_line_breaks_where_nothing_is_known() -> None:
    drawn = charts.line([1, 2, None, 3, None], ["h"] * 5, ["x"], label="l", filled=True)
    lines = re.findall(r'class="line a" d="(M[^"]+)"', drawn.svg)
    assert len(lines) == 2  # the lone point too is seen
    assert drawn.svg.count('class="area a"') == 2
    assert drawn.y_labels[0][1] == 4
    nothing = charts.line([None, None], ["h"] * 2, ["x"], label="l", filled=True)
    assert 'class="line a"' not in nothing.svg
    assert charts.sparkline([1.0], label="l") == ""
    ElementTree.fromstring(charts.sparkline([1, 1, 1], label=HOSTILE))


def test_charts_begin_where_something_begins() -> None:
    assert _begin([True] * 90) == 0
    assert _begin([False] * 60 + [True] * 30) == 59
    assert _begin([False] * 89 + [True]) == _begin([False] * 90) == 76  # a fortnight at least
    assert _begin([False] * 3 + [True]) == 0


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (page.short(None), "–"),
        (page.short(0), "0"),
        (page.short(1_249), "1.25k"),
        (page.short(12_500_000), "12.5M"),
        (page.size(800), "800 B"),
        (page.size(5 * 2**30), "5 GB"),
        (page.share(0.034), "3.4%"),
        (page.share(0.85), "85%"),
        (page.ms(38.82), "38.8 ms"),
        (page.ms(1_021.0), "1.02 s"),
        (page.money(0.0123), "$0.0123"),
        (page.money(1_204.5), "$1,204.50"),
        (page.moment(datetime(2026, 3, 2, 9, tzinfo=timezone(timedelta(hours=8)))), "2026-03-02 01:00 UTC"),
    ],
)  # fmt: skip
def test_figures_are_said_briefly(said: str, wanted: str) -> None:
    assert said == wanted


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("negmem sync", [(True, "negmem sync")]),
        ("", []),
        (
            "negmem sync    or: negmem doctor --fix",
            [(True, "negmem sync"), (False, "or"), (True, "negmem doctor --fix")],
        ),
        (
            "CREATE EXTENSION vector;    as a superuser",
            [(True, "CREATE EXTENSION vector;"), (False, "as a superuser")],
        ),
        ("upgrade the server, or name another", [(False, "upgrade the server, or name another")]),
    ],
)
def test_a_remedy_shows_what_can_be_pasted(text: str, pieces: list[tuple[bool, str]]) -> None:
    assert page.remedy(text) == pieces


def test_an_estimate_is_called_one() -> None:
    assert [page.about(35_799, True), page.about(35_799, False)] == ["about 35,800", "35,799"]
    assert [page.about(0, True), page.about(None, True)] == ["0", "–"]
