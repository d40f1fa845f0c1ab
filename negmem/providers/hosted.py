"""Embedding models behind litellm: batched within limits, bounded in time and tries, counted."""

from __future__ import annotations

import hashlib
import os
import random
import time
from array import array
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from negmem.errors import NegmemError
from negmem.providers.calibration import Calibration, calibration_for
from negmem.providers.embedding import EmbeddingBatch, EmbeddingUsage, ParkedText
from negmem.providers.litellm_client import (
    NoRetries,
    call_bounded,
    load_litellm,
    require_installed,
    stdout_to_stderr,
)
from negmem.providers.refusals import Failure, Remedy
from negmem.providers.tokens import TokenCounter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEFAULT_MAX_TOKENS = 8_191
# What a vendor takes in one request is rarely written down; a smaller limit is found by halving.
BATCH_TOKENS = 100_000
# A limit is not touched exactly, and a tokenizer that is not the model's own may count less.
_EXACT_MARGIN = 0.98
_FOREIGN_MARGIN = 0.85
_FIRST_BACKOFF_S = 0.5
_LONGEST_WAIT_S = 60.0
# So many texts refused one after the other, and none accepted: it is not the texts.
_REFUSALS_WITHOUT_SUCCESS = 3


@dataclass(frozen=True)
class HostedSettings:
    """What a hosted model needs; `timeout_s` is for one request, in seconds."""

    model: str
    api_base: str | None = None
    api_key_env: str | None = None
    dims: int | None = None
    query_prefix: str = ""
    document_prefix: str = ""
    timeout_s: float = 20.0
    max_retries: int = 3
    max_batch_texts: int = 64
    max_tokens: int | None = None


@dataclass(frozen=True)
class _Text:
    index: int
    text: str
    tokens: int


@dataclass
class _Progress:
    """What came of one call of `embed_batch` so far."""

    rows: dict[int, Sequence[float]] = field(default_factory=dict)
    parked: list[ParkedText] = field(default_factory=list)
    truncated: list[int] = field(default_factory=list)
    usage: EmbeddingUsage = field(default_factory=EmbeddingUsage)


class HostedEmbedder:
    """A hosted embedding model. Texts over `max_tokens` are cut, reported in `truncated`.

    Cutting and not averaging: every window would be paid for. A request that the server finds too
    large is halved until the rest goes through; a text refused by itself is parked. What may pass
    with time (429, 5xx, a timeout) is tried again, honouring Retry-After; a refused key, an empty
    account or an unknown model stops at once.
    """

    name = "litellm"

    def __init__(
        self,
        settings: HostedSettings,
        *,
        env: Mapping[str, str] | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        calibration: Calibration | None = None,
    ) -> None:
        require_installed()
        self._settings = settings
        self._env = os.environ if env is None else env
        self._sleep = sleep
        self._clock = clock
        self._calibration = calibration
        self._counter = TokenCounter(settings.model)
        self._dims = settings.dims
        self._batch_texts = settings.max_batch_texts
        self._refusals = 0
        self._has_succeeded = False
        self.model = settings.model
        self.spent = EmbeddingUsage()

    @property
    def version(self) -> str:
        """`1`, with a hash of the prefixes where there are any: vendors don't say when weights change."""
        prefixes = (self._settings.query_prefix, self._settings.document_prefix)
        if prefixes == ("", ""):
            return "1"
        return "1-" + hashlib.sha256("\x00".join(prefixes).encode()).hexdigest()[:12]

    @property
    def dims(self) -> int:
        """As configured, else as the price list says, else found out by embedding one word."""
        if self._dims is None:
            known = self._model_info.get("output_vector_size")
            self._dims = int(known) if known else len(self._one("dimension"))
        return self._dims

    @property
    def price_usd_per_token(self) -> float | None:
        """What the price list says of a token; None where it does not know the model."""
        price = self._model_info.get("input_cost_per_token")
        return None if price is None else float(price)

    @cached_property
    def max_tokens(self) -> int:
        """As configured, else as the price list says, else 8,191."""
        stated = self._settings.max_tokens or self._model_info.get("max_input_tokens")
        return int(stated) if stated else DEFAULT_MAX_TOKENS

    @cached_property
    def calibration(self) -> Calibration:
        """The one given, else the one that ships for a model of this name, else the identity."""
        return self._calibration or calibration_for(self.model, self.dims)

    @cached_property
    def _model_info(self) -> Mapping[str, Any]:
        litellm = load_litellm()
        try:
            with stdout_to_stderr():
                return dict(litellm.get_model_info(self.model))
        # litellm raises a bare Exception for a model that its price list lacks.
        except Exception:
            return {}

    @cached_property
    def _text_limit(self) -> int:
        margin = _EXACT_MARGIN if self._counter.is_exact else _FOREIGN_MARGIN
        return max(1, int(self.max_tokens * margin))

    def embed_batch(self, texts: Sequence[str]) -> EmbeddingBatch:
        """Vectors of documents; `usage` has what this call took, `spent` what all calls took."""
        import numpy as np

        progress = _Progress()
        waiting: deque[_Text] = deque()
        for index, text in enumerate(texts):
            kept, tokens, was_cut = self._fit(self._settings.document_prefix + text)
            if not text.strip():
                progress.parked.append(ParkedText(index, "text_empty", "the text is blank"))
                continue
            if was_cut:
                progress.truncated.append(index)
            waiting.append(_Text(index, kept, tokens))
        while waiting:
            self._send(self._next_batch(waiting), progress)
        rows = np.zeros((len(texts), self.dims), dtype=np.float32)
        for index, vector in progress.rows.items():
            rows[index] = vector
        return EmbeddingBatch(
            rows,
            parked=tuple(sorted(progress.parked, key=lambda parked: parked.index)),
            truncated=tuple(progress.truncated),
            usage=progress.usage,
        )

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, dims) float32, rows of unit length."""
        return self.embed_batch(texts).complete()

    def embed_query(self, text: str) -> array[float]:
        """(dims,) float32 of unit length, within one timeout, retries included."""
        return array("f", self._one(self._settings.query_prefix + text))

    def _one(self, text: str) -> Sequence[float]:
        # Loading takes seconds once and is not the server's fault.
        load_litellm()
        kept, tokens, _ = self._fit(text)
        deadline = self._clock() + self._settings.timeout_s
        try:
            return self._request([kept], tokens, _Progress(), deadline)[0]
        except Failure as failure:
            raise failure.error(self.model) from failure.__cause__

    def _fit(self, text: str) -> tuple[str, int, bool]:
        return self._counter.fit(text.replace("\x00", " "), self._text_limit)

    def _next_batch(self, waiting: deque[_Text]) -> list[_Text]:
        """The next texts, as long as both limits hold; a single text always goes."""
        batch = [waiting.popleft()]
        tokens = batch[0].tokens
        while waiting and len(batch) < self._batch_texts:
            tokens += waiting[0].tokens
            if tokens > BATCH_TOKENS:
                break
            batch.append(waiting.popleft())
        return batch

    def _send(self, batch: list[_Text], progress: _Progress) -> bool:
        """Embed a batch, by halves where the server refuses it; whether all of it went through."""
        tokens = sum(item.tokens for item in batch)
        try:
            vectors = self._request([item.text for item in batch], tokens, progress)
        except Failure as failure:
            if failure.remedy is not Remedy.SPLIT:
                raise failure.error(self.model) from failure.__cause__
            if len(batch) == 1:
                self._park(batch[0], failure, progress)
                return False
            middle = len(batch) // 2
            went = [self._send(half, progress) for half in (batch[:middle], batch[middle:])]
            if all(went):
                # Nothing was wrong but the size: no later request need find that out again.
                self._batch_texts = min(self._batch_texts, middle)
            return all(went)
        self._has_succeeded = True
        progress.rows.update((item.index, row) for item, row in zip(batch, vectors, strict=True))
        return True

    def _park(self, item: _Text, failure: Failure, progress: _Progress) -> None:
        self._refusals += 1
        if not self._has_succeeded and self._refusals >= _REFUSALS_WITHOUT_SUCCESS:
            raise failure.error(self.model) from failure.__cause__
        progress.parked.append(ParkedText(item.index, "text_refused", failure.reason))

    def _request(
        self,
        texts: list[str],
        tokens: int,
        progress: _Progress,
        deadline: float = float("inf"),
    ) -> list[Sequence[float]]:
        """The vectors of one request, repeated while that may help. Raises: Failure, NegmemError."""
        attempt = 0
        while True:
            timeout_s = min(self._settings.timeout_s, deadline - self._clock())
            try:
                response = self._call(texts, timeout_s)
                vectors = self._checked(response, len(texts))
            except Failure as failure:
                self._book(progress, EmbeddingUsage(requests=1, retries=int(attempt > 0)))
                if failure.remedy is not Remedy.RETRY or attempt == self._settings.max_retries:
                    raise
                wait_s = failure.retry_after_s
                if wait_s is None:
                    wait_s = _FIRST_BACKOFF_S * 2**attempt * random.uniform(0.5, 1.0)
                if wait_s >= min(_LONGEST_WAIT_S, deadline - self._clock()):
                    raise
                self._sleep(wait_s)
                attempt += 1
                continue
            self._book(progress, _usage_of(response, tokens, attempt))
            return vectors

    def _call(self, texts: list[str], timeout_s: float) -> Any:
        settings = self._settings
        litellm = load_litellm()
        key = None
        if settings.api_key_env is not None:
            key = self._env.get(settings.api_key_env)
            if not key:
                reason = f"the variable {settings.api_key_env} is not set"
                raise Failure(Remedy.STOP, "embedder_key_refused", reason)
        options: dict[str, Any] = {}
        if settings.dims is not None and "text-embedding-3" in settings.model:
            options["dimensions"] = settings.dims
        return call_bounded(
            lambda: litellm.embedding(
                model=settings.model,
                input=texts,
                api_base=settings.api_base,
                api_key=key,
                timeout=timeout_s,
                max_retries=NoRetries(),
                encoding_format="float",
                **options,
            ),
            timeout_s,
            key,
        )

    def _checked(self, response: Any, expected: int) -> list[Sequence[float]]:
        """The unit vectors in the order of the texts, in whatever order the server sent them."""
        data = list(getattr(response, "data", None) or [])
        try:
            by_index = {int(item["index"]): item["embedding"] for item in data}
        except (KeyError, TypeError, ValueError) as error:
            reason = f"a vector has no number: {error!r}"
            raise Failure(Remedy.RETRY, "embedding_response_invalid", reason) from error
        if len(data) != expected or sorted(by_index) != list(range(expected)):
            reason = f"{len(data)} vectors came back for {expected} texts"
            remedy = Remedy.SPLIT if expected > 1 else Remedy.RETRY
            raise Failure(remedy, "embedding_response_invalid", reason)
        return [self._unit(by_index[index]) for index in range(expected)]

    def _unit(self, vector: Any) -> Sequence[float]:
        try:
            values = array("d", vector)
        except (TypeError, ValueError) as error:
            reason = f"a vector is no list of numbers: {error}"
            raise Failure(Remedy.RETRY, "embedding_response_invalid", reason) from error
        if self._dims is None:
            self._dims = len(values)
        if len(values) != self._dims:
            raise NegmemError(
                "embedding_dims_mismatch",
                f"the model gives {len(values)} dimensions, {self._dims} were expected",
                why=f"{self.model} at {self._settings.api_base or 'its vendor'}",
                hint=f"negmem config set embedding.dims {len(values)}",
            )
        # Neither finite nor positive if one part is not a number, or all are zero.
        norm = sum(value * value for value in values) ** 0.5
        if not 0.0 < norm < float("inf"):
            reason = "a vector is not finite, or all zero"
            raise Failure(Remedy.SPLIT, "embedding_response_invalid", reason)
        return array("d", (value / norm for value in values))

    def _book(self, progress: _Progress, usage: EmbeddingUsage) -> None:
        progress.usage += usage
        self.spent += usage


def _usage_of(response: Any, estimated_tokens: int, attempt: int) -> EmbeddingUsage:
    tokens = getattr(getattr(response, "usage", None), "prompt_tokens", 0) or estimated_tokens
    cost = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
    return EmbeddingUsage(
        requests=1,
        retries=int(attempt > 0),
        tokens=int(tokens),
        cost_usd=None if cost is None else float(cost),
    )
