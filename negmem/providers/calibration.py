"""How a model's cosine reads: the figures of unrelated pairs, and the mean vector.

Cosine is no common currency. One model gives unrelated texts 0.05, another 0.80, so a threshold
only means something on a scale that says what "unrelated" and "the same" are. A calibration holds
both ends, and the direction that all vectors of a model share, without which their sign bits say
little.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any

from negmem.errors import NegmemError

if TYPE_CHECKING:
    from negmem.providers.embedding import Embedder

PERCENTILES: tuple[float, ...] = (1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0, 99.9)

# Below this many texts the outer percentiles are noise.
MIN_SAMPLE_TEXTS = 20


@dataclass(frozen=True)
class Calibration:
    """The measured scale of one embedding model.

    `unrelated` maps a percentile (50.0 is the median) to the raw cosine of unrelated pairs of
    documents; empty for the identity. `mean` is the mean document vector (dims floats, not unit
    length), or None where it is not known: sign bits are then taken without centring.
    """

    unrelated: Mapping[float, float]
    mean: tuple[float, ...] | None = None
    source: str = "identity"
    pairs: int = 0

    @property
    def is_identity(self) -> bool:
        """Whether the calibrated scale is the raw one."""
        return not self.unrelated

    @cached_property
    def floor(self) -> float:
        """The raw cosine that counts as 0: the median of unrelated pairs (0 for the identity)."""
        return 0.0 if self.is_identity else self.unrelated[50.0]

    def similarity(self, cosine: float) -> float:
        """Calibrated similarity in [0, 1] of a raw cosine in [-1, 1].

        Linear between the median of unrelated pairs (0) and identical texts (1), so that one
        threshold serves every model and SQL needs one number, `floor`, to do the same.
        """
        return min(1.0, max(0.0, (cosine - self.floor) / (1.0 - self.floor)))

    def cosine(self, similarity: float) -> float:
        """The raw cosine at which `similarity` gives this calibrated value in [0, 1]."""
        return self.floor + similarity * (1.0 - self.floor)

    def centred(self, vector: Sequence[float]) -> list[float]:
        """The vector less the model's mean, not unit length; as it stands where no mean is known.

        Raises: NegmemError if the vector has another dimension than the mean.
        """
        if self.mean is None:
            return list(vector)
        if len(vector) != len(self.mean):
            raise NegmemError(
                "embedding_dims_mismatch",
                f"a vector of {len(vector)} dimensions met a calibration of {len(self.mean)}",
                why=f"the calibration comes from {self.source}",
                hint="negmem embed status",
            )
        return [value - centre for value, centre in zip(vector, self.mean, strict=True)]

    def sign_bits(self, vector: Sequence[float]) -> str:
        """The signs of the centred vector as a bit string such as "0110", one digit a dimension."""
        return "".join("1" if value > 0.0 else "0" for value in self.centred(vector))

    def to_json(self) -> dict[str, Any]:
        """Plain values for `json.dumps`, read back by `from_json`."""
        return {
            "unrelated": {f"{key:g}": round(value, 6) for key, value in self.unrelated.items()},
            "pairs": self.pairs,
            "source": self.source,
            "mean": None if self.mean is None else [round(value, 6) for value in self.mean],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Calibration:
        """The calibration that `to_json` wrote. Raises: ValueError if it is not one."""
        try:
            unrelated = {float(k): float(v) for k, v in document["unrelated"].items()}
            mean = document.get("mean")
            return cls(
                unrelated=unrelated,
                mean=None if mean is None else tuple(float(value) for value in mean),
                source=str(document.get("source", "file")),
                pairs=int(document.get("pairs", 0)),
            )
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"not a calibration: {error!r}") from error


IDENTITY = Calibration(unrelated={})

_DATA = "negmem.providers.data"
_UNSAFE = re.compile(r"[^a-z0-9.]+")


def _file_name(model: str) -> str:
    return _UNSAFE.sub("-", model.lower().rsplit("/", 1)[-1]) + ".json"


def calibration_for(model: str, dims: int | None = None) -> Calibration:
    """The calibration that ships for a model (`org/` is ignored), else the identity.

    A calibration of other dimensions than `dims` is not used: a shortened vector has other cosines.
    """
    entry = resources.files(_DATA).joinpath(_file_name(model))
    if not entry.is_file():
        return IDENTITY
    calibration = Calibration.from_json(json.loads(entry.read_text(encoding="utf-8")))
    if dims is not None and calibration.mean is not None and len(calibration.mean) != dims:
        return IDENTITY
    return calibration


def measure_calibration(embedder: Embedder, texts: Sequence[str], source: str) -> Calibration:
    """The calibration of a model over texts of which no two say related things.

    All pairs of distinct texts count as unrelated, so near copies among them raise the figures.
    Raises: ValueError for fewer than 20 texts; what the embedder raises.
    """
    import numpy as np

    distinct = list(dict.fromkeys(texts))
    if len(distinct) < MIN_SAMPLE_TEXTS:
        raise ValueError(f"at least {MIN_SAMPLE_TEXTS} different texts, got {len(distinct)}")
    vectors = embedder.embed_documents(distinct)
    cosines = (vectors @ vectors.T)[np.triu_indices(len(distinct), k=1)]
    figures = np.percentile(cosines, PERCENTILES)
    return Calibration(
        unrelated=dict(zip(PERCENTILES, (float(figure) for figure in figures), strict=True)),
        mean=tuple(float(value) for value in vectors.mean(axis=0)),
        source=source,
        pairs=len(cosines),
    )
