"""What the writers of memories share: text and metadata as they may be stored, and their index."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from negmem.core.embedding import embed_texts
from negmem.core.session import Session
from negmem.core.text.clean import TextRefusedError, clean_text, clean_value
from negmem.errors import UsageError


def cleaned(content: str) -> tuple[str, int]:
    """A text as it can be stored, and how many characters were replaced.

    Raises: UsageError `text_refused` where it is no text, blank or too long.
    """
    if not isinstance(content, str):
        raise UsageError(
            "text_refused",
            "the text can't be stored",
            why=f"it is {type(content).__name__}, not text",
            hint='negmem memory add "…" --user NAME',
        )
    try:
        text, replaced = clean_text(content)
    except TextRefusedError as error:
        raise UsageError(
            "text_refused",
            "the text can't be stored",
            why=f"{error.reason}: {error.detail}",
            hint="store it in parts: negmem ingest FILE    has a turn for each",
        ) from None
    if not text.strip():
        raise UsageError(
            "text_refused",
            "the text is blank",
            why="a memory needs something to remember",
            hint='negmem memory add "…" --user NAME',
        )
    return text, replaced.nul + replaced.surrogates + replaced.byte_order_marks


def cleaned_metadata(metadata: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Metadata as it can be stored, and how many characters were replaced. Raises: as `cleaned`."""
    if not isinstance(metadata, dict):
        raise UsageError(
            "text_refused",
            "the metadata can't be stored",
            why=f"it is {type(metadata).__name__}, not a dictionary",
            hint="--metadata KEY=VALUE",
        )
    try:
        value, replaced = clean_value(metadata)
    except TextRefusedError as error:
        raise UsageError(
            "text_refused",
            "the metadata can't be stored",
            why=f"{error.reason}: {error.detail}",
            hint="--metadata KEY=VALUE",
        ) from None
    assert isinstance(value, dict)
    return dict(value), replaced.nul + replaced.surrogates


def vector_of(session: Session, text: str) -> tuple[int, list[float]] | None:
    """The model's id and the vector of a text, or None with a warning that says why."""
    found = embed_texts(session, [text])
    if found is None or found.vectors[0] is None:
        return None
    return found.model_id, found.vectors[0]


def put_vector(
    session: Session,
    scope: dict[str, Any],
    memory_id: UUID,
    vector: tuple[int, list[float]] | None,
) -> None:
    """Store what `vector_of` gave; None stores nothing."""
    if vector is not None:
        params = {**scope, "memory_id": memory_id, "model_id": vector[0], "embedding": vector[1]}
        session.database.execute("memory", "put_vector", params)


def refresh(session: Session, scope: dict[str, Any], ids: list[UUID]) -> None:
    """Scores first, then terms: every writer locks rows of memories before the user's term statistics."""
    session.database.rows("memory", "rescore_thread", {**scope, "ids": ids})
    session.database.rows("memory", "index", {**scope, "ids": ids})
