"""A person changes what was proposed before it is approved; what it would change stays what it was."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.learning.access import access_of
from negmem.core.learning.proposal_refusals import edited_meanwhile, refuse_decided
from negmem.core.learning.proposals import act_of, located, revived
from negmem.core.models.proposal import FieldChange, Proposal, ProposalEdited
from negmem.core.pii import gated_write, guard_of
from negmem.core.review import Act, stored_arguments
from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError

# What says which row is meant, whose it is, and how the call is made, is no matter of a person's words.
_FIXED = frozenset(
    (
        *("session", "user", "dry_run", "namespace", "id", "ids", "memory_id", "fact_id", "part"),
        *("entity", "entity_id", "event_ids", "expected_version", "anyway", "update", "thread"),
    )
)


@gated_write
def edit(
    session: Session,
    id: UUID,
    changes: Mapping[str, Any],
    *,
    user: str | None = None,
    actor: str | None = None,
    as_typed: bool = False,
    dry_run: bool = False,
) -> ProposalEdited:
    """Change arguments of a proposal that waits; what was proposed is kept, and so is who changed it.

    It is tried without writing first. In mode hitl who edits may not approve.
    Args: changes, new values by argument, None takes one away; as_typed, they come from a command
    line: what reads as JSON was taken as such, also where the argument is a text; a blank takes it away.
    Raises: UsageError `proposal_argument_unknown`; NegmemError `proposal_unknown`, `proposal_decided`,
    `proposal_expired`, `proposal_empty`, `version_conflict`, `namespace_denied`, and what the write raises.
    """
    proposal, owner, payload = located(session, user, id)
    refuse_decided(proposal)
    if user is not None:
        access_of(session, user).require(owner, "write")
    act = act_of(proposal)
    after = {**proposal.arguments, **_read(act, proposal, changes, as_typed)}
    after = {name: value for name, value in after.items() if value is not None}
    screened, flags = guard_of(session).screen_value({"arguments": stored_arguments(after)})
    wanted = screened["arguments"]
    edited = [
        FieldChange(field=name, before=proposal.arguments.get(name), after=wanted.get(name))
        for name in dict.fromkeys((*changes, *wanted))
        if proposal.arguments.get(name) != wanted.get(name)
    ]
    if not edited:
        return ProposalEdited(proposal=proposal, edited=[], dry_run=dry_run)
    arguments = revived(wanted)
    preview = act.function(session, proposal.user, **arguments, dry_run=True)
    if getattr(preview, "action", "") == "unchanged":
        raise NegmemError(
            "proposal_empty",
            "then there would be nothing to write",
            why="what stands already says so",
            hint=f"negmem proposals reject {id}",
        )
    target = act.target(session, proposal.user, arguments)
    if not dry_run:
        new = {
            **payload,
            "arguments": wanted,
            "proposed": payload.get("proposed", payload["arguments"]),
            "edited_by": actor or session.actor,
            "edited_at": datetime.now(timezone.utc).isoformat(),
            "flags": {**(payload.get("flags") or {}), **flags},
        }
        values = {**owner.params(session), "id": id, "payload": Jsonb(new)}
        values |= {"before": Jsonb(dict(payload)), "target_id": target.id}
        values["target_version"] = target.version
        with session.database.transaction():
            made = session.database.row("proposals", "edit", values)
        now = located(session, user, id)[0]
        if made is None:
            refuse_decided(now)
            raise edited_meanwhile(id)
        return ProposalEdited(proposal=now, edited=edited)
    planned = proposal.model_copy(update={"arguments": wanted})
    return ProposalEdited(proposal=planned, edited=edited, dry_run=True)


def _read(
    act: Act, proposal: Proposal, changes: Mapping[str, Any], as_typed: bool
) -> dict[str, Any]:
    """The new values by argument. Raises: UsageError `proposal_argument_unknown`."""
    known = {
        name: one
        for name, one in inspect.signature(act.function).parameters.items()
        if name not in _FIXED
    }
    found = {}
    for name, value in changes.items():
        if name not in known:
            raise UsageError(
                "proposal_argument_unknown",
                f"{name[:60]!r} can't be changed in this proposal",
                why=f"of {act.name} these can: {', '.join(known) or 'none'}",
                hint=f"negmem proposals show {proposal.id}",
            )
        is_text = str(known[name].annotation).replace(" ", "") in ("str", "str|None")
        if as_typed and is_text and not isinstance(value, str):
            value = json.dumps(value, ensure_ascii=False)
        is_optional = known[name].default is not inspect.Parameter.empty
        found[name] = None if as_typed and value == "" and is_optional else value
    return found
