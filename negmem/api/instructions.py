"""`mem.instruction`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from negmem.api.arguments import Noun

if TYPE_CHECKING:
    from negmem.core.models.instruction import InstructionChange
    from negmem.core.models.instruction import Instructions as Found


class Instructions(Noun):
    """`mem.instruction`: how an app's agents should behave, version by version."""

    def set(
        self,
        key: str,
        content: str,
        *,
        metadata: dict[str, Any] | None = None,
        expected_version: int | None = None,
    ) -> InstructionChange:
        """Write a new version; the earlier ones stay."""
        from negmem.core import instructions

        return instructions.set_instruction(
            self._owner.session,
            key,
            content,
            metadata=metadata,
            expected_version=expected_version,
        )

    def list(self) -> Found:
        """The current version of each instruction of the app."""
        from negmem.core import instructions

        return instructions.list_instructions(self._owner.session)

    def show(self, key: str, *, version: int | None = None, history: bool = False) -> Found:
        """One instruction: its current version, a named one, or all, oldest first."""
        from negmem.core import instructions

        return instructions.show(self._owner.session, key, version=version, history=history)
