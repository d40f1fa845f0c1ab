"""What keeps one memory or fact out of every ranking of a search: its state, or a filter."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import UUID

from negmem.core.retrieval.as_of import holds
from negmem.core.retrieval.search import Filters
from negmem.core.session import Session

RANKS_LOOKED_AT = 1_000
_FILTERS = ("--type", "--thread", "--since", "--until", "--where")


@dataclass(frozen=True)
class Standing:
    """What the database knows of an item: the state that keeps it out of any ranking ("" when none does).

    `lifted` is what to change in the search so that no filter excludes it, `without` the options to leave out.
    """

    kind: str
    state: str
    reason: str
    remedies: tuple[str, ...] = ()
    as_of: datetime | None = None
    lifted: dict[str, Any] | None = None
    without: str = ""
    has_vector: bool = False
    shares_terms: bool = False


def standing_of(
    session: Session,
    user: str,
    query: str,
    item_id: UUID,
    kinds: Sequence[str],
    filters: Filters,
    as_of: datetime | None,
) -> Standing | None:
    """What keeps an item out of any ranking; None: the user has no such memory or fact."""
    row = session.database.row(
        "search",
        "why_not",
        {
            "user_id": user,
            "app_name": session.app,
            "query": query,
            "id": item_id,
            "kinds": list(kinds),
            **filters.by(as_of).params,
        },
    )
    if row is None:
        return None
    kind = str(row["kind"])
    has_vector, shares_terms = bool(row["has_vector"]), bool(row["shares_terms"])
    if row["deleted_at"] is not None:
        return Standing(
            kind,
            "deleted",
            f"it was removed: {row['deleted_reason'] or 'no reason given'}",
            (f"negmem {kind} restore {item_id} --user {shlex.quote(user)}",),
        )
    excluding = _excluding(kind, row, kinds, filters, as_of)
    past = _past(kind, row, as_of)
    if past is not None and not excluding:
        return past
    if excluding:
        lifted, without = _lifted(excluding, kind, kinds, filters)
        return Standing(
            kind,
            "filtered",
            f"it is kept out by {_listed(excluding)}",
            lifted=lifted,
            without=without,
        )
    words = "shares words with the question" if shares_terms else "shares no word with it"
    vector = "has a vector" if has_vector else "has no vector"
    reason = f"it {words}, {vector}, and is not among the first {RANKS_LOOKED_AT:,}"
    return Standing(kind, "", reason, has_vector=has_vector, shares_terms=shares_terms)


def _past(kind: str, row: dict[str, Any], as_of: datetime | None) -> Standing | None:
    """The standing of a fact that is not true now, or was not as of the day that was asked for."""
    if kind != "fact":
        return None
    since, until, now = row["valid_from"], row["valid_until"], as_of or row["now"]
    then = since and _whole_second(since, until)
    if since is not None and since > now:
        return Standing(kind, "not_yet_valid", f"it is true from {since:%Y-%m-%d} on", as_of=then)
    if until is not None and until <= now:
        state = "expired" if row["status"] == "active" else "superseded"
        return Standing(kind, state, f"it was true until {until:%Y-%m-%d}", as_of=then)
    if row["status"] != "active" and as_of is None:
        return Standing(kind, "superseded", "another value has taken its place", as_of=then)
    return None


def _whole_second(since: datetime, until: datetime | None) -> datetime:
    """The first whole second after a beginning, in UTC; the very next moment where the time is over by then."""
    begun = since.astimezone(timezone.utc)
    whole = begun.replace(microsecond=0) + timedelta(seconds=1)
    return whole if until is None or whole < until else begun + timedelta(microseconds=1)


def _excluding(
    kind: str, row: dict[str, Any], kinds: Sequence[str], filters: Filters, as_of: datetime | None
) -> list[str]:
    """The options of the search that exclude the item."""
    found = [] if kind in kinds else ["--kind"]
    found += [name for name in _FILTERS if _excludes(name, row, filters)]
    if as_of is not None and kind == "memory":
        bound = Filters().by(as_of).params["until"]
        if row["moment"] is None or row["moment"] >= bound:
            found.append("--as-of")
    return found


def _lifted(
    excluding: Sequence[str], kind: str, kinds: Sequence[str], filters: Filters
) -> tuple[dict[str, Any], str]:
    """The search without these options, and how to say it: all of them have to go."""
    names = {"--type": "types"}
    fields = [names.get(name, name[2:]) for name in excluding if name in _FILTERS]
    changed: dict[str, Any] = {"filters": replace(filters, **dict.fromkeys(fields))}
    said = []
    gone = [name for name in excluding if name != "--kind"]
    if "--kind" in excluding:
        changed["kinds"] = [*kinds, kind]
        said.append("--kind " + ",".join(changed["kinds"]))
    if "--as-of" in excluding:
        changed["as_of"] = None
    if gone:
        said.append(f"without {_listed(gone)}")
    return changed, ", ".join(said)


def _excludes(name: str, row: dict[str, Any], filters: Filters) -> bool:
    """Whether this filter alone would exclude the item."""
    if name == "--type":
        return filters.types is not None and row["type"] not in filters.types
    if name == "--thread":
        return filters.thread is not None and row["thread"] != filters.thread
    said = row["moment"]
    if name == "--since":
        return filters.since is not None and (said is None or said < filters.params["since"])
    if name == "--until":
        return filters.until is not None and (said is None or said >= filters.params["until"])
    metadata = row["metadata"] or {}
    return not all(holds(metadata, key, value) for key, value in (filters.where or {}).items())


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
