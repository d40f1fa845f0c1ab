"""`mem.summary`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.api.arguments import Noun, user_of

if TYPE_CHECKING:
    from negmem.core.models.summary import Summaries as Found
    from negmem.core.models.summary import SummaryRefresh


class Summaries(Noun):
    """`mem.summary`: what is known of a user or was said in a thread, in short."""

    def show(
        self,
        *,
        user: str,
        thread: str | None = None,
        type: str | None = None,
        limit: int = 20,
        offset: int = 0,
    ) -> Found:
        """A page of a user's summaries, each with how fresh it is and who wrote it."""
        from negmem.core import summaries

        return summaries.show(
            self._owner.session,
            user_of(user),
            summary_type=type,
            thread=thread,
            limit=limit,
            offset=offset,
        )

    def refresh(
        self,
        *,
        user: str,
        thread: str | None = None,
        type: str | None = None,
        extractor: str = "auto",
        force: bool = False,
        max_calls: int | None = None,
        max_cost_usd: float | None = None,
        dry_run: bool = False,
    ) -> SummaryRefresh:
        """Make summaries anew whose sources changed; `fell_back` says that a model was asked in vain."""
        from negmem.core import summaries

        return summaries.refresh_by_hand(
            self._owner.session,
            user_of(user),
            summary_type=type,
            thread=thread,
            extractor=extractor,
            force=force,
            max_calls=max_calls,
            max_cost_usd=max_cost_usd,
            dry_run=dry_run,
        )
