"""Texts and vectors that mean nothing, for measurements under load: from a seed, in any number."""

from __future__ import annotations

import random
from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from negmem.providers.calibration import IDENTITY, Calibration
from negmem.providers.embedding import EmbeddingBatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMS = 384
_SYLLABLES = (
    "ba",
    "ko",
    "mi",
    "ter",
    "lon",
    "ras",
    "ve",
    "du",
    "shi",
    "nal",
    "por",
    "gen",
    "ti",
    "ul",
)
_CHINESE = "天地人山水火木金土日月星云风雨花草茶书画琴棋诗酒城桥路车船马牛羊鱼鸟春夏秋冬东西南北"
_WORDS = 3_000


def vocabulary(seed: int) -> list[str]:
    """Invented words, Latin and Chinese, the frequent ones first."""
    chance = random.Random(seed)
    words: dict[str, None] = {}
    while len(words) < _WORDS:
        if chance.random() < 0.3:
            words["".join(chance.choices(_CHINESE, k=2))] = None
        else:
            words["".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4)))] = None
    return list(words)


def sentence(chance: random.Random, words: Sequence[str], least: int = 8, most: int = 20) -> str:
    """A sentence of such words, frequent ones more often (Zipf, by the log-uniform rank)."""
    count = chance.randint(least, most)
    return " ".join(words[int(len(words) ** chance.random()) - 1] for _ in range(count))


@lru_cache(maxsize=_WORDS * 4)
def _word_vector(word: str) -> NDArray[np.float32]:
    import zlib

    import numpy as np

    found: NDArray[np.float32] = np.random.default_rng(zlib.crc32(word.encode())).standard_normal(
        DIMS, dtype=np.float32
    )
    return found


class SyntheticEmbedder:
    """An embedder without a model: the direction of a text is the sum of its words'."""

    name = "synthetic"
    model = "sum-of-words"
    version = "1"
    dims = DIMS
    max_tokens = 8_192

    @property
    def calibration(self) -> Calibration:
        return IDENTITY

    def embed_batch(self, texts: Sequence[str]) -> EmbeddingBatch:
        import numpy as np

        rows = np.zeros((len(texts), DIMS), dtype=np.float32)
        for number, text in enumerate(texts):
            for word in text.split() or ["-"]:
                rows[number] += _word_vector(word)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return EmbeddingBatch(rows)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.embed_batch(texts).complete()

    def embed_query(self, text: str) -> array[float]:
        return array("f", self.embed_batch([text]).vectors[0].tolist())
