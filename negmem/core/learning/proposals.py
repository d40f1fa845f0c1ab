"""Proposals: what waits for a person, what a person decided, and the write that an approval makes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from negmem.core.learning import (
    entities,
    entity_changes,
    introductions,
    items,
    learnings,
    observations,
    profile,
)
from negmem.core.learning.access import Owner, access_of, owner_of
from negmem.core.learning.proposal_refusals import (
    edited_meanwhile,
    over,
    refuse_decided,
    stale,
    unknown,
)
from negmem.core.models.proposal import (
    STATUSES,
    Duplicate,
    FieldChange,
    Proposal,
    ProposalDecision,
    ProposalList,
    ProposalShown,
)
from negmem.core.pii import gated
from negmem.core.review import ACTS, OPS, STORES, WAITING, Act, Acting, Target, acting, applying
from negmem.core.session import Session
from negmem.core.text.ids import parsed_id
from negmem.db.connect import Database
from negmem.db.failures import DatabaseError
from negmem.errors import NegmemError, UsageError

# The modules whose functions a proposal can name: importing them registers their acts.
_WITH_ACTS = (entities, entity_changes, introductions, learnings, observations, profile)
# Of a call, what a person reads elsewhere: where, which, and the turns that it rests on.
_NOT_SHOWN = ("namespace", "anyway", "expected_version", "id", "ids", "memory_id", "event_ids")
_IDS = frozenset(("id", "memory_id", "fact_id", "part"))
_MOMENTS = frozenset(("occurred_at", "valid_from", "valid_until"))


@gated
def list_proposals(
    session: Session,
    user: str | None = None,
    *,
    namespace: str | None = None,
    store: str | None = None,
    op: str | None = None,
    agent: str | None = None,
    min_confidence: float | None = None,
    status: str | None = None,
    limit: int = 20,
    offset: int = 0,
) -> ProposalList:
    """A page of proposals, what waits first.

    Args: user, whose stores and proposals; None: all of the app. namespace, whose stores alone. op, add,
    update or delete. min_confidence, those that a model was so sure of, in 0..1. status `waiting`, all that
    can be decided on.
    Raises: UsageError `limit_invalid`, `proposal_filter_unknown`; NegmemError `namespace_denied`.
    """
    items.check_page(limit, offset)
    _check_word(store, STORES, "store")
    _check_word(op, OPS, "op")
    _check_word(status, STATUSES, "status")
    owners: list[Owner] | None = None
    if namespace is not None and namespace != "all":
        owner = owner_of(user, namespace)
        access_of(session, user).require(owner, "read")
        owners = [owner]
    elif user is not None:
        owners = access_of(session, user).readable
    wanted: dict[str, Any] = {
        "store": store,
        "op": op,
        "agent_id": agent,
        "min_confidence": min_confidence,
    }
    rows = _rows(session, owners, **wanted, status=status, limit=limit, offset=offset)
    total = int(rows[0]["total"]) if rows else 0
    return ProposalList(
        proposals=[_proposal(row) for row in rows],
        total=total,
        truncated=offset + len(rows) < total,
    )


@gated
def show(session: Session, user: str | None, id: UUID) -> ProposalShown:
    """A proposal, and what it would change of what stands now. Raises: NegmemError `proposal_unknown`."""
    proposal = located(session, user, id)[0]
    if proposal.status not in WAITING:
        return ProposalShown(proposal=proposal, changes=[], is_stale=False)
    act = act_of(proposal)
    arguments = revived(proposal.arguments)
    try:
        now = act.target(session, proposal.user, arguments)
    except NegmemError as error:
        # What it would change is gone, or can't be reached any more: it is shown as it was made.
        session.warn(error.code, f"what it would change can't be read: {error.message}")
        now = Target(Owner("global", ""))
    return ProposalShown(
        proposal=proposal,
        changes=_changes(now.fields, arguments),
        is_stale=_is_stale(proposal, now),
    )


def approve(
    session: Session,
    id: UUID,
    *,
    user: str | None = None,
    actor: str | None = None,
    reason: str | None = None,
    anyway: bool = False,
    dry_run: bool = False,
) -> ProposalDecision:
    """Make the write that was proposed, and note who let it; one transaction, once however often asked.

    Args: actor, who approves, by default the session's; anyway, though the target was changed meanwhile.
    Raises: NegmemError `proposal_unknown`, `proposal_decided`, `proposal_expired`, `proposal_stale`,
    `approver_is_proposer`, `version_conflict` (it was edited meanwhile), and what the write itself raises: the proposal has failed then, and can be
    approved again.
    """
    proposal, owner, payload = located(session, user, id)
    who = actor or session.actor
    if proposal.status == "applied":
        return _replayed(proposal)
    refuse_decided(proposal)
    if proposal.mode == "hitl" and who in (proposal.proposed_by, proposal.edited_by):
        did = "proposed" if who == proposal.proposed_by else "edited"
        raise NegmemError(
            "approver_is_proposer",
            "somebody else has to approve this",
            why=f"{who[:60]!r} {did} it, and the mode was hitl",
            hint=f"negmem proposals approve {id} --actor NAME    by somebody else",
        )
    act = act_of(proposal)
    arguments = revived(proposal.arguments)
    by = Acting(
        who=proposal.proposed_by,
        agent=proposal.agent,
        evidence=tuple(proposal.evidence),
        confidence=proposal.confidence,
        model=proposal.model,
        prompt_version=proposal.prompt_version,
    )
    if dry_run:
        now = act.target(session, proposal.user, arguments)
        if _is_stale(proposal, now) and not anyway:
            raise stale(id)
        with acting(session, by):
            act.function(session, proposal.user, **arguments, dry_run=True)
        return ProposalDecision(
            id=id, status="applied", decided_by=who, reason=reason, applied_id=now.id, dry_run=True
        )
    place = {**owner.params(session), "id": id}

    def work() -> ProposalDecision | None:
        with applying(session, by, act.texts(arguments)):
            row = session.database.row("proposals", "lock", place)
            if row is None:
                raise unknown(session, id)
            if row["status"] not in WAITING:
                return _decision(id, row, replayed=row["status"] == "applied")
            if row["payload"] != payload:
                return None
            if row["is_late"]:
                return _decided(session, place, "expired", None, row["reason"])
            now = act.target(session, proposal.user, arguments)
            if _is_stale(proposal, now) and not anyway:
                return _decided(session, place, "stale", None, row["reason"])
            answer = act.function(session, proposal.user, **arguments)
            introductions.cite_evidence(session, proposal.user, arguments, answer, by.evidence)
            made = _id_of(answer) or now.id
            return _decided(session, place, "applied", who, reason, made)

    try:
        done = items.retried(work)
    except DatabaseError:
        raise
    except NegmemError as error:
        with session.database.transaction():
            row = session.database.row("proposals", "lock", place)
            if row is not None and row["status"] in WAITING:
                why = f"{error.code}: {error.message}"
                _decided(session, place, "failed", None, why)
        raise
    if done is None:
        raise edited_meanwhile(id)
    if done.status == "stale":
        raise stale(id)
    if done.status in ("expired", "rejected"):
        raise over(id, done.status)
    return done


def reject(
    session: Session,
    id: UUID,
    *,
    user: str | None = None,
    actor: str | None = None,
    reason: str | None = None,
    dry_run: bool = False,
) -> ProposalDecision:
    """Decide against a proposal; the same is not proposed again for 30 days.

    Raises: NegmemError `proposal_unknown`, `proposal_decided`, `proposal_expired`.
    """
    proposal, owner, _ = located(session, user, id)
    if proposal.status == "rejected":
        return _replayed(proposal)
    refuse_decided(proposal)
    who = actor or session.actor
    why = None if reason is None else items.cleaned(reason, "reason", "--reason TEXT", most=1000)
    if dry_run:
        return ProposalDecision(
            id=id, status="rejected", decided_by=who, reason=why, applied_id=None, dry_run=True
        )
    place = {**owner.params(session), "id": id}
    with session.database.transaction():
        row = session.database.row("proposals", "lock", place)
        if row is None:
            raise unknown(session, id)
        if row["status"] in WAITING:
            return _decided(session, place, "rejected", who, why)
    if row["status"] != "rejected":
        raise over(id, row["status"])
    return _decision(id, row, replayed=True)


def expire(session: Session, database: Database | None = None) -> int:
    """Write down which proposals waited beyond their time; returns how many.

    Args: database, another connection than the session's.
    """
    database = database or session.database
    with database.transaction():
        row = database.row("proposals", "expire", {"app_name": session.app})
    return 0 if row is None else int(row["expired"])


def count_waiting(session: Session, user: str) -> int:
    """How many proposals wait in what a user may read."""
    rows = _rows(session, access_of(session, user).readable, status="waiting")
    return int(rows[0]["total"]) if rows else 0


def parse_id(text: str | UUID) -> UUID:
    """A proposal's id. Raises: UsageError `id_malformed`."""
    return parsed_id(text, "proposal", "negmem proposals list")


def _rows(
    session: Session,
    owners: list[Owner] | None,
    *,
    id: UUID | None = None,
    status: str | None = None,
    limit: int = 1,
    offset: int = 0,
    **wanted: Any,
) -> list[dict[str, Any]]:
    params = {
        **dict.fromkeys(("store", "op", "agent_id", "min_confidence")),
        **wanted,
        "app_name": session.app,
        "owner_kinds": None if owners is None else [one.kind for one in owners],
        "owners": None if owners is None else [one.name for one in owners],
        "id": id,
        "status": status,
        "row_limit": limit,
        "row_offset": offset,
    }
    return session.database.rows("proposals", "list", params)


def located(
    session: Session, user: str | None, id: UUID
) -> tuple[Proposal, Owner, Mapping[str, Any]]:
    """A proposal that a user may see, whose store it concerns, and its payload as it is stored.

    Raises: NegmemError `proposal_unknown`.
    """
    owners = None if user is None else access_of(session, user).readable
    rows = _rows(session, owners, id=id)
    if not rows:
        raise unknown(session, id)
    owner = Owner(rows[0]["owner_kind"], rows[0]["owner"])
    return _proposal(rows[0]), owner, rows[0]["payload"]


def _proposal(row: dict[str, Any]) -> Proposal:
    payload = row["payload"]
    owner = Owner(row["owner_kind"], row["owner"])
    fields = {name: row[name] for name in Proposal.model_fields if name in row}
    return Proposal(
        **{
            **fields,
            "act": payload["act"],
            "arguments": payload["arguments"],
            "proposed": payload.get("proposed"),
            "edited_by": payload.get("edited_by"),
            "edited_at": payload.get("edited_at"),
            "metadata": payload.get("flags") or {},
            "namespace": owner.namespace,
            "user": row["user_id"],
            "agent": row["agent_id"],
            "duplicates": [Duplicate(**one) for one in row["duplicates"]],
        }
    )


def act_of(proposal: Proposal) -> Act:
    """The function that a proposal names. Raises: NegmemError `proposal_act_unknown`."""
    act = ACTS.get(proposal.act)
    if act is None:
        raise NegmemError(
            "proposal_act_unknown",
            "this program does not know what was proposed",
            why=f"the proposal names {proposal.act[:60]!r}; it was made by another version",
            hint=f"negmem proposals reject {proposal.id}",
        )
    return act


def revived(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as they were given, from JSON."""
    found = dict(arguments)
    for name in _IDS & found.keys():
        if found[name] is not None:
            found[name] = UUID(found[name])
    if "ids" in found:
        found["ids"] = [UUID(one) for one in found["ids"]]
    for name in _MOMENTS & found.keys():
        if found[name] is not None:
            found[name] = datetime.fromisoformat(found[name])
    return found


def _is_stale(proposal: Proposal, now: Target) -> bool:
    return (now.id, now.version) != (proposal.target_id, proposal.target_version)


def _changes(fields: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[FieldChange]:
    """What would be another than it is: arguments that name what stands, and what has no such name."""
    found = []
    for name, after in arguments.items():
        before = fields.get(name)
        if name in _NOT_SHOWN:
            continue
        is_blank = after in ([], (), {}, "") and before in (None, [], {}, "")
        if after is not None and after != before and not is_blank:
            found.append(FieldChange(field=name, before=before, after=after))
    return found


def _decided(
    session: Session,
    place: Mapping[str, Any],
    status: str,
    who: str | None,
    reason: str | None,
    applied: UUID | None = None,
) -> ProposalDecision:
    values = {"status": status, "decided_by": who, "reason": reason, "applied_id": applied}
    session.database.execute("proposals", "decide", {**place, **values})
    return ProposalDecision(
        id=place["id"], status=status, decided_by=who, reason=reason, applied_id=applied
    )


def _decision(id: UUID, row: Mapping[str, Any], *, replayed: bool) -> ProposalDecision:
    return ProposalDecision(
        id=id,
        status=row["status"],
        decided_by=row["decided_by"],
        reason=row["reason"],
        applied_id=row["applied_id"],
        replayed=replayed,
    )


def _replayed(proposal: Proposal) -> ProposalDecision:
    return ProposalDecision(
        id=proposal.id,
        status=proposal.status,
        decided_by=proposal.decided_by,
        reason=proposal.reason,
        applied_id=proposal.applied_id,
        replayed=True,
    )


def _id_of(answer: Any) -> UUID | None:
    for name in ("learning", "entity", "memory", "fact"):
        found = getattr(getattr(answer, name, None), "id", None)
        if isinstance(found, UUID):
            return found
    found = getattr(answer, "id", None)
    return found if isinstance(found, UUID) else None


def _check_word(word: str | None, known: tuple[str, ...], what: str) -> None:
    if word is not None and word not in known:
        raise UsageError(
            "proposal_filter_unknown",
            f"{word[:60]!r} is no {what} of a proposal",
            why=f"they are {', '.join(known)}",
            hint=f"--{what} {known[0]}",
        )
