"""Packing a context: shares, spare tokens, long texts."""

from __future__ import annotations

import pytest

from negmem.core.formulas.budget import Group, Item, Section, Shares, pack, shares


def fit(text: str, limit: int) -> str:
    return text[: max(0, limit)]


def items(*texts: str) -> list[Item]:
    return [Item(str(n), text) for n, text in enumerate(texts)]


def inside(packed: object, name: str) -> list[str]:
    return [item.id for item in packed.sections[name]]  # type: ignore[attr-defined]


def test_shares_leave_the_rest_to_the_system_prompt() -> None:
    assert shares(4000, 0.3, 0.5) == Shares(1200, 2000)
    assert shares(4000, 0.3, 0.5).total == 3200
    assert shares(1000, 0.29, 0.71) == Shares(290, 710)
    assert shares(0, 0.3, 0.5) == Shares(0, 0)


@pytest.mark.parametrize(
    ("budget", "memory", "history"),
    [(-1, 0.3, 0.5), (10, 1.1, 0.0), (10, 0.6, 0.6), (10, float("nan"), 0.1)],
)
def test_shares_that_make_no_sense_are_refused(budget: int, memory: float, history: float) -> None:
    with pytest.raises(ValueError, match="must be"):
        shares(budget, memory, history)


def test_the_best_go_first_and_a_smaller_one_may_still_fit() -> None:
    group = Group(20, [Section("memories", items("a" * 9, "b" * 15, "c" * 5))])
    packed = pack([group], 20, ["memories"], len, fit)
    assert inside(packed, "memories") == ["0", "2"]
    assert packed.left_out["memories"] == ["1"]
    assert packed.text == "aaaaaaaaa\nccccc"


def test_what_one_group_leaves_goes_to_the_other() -> None:
    memory = Group(20, [Section("memories", items("a" * 4, "b" * 40))])
    history = Group(20, [Section("history", items("x" * 9), is_contiguous=True)])
    packed = pack([memory, history], 100, ["memories", "history"], len, fit)
    assert inside(packed, "memories") == ["0", "1"]


def test_a_section_keeps_to_its_own_share_while_others_want_theirs() -> None:
    sections = [Section("core", items("c" * 49, "d" * 9), limit=50), Section("m", items("m" * 49))]
    packed = pack([Group(100, sections)], 100, ["core", "m"], len, fit)
    assert inside(packed, "core") == ["0"]
    assert inside(packed, "m") == ["0"]


def test_a_text_longer_than_its_share_is_cut_and_marked() -> None:
    packed = pack([Group(100, [Section("m", items("word " * 100))])], 100, ["m"], len, fit)
    (only,) = packed.sections["m"]
    assert only.is_cut
    assert only.text.endswith("word…") or only.text.endswith("…")
    assert only.tokens <= 100


def test_a_scrap_is_not_worth_its_place() -> None:
    packed = pack([Group(40, [Section("m", items("word " * 100))])], 40, ["m"], len, fit)
    assert packed.sections["m"] == []
    assert packed.text == ""


def test_history_ends_where_it_no_longer_fits() -> None:
    turns = items("newest", "y" * 70, "old")
    section = Section("history", turns, is_contiguous=True, is_reversed=True)
    packed = pack([Group(40, [section])], 40, ["history"], len, fit)
    assert packed.text == "newest"
    assert packed.left_out["history"] == ["1", "2"]
    packed = pack([Group(70, [section])], 70, ["history"], len, fit)
    assert [item.is_cut for item in packed.sections["history"]] == [True, False]
    assert packed.left_out["history"] == ["2"]


def test_when_the_whole_is_longer_than_its_parts_the_last_section_gives_way() -> None:
    def whole_costs_more(text: str) -> int:
        return len(text) + 5 * text.count("\n")

    sections = [Section("core", items("c" * 10)), Section("m", items("m" * 8, "n" * 8))]
    packed = pack([Group(60, sections)], 38, ["core", "m"], whole_costs_more, fit)
    assert packed.tokens <= 38
    assert inside(packed, "core") == ["0"]
    assert packed.left_out["m"] != []
