"""The stored automation document: merged, checked, changed key by key."""

from __future__ import annotations

import pytest

from negmem.config.automation import (
    check_value,
    default_document,
    effective_automation,
    leaf_key,
    set_in_document,
)
from negmem.config.problems import ConfigError
from negmem.errors import NegmemError, UsageError


def test_the_defaults_are_those_that_are_documented() -> None:
    assert default_document() == {
        "retention": {
            "decay_lambda": 0.1,
            "low_retention_threshold": 0.0001,
            "min_age_days": 640,
            "keep_importance": 0.9,
            "max_share": 0.2,
            "max_rows": 10_000,
            "auto_cleanup_enabled": False,
            "cleanup_schedule": "0 2 * * *",
        },
        "consolidation": {
            "enabled": False,
            "schedule": "0 * * * *",
            "lookback_interval": "1 hour",
        },
        "context_assembler": {"max_tokens": 4000, "memory_ratio": 0.3, "history_ratio": 0.5},
        "reweight_relevance": {
            "enabled": False,
            "schedule": "0 */6 * * *",
            "beta": 0.75,
            "gamma": 0.15,
            "harmful_gamma": 0.5,
            "min_count": 3,
            "half_life_days": 90,
        },
        "jobs": {"prefix": ""},
    }


def test_a_stored_part_is_laid_over_the_defaults() -> None:
    automation = effective_automation({"retention": {"min_age_days": 30}})
    assert automation.retention.min_age_days == 30
    assert automation.retention.decay_lambda == 0.1
    assert automation.consolidation.schedule == "0 * * * *"


def test_a_stored_document_that_is_wrong_is_told_with_every_fault() -> None:
    stored = {
        "retention": {"min_age_days": "7", "min_age_day": 3},
        "cleanup": {},
        "consolidation": 5,
    }
    with pytest.raises(NegmemError) as caught:
        effective_automation(stored)
    assert (caught.value.code, caught.value.exit_code) == ("stored_config_invalid", 1)
    assert "automation.retention.min_age_days must be a whole number" in caught.value.why
    assert "did you mean automation.retention.min_age_days?" in caught.value.why
    assert "unknown key automation.cleanup" in caught.value.why
    assert "automation.consolidation" in caught.value.why


def test_setting_one_key_keeps_the_others() -> None:
    stored = {"retention": {"min_age_days": 30}}
    change = set_in_document(stored, "automation.retention.decay_lambda", "0.05")
    assert (change.before, change.after) == (0.1, 0.05)
    assert change.document == {"retention": {"min_age_days": 30, "decay_lambda": 0.05}}
    assert stored == {"retention": {"min_age_days": 30}}
    change = set_in_document({}, "automation.consolidation.enabled", "true")
    assert change.after is True


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("automation.retention.decay_lambda", "0", "over 0 and at most 10, got 0"),
        ("automation.retention.decay_lambda", "fast", "got 'fast'"),
        ("automation.retention.cleanup_schedule", "tomorrow", "five fields"),
        ("automation.context_assembler.memory_ratio", "0.9", "1.4 together"),
        ("automation.consolidation.enabled", "yes", "true or false"),
    ],
)
def test_a_wrong_value_is_refused(key: str, value: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        set_in_document({}, key, value)
    assert said in caught.value.why


def test_values_are_weighed_against_what_is_stored() -> None:
    stored = {"context_assembler": {"history_ratio": 0.1}}
    check_value("automation.context_assembler.memory_ratio", "0.9")
    change = set_in_document(stored, "automation.context_assembler.memory_ratio", "0.9")
    assert change.after == 0.9
    with pytest.raises(ConfigError):
        check_value("automation.context_assembler.memory_ratio", "9")


def test_a_document_with_an_old_fault_can_be_mended_key_by_key() -> None:
    stored = {"retention": {"min_age_days": 0}}
    change = set_in_document(stored, "automation.retention.min_age_days", "5")
    assert change.document == {"retention": {"min_age_days": 5}}


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("automation.retention.min_age_day", "did you mean automation.retention.min_age_days?"),
        ("automation.retention", "its keys: decay_lambda"),
        ("min_age_days", "did you mean automation.retention.min_age_days?"),
        ("automaton.retention.min_age_days", "did you mean automation?"),
        ("", "known here: connection"),
        ("connection.dsn.x", "connection"),
    ],
)
def test_a_key_that_does_not_exist_gets_the_nearest_one(key: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        leaf_key(key)
    assert caught.value.code == "config_unknown_key"
    assert said in caught.value.why
