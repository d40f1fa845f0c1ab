"""Who wins between the YAML and the stored config: three ways, with what was last applied as the base."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Literal

from negmem.config.automation import effective_automation
from negmem.config.load import merge
from negmem.core.automation.stored import read_stored, store
from negmem.core.models.change import Change
from negmem.core.models.config import StoredConfig
from negmem.core.session import Session

Taken = Literal["yaml", "stored"]
Decision = Literal["agree", "apply", "keep", "conflict"]


@dataclass(frozen=True)
class ConfigPlan:
    """What to do with the stored config of an app; `document` is the stored one once that is done.

    agree: nothing. apply: the YAML changed, it wins. keep: the database changed, it wins. conflict:
    both changed, a person must say which to take.
    """

    stored: StoredConfig
    document: dict[str, Any]
    decision: Decision = "agree"
    changes: list[Change] = field(default_factory=list)
    yaml_hash: str | None = None
    remembers: bool = False


def plan_config(
    session: Session, *, take: Taken | None = None, for_update: bool = False
) -> ConfigPlan:
    """Compare what the YAML declares for the session's app with what is stored.

    Without an `automation:` section the stored config is the whole declaration.

    Raises: NegmemError `app_unknown`, `stored_config_invalid`.
    """
    stored = read_stored(session, for_update=for_update)
    declared = session.loaded.declared_automation
    if declared is None:
        return ConfigPlan(stored, stored.automation)
    row = session.database.row("automation", "applied", {"app_name": session.app})
    assert row is not None
    now = effective_automation(stored.automation).model_dump()
    base = effective_automation(row["base"] or {}).model_dump()
    yaml_hash = _hash(declared)
    keys = [key for key, value in _leaves(declared) if _at(now, key) != value]
    if not keys:
        is_new = row["applied_yaml_hash"] != yaml_hash
        return ConfigPlan(stored, stored.automation, yaml_hash=yaml_hash, remembers=is_new)
    # A key that was changed on both sides to the same value is settled, and hinders no other.
    stored_changed = any(_at(now, key) != _at(base, key) for key in keys)
    if row["applied_yaml_hash"] is None:
        yaml_changed = any(_at(base, key) != _at(declared, key) for key in keys)
    else:
        yaml_changed = row["applied_yaml_hash"] != yaml_hash
    decision, reason = _decide(yaml_changed, stored_changed, take)
    document = deepcopy(stored.automation)
    merge(document, declared)
    return ConfigPlan(
        stored,
        document if decision == "apply" else stored.automation,
        decision,
        [_change(session, key, _at(now, key), _at(declared, key), reason) for key in keys],
        yaml_hash,
        remembers=decision == "apply" or take == "stored",
    )


def automation_keys() -> list[str]:
    """Every key of the automation config, as a path."""
    return [key for key, _ in _leaves(effective_automation({}).model_dump())]


def apply_config(session: Session, plan: ConfigPlan) -> None:
    """Store the YAML's values where the plan says so, and remember what was applied.

    Runs inside the caller's transaction.
    """
    if plan.decision == "apply":
        store(session, plan.document, [change.name for change in plan.changes], "sync")
    if plan.remembers:
        session.database.execute(
            "automation",
            "remember_applied",
            {
                "app_name": session.app,
                "yaml_hash": plan.yaml_hash,
                "config_hash": _hash(plan.document),
            },
        )


def _decide(yaml_changed: bool, stored_changed: bool, take: Taken | None) -> tuple[Decision, str]:
    if yaml_changed and stored_changed:
        reason = "both_changed"
    else:
        reason = "yaml_changed" if yaml_changed else "stored_changed"
    if take is not None:
        return ("apply" if take == "yaml" else "keep"), reason
    choices: dict[str, Decision] = {
        "yaml_changed": "apply",
        "stored_changed": "keep",
        "both_changed": "conflict",
    }
    return choices[reason], reason


def _change(session: Session, key: str, before: object, after: object, reason: str) -> Change:
    path = f"automation.{key}"
    origin = session.loaded.origins.get(path)
    return Change(
        kind="config",
        name=path,
        state="drifted",
        reason=reason,
        action="update",
        significance="semantic",
        before=_text(before),
        after=_text(after),
        differences=["value"],
        detail="" if origin is None else str(origin),
    )


def _leaves(document: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _at(document: Any, key: str) -> object:
    for part in key.split("."):
        document = document.get(part) if isinstance(document, Mapping) else None
    return document


def _hash(document: Mapping[str, Any]) -> str:
    text = json.dumps(document, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
