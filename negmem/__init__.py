"""negmem: PostgreSQL as a trustworthy memory for agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["AsyncMemory", "Memory", "__version__", "connect", "connect_async"]

if TYPE_CHECKING:
    from negmem.api import Memory, connect
    from negmem.async_api import AsyncMemory, connect_async


def __getattr__(name: str) -> Any:
    """Load the API at first use, so that `import negmem` stays light."""
    if name in ("Memory", "connect"):
        from negmem import api

        return getattr(api, name)
    if name in ("AsyncMemory", "connect_async"):
        from negmem import async_api

        return getattr(async_api, name)
    raise AttributeError(f"module 'negmem' has no attribute {name!r}")
