"""What stands for a person, as the API returns it and `--json` prints it."""

from __future__ import annotations

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant


class Standing(Model):
    """Whether a person is paused, held or being erased. `changed`: this call made it so."""

    user: str
    paused_at: Instant | None
    held_at: Instant | None
    hold_reason: str | None
    erasing_since: Instant | None
    changed: bool
    dry_run: bool = False
