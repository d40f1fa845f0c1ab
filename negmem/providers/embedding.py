"""Embedding models behind one small protocol, and the space that their vectors live in.

Nothing heavy is imported here: numpy, the engines and litellm load inside the calls that need them.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from negmem.errors import NegmemError
from negmem.providers.calibration import Calibration

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class ParkedText:
    """A text that the model refused by itself, while the others of its batch went through."""

    index: int
    code: str
    reason: str


@dataclass(frozen=True)
class EmbeddingUsage:
    """What a call cost. `cost_usd` is None where no price is known."""

    requests: int = 0
    retries: int = 0
    tokens: int = 0
    cost_usd: float | None = None
    cache_hits: int = 0

    def __add__(self, other: EmbeddingUsage) -> EmbeddingUsage:
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return EmbeddingUsage(
            requests=self.requests + other.requests,
            retries=self.retries + other.retries,
            tokens=self.tokens + other.tokens,
            cost_usd=sum(costs) if costs else None,
            cache_hits=self.cache_hits + other.cache_hits,
        )


@dataclass(frozen=True)
class EmbeddingBatch:
    """The vectors of some texts, in their order, with what did not go as asked.

    `vectors`: (n, dims) float32, rows of unit length; the row of a parked text is all zero.
    `truncated`: indices of texts of which the model saw only the beginning.
    """

    vectors: NDArray[np.float32]
    parked: tuple[ParkedText, ...] = ()
    truncated: tuple[int, ...] = ()
    usage: EmbeddingUsage = field(default_factory=EmbeddingUsage)

    def complete(self) -> NDArray[np.float32]:
        """The vectors, if every text has one. Raises: NegmemError `embedding_text_refused`."""
        if self.parked:
            first = self.parked[0]
            raise NegmemError(
                "embedding_text_refused",
                f"the embedding model refused {len(self.parked)} of {len(self.vectors)} texts",
                why=f"text {first.index}: {first.reason}",
                hint="negmem doctor --only providers",
            )
        return self.vectors


class Embedder(Protocol):
    """A model that turns text into vectors.

    `name` is the provider (`local`, `onnx`, `litellm`), `model` and `version` say which weights,
    `dims` the length of a vector, `max_tokens` how much of a text the model sees.
    """

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def dims(self) -> int: ...
    @property
    def max_tokens(self) -> int: ...
    @property
    def calibration(self) -> Calibration: ...

    def embed_batch(self, texts: Sequence[str]) -> EmbeddingBatch:
        """Vectors of documents; texts that the model refuses one by one are parked, told inside."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, dims) float32, rows of unit length, in the order of `texts`; refusals raise."""
        ...

    def embed_query(self, text: str) -> array[float]:
        """(dims,) float32 of unit length, as `array("f")`.

        Kept free of numpy, whose import would double the time of a search from the shell;
        `numpy.asarray` takes it without a copy.
        """
        ...


class Space(NamedTuple):
    """Where a vector lives: two vectors may be compared only if all four agree."""

    provider: str
    model: str
    version: str
    dims: int


def space_of(embedder: Embedder) -> Space:
    """The space of the vectors that an embedder makes."""
    return Space(embedder.name, embedder.model, embedder.version, embedder.dims)


def space_difference(a: Space, b: Space) -> tuple[str, ...]:
    """The names of the fields in which two spaces differ; empty when they are the same."""
    return tuple(
        name for name, left, right in zip(Space._fields, a, b, strict=True) if left != right
    )


def require_same_space(stored: Space, configured: Space) -> None:
    """Refuse to compare across models. Raises: NegmemError `embedding_space_mismatch`."""
    fields = space_difference(stored, configured)
    if not fields:
        return
    detail = ", ".join(
        f"{name} {getattr(stored, name)!s} stored, {getattr(configured, name)!s} configured"
        for name in fields
    )
    raise NegmemError(
        "embedding_space_mismatch",
        "the stored vectors come from another embedding model than the configured one",
        why=detail,
        hint="negmem embed status    then set the configuration back, or: negmem embed migrate",
    )


@dataclass(frozen=True)
class EmbedderAbsent:
    """Why there is no embedder; the same four parts as an error, for a caller that goes on."""

    code: str
    message: str
    why: str = ""
    hint: str = ""

    @classmethod
    def of(cls, error: NegmemError) -> EmbedderAbsent:
        """The reason that an error states."""
        return cls(error.code, error.message, error.why, error.hint)

    def error(self) -> NegmemError:
        """The reason as an error, for a caller that can't go on."""
        return NegmemError(self.code, self.message, why=self.why, hint=self.hint)


class EmbeddingSettings(Protocol):
    """The section `embedding` of the configuration, as far as it is read here."""

    @property
    def provider(self) -> str: ...
    @property
    def model(self) -> str | None: ...
    @property
    def path(self) -> str | None: ...
    @property
    def dims(self) -> int | None: ...
    @property
    def max_tokens(self) -> int | None: ...
    @property
    def query_prefix(self) -> str: ...
    @property
    def document_prefix(self) -> str: ...
    @property
    def api_base(self) -> str | None: ...
    @property
    def api_key_env(self) -> str | None: ...
    @property
    def timeout_ms(self) -> int: ...
    @property
    def max_retries(self) -> int: ...
    @property
    def max_batch_texts(self) -> int: ...


IDENTITY_KEYS = (
    "provider",
    "model",
    "path",
    "dims",
    "max_tokens",
    "query_prefix",
    "document_prefix",
    "api_base",
    "api_key_env",
)


def identity_of(settings: EmbeddingSettings) -> dict[str, str | int | None]:
    """What makes an embedder the one it is, to be stored beside its vectors: never a secret.

    An endpoint that carries a user or a query may hold one, and is left out.
    """
    found: dict[str, str | int | None] = {key: getattr(settings, key) for key in IDENTITY_KEYS}
    if settings.provider in ("auto", "local"):
        return {"provider": "local"}
    base = settings.api_base
    if base is not None and any(sign in base for sign in "@?#"):
        found["api_base"] = None
    return found


def price_per_token(embedder: Embedder) -> float | None:
    """US dollars a token: 0 for what runs here, None where no price is known."""
    if embedder.name in ("local", "onnx"):
        return 0.0
    price = getattr(embedder, "price_usd_per_token", None)
    return None if price is None else float(price)


def make_embedder(settings: EmbeddingSettings) -> Embedder | EmbedderAbsent:
    """A new embedder as configured, or why there is none; never raises for a bad configuration.

    Nothing is loaded yet and nothing is kept between calls: each caller gets its own.
    """
    try:
        if settings.provider == "none":
            return EmbedderAbsent(
                "embedder_disabled",
                "embedding is switched off: search works by keyword",
                why="embedding.provider is none",
                hint="negmem config set embedding.provider local",
            )
        if settings.provider in ("auto", "local"):
            return _local(settings)
        if settings.provider == "onnx":
            return _onnx(settings)
        return _hosted(settings)
    except NegmemError as error:
        return EmbedderAbsent.of(error)


def _local(settings: EmbeddingSettings) -> Embedder:
    from negmem.providers.local import DIMS, MODEL, LocalEmbedder

    embedder = LocalEmbedder()
    if settings.dims not in (None, DIMS):
        raise NegmemError(
            "embedding_dims_mismatch",
            f"the local model gives {DIMS} dimensions, the config says {settings.dims}",
            why=f"{MODEL} has one size",
            hint=f"negmem config set embedding.dims {DIMS}",
        )
    return embedder


def _onnx(settings: EmbeddingSettings) -> Embedder:
    from negmem.providers.onnx import OnnxEmbedder

    return OnnxEmbedder(
        Path(settings.path or ".").expanduser(),
        model=settings.model,
        query_prefix=settings.query_prefix,
        document_prefix=settings.document_prefix,
        expected_dims=settings.dims,
    )


def _hosted(settings: EmbeddingSettings) -> Embedder:
    from negmem.providers.hosted import HostedEmbedder, HostedSettings

    return HostedEmbedder(
        HostedSettings(
            model=settings.model or "",
            api_base=settings.api_base,
            api_key_env=settings.api_key_env,
            dims=settings.dims,
            query_prefix=settings.query_prefix,
            document_prefix=settings.document_prefix,
            timeout_s=settings.timeout_ms / 1000,
            max_retries=settings.max_retries,
            max_batch_texts=settings.max_batch_texts,
            max_tokens=settings.max_tokens,
        )
    )
