"""Pruning by age and number, held to its golden table."""

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from negmem.core.formulas.pruning import Entry, Reason, prune, read_instant
from negmem.core.formulas.pruning_compat import prune_compat
from tests.support.golden import TABLES

NOW = datetime(2026, 4, 1, tzinfo=timezone.utc)
CASES = [json.loads(line) for line in (TABLES / "pruning.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("include_undated", [False, True])
@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_the_golden_table(case: dict[str, Any], include_undated: bool) -> None:
    entries = [Entry(**entry) for entry in case["entries"]]
    found = prune(
        entries,
        NOW,
        max_age_days=case["max_age_days"],
        max_count=case["max_count"],
        include_undated=include_undated,
    )
    assert set(found.kept) == set(case["kept_with_undated" if include_undated else "kept"])
    stored = [entry.id for entry in entries]
    assert list(found.kept) == [i for i in stored if i in found.kept]
    assert {i for i, _ in found.removed} == set(stored) - set(found.kept)


# Of the two cases at which the first design stops, a missing time is told from a null one only there.
SHIPPED = [case for case in CASES if case["kept_shipped"] is not None]


@pytest.mark.parametrize("case", SHIPPED, ids=[case["case"] for case in SHIPPED])
def test_the_golden_table_as_shipped(case: dict[str, Any]) -> None:
    entries = [Entry(**entry) for entry in case["entries"]]
    limits = {key: case[key] for key in ("max_age_days", "max_count")}
    found = prune_compat(entries, NOW, **limits)
    assert list(found.kept) == case["kept_shipped"]
    assert {i for i, _ in found.removed} == {entry.id for entry in entries} - set(found.kept)


def test_a_number_stops_the_shipped_rule_and_pins_hold_there_too() -> None:
    with pytest.raises(ValueError, match="is no moment"):
        prune_compat([Entry("a", 1735689600)], NOW, max_age_days=90)
    pinned = Entry("a", "2020-01-01T00:00:00Z", is_protected=True)
    assert prune_compat([pinned], NOW, max_age_days=90, max_count=1).kept == ("a",)


@pytest.mark.parametrize(
    ("text", "is_kept"),
    [
        ("2025-12-31T19:00:00-05:00", True),
        ("2025-12-31T23:59:59.999999Z", False),
        ("2025-06-01 00:00:00+00:00", False),
        ("20250601T000000Z", False),
        ("2025-06-01T00:00:00.123456789Z", False),
        ("2025-W23-1", True),
        ("2025-06-01T24:00:00Z", True),
        ("  2025-06-01T00:00:00Z", True),
        ("2025/06/01", True),
        ("2025-13-01", True),
        ("9999-12-31T23:59:59Z", True),
        ("0001-01-01T00:00:00+23:00", True),
    ],
)
def test_texts_that_state_a_moment_and_those_that_do_not(text: str, is_kept: bool) -> None:
    assert bool(prune([Entry("a", text)], NOW, max_age_days=90).kept) == is_kept


def test_numbers_are_seconds_or_milliseconds() -> None:
    assert read_instant(1735689600) == datetime(2025, 1, 1, tzinfo=timezone.utc)
    assert read_instant(1735689600000) == datetime(2025, 1, 1, tzinfo=timezone.utc)
    assert read_instant(0) == datetime(1970, 1, 1, tzinfo=timezone.utc)
    for nonsense in (True, float("nan"), float("inf"), 1e300):
        with pytest.raises(ValueError, match="is no moment"):
            read_instant(nonsense)


def test_what_has_no_zone_is_utc() -> None:
    assert read_instant(datetime(2025, 1, 1)) == datetime(2025, 1, 1, tzinfo=timezone.utc)
    assert read_instant("2025-01-01") == datetime(2025, 1, 1, tzinfo=timezone.utc)


def test_protected_entries_stay_and_count() -> None:
    entries = [
        Entry("pinned", NOW - timedelta(days=900), is_protected=True),
        *(Entry(f"m{n}", NOW - timedelta(days=n)) for n in range(4)),
    ]
    found = prune(entries, NOW, max_age_days=2, max_count=3)
    assert found.removed == (("m2", Reason.COUNT), ("m3", Reason.AGE))
    assert found.kept == ("pinned", "m0", "m1")
    assert prune(entries[:1] * 1, NOW, max_age_days=1, max_count=0).removed == ()


def test_more_protected_than_may_stay_leaves_just_them() -> None:
    entries = [Entry(f"p{n}", NOW, is_protected=True) for n in range(3)] + [Entry("m", NOW)]
    assert prune(entries, NOW, max_count=2).kept == ("p0", "p1", "p2")


def test_the_report_names_what_could_not_be_judged() -> None:
    entries = [
        Entry("none"),
        Entry("empty", ""),
        Entry("junk", "soon"),
        Entry("half", "2026-01-01", "soon"),
        Entry("later", "2999-01-01T00:00:00Z"),
    ]
    found = prune(entries, NOW, max_age_days=1)
    assert found.undated == ("none", "empty")
    assert found.unreadable == ("junk", "half")
    assert found.future == ("later",)
    assert found.removed == (("half", Reason.AGE),)


def test_an_age_beyond_all_time_removes_nothing() -> None:
    for age in (800_000, 1e12, float("inf")):
        assert prune([Entry("a", "0001-01-01")], NOW, max_age_days=age).removed == ()
