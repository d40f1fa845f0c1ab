"""How a model's cosine reads: the figures of unrelated pairs, and the mean vector.

Cosine is no common currency. One model gives unrelated texts 0.07, another 0.87, so a threshold
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
from pathlib import Path
from typing import TYPE_CHECKING, Any

from negmem.errors import NegmemError

if TYPE_CHECKING:
    from negmem.providers.embedding import Embedder

PERCENTILES: tuple[float, ...] = (1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0, 99.9)
# Where the 99th percentile of unrelated pairs lies on the calibrated scale: near what a model
# gives whose vectors share no direction (all-MiniLM-L6-v2: 0.31), so that thresholds written
# for such a model keep their meaning. The upper tail and not the median, since it is false
# alarms that a threshold is there to hold back, and models differ in the median by language.
UNRELATED_P99 = 0.3
# Below this many texts the outer percentiles are noise.
MIN_SAMPLE_TEXTS = 20

_DATA = Path(__file__).parent / "data"
_UNSAFE = re.compile(r"[^a-z0-9.]+")


@dataclass(frozen=True)
class Scale:
    """The raw cosines that count as 0 and as 1; in between the scale is linear.

    SQL that is given both numbers computes the same: least(1, greatest(0, (c - floor) / (ceiling -
    floor))).
    """

    floor: float = 0.0
    ceiling: float = 1.0

    def similarity(self, cosine: float) -> float:
        """Calibrated similarity in [0, 1] of a raw cosine in [-1, 1]."""
        return min(1.0, max(0.0, (cosine - self.floor) / (self.ceiling - self.floor)))

    def cosine(self, similarity: float) -> float:
        """The raw cosine at which `similarity` gives this value in [0, 1]."""
        return self.floor + similarity * (self.ceiling - self.floor)


def _scale(p99: float, same: float) -> Scale:
    floor = (p99 - UNRELATED_P99 * same) / (1.0 - UNRELATED_P99)
    return Scale(max(0.0, floor), same)


@dataclass(frozen=True)
class Calibration:
    """The measured scale of one embedding model.

    `unrelated` maps a percentile (50.0 is the median) to the raw cosine of unrelated pairs of
    documents, `unrelated_queries` to that of a query and an unrelated document; both are empty
    for the identity. `same_query` is the median cosine of one text as a query and as a document.
    `mean` is the mean document vector (dims floats, not unit length), or None where it is not
    known: sign bits are then taken without centring.
    """

    unrelated: Mapping[float, float]
    unrelated_queries: Mapping[float, float]
    same_query: float = 1.0
    mean: tuple[float, ...] | None = None
    source: str = "identity"
    pairs: int = 0

    @property
    def is_identity(self) -> bool:
        """Whether the calibrated scale is the raw one."""
        return not self.unrelated

    @cached_property
    def documents(self) -> Scale:
        """The scale for two stored texts."""
        return Scale() if self.is_identity else _scale(self.unrelated[99.0], 1.0)

    @cached_property
    def queries(self) -> Scale:
        """The scale for a query and a stored text."""
        if self.is_identity:
            return Scale()
        return _scale(self.unrelated_queries[99.0], self.same_query)

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
                hint="negmem doctor --only providers",
            )
        return [value - centre for value, centre in zip(vector, self.mean, strict=True)]

    def sign_bits(self, vector: Sequence[float]) -> str:
        """The signs of the centred vector as a bit string such as "0110", one digit a dimension."""
        return "".join("1" if value > 0.0 else "0" for value in self.centred(vector))

    def to_json(self) -> dict[str, Any]:
        """Plain values for `json.dumps`, read back by `from_json`."""
        return {
            "source": self.source,
            "pairs": self.pairs,
            "unrelated": {f"{key:g}": round(value, 4) for key, value in self.unrelated.items()},
            "unrelated_queries": {
                f"{key:g}": round(value, 4) for key, value in self.unrelated_queries.items()
            },
            "same_query": round(self.same_query, 4),
            "mean": None if self.mean is None else [round(value, 5) for value in self.mean],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Calibration:
        """The calibration that `to_json` wrote. Raises: ValueError if it is not one."""
        try:
            mean = document["mean"]
            return cls(
                unrelated={float(k): float(v) for k, v in document["unrelated"].items()},
                unrelated_queries={
                    float(k): float(v) for k, v in document["unrelated_queries"].items()
                },
                same_query=float(document["same_query"]),
                mean=None if mean is None else tuple(float(value) for value in mean),
                source=str(document["source"]),
                pairs=int(document["pairs"]),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not a calibration: {error!r}") from error


IDENTITY = Calibration(unrelated={}, unrelated_queries={})


def calibration_for(model: str, dims: int | None = None) -> Calibration:
    """The calibration that ships for a model (`org/` is ignored), else the identity.

    A calibration of other dimensions than `dims` is not used: a shortened vector has other cosines.
    """
    name = _UNSAFE.sub("-", model.lower().rsplit("/", 1)[-1])
    path = _DATA / f"{name}.json"
    if not path.is_file():
        return IDENTITY
    calibration = Calibration.from_json(json.loads(path.read_text(encoding="utf-8")))
    if dims is not None and calibration.mean is not None and len(calibration.mean) != dims:
        return IDENTITY
    return calibration


def measure_calibration(
    embedder: Embedder,
    texts: Sequence[str],
    source: str,
    meanings: Sequence[object] | None = None,
) -> Calibration:
    """The calibration of a model over texts of which no two say related things.

    `meanings`, one for each text, marks texts that do say the same (a sentence and its
    translation): pairs of equal meaning are left out. Near copies that are not marked raise the
    figures. Raises: ValueError for fewer than 20 texts; what the embedder raises.
    """
    import numpy as np

    if len(texts) < MIN_SAMPLE_TEXTS:
        raise ValueError(f"at least {MIN_SAMPLE_TEXTS} texts, got {len(texts)}")
    marks = list(range(len(texts))) if meanings is None else list(meanings)
    numbers = {mark: number for number, mark in enumerate(dict.fromkeys(marks))}
    group = np.array([numbers[mark] for mark in marks])
    apart = group[:, None] != group[None, :]
    documents = embedder.embed_documents(texts)
    queries = np.array([embedder.embed_query(text) for text in texts], dtype=np.float32)
    both = queries @ documents.T

    def figures(cosines: Any) -> dict[float, float]:
        values = np.percentile(cosines, PERCENTILES)
        return dict(zip(PERCENTILES, (float(value) for value in values), strict=True))

    once = np.triu(apart)
    return Calibration(
        unrelated=figures((documents @ documents.T)[once]),
        unrelated_queries=figures(both[apart]),
        same_query=float(np.median(np.diag(both))),
        mean=tuple(float(value) for value in documents.mean(axis=0)),
        source=source,
        pairs=int(once.sum()),
    )
