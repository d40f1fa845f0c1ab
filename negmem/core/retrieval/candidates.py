"""What wants to be in a context, as it would stand there, best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from uuid import UUID

from negmem.core.models.retrieval import SearchResult
from negmem.core.session import Session


@dataclass(frozen=True)
class Candidate:
    """A text for one section: `said` as it is stored, `text` as it will stand in the context."""

    id: UUID
    section: str
    said: str
    text: str
    occurred_at: datetime | None
    thread: str | None
    score: float | None = None
    type: str = ""


def standing(
    session: Session, user: str, thread: UUID | None, blocks: Sequence[str]
) -> list[Candidate]:
    """What belongs in whatever is asked: core blocks, profile, history (newest first)."""
    scope = {"user_id": user, "app_name": session.app, "thread_id": thread}
    found = []
    for row in session.database.rows("context", "candidates", scope):
        name, said, moment = row["section"], row["content"], row["occurred_at"]
        if name == "core":
            text = _line(f"CoreBlock:{row['label']}", said)
        elif name == "profile":
            text = _line("Profile", said)
        else:
            text = _line(f"History{_date(moment)}", f"{row['label']}: {said}")
        if name in blocks:
            found.append(Candidate(row["id"], name, said, text, moment, row["thread"]))
    return found


def searched(results: Sequence[SearchResult]) -> list[Candidate]:
    """What a search found, in its order."""
    return [_searched(result) for result in results]


def _searched(result: SearchResult) -> Candidate:
    moment = result.occurred_at or result.created_at
    # The end of an id tells memories apart; the beginning is the moment in which it was made.
    label = f"{result.kind.capitalize()} {str(result.id)[-8:]} | {result.type}{_date(moment)}"
    metadata = result.metadata or {}
    speaker = metadata.get("speaker") or metadata.get("role")
    text = f"{speaker}: {result.content}" if isinstance(speaker, str) else result.content
    return Candidate(
        id=result.id,
        section="memories" if result.kind == "memory" else "facts",
        said=result.content,
        text=_line(label, text),
        occurred_at=moment,
        thread=result.thread_id,
        score=result.score,
        type=result.type,
    )


def _line(label: str, content: str) -> str:
    """A labelled text; all but its first line is set in, so that no content can pass for a label."""
    return f"[{label}] " + "\n  ".join(content.strip().splitlines())


def _date(moment: datetime | None) -> str:
    return "" if moment is None else f" | {moment.astimezone(timezone.utc):%Y-%m-%d}"
