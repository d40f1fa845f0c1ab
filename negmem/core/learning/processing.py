"""Messages of a conversation, stored and queued to be learned from."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from negmem.core.formation.consolidate import Options, consolidate
from negmem.core.formation.ingest import Ingest, IngestOptions
from negmem.core.learning.access import access_of, owner_of
from negmem.core.learning.machine import note_thread
from negmem.core.models.machine import ProcessedMessages
from negmem.core.session import Session
from negmem.errors import UsageError


def process(
    session: Session,
    user: str,
    messages: Sequence[Mapping[str, Any]],
    *,
    thread: str | None = None,
    namespace: str | None = None,
    agent: str | None = None,
    team: str | None = None,
    wait: bool = False,
) -> ProcessedMessages:
    """Store messages, after the answer was given, and queue what learns from them; the same again adds nothing.

    Args: messages, each with `role` and `content` (or `text`), from the beginning of the thread: what
    is stored already is known by its place and content, and is not learned from twice; namespace, where
    entities and lessons go, by default their stores' own; wait, work the job now.
    What is queued is durable: it is tried again where it fails, and parked in the end (`negmem
    consolidate --list`).
    Raises: UsageError `messages_invalid`, `user_missing`, `session_missing` where namespace, agent or team
    is told of no thread; NegmemError `namespace_denied`, `user_paused`.
    """
    if namespace is not None:
        access_of(session, user).require(owner_of(user, namespace), "write")
    note_thread(session, user, thread, namespace=namespace, agent=agent, team=team)
    record: dict[str, Any] = {"user": user, "turns": [_turn(one) for one in messages]}
    if thread is not None:
        record["thread"] = thread
    # Escaped, a lone surrogate is cleaned like any other, where as bytes it would be no UTF-8.
    line = io.BytesIO(json.dumps(record, default=str).encode("ascii"))
    options = IngestOptions(path="-", format="jsonl", user=user, thread=thread)
    stored = Ingest(session, options, stdin=line).run()
    worked = consolidate(session, Options(user=user, thread=thread)) if wait else None
    return ProcessedMessages(
        user=user, thread=thread, stored=stored, queued=stored.jobs > 0, worked=worked
    )


def _turn(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message as a line of JSON Lines has a turn."""
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        raise UsageError(
            "messages_invalid",
            "these are no messages",
            why="each is an object with role and content",
            hint='[{"role": "user", "content": "…"}]',
        )
    said = message.get("content", message.get("text"))
    if isinstance(said, list):
        parts = [one.get("text") for one in said if isinstance(one, Mapping)]
        said = "\n".join(part for part in parts if isinstance(part, str))
    turn = {"role": message["role"], "text": said if isinstance(said, str) else ""}
    for name in ("id", "datetime", "metadata"):
        if message.get(name) is not None:
            turn[name] = message[name]
    return turn
