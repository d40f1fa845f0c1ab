"""What a lesson says: checked, screened for personal data, compared by its body."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb

from negmem.core.learning import items
from negmem.core.pii import guard_of
from negmem.core.session import Session
from negmem.core.text.exact_key import exact_key
from negmem.errors import UsageError

MAX_TITLE = 300
MAX_TAGS = 32
_HINT = 'negmem learn save --title "…" --learning "…"'


@dataclass(frozen=True)
class Lesson:
    """What a learning says."""

    title: str
    learning: str
    context: str | None
    tags: tuple[str, ...]
    metadata: dict[str, Any]

    @property
    def body_hash(self) -> bytes:
        """The same for lessons that differ in nothing that counts (width, case, closing marks)."""
        return hashlib.sha256((exact_key(self.learning) or self.learning).encode()).digest()

    def params(self) -> dict[str, Any]:
        """Its columns."""
        return {
            "title": self.title,
            "learning": self.learning,
            "context": self.context,
            "tags": list(self.tags),
            "metadata": Jsonb(self.metadata),
            "body_hash": self.body_hash,
        }

    def before(self) -> dict[str, Any]:
        """What its version keeps."""
        return {
            "title": self.title,
            "learning": self.learning,
            "context": self.context,
            "tags": list(self.tags),
            "metadata": self.metadata,
        }


def cleaned_lesson(title: object, learning: object, context: object, tags: Sequence[str]) -> Lesson:
    """A lesson as it can be stored. Raises: UsageError `text_refused`, `tags_invalid`."""
    if isinstance(tags, str) or len(tags) > MAX_TAGS:
        raise UsageError(
            "tags_invalid",
            "these can't be the tags of a learning",
            why="one text is no list of tags" if isinstance(tags, str) else f"at most {MAX_TAGS}",
            hint="--tag sql --tag retry",
        )
    said = None
    if context is not None and context != "":
        said = items.cleaned(context, "context", _HINT)
    return Lesson(
        items.cleaned(title, "title", _HINT, most=MAX_TITLE),
        items.cleaned(learning, "learning", _HINT),
        said,
        tuple(dict.fromkeys(items.cleaned(tag, "tag", "--tag sql", most=100) for tag in tags)),
        {},
    )


def screened_lesson(session: Session, lesson: Lesson) -> Lesson:
    """The lesson as the policy for personal data leaves it, flags in its metadata."""
    beside = (lesson.title, lesson.context, list(lesson.tags))
    screened = guard_of(session).screen(lesson.learning, lesson.metadata, beside)
    title, context, tags = screened.beside
    return Lesson(title, screened.text, context, tuple(tags), screened.metadata)
