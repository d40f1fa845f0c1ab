"""Why a proposal can't be decided on, as errors."""

from __future__ import annotations

from uuid import UUID

from negmem.core.models.proposal import Proposal
from negmem.core.review import WAITING
from negmem.core.session import Session
from negmem.errors import NegmemError


def refuse_decided(proposal: Proposal) -> None:
    """Raises: NegmemError `proposal_decided`, `proposal_expired`."""
    if proposal.status not in WAITING:
        raise over(proposal.id, proposal.status)


def over(id: UUID, status: str) -> NegmemError:
    """A proposal that was decided on, or waited too long."""
    if status == "expired":
        return NegmemError(
            "proposal_expired",
            "this proposal waited too long",
            why="its time is over, and nothing is applied of itself",
            hint=f"negmem proposals show {id}",
        )
    return NegmemError(
        "proposal_decided",
        "this proposal was decided on",
        why=f"it is {status}",
        hint=f"negmem proposals show {id}",
    )


def edited_meanwhile(id: UUID) -> NegmemError:
    """A proposal that says something else than when it was read."""
    return NegmemError(
        "version_conflict",
        "somebody edited this proposal meanwhile",
        why="it says something else than it did when it was read",
        hint=f"negmem proposals show {id}",
    )


def stale(id: UUID) -> NegmemError:
    """A proposal for what was changed since it was made."""
    return NegmemError(
        "proposal_stale",
        "what this proposal would change was changed meanwhile",
        why="it is not at the version that the proposal was made for",
        hint=f"negmem proposals show {id}    then approve with --anyway, or reject",
    )


def unknown(session: Session, id: UUID) -> NegmemError:
    """A proposal that is not there, or not to be seen by who asks."""
    return NegmemError(
        "proposal_unknown",
        "there is no such proposal",
        why=f'app "{session.app}" has none of the id {id} that may be seen',
        hint="negmem proposals list",
    )
