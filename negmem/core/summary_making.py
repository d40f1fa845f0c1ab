"""What a summary is made of, and the writing of it: by a model held to its sources, or without one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from negmem.core.session import Session
from negmem.core.text.digest import plain_line
from negmem.core.text.summary_texts import (
    PROFILE_SECTIONS,
    SESSION_SECTIONS,
    Source,
    answer_schema,
    checked,
    fact_source,
    fitted,
    profile_lines,
    request,
    session_lines,
    utc_day,
)
from negmem.providers.tokens import TokenCounter

if TYPE_CHECKING:
    from negmem.providers.generation import Generator

MAX_TOKENS = 400
_PROFILE_MEMORIES = 20
_PROFILE_FACTS = 30
_SESSION_MEMORIES = 200
_SOURCE_CHARS = 200
_TURN_CHARS = 400
_REASON_CHARS = 300


@dataclass(frozen=True)
class Sources:
    """What a summary would be made of now; the fingerprint is that of what the sources say."""

    memory_ids: list[UUID]
    fact_ids: list[UUID]
    sources: list[Source]
    fingerprint: str


@dataclass(frozen=True)
class Written:
    """A summary's text; `model_used` is None where no model wrote it, `details` say how it was made."""

    content: str
    model_used: str | None
    details: dict[str, Any]


def read_sources(session: Session, scope: dict[str, Any]) -> Sources:
    """The sources as they are now: of the thread in `scope`, or without one of the user."""
    database = session.database
    if scope["thread_id"] is None:
        memories = database.rows(
            "summaries", "profile_memories", {**scope, "row_limit": _PROFILE_MEMORIES}
        )
        facts = database.rows("summaries", "profile_facts", {**scope, "row_limit": _PROFILE_FACTS})
        most = _SOURCE_CHARS
    else:
        params = {**scope, "row_limit": _SESSION_MEMORIES}
        memories = database.rows("summaries", "session_memories", params)
        facts, most = [], _TURN_CHARS
    sources = [fact_source(row["type"], row["key"], row["value"]) for row in facts]
    sources += [
        Source(
            text=row["content"][:most] if scope["thread_id"] else plain_line(row["content"], most),
            speaker=row["speaker"],
            day=None if row["occurred_at"] is None else utc_day(row["occurred_at"]),
        )
        for row in memories
    ]
    marks = sorted(json.dumps([s.section, s.text, s.speaker, s.day]) for s in sources)
    return Sources(
        [row["id"] for row in memories],
        [row["id"] for row in facts],
        sources,
        hashlib.sha256("\n".join(marks).encode()).hexdigest()[:32],
    )


def compose(
    read: Sources,
    summary_type: str,
    generator: Generator | None,
    checkpoint: Callable[[], None],
    counter: TokenCounter,
) -> Written:
    """Write a summary of at most `MAX_TOKENS`; empty where no sentence says enough."""
    is_profile = summary_type == "user_profile"
    sections = PROFILE_SECTIONS if is_profile else SESSION_SECTIONS
    fallback: str | None = None
    if generator is not None:
        from negmem.providers.generation import Refusal

        answer = generator.generate(
            request(read.sources, sections), answer_schema(sections), on_wait=checkpoint
        )
        if isinstance(answer, Refusal):
            fallback = plain_line(f"{answer.code}: {answer.reason}", _REASON_CHARS)
        else:
            held = checked(answer.value, read.sources, sections)
            if held.holds:
                content = fitted(held.lines, sections, MAX_TOKENS, counter.count)
                details = {"method": "model", "dropped_lines": len(held.dropped)}
                return Written(content, generator.model, details)
            fallback = f"the model's answer does not hold: {held.dropped[0] if held.dropped else 'it is empty'}"
    lines = profile_lines(read.sources) if is_profile else session_lines(read.sources)
    content = fitted(lines, sections, MAX_TOKENS, counter.count)
    return Written(content, None, {"method": "extractive", "fallback": fallback})
