"""`mem.audit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from negmem.api.arguments import Noun, user_of

if TYPE_CHECKING:
    from negmem.core.models.export import Exported


class Audit(Noun):
    """`mem.audit`: what is held about a person."""

    def export(self, path: str | Path, *, user: str) -> Exported:
        """Everything held about one person into a new file: JSON Lines, a manifest, hashes."""
        from negmem.core.governance.export import export_to_file

        return export_to_file(self._owner.session, user_of(user), Path(path))
