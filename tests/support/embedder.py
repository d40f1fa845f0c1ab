"""A deterministic embedder for tests: no model, no network, a few dimensions.

Texts that share words (Latin) or pairs of characters (Chinese) come out near each other, so that
ranking tests have something to rank; unrelated texts come out near 0.
"""

from __future__ import annotations

import hashlib
import math
import re
from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from negmem.errors import NegmemError
from negmem.providers.calibration import IDENTITY, Calibration
from negmem.providers.embedding import EmbeddingBatch, ParkedText

_WORD = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]+")


def _features(text: str) -> list[str]:
    features: list[str] = []
    for run in _WORD.findall(text.lower()):
        if run[0] < "\u3400" or len(run) == 1:
            features.append(run)
        else:
            features.extend(run[i : i + 2] for i in range(len(run) - 1))
    return features or [""]


def hash_vector(text: str, dims: int) -> list[float]:
    """A unit vector of `dims` floats that depends on the text alone."""
    total = [0.0] * dims
    for feature in _features(text):
        digest = hashlib.blake2b(feature.encode("utf-8", "replace"), digest_size=dims).digest()
        for position, byte in enumerate(digest):
            total[position] += byte - 127.5
    norm = math.sqrt(sum(value * value for value in total))
    return [value / norm for value in total]


class FakeEmbedder:
    """An embedder whose vectors come from hashed words; `dims` in 2..64.

    `park` holds texts that are refused one by one, `fail` an error that every call raises; `calls`
    records what was asked (("documents", n) or ("query", text)).
    """

    def __init__(
        self,
        dims: int = 32,
        *,
        name: str = "fake",
        model: str = "hashed-words",
        version: str = "1",
        max_tokens: int = 8192,
        calibration: Calibration = IDENTITY,
        park: Sequence[str] = (),
        fail: NegmemError | None = None,
    ) -> None:
        self.name = name
        self.model = model
        self.version = version
        self.dims = dims
        self.max_tokens = max_tokens
        self.calibration = calibration
        self.park = frozenset(park)
        self.fail = fail
        self.calls: list[tuple[str, int | str]] = []

    def embed_batch(self, texts: Sequence[str]) -> EmbeddingBatch:
        self.calls.append(("documents", len(texts)))
        if self.fail is not None:
            raise self.fail
        rows = np.zeros((len(texts), self.dims), dtype=np.float32)
        parked = []
        for index, text in enumerate(texts):
            if text in self.park:
                parked.append(ParkedText(index, "text_refused", "listed by the test"))
            else:
                rows[index] = hash_vector(text, self.dims)
        return EmbeddingBatch(rows, parked=tuple(parked))

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.embed_batch(texts).complete()

    def embed_query(self, text: str) -> array[float]:
        self.calls.append(("query", text))
        if self.fail is not None:
            raise self.fail
        return array("f", hash_vector(text, self.dims))
