"""What `completions` answers."""

from __future__ import annotations

from negmem.core.models.base import Model


class CompletionScript(Model):
    """The completion script of a shell."""

    shell: str
    script: str


class InstalledCompletion(Model):
    """Where a script was put, and the line to add to a start-up file, if one is needed."""

    dry_run: bool
    changed: bool
    shell: str
    path: str
    next_step: str | None
