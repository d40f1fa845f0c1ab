"""Vectors for the memories of a batch, outside of any transaction; what fails is counted and told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from negmem.core.models.ingest import Embedded
from negmem.core.session import Session
from negmem.db import memories as db
from negmem.errors import NegmemError

if TYPE_CHECKING:
    from negmem.providers.embedding import Embedder

_FAILURES_IN_A_ROW = 2


class Vectorizer:
    """Embeds texts with the app's model, and goes on without vectors where that fails.

    `model` is None where there is nothing to embed with; the session's warnings say why.
    Raises: NegmemError `embedding_space_mismatch` where the configured embedder is another than the
    one whose vectors are stored.
    """

    def __init__(self, session: Session, *, dry_run: bool = False) -> None:
        self._session = session
        self._embedder: Embedder | None = None
        self._failures = 0
        self.model: db.Model | None = None
        self.needs_attention = False
        self.result = Embedded()
        self._open(dry_run)

    def _open(self, dry_run: bool) -> None:
        from negmem.providers.embedding import (
            EmbedderAbsent,
            Space,
            require_same_space,
            space_of,
        )

        session = self._session
        found = session.embedder_or_reason
        is_asked_for = session.config.embedding.provider not in ("auto", "none")
        if isinstance(found, EmbedderAbsent):
            session.warn(found.code, f"stored without vectors: {found.message}")
            self.needs_attention = is_asked_for
            return
        model = db.active_model(session.database, session.app)
        if model is None:
            session.warn(
                "embedding_model_unset",
                "stored without vectors: the app has no embedding model yet; negmem init sets one",
            )
            self.needs_attention = is_asked_for
            return
        space = Space(model.provider, model.name, model.version, model.dims)
        try:
            require_same_space(space, space_of(found))
        except NegmemError as error:
            if error.code == "embedding_space_mismatch":
                raise
            # a hosted model whose endpoint does not answer can't even say its dimension
            self._fail(error)
            return
        self.model = model
        self.result = Embedded(model=f"{model.name}, version {model.version}, {model.dims} dims")
        self._embedder = None if dry_run else found

    @property
    def is_active(self) -> bool:
        """Whether texts are embedded."""
        return self._embedder is not None

    def embed(
        self,
        users: Sequence[str],
        memories: Sequence[UUID],
        texts: Sequence[str],
        on_step: Callable[[], bool],
    ) -> db.Vectors | None:
        """The vectors of these memories; those without one are left out.

        `on_step` hears of each call to the model, and says whether to go on.
        """
        import numpy as np

        if self._embedder is None or self.model is None or not texts:
            return None
        step = self._session.config.embedding.max_batch_texts
        values: list[np.ndarray] = []
        kept: list[int] = []
        for start in range(0, len(texts), step):
            part = texts[start : start + step]
            try:
                batch = self._embedder.embed_batch(part)
            except NegmemError as error:
                self._fail(error)
                if self._embedder is None:
                    break
                continue
            self._failures = 0
            parked = {text.index for text in batch.parked}
            good = [row for row in range(len(part)) if row not in parked]
            values.append(batch.vectors[good])
            kept += [start + row for row in good]
            self._count(len(parked), len(batch.truncated), batch.usage.tokens, batch.usage.cost_usd)
            if batch.parked:
                first = batch.parked[0]
                self._session.warn(first.code, f"a text was refused by the model: {first.reason}")
                self.needs_attention = True
            if not on_step():
                break
        if not kept:
            return None
        return db.Vectors(
            self.model,
            [users[row] for row in kept],
            [memories[row] for row in kept],
            np.concatenate(values),
        )

    def stored(self, *, vectors: int, repaired: int, missing: int) -> None:
        """Count what a committed batch brought."""
        if missing and self.model is not None:
            self.needs_attention = True
        self.result = self.result.model_copy(
            update={
                "vectors": self.result.vectors + vectors + repaired,
                "repaired": self.result.repaired + repaired,
                "missing": self.result.missing + missing,
            }
        )

    def _count(self, parked: int, truncated: int, tokens: int, cost_usd: float | None) -> None:
        cost = self.result.cost_usd
        if cost_usd is not None:
            cost = (cost or 0.0) + cost_usd
        self.result = self.result.model_copy(
            update={
                "parked": self.result.parked + parked,
                "truncated": self.result.truncated + truncated,
                "tokens": self.result.tokens + tokens,
                "cost_usd": cost,
            }
        )

    def _fail(self, error: NegmemError) -> None:
        self.needs_attention = True
        self._failures += 1
        self._session.warn(error.code, f"stored without vectors: {error.message}; {error.why}")
        if self._failures >= _FAILURES_IN_A_ROW:
            self._session.warn(
                "embedding_stopped",
                f"embedding was given up after {self._failures} failures in a row; "
                "the same ingest again adds the missing vectors",
            )
            self._embedder = None
