"""Which figures give which advice, and when a target is met."""

from __future__ import annotations

from dataclasses import replace

import pytest

from negmem.config.model import Automation
from negmem.core.retrieval.advice import Grounds, advice_of
from negmem.core.retrieval.layers import state_of

CALM = Grounds(
    searches=100,
    hit_rate=0.9,
    fallback_rate=0.05,
    context_utilization=0.5,
    contexts=50,
    repeat_rate=0.1,
    repeat_rate_before=0.2,
    memories=1_000,
    added_7=10,
)


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({}, []),
        ({"hit_rate": 0.79}, ["forget_less"]),
        ({"hit_rate": 0.96}, []),
        ({"hit_rate": 0.96, "added_7": 300}, ["forget_more"]),
        ({"fallback_rate": 0.16}, ["check_levels"]),
        ({"context_utilization": 0.2}, ["more_memories"]),
        ({"context_utilization": 0.2, "contexts": 3}, []),
        ({"repeat_rate": 0.2}, ["consolidate_more"]),
        ({"repeat_rate_before": None, "repeat_rate": 0.9}, []),
        ({"searches": 19, "hit_rate": 0.1, "fallback_rate": 0.9}, []),
        ({"hit_rate": 0.5, "fallback_rate": 0.5}, ["forget_less", "check_levels"]),
    ],
)
def test_the_rules(changes: dict[str, float], codes: list[str]) -> None:
    assert [a.code for a in advice_of(replace(CALM, **changes), Automation())] == codes  # type: ignore[arg-type]


def test_nothing_is_proposed_beyond_the_bounds() -> None:
    document = Automation().model_dump()
    document["retention"]["low_retention_threshold"] = 0.000001
    document["context_assembler"] |= {"memory_ratio": 0.5, "history_ratio": 0.5}
    automation = Automation.model_validate(document)
    grounds = replace(CALM, hit_rate=0.1, context_utilization=0.1)
    assert advice_of(grounds, automation) == []


@pytest.mark.parametrize(
    ("value", "target", "state"),
    [
        (None, "> 1", "unknown"),
        (0.85, "> 0.85", "missed"),
        (0.86, "> 0.85", "met"),
        (99.9, "< 100", "met"),
        (100.0, "< 100", "missed"),
        (0.40, "0.40 to 0.70", "met"),
        (0.71, "0.40 to 0.70", "missed"),
    ],
)
def test_targets(value: float | None, target: str, state: str) -> None:
    assert state_of(value, target) == state
