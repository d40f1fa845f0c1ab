"""The managed functions: what differs from what ships, and how it is put right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from negmem.config.automation import effective_automation
from negmem.core.automation.declared import ConfigPlan
from negmem.core.automation.part import Consent, Part, Refusal, digest
from negmem.core.models.change import Action, Change, Significance, UnmanagedObject
from negmem.core.session import Session
from negmem.core.text.sql_tokens import may_be_same_sql, same_sql
from negmem.db import functions
from negmem.db.connect import Connection
from negmem.db.function_changes import apply
from negmem.db.functions import Comparison, Comparisons
from negmem.errors import NegmemError

_TUNING = frozenset({"cost", "rows"})


@dataclass(frozen=True)
class FunctionChange:
    """One function that differs, with the comparison that `sync` would act on."""

    change: Change
    comparison: Comparison


@dataclass
class FunctionPart(Part):
    """The managed functions, each with its comparison."""

    comparisons: Comparisons = field(default_factory=lambda: Comparisons((), ()))
    items: list[FunctionChange] = field(default_factory=list)

    def refusal(self, change: Change, consent: Consent) -> Refusal | None:
        """Hand edits and deletions need a word from a person."""
        found = self._comparison(change)
        if found.is_by_hand and not consent.overwrite_edited:
            return Refusal("changed by hand", "negmem sync --overwrite-edited")
        if found.state == "leftover" and not (consent.prune or self.comparisons.is_renewed(found)):
            return Refusal("deletes only when asked to", "negmem sync --prune")
        return None

    def known(self) -> Iterator[tuple[str, str]]:
        """Every function by its signature, and by its bare name."""
        others = [function.definition.signature for function in self.comparisons.unmanaged]
        for signature in [*(c.signature for c in self.comparisons.items), *others]:
            yield signature, signature
            yield signature.partition("(")[0], signature

    def apply(self, session: Session, connection: Connection, due: Sequence[Change]) -> None:
        """Write what is due, and a stamp where only that is missing."""
        unstamped = [c for c in self.comparisons.items if c.state == "present" and c.needs_stamp]
        apply(session.database, connection, [*map(self._comparison, due), *unstamped])

    def _comparison(self, change: Change) -> Comparison:
        return next(item.comparison for item in self.items if item.change is change)


def find(session: Session, connection: Connection, config: ConfigPlan) -> FunctionPart:
    """Compare the functions that stand with those that ship, inside the caller's transaction."""
    wanted = functions.wanted_functions(_variables(session, config))
    found = functions.compare(session.database, connection, wanted)
    items = [FunctionChange(_change(c), c) for c in found.items if c.state != "present"]
    return FunctionPart(
        changes=[item.change for item in items],
        unmanaged=[
            UnmanagedObject(kind="function", name=f.definition.signature) for f in found.unmanaged
        ],
        unchanged=len(found.items) - len(items),
        seen=digest([_seen(c) for c in found.items]),
        comparisons=found,
        items=items,
    )


def _seen(found: Comparison) -> list[str]:
    live, wanted = found.live, found.wanted
    return [
        found.signature,
        found.state,
        wanted.template if wanted else "",
        live.definition.digest if live else "",
        (live.comment or "") if live else "",
    ]


def _variables(session: Session, config: ConfigPlan) -> dict[str, str]:
    """The values of the functions' defaults: those of the main app, as they will be stored."""
    document: Mapping[str, Any] = config.document
    if not config.stored.is_main:
        row = session.database.row("installation", "main_config")
        if row is None:
            raise NegmemError(
                "config_missing",
                "no app is marked as the main one",
                why="memory_automation_configs has no row with is_main",
                hint="negmem init",
            )
        document = row["config"]
    automation = effective_automation(document).model_dump(mode="json")
    database = session.database
    return functions.variables(
        automation, database.schema, database.facts.vector_schema or "public"
    )


def _change(found: Comparison) -> Change:
    live, wanted = found.live, found.wanted
    after = None
    if wanted is not None:
        after = found.expected.text if found.expected is not None else wanted.text
    return Change(
        kind="function",
        name=found.signature,
        state="missing" if found.state == "missing" else "drifted",
        reason=found.state,
        action=_action(found),
        significance=_significance(found),
        before=None if live is None else live.text,
        after=after,
        differences=list(found.differences),
        detail=_detail(found),
    )


def _action(found: Comparison) -> Action:
    if found.live is None:
        return "create"
    if found.wanted is None:
        return "delete"
    return "replace" if found.needs_drop else "update"


def _significance(found: Comparison) -> Significance:
    """Cosmetic: nothing that the function does or answers differs."""
    differences = set(found.differences) - _TUNING
    if found.live is None or found.wanted is None:
        return "semantic"
    if not differences:
        return "cosmetic"
    if differences == {"body"} and found.expected is not None:
        live, expected = found.live.definition, found.expected.definition
        return "cosmetic" if _same_body(live.language, live.body, expected.body) else "semantic"
    return "semantic"


def _same_body(language: str, one: str, other: str) -> bool:
    if same_sql(one, other):
        return True
    if language != "sql" or not may_be_same_sql(one, other):
        return False
    from negmem.db.sql_trees import same_tree

    return same_tree(one, other)


def _detail(found: Comparison) -> str:
    stamp = found.live.stamp if found.live is not None else None
    what = ", ".join(found.differences)
    if found.state == "edited" and stamp is not None:
        return f"{what} changed since negmem {stamp.version} wrote it"
    if found.state == "outdated" and stamp is not None:
        by = "config" if found.differences == ("defaults",) else f"negmem {stamp.version}"
        return f"{what} as an earlier {by} had it"
    if found.state == "unmanaged":
        return f"{what} differs, and negmem did not write it"
    if found.state == "leftover" and stamp is not None:
        return f"written by negmem {stamp.version}, wanted no longer"
    return ""
