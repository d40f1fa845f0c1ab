"""What wants to be in a context, as it would stand there, best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from negmem.core.models.retrieval import SearchResult
from negmem.core.session import Session
from negmem.core.text.labelled import date_part, label_part, labelled, short_id
from negmem.core.text.verifiable import to_verify

_STANDING = {
    "summary": "summary",
    "core": "core",
    "instruction": "instructions",
    "profile": "profile",
    "history": "history",
}
_REFLECTION = "reflection"


@dataclass(frozen=True)
class Candidate:
    """A text for one section: `said` as it is stored, `text` as it will stand in the context.

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


def standing(
    session: Session, user: str, thread: UUID | None, blocks: Sequence[str]
) -> list[Candidate]:
    """What belongs in whatever is asked: summary, core, instructions, profile, history (newest first)."""
    scope = {"user_id": user, "app_name": session.app, "thread_id": thread}
    found = []
    for row in session.database.rows("context", "candidates", scope):
        section, said, moment = _STANDING[row["section"]], row["content"], row["occurred_at"]
        if section not in blocks:
            continue
        if section == "core":
            text = labelled(f"CoreBlock:{row['label']}", said)
        elif section == "instructions":
            text = labelled(f"Instruction:{row['label']}", said)
        elif section == "summary":
            text = labelled(f"Summary{date_part(moment)}", said)
        elif section == "profile":
            text = labelled("Profile", said)
        else:
            text = labelled(f"History{date_part(moment)}", f"{label_part(row['label'])}: {said}")
        found.append(Candidate(row["id"], section, said, text, moment, row["thread"]))
    return found


def learned(session: Session, user: str, question: str) -> list[Candidate]:
    """What was learned that shares words with the question."""
    scope = {"user_id": user, "app_name": session.app, "query": question}
    return [
        Candidate(
            id=row["id"],
            section="knowledge",
            said=row["content"],
            text=labelled(f"Knowledge {short_id(row['id'])}", row["content"]),
            occurred_at=row["updated_at"],
            thread=None,
            score=row["score"],
        )
        for row in session.database.rows("context", "knowledge", scope)
    ]


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
    )
