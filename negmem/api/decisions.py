"""`mem.decision`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from negmem.api.arguments import Noun, user_of

if TYPE_CHECKING:
    from negmem.core.models.decision import AgentDecisions, DecisionChange, DecisionShown


def _id(id: UUID | str) -> UUID:
    from negmem.core.text.ids import parsed_id

    return parsed_id(id, "decision", "mem.decision.list(user=…)")


class Decisions(Noun):
    """`mem.decision`: what agents chose for a user and why, and what came of it."""

    def add(
        self,
        decision: str,
        *,
        user: str,
        reasoning: str | None = None,
        decision_type: str | None = None,
        context: str | None = None,
        alternatives: Sequence[str] = (),
        confidence: float | None = None,
        tags: Sequence[str] = (),
        agent: str | None = None,
        team: str | None = None,
        thread: str | None = None,
    ) -> DecisionChange:
        """Log a decision that was made for a user; `confidence` in 0..1."""
        from negmem.core.learning import decision_log

        return decision_log.log_decision(
            self._owner.session,
            user_of(user),
            decision,
            reasoning=reasoning,
            decision_type=decision_type,
            context=context,
            alternatives=alternatives,
            confidence=confidence,
            tags=tags,
            agent=agent,
            team=team,
            thread=thread,
        )

    def list(
        self,
        *,
        user: str,
        query: str | None = None,
        decision_type: str | None = None,
        agent: str | None = None,
        days: int | None = None,
        deleted: bool = False,
        limit: int = 20,
        offset: int = 0,
    ) -> AgentDecisions:
        """Decisions that were made for a user, newest first; with `query` those that share words with it."""
        from negmem.core.learning import decision_log

        return decision_log.list_decisions(
            self._owner.session,
            user_of(user),
            query,
            decision_type=decision_type,
            agent=agent,
            days=days,
            removed=deleted,
            limit=limit,
            offset=offset,
        )

    def show(self, id: UUID | str, *, user: str) -> DecisionShown:
        """One decision, where it came from and who changed it."""
        from negmem.core.learning import decision_log

        return decision_log.show(self._owner.session, user_of(user), _id(id))

    def outcome(
        self, id: UUID | str, outcome: str, *, user: str, quality: str | None = None
    ) -> DecisionChange:
        """Note what came of a decision; `quality` is good, bad or neutral."""
        from negmem.core.learning import decision_log

        return decision_log.record_outcome(
            self._owner.session, user_of(user), _id(id), outcome, quality=quality
        )

    def rm(self, id: UUID | str, *, user: str, reason: str | None = None) -> DecisionChange:
        """Take a decision out of the log and of contexts; `undo` brings it back."""
        from negmem.core.learning import decision_log

        return decision_log.remove(self._owner.session, user_of(user), _id(id), reason=reason)

    def undo(self, id: UUID | str, *, user: str) -> DecisionChange:
        """Take the last change back: an outcome, a removal, or an undo."""
        from negmem.core.learning import decision_log

        return decision_log.undo(self._owner.session, user_of(user), _id(id))
