"""`mem.core`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from negmem.api.arguments import Noun, user_or_none

if TYPE_CHECKING:
    from negmem.core.models.core_block import CoreBlockChange, CoreBlocks


class Core(Noun):
    """`mem.core`: short texts that stand in every context."""

    def show(
        self,
        label: str | None = None,
        *,
        user: str | None = None,
        scope: str | None = None,
        thread: str | None = None,
        history: bool = False,
    ) -> CoreBlocks:
        """The blocks that a user's contexts have; without a user the app's own."""
        from negmem.core import core_blocks

        return core_blocks.show(
            self._owner.session,
            user_or_none(user),
            label=label,
            scope=scope,
            thread=thread,
            history=history,
        )

    def set(
        self,
        label: str,
        content: str,
        *,
        user: str | None = None,
        scope: str = "user",
        thread: str | None = None,
        append: bool = False,
        metadata: dict[str, Any] | None = None,
        expected_version: int | None = None,
    ) -> CoreBlockChange:
        """Write a block; what it said before is kept. More than 2,048 tokens are cut, and `cut` says so."""
        from negmem.core import core_blocks

        return core_blocks.set_block(
            self._owner.session,
            user_or_none(user),
            content,
            label=label,
            scope=scope,
            thread=thread,
            metadata=metadata,
            append=append,
            expected_version=expected_version,
        )

    def rm(
        self,
        label: str,
        *,
        user: str | None = None,
        scope: str = "user",
        thread: str | None = None,
    ) -> CoreBlockChange:
        """Take a block out of all contexts; what it said stays in its history."""
        from negmem.core import core_blocks

        return core_blocks.remove(
            self._owner.session,
            user_or_none(user),
            label=label,
            scope=scope,
            thread=thread,
        )
