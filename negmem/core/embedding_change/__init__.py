"""The online change of the embedding model: priced before it starts, resumable, with a way back.

The vectors of the new model grow beside the old ones, which are searched until the last text is done; then
one short transaction swaps them. The old vectors stay until somebody confirms. What is embedded is
committed batch by batch, so that a process that is killed loses one batch at most, and the same command goes
on. No transaction is open while a model works.
"""

from __future__ import annotations

from negmem.core.embedding_change.planning import ChangePlan, plan, status
from negmem.core.embedding_change.working import apply, preview

__all__ = ["ChangePlan", "apply", "plan", "preview", "status"]
