"""The embedding model of the stored vectors against the one that the config asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from negmem.core.automation.part import Consent, Part, Refusal, digest
from negmem.core.models.change import Change
from negmem.core.session import Session
from negmem.db.observed import ActiveModel, Observed


@dataclass
class EmbeddingPart(Part):
    """At most one change a facet; none of them is `sync`'s to make."""

    def known(self) -> Iterator[tuple[str, str]]:
        """The keys of the YAML that name the model."""
        yield from ((f"embedding.{what}",) * 2 for what in ("provider", "model", "dims"))

    def refusal(self, change: Change, consent: Consent) -> Refusal | None:
        """Vectors of two models can't be compared: all would have to be made anew."""
        what = change.differences[0]
        return Refusal(
            "the stored vectors were made otherwise, and vectors of two models can't be compared",
            f"negmem embed migrate    or back: negmem config set embedding.{what} {change.before}",
        )


def find(session: Session, observed: Observed) -> EmbeddingPart:
    """Compare what the config names with the app's active model; what it leaves open is no difference.

    Loads no model: `provider: auto` means the one that there is.
    """
    model = observed.model
    part = EmbeddingPart()
    if model is None:
        return part
    for what, stored, declared in _facets(session, model):
        if declared is not None and declared != stored:
            part.changes.append(_change(session, what, stored, declared))
    part.unchanged = 0 if part.changes else 1
    part.seen = digest([model.provider, model.model, model.version, model.dims])
    return part


def _facets(session: Session, model: ActiveModel) -> list[tuple[str, str, str | None]]:
    settings = session.config.embedding
    if settings.provider == "none":
        return []
    is_named = settings.provider != "auto"
    names_model = settings.provider in ("onnx", "litellm")
    return [
        ("provider", model.provider, settings.provider if is_named else None),
        ("model", model.model, settings.model if names_model else None),
        ("dims", str(model.dims), None if settings.dims is None else str(settings.dims)),
    ]


def _change(session: Session, what: str, stored: str, declared: str) -> Change:
    origin = session.loaded.origins.get(f"embedding.{what}")
    return Change(
        kind="embedding",
        name=f"embedding.{what}",
        state="drifted",
        reason=f"{what}_differs",
        action="update",
        significance="semantic",
        before=stored,
        after=declared,
        differences=[what],
        detail="" if origin is None else str(origin),
    )
