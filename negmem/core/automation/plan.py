"""What it takes to make the database agree: one plan, the same for `diff`, `sync` and `show`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from negmem.config.automation import effective_automation
from negmem.core.automation.declared import ConfigPlan, Taken, plan_config
from negmem.core.models.change import Change, Significance, UnmanagedObject
from negmem.core.session import Session
from negmem.core.text.sql_tokens import same_sql
from negmem.db import functions
from negmem.db.connect import Connection
from negmem.db.functions import Comparison, Comparisons
from negmem.errors import NegmemError

_TUNING = frozenset({"cost", "rows"})


@dataclass(frozen=True)
class FunctionChange:
    """One function that differs, with the comparison that `sync` would act on."""

    change: Change
    comparison: Comparison


@dataclass(frozen=True)
class Plan:
    """Everything that differs, in the order in which it would be put right."""

    config: ConfigPlan
    functions: list[FunctionChange]
    to_stamp: list[Comparison]
    comparisons: Comparisons
    unmanaged: list[UnmanagedObject]
    unchanged: int

    @property
    def changes(self) -> list[Change]:
        """All changes: config first, then functions."""
        return [*self.config.changes, *(f.change for f in self.functions)]


def make_plan(
    session: Session,
    connection: Connection,
    *,
    take: Taken | None = None,
    for_update: bool = False,
) -> Plan:
    """Compare YAML, stored config and the functions that stand, inside the caller's transaction.

    Args: take, which side wins where YAML and stored config both changed; for_update, lock the
    config row. Raises: NegmemError `app_unknown`, `config_missing`, `stored_config_invalid`.
    """
    config = plan_config(session, take=take, for_update=for_update)
    found = functions.compare(
        session.database, connection, functions.wanted_functions(_variables(session, config))
    )
    changed = [FunctionChange(_change(c), c) for c in found.items if c.state != "present"]
    return Plan(
        config=config,
        functions=changed,
        to_stamp=[c for c in found.items if c.state == "present" and c.needs_stamp],
        comparisons=found,
        unmanaged=[
            UnmanagedObject(kind="function", name=f.definition.signature) for f in found.unmanaged
        ],
        unchanged=len(found.items) - len(changed),
    )


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


def _action(found: Comparison) -> Any:
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
        same = same_sql(found.live.definition.body, found.expected.definition.body)
        return "cosmetic" if same else "semantic"
    return "semantic"


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
