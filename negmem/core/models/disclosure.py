"""What a disclosure holds, as the API returns it and `--json` prints it."""

from __future__ import annotations

from negmem.core.models.audit import Reached
from negmem.core.models.base import Model
from negmem.core.models.memory import Instant


class Disclosed(Model):
    """A page that tells one person what is held about them. `reads` are searches and contexts on record."""

    app: str
    user: str
    read_at: Instant
    tables: list[Reached]
    rows: int
    reads: int
    path: str
