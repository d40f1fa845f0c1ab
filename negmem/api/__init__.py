"""The Python API: one object whose methods are the nouns and verbs of the command line."""

from __future__ import annotations

from negmem.api.automation import Automation
from negmem.api.consolidation import Consolidation
from negmem.api.core_blocks import Core
from negmem.api.curator import Curator
from negmem.api.instructions import Instructions
from negmem.api.memories import Memories
from negmem.api.memory import Memory, connect
from negmem.api.pii import Pii
from negmem.api.summaries import Summaries

__all__ = [
    "Automation",
    "Core",
    "Consolidation",
    "Curator",
    "Instructions",
    "Memories",
    "Memory",
    "Pii",
    "connect",
    "Summaries",
]
