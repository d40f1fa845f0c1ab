"""The Python API: one object whose methods are the nouns and verbs of the command line."""

from __future__ import annotations

from negmem.api.audit import Audit
from negmem.api.automation import Automation
from negmem.api.benchmarks import Benchmarks
from negmem.api.consolidation import Consolidation
from negmem.api.core_blocks import Core
from negmem.api.curator import Curator
from negmem.api.decisions import Decisions
from negmem.api.embeddings import Embeddings
from negmem.api.entities import Entities
from negmem.api.facts import Conflicts, Facts
from negmem.api.instructions import Instructions
from negmem.api.learnings import Learnings
from negmem.api.memories import Memories
from negmem.api.memory import Memory, connect
from negmem.api.namespaces import Namespaces
from negmem.api.pii import Pii
from negmem.api.profiles import Profiles
from negmem.api.proposals import Proposals
from negmem.api.retention import Retention
from negmem.api.summaries import Summaries
from negmem.api.tools import Tools
from negmem.api.users import Users

__all__ = [
    "Audit",
    "Automation",
    "Benchmarks",
    "Conflicts",
    "Consolidation",
    "Core",
    "Curator",
    "Decisions",
    "Embeddings",
    "Entities",
    "Facts",
    "Instructions",
    "Learnings",
    "Memories",
    "Memory",
    "Namespaces",
    "Pii",
    "Profiles",
    "Proposals",
    "Retention",
    "Summaries",
    "Tools",
    "Users",
    "connect",
]
