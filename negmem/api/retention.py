"""`mem.retention`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import UUID

from negmem.api.arguments import Noun, id_of, user_of, user_or_none

if TYPE_CHECKING:
    from negmem.core.models.retention import (
        RetentionCurve,
        RetentionExplanation,
        RetentionPreview,
        RetentionPurge,
        RetentionRun,
    )


class Retention(Noun):
    """`mem.retention`: what is forgotten, when and why."""

    def run(self, *, user: str | None = None, dry_run: bool = False) -> RetentionRun:
        """Forget what is due, of one user or of all, by soft deletes in committed batches."""
        from negmem.core.evolution import retention

        owner = user_or_none(user)
        return retention.run(self._owner.session, user=owner, dry_run=dry_run)

    def preview(
        self,
        *,
        user: str | None = None,
        days: int = 30,
        changes: Mapping[str, float | str] | None = None,
        limit: int = 20,
    ) -> RetentionPreview:
        """What would go within the days to come; `changes`, numbers of the config as they might be."""
        from negmem.core.evolution import retention

        owner = user_or_none(user)
        told = {key: str(value) for key, value in (changes or {}).items()}
        return retention.preview(self._owner.session, owner, days=days, changes=told, limit=limit)

    def curve(self, id: UUID | str, *, user: str, points: int = 61) -> RetentionCurve:
        """The score of one memory over time, if nobody reads it again."""
        from negmem.core.evolution import retention_curve

        session = self._owner.session
        return retention_curve.curve(session, user_of(user), id_of(id), points=points)

    def explain(self, id: UUID | str, *, user: str) -> RetentionExplanation:
        """Each factor of one memory's score; the contributions add up to it."""
        from negmem.core.evolution import retention_curve

        return retention_curve.explain(self._owner.session, user_of(user), id_of(id))

    def purge(self, *, user: str | None = None, dry_run: bool = False) -> RetentionPurge:
        """Remove for good what was removed before the restore window, and searches past their time."""
        from negmem.core.evolution import retention_purge

        session = self._owner.session
        planned = retention_purge.plan(session, user=user_or_none(user))
        if dry_run:
            return retention_purge.preview(planned)
        return retention_purge.apply(session, planned)
