"""What a changed number of the config would make of forgetting, told before it is stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from negmem.core.evolution import retention
from negmem.core.models.change import Change
from negmem.core.session import Session
from negmem.errors import NegmemError

_DAYS = 7
# With numbers that are not the stored ones every memory is computed: a config set shall not wait for millions.
_TIMEOUT_MS = 10_000


def tell_effect(session: Session, changes: Mapping[str, str]) -> None:
    """Warn of what changed keys of the stored config mean within a week; others are passed over.

    Call it before they are stored. It never raises: what can't be computed is said. A role that sees
    one user at a time is told nothing.
    """
    numbers = {key: value for key, value in changes.items() if retention.decides(key)}
    if not numbers or session.database.facts.sees_one_user:
        return
    settings = " ".join(f"--set {key}={value}" for key, value in numbers.items())
    try:
        told = retention.preview(
            session, days=_DAYS, changes=numbers, limit=0, timeout_ms=_TIMEOUT_MS
        ).effect()
    except NegmemError as error:
        told = f"what it means for forgetting was not computed ({error.code})"
    session.warn("retention_effect", f"{told}: negmem retention preview --days {_DAYS} {settings}")


def tell_effect_of(session: Session, changes: Iterable[Change]) -> None:
    """The same for what `diff` found, as far as `sync` will store it."""
    tell_effect(
        session,
        {
            change.name: change.after or ""
            for change in changes
            if change.kind == "config" and change.reason == "yaml_changed"
        },
    )
