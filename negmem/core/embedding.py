"""Texts into vectors of the app's model, outside of any transaction; what fails is told, never raised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from negmem.core.session import Session
from negmem.errors import NegmemError


@dataclass(frozen=True)
class TextVectors:
    """Vectors of some texts; None for a text that the model refused."""

    model_id: int
    vectors: list[list[float] | None]


def embed_texts(session: Session, texts: Sequence[str]) -> TextVectors | None:
    """The vectors of `texts`, in order; None, with a warning that says why, where there are none.

    Raises: NegmemError `embedding_space_mismatch` where the configured embedder is another than the one
    whose vectors are stored.
    """
    from negmem.providers.embedding import EmbedderAbsent, Space, require_same_space, space_of

    if not texts:
        return None
    found = session.embedder_or_reason
    if isinstance(found, EmbedderAbsent):
        session.warn(found.code, f"stored without vectors: {found.message}")
        return None
    active = session.database.row("installation", "active_model", {"app_name": session.app})
    if active is None:
        session.warn(
            "embedding_model_unset",
            "stored without vectors: the app has no embedding model yet; negmem init sets one",
        )
        return None
    stored = Space(active["provider"], active["model"], active["version"], active["dims"])
    step = session.config.embedding.max_batch_texts
    vectors: list[list[float] | None] = []
    at_hand = session.vectors_at_hand
    due = texts if at_hand is None else [text for text in texts if text not in at_hand]
    try:
        require_same_space(stored, space_of(found))
        for start in range(0, len(due), step):
            batch = found.embed_batch(due[start : start + step])
            parked = {text.index for text in batch.parked}
            for text in batch.parked[:1]:
                session.warn(text.code, f"a text was refused by the model: {text.reason}")
            vectors += [
                None if row in parked else [float(x) for x in vector]
                for row, vector in enumerate(batch.vectors)
            ]
    except NegmemError as error:
        if error.code == "embedding_space_mismatch":
            raise
        session.warn(error.code, f"stored without vectors: {error.message}; {error.why}")
        return None
    if at_hand is not None:
        at_hand.update(zip(due, vectors, strict=True))
        vectors = [at_hand[text] for text in texts]
    return TextVectors(int(active["id"]), vectors)
