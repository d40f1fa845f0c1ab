"""Which store knows which mode is said when the YAML is read."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from negmem.config.model import Learning

REVIEWED = ("profile", "memory", "entity", "knowledge")


@pytest.mark.parametrize("store", REVIEWED)
@pytest.mark.parametrize("mode", ["always", "agentic", "propose", "hitl"])
def test_four_stores_know_all_four_modes(store: str, mode: str) -> None:
    assert getattr(Learning(**{store: {"mode": mode}}), store).mode == mode


@pytest.mark.parametrize(
    ("store", "mode"),
    [
        *(("session_context", mode) for mode in ("agentic", "propose", "hitl")),
        *(("decision_log", mode) for mode in ("always", "propose", "hitl")),
        *((store, "never") for store in REVIEWED),
    ],
)
def test_a_mode_that_a_store_can_not_have_is_refused(store: str, mode: str) -> None:
    with pytest.raises(ValidationError):
        Learning(**{store: {"mode": mode}})


def test_the_defaults() -> None:
    found = Learning()
    modes = {name: getattr(found, name).mode for name in REVIEWED}
    assert modes == {
        "profile": "always",
        "memory": "always",
        "entity": "always",
        "knowledge": "agentic",
    }
    assert [name for name in REVIEWED if getattr(found, name).enabled] == [*REVIEWED[:3]]


def test_a_store_named_twice_is_refused() -> None:
    assert Learning(stores=("weather", "notes")).stores == ("weather", "notes")
    with pytest.raises(ValidationError):
        Learning(stores=("weather", "weather"))
