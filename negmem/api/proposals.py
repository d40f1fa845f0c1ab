"""`mem.proposals`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from negmem.api.arguments import Noun, user_or_none

if TYPE_CHECKING:
    from negmem.core.models.proposal import (
        ProposalDecision,
        ProposalDecisions,
        ProposalEdited,
        ProposalExport,
        ProposalList,
        ProposalShown,
    )


class Proposals(Noun):
    """`mem.proposals`: writes that wait for a person."""

    def list(
        self,
        *,
        user: str | None = None,
        namespace: str | None = None,
        store: str | None = None,
        op: str | None = None,
        agent: str | None = None,
        min_confidence: float | None = None,
        status: str | None = None,
        limit: int = 20,
        offset: int = 0,
    ) -> ProposalList:
        """A page of proposals, what waits first; with `user` what that user may see.

        Args: op, add, update or delete; status, `waiting` for all that can be decided on.
        """
        from negmem.core.learning import proposals

        return proposals.list_proposals(
            self._owner.session,
            user_or_none(user),
            namespace=namespace,
            store=store,
            op=op,
            agent=agent,
            min_confidence=min_confidence,
            status=status,
            limit=limit,
            offset=offset,
        )

    def show(self, id: UUID | str, *, user: str | None = None) -> ProposalShown:
        """One proposal, and what it would change of what stands now."""
        from negmem.core.learning import proposals

        whose = user_or_none(user)
        return proposals.show(self._owner.session, whose, proposals.parse_id(id))

    def approve(
        self,
        id: UUID | str,
        *,
        user: str | None = None,
        actor: str | None = None,
        reason: str | None = None,
        anyway: bool = False,
        dry_run: bool = False,
    ) -> ProposalDecision:
        """Make the write that was proposed, once; in mode hitl by another than proposed it.

        Args: anyway, though what it changes was changed meanwhile.
        """
        from negmem.core.learning import proposals

        return proposals.approve(
            self._owner.session,
            proposals.parse_id(id),
            user=user_or_none(user),
            actor=actor,
            reason=reason,
            anyway=anyway,
            dry_run=dry_run,
        )

    def reject(
        self,
        id: UUID | str,
        *,
        user: str | None = None,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> ProposalDecision:
        """Decide against a proposal; the same is not proposed again for 30 days."""
        from negmem.core.learning import proposals

        return proposals.reject(
            self._owner.session,
            proposals.parse_id(id),
            user=user_or_none(user),
            actor=actor,
            reason=reason,
            dry_run=dry_run,
        )

    def edit(
        self,
        id: UUID | str,
        changes: Mapping[str, Any],
        *,
        user: str | None = None,
        actor: str | None = None,
        dry_run: bool = False,
    ) -> ProposalEdited:
        """Change arguments of a proposal before it is approved; None takes one away.

        What was proposed is kept. In mode hitl who edits may not approve.
        """
        from negmem.core.learning import proposal_edits, proposals

        return proposal_edits.edit(
            self._owner.session,
            proposals.parse_id(id),
            changes,
            user=user_or_none(user),
            actor=actor,
            dry_run=dry_run,
        )

    def approve_all(
        self,
        ids: Sequence[UUID | str] | None = None,
        *,
        user: str | None = None,
        namespace: str | None = None,
        store: str | None = None,
        op: str | None = None,
        agent: str | None = None,
        min_confidence: float | None = None,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> ProposalDecisions:
        """Approve those of `ids`, or all that wait and that the filter names, each as if alone.

        What is refused is in `left` and keeps no other back.
        """
        from negmem.core.learning import proposal_batches

        wanted = {"namespace": namespace, "store": store, "op": op, "agent": agent}
        return proposal_batches.approve_all(
            self._owner.session,
            self._which(ids, user, {**wanted, "min_confidence": min_confidence}),
            user=user_or_none(user),
            actor=actor,
            reason=reason,
            dry_run=dry_run,
        )

    def reject_all(
        self,
        ids: Sequence[UUID | str] | None = None,
        *,
        user: str | None = None,
        namespace: str | None = None,
        store: str | None = None,
        op: str | None = None,
        agent: str | None = None,
        min_confidence: float | None = None,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> ProposalDecisions:
        """Reject those of `ids`, or all that wait and that the filter names, each as if alone."""
        from negmem.core.learning import proposal_batches

        wanted = {"namespace": namespace, "store": store, "op": op, "agent": agent}
        return proposal_batches.reject_all(
            self._owner.session,
            self._which(ids, user, {**wanted, "min_confidence": min_confidence}),
            user=user_or_none(user),
            actor=actor,
            reason=reason,
            dry_run=dry_run,
        )

    def export(
        self,
        path: str | Path,
        *,
        user: str | None = None,
        namespace: str | None = None,
        store: str | None = None,
        op: str | None = None,
        agent: str | None = None,
        min_confidence: float | None = None,
        status: str | None = None,
    ) -> ProposalExport:
        """Write proposals to a file, a line of JSON each, what waits first."""
        from negmem.core.learning import proposal_batches

        return proposal_batches.export_to_file(
            self._owner.session,
            Path(path),
            user_or_none(user),
            namespace=namespace,
            store=store,
            op=op,
            agent=agent,
            min_confidence=min_confidence,
            status=status,
        )

    def _which(
        self,
        ids: Sequence[UUID | str] | None,
        user: str | None,
        wanted: Mapping[str, Any],
    ) -> Sequence[UUID]:
        from negmem.core.learning import proposal_batches, proposals

        if ids is not None:
            return [proposals.parse_id(one) for one in ids]
        whose = user_or_none(user)
        return proposal_batches.waiting(self._owner.session, whose, **wanted)
