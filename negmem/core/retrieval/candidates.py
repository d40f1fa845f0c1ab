"""What wants to be in a context, as it would stand there, best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any
from uuid import UUID

from negmem.core.models.retrieval import SearchResult
from negmem.core.session import Session
from negmem.core.text.labelled import date_part, label_part, labelled, short_id, spoken
from negmem.core.text.profile_names import ProfileNames, profile_names
from negmem.core.text.verifiable import to_verify

_STANDING = {
    "summary": "summary",
    "core": "core",
    "instruction": "instructions",
    "profile": "profile",
    "entity": "entities",
    "knowledge": "knowledge",
    "history": "history",
}
_REFLECTION = "reflection"
_EVER = datetime.min.replace(tzinfo=timezone.utc)


@dataclass(frozen=True)
class Candidate:
    """A text for one section: `said` as it is stored, `text` as it will stand in the context.

    `spoken` has who said it before it, where that was not the user.

    `verify` names what of it should be checked before it is relied on.
    """

    id: UUID
    section: str
    said: str
    text: str
    occurred_at: datetime | None
    thread: str | None
    score: float | None = None
    type: str = ""
    verify: tuple[str, ...] = ()
    spoken: str = ""


@dataclass(frozen=True)
class Standing:
    """What belongs in whatever is asked, best first, and the app's stored `context_assembler`.

    `settings` is None where the database holds no config of the app.
    """

    candidates: list[Candidate]
    settings: dict[str, Any] | None


def standing_scope(
    session: Session,
    user: str,
    thread: UUID | None,
    blocks: Sequence[str],
    question: str,
    asked: dict[str, Any],
) -> dict[str, Any]:
    """The parameters of the block `context.candidates`.

    What was learned, and entities, answer the question by words and by meaning. Args: asked, the
    question's vector and of which model it is.
    """
    return {
        **asked,
        "semantic_weight": session.config.retrieval.semantic_weight,
        "keyword_weight": session.config.retrieval.keyword_weight,
        "user_id": user,
        "app_name": session.app,
        "thread_id": thread,
        "query": question if "knowledge" in blocks else None,
        "entity_query": question if "entities" in blocks else None,
        "global_access": session.config.learning.global_access,
    }


def standing(session: Session, rows: Sequence[dict[str, Any]], blocks: Sequence[str]) -> Standing:
    """Summary, core blocks, instructions, profile, history (newest first), and what was learned.

    Args: rows, of the block `context.candidates`.
    """
    rows = _one_value_a_field(rows, profile_names(session.config.learning.profile.fields))
    found = [
        Candidate(
            id=row["id"],
            section=_STANDING[row["section"]],
            said=row["content"],
            text=_standing_text(row),
            occurred_at=row["occurred_at"],
            thread=row["thread"],
            score=row["score"],
        )
        for row in rows
        if row["id"] is not None and _STANDING[row["section"]] in blocks
    ]
    settings = (rows[0]["context_assembler"] or {}) if rows[0]["has_config"] else None
    return Standing(found, settings)


def _one_value_a_field(rows: Sequence[dict[str, Any]], names: ProfileNames) -> list[dict[str, Any]]:
    """The rows with the profile under its fields' names; of two for one the own name's, else the newest."""
    best: dict[str, dict[str, Any]] = {}
    profile = [row for row in rows if row["section"] == "profile" and row["id"] is not None]
    for row in profile:
        field = names.field_of(row["label"])
        weight = (row["label"] == field, row["occurred_at"] or _EVER)
        if field not in best or weight > best[field]["weight"]:
            text = field + row["content"][len(row["label"]) :]
            best[field] = {**row, "content": text, "weight": weight}
    kept = {row["id"]: row for row in best.values()}
    beside = {row["id"] for row in profile} - set(kept)
    return [kept.get(row["id"], row) for row in rows if row["id"] not in beside]


def _standing_text(row: dict[str, Any]) -> str:
    section, said, moment = row["section"], row["content"], row["occurred_at"]
    if section == "core":
        return labelled(f"CoreBlock:{row['label']}", said)
    if section == "instruction":
        return labelled(f"Instruction:{row['label']}", said)
    if section == "summary":
        return labelled(f"Summary{date_part(moment)}", said)
    if section == "profile":
        return labelled("Profile", said)
    if section == "entity":
        return labelled(f"Entity {short_id(row['id'])}", said)
    if section == "knowledge":
        return labelled(f"Knowledge {short_id(row['id'])}", said)
    return labelled(f"History{date_part(moment)}", f"{label_part(row['label'])}: {said}")


def searched(results: Sequence[SearchResult], blocks: Sequence[str]) -> list[Candidate]:
    """What a search found, in its order, as far as its section is wanted."""
    found = [_searched(result) for result in results]
    return [candidate for candidate in found if candidate.section in blocks]


def _searched(result: SearchResult) -> Candidate:
    moment = result.occurred_at or result.created_at
    metadata = result.metadata or {}
    verify: tuple[str, ...] = ()
    speaker = metadata.get("speaker") or metadata.get("role")
    said = result.content
    text = f"{label_part(speaker)}: {said}" if isinstance(speaker, str) else said
    section = "facts"
    label = f"{result.kind.capitalize()} {short_id(result.id)} | {result.type}{date_part(moment)}"
    if result.kind == "memory":
        verify = tuple(to_verify(said, metadata))
        section = "memories"
        if metadata.get("subtype") == _REFLECTION:
            section, label = "reflections", f"Reflection {short_id(result.id)}{date_part(moment)}"
    return Candidate(
        id=result.id,
        section=section,
        said=said,
        text=labelled(label, text, verify=verify),
        occurred_at=moment,
        thread=result.thread_id,
        score=result.score,
        type=result.type,
        verify=verify,
        spoken=spoken(said, metadata),
    )
