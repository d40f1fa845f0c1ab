"""`mem.embed`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from negmem.api.arguments import Noun

if TYPE_CHECKING:
    from negmem.core.models.embed import EmbedChange, EmbedStatus


class Embeddings(Noun):
    """`mem.embed`: the embedding model and its online change."""

    def status(self) -> EmbedStatus:
        """What is stored with which model, what is configured, and what would be next."""
        from negmem.core.embedding_change import status

        return status(self._owner.session)

    def migrate(
        self,
        *,
        action: Literal["migrate", "rollback", "confirm", "cancel"] = "migrate",
        max_cost_usd: float | None = None,
        dry_run: bool = False,
    ) -> EmbedChange:
        """Embed everything with the configured model, then search with it; cut off, call it again.

        Args: action, what else: search with the model before again, remove the vectors of replaced models,
        or give up a change that was begun; dry_run, the price alone.
        """
        from negmem.core import embedding_change

        session = self._owner.session
        planned = embedding_change.plan(session, action)
        if dry_run:
            return embedding_change.preview(planned)
        return embedding_change.apply(session, planned, max_cost_usd=max_cost_usd)
