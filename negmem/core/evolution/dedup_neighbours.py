"""The nearest of each of many sign-bit vectors, without comparing all with all.

The vectors are put in order by a few of their bits, chosen by chance, and only those that then stand beside
each other are compared; this many times, with other bits. Near vectors agree in most bits, so that some order
puts them together. The work grows as sorting does. What is missed are single neighbours, never texts that
say the same, which the caller finds by key.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ORDERS = 24
WINDOW = 64
_SEED = 20_260_401
_FAR = 65_535


def nearest_pairs(
    bits: NDArray[np.uint8],
    groups: NDArray[np.int32],
    neighbours: int,
    *,
    checkpoint: Callable[[], None] = lambda: None,
) -> NDArray[np.int32]:
    """Pairs (i, j), i < j, where one is among the `neighbours` nearest found of the other; sorted, each once.

    Args: bits, packed sign bits, a row a vector; groups, only vectors of one group are paired;
    checkpoint is called now and then.
    """
    import numpy as np

    count = len(bits)
    near = np.full((count, neighbours), -1, dtype=np.int32)
    distance = np.full((count, neighbours), _FAR, dtype=np.uint16)
    chance = np.random.default_rng(_SEED)
    for _ in range(ORDERS if count > WINDOW else 1):
        order = _ordered(bits, chance)
        for start in range(0, count, WINDOW):
            _look(order[start : start + WINDOW], bits, groups, near, distance)
        checkpoint()
    first = np.repeat(np.arange(count, dtype=np.int32), neighbours)
    second = near.ravel()
    is_pair = second >= 0
    first, second = first[is_pair], second[is_pair]
    pairs = np.stack([np.minimum(first, second), np.maximum(first, second)], axis=1)
    return np.unique(pairs, axis=0) if len(pairs) else pairs


def _ordered(bits: NDArray[np.uint8], chance: np.random.Generator) -> NDArray[np.int32]:
    """The places of the vectors, sorted by up to 64 of their bits."""
    import numpy as np

    key = np.zeros(len(bits), dtype=np.uint64)
    for bit in chance.permutation(bits.shape[1] * 8)[:64]:
        is_set = (bits[:, bit // 8] >> (7 - bit % 8)) & 1
        key = (key << np.uint64(1)) | is_set.astype(np.uint64)
    return np.argsort(key, kind="stable").astype(np.int32)


def _look(
    part: NDArray[np.int32],
    bits: NDArray[np.uint8],
    groups: NDArray[np.int32],
    near: NDArray[np.int32],
    distance: NDArray[np.uint16],
) -> None:
    """Compare all of a window and keep the nearest of each, with those of earlier orders."""
    import numpy as np

    signs = np.unpackbits(bits[part], axis=1).astype(np.float32) * 2 - 1
    apart = ((signs.shape[1] - signs @ signs.T) / 2).astype(np.uint16)
    apart[groups[part][:, None] != groups[part][None, :]] = _FAR
    np.fill_diagonal(apart, _FAR)
    known = near[part]
    for column in range(known.shape[1]):
        apart[known[:, column][:, None] == part[None, :]] = _FAR
    everyone = np.concatenate([distance[part], apart], axis=1)
    names = np.concatenate([known, np.broadcast_to(part, (len(part), len(part)))], axis=1)
    best = np.argpartition(everyone, known.shape[1] - 1, axis=1)[:, : known.shape[1]]
    kept = np.take_along_axis(everyone, best, axis=1)
    distance[part] = kept
    near[part] = np.where(kept < _FAR, np.take_along_axis(names, best, axis=1), -1)
