"""Pruning as the first design ships it, for those who compare; core/formulas/pruning.py is safer.

Only the creation counts, never a change. What has no zone stays for ever. The number is kept by the texts of
the times in order, so that other zones and fractions of a second sort wrong, and of one time those stored
first stay.

Source: golden table of pruning, tests/golden/pruning.jsonl, what is kept as shipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from negmem.core.formulas.pruning import Entry, Pruning, Reason, limit_of_age, read_instant


def prune_compat(
    entries: Sequence[Entry], now: datetime, *, max_age_days: float = 0, max_count: int = 0
) -> Pruning:
    """The plan for entries in the order of insertion; `kept` is in the order that the first design stores.

    What is protected stays; the first design knows no protection. Raises: ValueError for a number in place
    of a time, at which the first design stops.
    """
    kept = list(entries)
    removed: list[tuple[str, Reason]] = []
    if max_age_days > 0:
        limit = limit_of_age(now, max_age_days)
        aged = [entry for entry in kept if not entry.is_protected and _is_before(entry, limit)]
        removed += [(entry.id, Reason.AGE) for entry in aged]
        gone = {entry.id for entry in aged}
        kept = [entry for entry in kept if entry.id not in gone]
    if 0 < max_count < len(kept):
        ordered = sorted(kept, key=_text, reverse=True)
        surplus = [entry for entry in ordered[max_count:] if not entry.is_protected]
        removed += [(entry.id, Reason.COUNT) for entry in surplus]
        gone = {entry.id for entry in surplus}
        kept = [entry for entry in ordered if entry.id not in gone]
    undated = tuple(entry.id for entry in entries if not entry.created)
    return Pruning(tuple(entry.id for entry in kept), tuple(removed), undated, (), ())


def _text(entry: Entry) -> str:
    if isinstance(entry.created, (int, float)):
        raise ValueError(f"{entry.created!r} is no moment")
    if isinstance(entry.created, datetime):
        return entry.created.isoformat()
    return entry.created or ""


def _is_before(entry: Entry, limit: datetime) -> bool:
    text = _text(entry)
    # Without a zone, and with a small z, the comparison fails, and what fails stays.
    if not text or text.endswith("z"):
        return False
    try:
        moment = datetime.fromisoformat(f"{text[:-1]}+00:00" if text.endswith("Z") else text)
    except ValueError:
        return False
    if moment.tzinfo is None:
        return False
    instant = read_instant(moment)
    return instant is not None and instant < limit
