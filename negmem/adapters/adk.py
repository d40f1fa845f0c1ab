"""Google's Agent Development Kit: negmem as its memory service (the extra `adk`)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from negmem.async_api import AsyncMemory, connect_async
from negmem.errors import NegmemError

try:
    from google.adk.memory import BaseMemoryService
    from google.adk.memory.base_memory_service import SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai import types
except ImportError as error:
    raise NegmemError(
        "adk_absent",
        "this adapter needs Google's Agent Development Kit",
        why=str(error),
        hint='pip install "negmem[adk]"',
    ) from error

if TYPE_CHECKING:
    from google.adk.events import Event
    from google.adk.sessions import Session

    from negmem.core.models.retrieval import SearchResult
    from negmem.providers.embedding import Embedder

log = logging.getLogger("negmem.adapters.adk")


class NegmemMemoryService(BaseMemoryService):
    """Sessions in, memories out, in PostgreSQL: give it to a Runner as `memory_service`.

    An app of the kit is the app of the same name in negmem, so that users of two apps stay apart; set each
    up once with `negmem init --app NAME`. `app` names one for all instead. A session may be added as often
    as it grows: no turn is stored twice. Of a session its events are kept, not its state.

    Args: dsn, schema, config, embedder as for `negmem.connect_async`; limit, results of a search;
    connections, calls that run at once in one app. Raises, as its methods: NegmemError.
    """

    def __init__(
        self,
        dsn: str | None = None,
        *,
        app: str | None = None,
        schema: str | None = None,
        config: str | Path | None = None,
        embedder: Embedder | None = None,
        limit: int = 10,
        connections: int = 4,
    ) -> None:
        self._settings: dict[str, Any] = {
            "schema": schema,
            "config": config,
            "embedder": embedder,
            "connections": connections,
        }
        self._dsn = dsn
        self._app = app
        self._limit = limit
        self._memories: dict[str, AsyncMemory] = {}

    def memory(self, app_name: str) -> AsyncMemory:
        """negmem in an app of the kit, for what its memory service has no method for."""
        name = self._app or app_name
        found = self._memories.get(name)
        if found is None:
            found = connect_async(self._dsn, app=name, **self._settings)
            self._memories[name] = found
        return found

    async def add_session_to_memory(self, session: Session) -> None:
        """Keep what was said in a session; of one that was added before, what is new."""
        await self._ingest(session.app_name, session.user_id, session.id, session.events)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep some events of a session, such as its latest turn; `custom_metadata` is not kept."""
        await self._ingest(app_name, user_id, session_id, events)

    async def _ingest(
        self, app_name: str, user: str, thread: str | None, events: Sequence[Event]
    ) -> None:
        said = [event.model_dump(mode="json", exclude_none=True) for event in events]
        if not said:
            return
        record: dict[str, Any] = {"user_id": user, "events": said}
        if thread is not None:
            record["id"] = thread
        done = await self.memory(app_name).ingest([record], format="adk", user=user)
        if done.rejected:
            log.warning("%d of %d events can't be kept", done.rejected, len(said))

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store memories as they are; an id that is a UUID is kept, and the same twice stored once.

        `custom_metadata` goes into the metadata of each, under what its own says.
        """
        memory = self.memory(app_name)
        for one in memories:
            metadata = {**dict(custom_metadata or {}), **one.custom_metadata}
            if one.author:
                metadata["speaker"] = one.author
            await memory.memory.add(
                _text(one.content),
                user=user_id,
                metadata=metadata,
                occurred_at=_moment(one),
                id=one.id,
            )

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """What of a user's memories and facts answers a question, best first."""
        if not query.strip():
            return SearchMemoryResponse()
        found = await self.memory(app_name).search(query, user=user_id, limit=self._limit)
        for fall in found.fallbacks:
            log.warning(
                "searched by %s, not by %s: %s", fall.to_level, fall.from_level, fall.reason
            )
        return SearchMemoryResponse(memories=[_entry(one) for one in found.results])

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Remove a result of `search_memory`: it can be restored until the next purge.

        Raises: NegmemError `memory_unknown`, where the user has nothing of this id.
        """
        if not memory_id:
            return
        memory = self.memory(app_name)
        done = await memory.memory.rm(memory_id, user=user_id)
        if done.unknown and (await memory.fact.rm(memory_id, user=user_id)).unknown:
            raise NegmemError(
                "memory_unknown",
                "there is no such memory",
                why=f'user "{user_id}" has neither a memory nor a fact {memory_id}',
                hint=f"negmem memory list --user {user_id}",
            )

    async def close(self) -> None:
        """Close the connections."""
        opened, self._memories = list(self._memories.values()), {}
        await asyncio.gather(*(one.close() for one in opened))


def _entry(one: SearchResult) -> MemoryEntry:
    metadata = one.metadata or {}
    said = one.occurred_at or one.created_at
    role = "model" if metadata.get("role") in ("assistant", "model") else "user"
    return MemoryEntry(
        id=str(one.id),
        content=types.Content(role=role, parts=[types.Part(text=one.content)]),
        author=metadata.get("speaker") or metadata.get("role") or role,
        timestamp=said.isoformat(),
        custom_metadata={"kind": one.kind, "type": one.type, "score": one.score},
    )


def _text(content: types.Content) -> str:
    return "\n".join(part.text for part in content.parts or [] if part.text)


def _moment(one: MemoryEntry) -> Any:
    from datetime import datetime

    return (
        None
        if one.timestamp is None
        else datetime.fromisoformat(one.timestamp.replace("Z", "+00:00"))
    )
