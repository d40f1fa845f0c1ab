"""The whole picture of one user: what each store knows, from where, and how to take it back."""

from __future__ import annotations

import shlex
from typing import Any

from negmem.core import summaries
from negmem.core.governance import standing
from negmem.core.learning import decision_log, entities, learnings, observations, profile, proposals
from negmem.core.learning.access import access_of
from negmem.core.learning.origins import origins_of
from negmem.core.models.picture import KnownItem, KnownStore, UserPicture
from negmem.core.pii import gated
from negmem.core.session import Session
from negmem.core.text.fact_words import fact_text


@gated
def picture(session: Session, user: str, *, limit: int = 20) -> UserPicture:
    """All that is known of a user, at most `limit` items a store, each with where it came from.

    Raises: UsageError `limit_invalid`.
    """
    scope = {"user_id": user, "app_name": session.app}
    stands = standing.show(session, user)
    held = session.database.row("stores", "held", scope) or {}
    found = [
        _profile(session, user, limit),
        _observations(session, user, limit),
        _entities(session, user, limit),
        _lessons(session, user, limit),
        _sessions(session, user, limit),
        _decisions(session, user, limit),
    ]
    ids = [item["id"] for _, items, _ in found for item in items]
    origins = origins_of(session, user, ids)
    config = session.config.learning
    return UserPicture(
        user=user,
        standing=stands,
        memories=held.get("memories", 0),
        facts=held.get("facts", 0),
        threads=held.get("threads", 0),
        open_jobs=held.get("jobs", 0),
        waiting_proposals=proposals.count_waiting(session, user),
        namespaces={
            owner.namespace: role for owner, role in access_of(session, user).roles.items()
        },
        stores=[
            KnownStore(
                store=name,
                is_on=getattr(config, name).enabled,
                mode=getattr(config, name).mode,
                items=[KnownItem(**item, origins=origins.get(item["id"], [])) for item in items],
                total=total,
            )
            for name, items, total in found
        ],
    )


_Found = tuple[str, list[dict[str, Any]], int]


def _profile(session: Session, user: str, limit: int) -> _Found:
    fields = profile.show(session, user).fields
    items = [
        {
            "id": one.id,
            "text": fact_text(one.field, one.value),
            "namespace": "user",
            "written_by": one.origin,
            "version": one.version,
            "updated_at": one.updated_at,
            "undo": f"negmem profile undo {one.field} --user {user}",
            "metadata": one.metadata,
        }
        for one in fields
    ]
    return "profile", items[:limit], len(items)


def _observations(session: Session, user: str, limit: int) -> _Found:
    page = observations.list_observations(session, user, limit=limit)
    items = [
        {
            "id": one.id,
            "text": one.content,
            "namespace": "user",
            "written_by": one.written_by,
            "version": one.version,
            "updated_at": one.updated_at,
            "undo": f"negmem memory {'undo' if one.version > 1 else 'rm'} {one.id} --user {user}",
            "metadata": one.metadata,
        }
        for one in page.observations
    ]
    return "memory", items, page.total


def _entities(session: Session, user: str, limit: int) -> _Found:
    page = entities.list_entities(session, user, namespace="user", limit=limit)
    items: list[dict[str, Any]] = []
    for one in page.entities:
        said: list[str | None] = [f"{one.name} ({one.entity_type})", one.description]
        said += [fact.content for fact in one.facts]
        said += [event.content for event in one.events]
        items.append(
            {
                "id": one.id,
                "text": "; ".join(filter(None, said)),
                "namespace": one.namespace,
                "written_by": one.written_by,
                "version": one.version,
                "updated_at": one.updated_at,
                "undo": f"negmem entity {'undo' if one.version > 1 else 'rm'}"
                f" {one.entity_type}/{one.entity_id} --namespace user"
                f" --user {user}",
                "metadata": one.metadata,
            }
        )
    return "entity", items, page.total


def _lessons(session: Session, user: str, limit: int) -> _Found:
    page = learnings.list_learnings(session, user, namespace="user", limit=limit)
    items = [
        {
            "id": one.id,
            "text": f"{one.title}: {one.learning}",
            "namespace": one.namespace,
            "written_by": one.written_by,
            "version": one.version,
            "updated_at": one.updated_at,
            "undo": f"negmem learn {'undo' if one.version > 1 else 'rm'} {one.id} --user {user}",
            "metadata": one.metadata,
        }
        for one in page.learnings
    ]
    return "knowledge", items, page.total


def _sessions(session: Session, user: str, limit: int) -> _Found:
    page = summaries.show(session, user, summary_type="session", limit=limit)
    items: list[dict[str, Any]] = [
        {
            "id": one.id,
            "text": f"{one.thread}: {one.content}",
            "namespace": "user",
            "written_by": one.model_used or "sentences as they stand",
            "version": one.version,
            "updated_at": one.updated_at,
            "undo": f"negmem summary refresh --user {user} --thread {shlex.quote(str(one.thread))}",
            "metadata": {},
        }
        for one in page.summaries
    ]
    return "session_context", items, page.total


def _decisions(session: Session, user: str, limit: int) -> _Found:
    page = decision_log.search_decisions(session, user, limit=limit)
    items: list[dict[str, Any]] = [
        {
            "id": one.id,
            "text": "; ".join(filter(None, (one.decision, one.reasoning, one.outcome))),
            "namespace": "user",
            "written_by": one.agent,
            "version": one.version,
            "updated_at": one.updated_at,
            "undo": f"negmem decision undo {one.id} --user {user}"
            if one.version > 1
            else f"negmem decision rm {one.id} --user {user}",
            "metadata": {},
        }
        for one in page.decisions
    ]
    return "decision_log", items, page.total
