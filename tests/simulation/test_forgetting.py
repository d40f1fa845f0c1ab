"""Two years of forgetting: what the defaults lose, what others would, and that the database agrees."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from negmem.config.model import Config, RetentionPolicy
from tests.simulation.forgetting import Outcome, Policy, Wanted, simulate, two_years
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase

SEED = 20_261_130
DOCUMENT = Path(__file__).parents[2] / "docs" / "retention.md"
DEFAULTS = Policy(
    RetentionPolicy().low_retention_threshold,
    RetentionPolicy().min_age_days,
    Config().retention.restore_window_days,
)
EACH_COUNTS = {"NEGMEM_RETRIEVAL__REPEAT_WINDOW_S": "0"}
SETTINGS = (Policy(0.1, 7, 30), Policy(0.01, 365, 90), DEFAULTS)


@pytest.fixture(scope="module")
def outcomes() -> dict[Policy, Outcome]:
    """One population under each of the settings."""
    wanted = two_years(SEED)
    return {policy: simulate(policy, wanted, days=730) for policy in SETTINGS}


def line(policy: Policy, found: Outcome) -> str:
    """The line of the table in the document."""
    return (
        f"| {policy.threshold:g} | {policy.min_age_days:g} | {policy.restore_window_days:g}"
        f" | {found.share_lost:.2%} | {found.share_of_memories_lost:.2%}"
        f" | {found.beyond_restoring / found.questions:.2%}"
        f" | {found.live:,} | {found.waiting:,} | {found.purged:,} |"
    )


def test_the_defaults_lose_less_than_two_in_a_hundred(outcomes: dict[Policy, Outcome]) -> None:
    found = outcomes[DEFAULTS]
    assert found.questions > 100_000
    assert 0 < found.share_lost < 0.02
    assert 0 < found.share_of_memories_lost < 0.02
    assert found.live + found.waiting + found.purged == 730 * 20


def test_the_document_shows_these_figures(outcomes: dict[Policy, Outcome]) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    for policy, found in outcomes.items():
        assert line(policy, found) in text


def word(number: int) -> str:
    """A word of its own for each memory: with a part in common one search would count for several."""
    return f"wo{chr(97 + number // 26)}{chr(97 + number % 26)}q"


@pytest.mark.servers("embedded")
def test_the_database_loses_what_the_simulation_loses(
    negmem: CliRunner, database: TestDatabase
) -> None:
    """A small population, day by day: the clock is moved by making everything a day older."""
    policy = Policy(0.19, 3, 30)
    chance = random.Random(5)
    days = 40
    wanted = []
    for number in range(30):
        at = float(number)
        asked = []
        while (at := at + chance.randint(1, 14)) < days:
            asked.append(at)
        wanted.append(Wanted(float(number), tuple(asked)))
    expected = simulate(policy, wanted, days=days - 1)
    assert 10 < expected.lost < expected.questions - 10
    for key, value in (
        ("low_retention_threshold", policy.threshold),
        ("min_age_days", int(policy.min_age_days)),
    ):
        negmem("config", "set", f"automation.retention.{key}", str(value)).ok()
    misses = []
    for day in range(days):
        database.rows(
            "UPDATE negentropy.memories SET created_at = created_at - interval '24 hours',"
            " last_accessed_at = last_accessed_at - interval '24 hours'"
        )
        database.rows(
            "UPDATE negentropy.memory_retrieval_logs SET created_at = created_at - interval '24 hours'"
        )
        negmem("retention", "run", "-q").ok()
        for number, memory in enumerate(wanted):
            if day in memory.asked:
                query = ("search", word(number), "--user", "ada", "--level", "keyword")
                found = negmem(*query, "--json", env=EACH_COUNTS).ok().json["results"]
                if not any(word(number) in result["content"] for result in found):
                    misses.append((number, float(day)))
            if day == memory.created:
                negmem("memory", "add", f"{word(number)} 第{number}条", "--user", "ada").ok()
    assert sorted(misses) == sorted(expected.misses)
    live = database.value("SELECT count(*) FROM negentropy.memories WHERE deleted_at IS NULL")
    assert live == expected.live
