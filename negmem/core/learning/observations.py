"""User memory: what is known of a user in free words. An observation is a memory with the source `observation`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from negmem.core import memories
from negmem.core import review_targets as targets
from negmem.core.learning import items
from negmem.core.learning.access import Owner
from negmem.core.models.observation import Observation, ObservationChange, ObservationList
from negmem.core.pii import gated, gated_write
from negmem.core.review import reviewed, together, writer_of
from negmem.core.session import Session
from negmem.core.text.exact_key import exact_key
from negmem.errors import NegmemError

SOURCE = targets.OBSERVATION
TYPE = "semantic"
_HINT = 'negmem memory add "…" --metadata source=observation --user NAME'
MOST = 2_000
"""Characters of one observation: longer ones are no observations."""


def _said(arguments: Mapping[str, Any]) -> list[str]:
    text = arguments.get("text")
    return [text.strip()] if isinstance(text, str) else []


@gated_write
@reviewed("memory", "add", targets.memories, texts=_said)
def observe(
    session: Session,
    user: str,
    text: str,
    *,
    memory_type: str = TYPE,
    thread: str | None = None,
    event_ids: Sequence[UUID] = (),
    dry_run: bool = False,
) -> ObservationChange:
    """Keep an observation; one that says the very same is not kept twice, it only gets its sources.

    Args: memory_type, one of the six; event_ids, the turns that say so.
    Raises: UsageError `text_refused`, `memory_type_unknown`; NegmemError `user_paused`.
    """
    memories.check_type(memory_type)
    content = items.cleaned(text, "observation", _HINT, most=MOST)
    events = [one if isinstance(one, UUID) else UUID(str(one)) for one in event_ids]
    metadata = {"source": SOURCE, "written_by": writer_of(session, user)}

    def write() -> tuple[str, UUID | None]:
        with together(session, [content]):
            items.lock_store(session, Owner("user", user), "memory")
            key = exact_key(content)
            same = [one for one in _all(session, user) if exact_key(one.content) == key]
            if same:
                items.cite(session, user, "memory", same[0].id, events)
                return "unchanged", same[0].id
            made = memories.add(
                session, user, content, memory_type=memory_type, thread=thread, metadata=metadata
            ).memory
            assert made is not None
            items.cite(session, user, "memory", made.id, events)
            return "added", made.id

    if dry_run:
        key = exact_key(content)
        there = any(exact_key(one.content) == key for one in _all(session, user))
        action = "unchanged" if there else "added"
        return ObservationChange(action=action, memory=None, dry_run=True)
    action, made = items.retried(write)
    return ObservationChange(action=action, memory=_one(session, user, made))


@gated_write
@reviewed("memory", "update", targets.memories, texts=_said)
def correct(
    session: Session,
    user: str,
    memory_id: UUID,
    text: str,
    *,
    event_ids: Sequence[UUID] = (),
    expected_version: int | None = None,
    dry_run: bool = False,
) -> ObservationChange:
    """Change what an observation says; what it said before is kept.

    Raises: UsageError `text_refused`; NegmemError `observation_unknown`, `version_conflict`.
    """
    content = items.cleaned(text, "observation", _HINT, most=MOST)
    before = _one(session, user, memory_id)
    if before is None:
        raise _unknown(session, user, memory_id)
    if before.content == content:
        return ObservationChange(action="unchanged", memory=before, dry_run=dry_run)
    if dry_run:
        items.check_version(expected_version, before.version, "observation", _hint(memory_id, user))
        planned = before.model_copy(update={"content": content})
        return ObservationChange(action="updated", memory=planned, dry_run=True)
    events = [one if isinstance(one, UUID) else UUID(str(one)) for one in event_ids]
    with together(session, [content]):
        memories.edit(session, user, memory_id, content=content, expected_version=expected_version)
        items.cite(session, user, "memory", memory_id, events)
    return ObservationChange(action="updated", memory=_one(session, user, memory_id))


@gated_write
@reviewed("memory", "delete", targets.memories)
def forget(
    session: Session,
    user: str,
    memory_id: UUID,
    *,
    reason: str = "no longer so",
    expected_version: int | None = None,
    dry_run: bool = False,
) -> ObservationChange:
    """Take an observation out of search and contexts; `memory restore` brings it back.

    Raises: NegmemError `observation_unknown`, `version_conflict`.
    """
    before = _one(session, user, memory_id)
    if before is None:
        raise _unknown(session, user, memory_id)
    items.check_version(expected_version, before.version, "observation", _hint(memory_id, user))
    if not dry_run:
        memories.remove(session, user, [memory_id], reason=reason)
    return ObservationChange(action="removed", memory=before, dry_run=dry_run)


@gated
def list_observations(
    session: Session, user: str, *, limit: int = 20, offset: int = 0
) -> ObservationList:
    """A page of what is known of a user in free words. Raises: UsageError `limit_invalid`."""
    items.check_page(limit, offset)
    rows = _rows(session, user, None, limit, offset)
    total = int(rows[0]["total"]) if rows else 0
    return ObservationList(
        observations=[_observation(row) for row in rows],
        total=total,
        truncated=offset + len(rows) < total,
    )


def _rows(
    session: Session, user: str, ids: Sequence[UUID] | None, limit: int, offset: int = 0
) -> list[dict[str, Any]]:
    params = {
        "user_id": user,
        "app_name": session.app,
        "ids": None if ids is None else list(ids),
        "row_limit": limit,
        "row_offset": offset,
    }
    return session.database.rows("observations", "list", params)


def _all(session: Session, user: str) -> list[Observation]:
    return [_observation(row) for row in _rows(session, user, None, items.MAX_ROWS)]


def _one(session: Session, user: str, id: UUID | None) -> Observation | None:
    rows = [] if id is None else _rows(session, user, [id], 1)
    return _observation(rows[0]) if rows else None


def _observation(row: dict[str, Any]) -> Observation:
    return Observation(**{name: row[name] for name in Observation.model_fields})


def _hint(id: UUID, user: str) -> str:
    return f"negmem memory show {id} --user {user}"


def _unknown(session: Session, user: str, id: UUID) -> NegmemError:
    return NegmemError(
        "observation_unknown",
        "there is no such observation",
        why=f'user "{user}" of app "{session.app}" has no observation {id}',
        hint=f"negmem memory list --user {user}",
    )
