"""One pass over a store: which of its items share a key, without keeping their texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date
from hashlib import blake2b
from uuid import UUID

from negmem.core.evolution.dedup_stores import Item
from negmem.core.merging import occasion
from negmem.core.text.compat_key import compat_key
from negmem.core.text.exact_key import exact_key
from negmem.core.text.likeness_key import likeness_key

_STEP = 5_000


class _Keyed:
    """Places by key; a place that shares its key with none costs one number."""

    def __init__(self) -> None:
        self._first: dict[int, int] = {}
        self.groups: dict[int, list[int]] = {}

    def add(self, place: int, item: Item, key: object, day: date | None) -> None:
        """Note that the item at a place has a key; days that differ keep apart what is said of a day."""
        said = repr((item.group_key, key, day)).encode("utf-8", "surrogatepass")
        digest = int.from_bytes(blake2b(said, digest_size=8).digest(), "big")
        first = self._first.setdefault(digest, place)
        if first != place:
            self.groups.setdefault(digest, [first]).append(place)


@dataclass
class Groups:
    """Places in `ids`, in order of id: those of one exact key, those that may say the same.

    `classes` numbers what only is compared with its like; `blank` counts items without words.
    """

    ids: list[UUID] = field(default_factory=list)
    classes: list[int] = field(default_factory=list)
    exact: list[list[int]] = field(default_factory=list)
    alike: list[list[int]] = field(default_factory=list)
    blank: int = 0


def grouped(
    items: Iterable[Item],
    *,
    semantic: bool,
    compat: bool = False,
    on_progress: Callable[[int], None] = lambda seen: None,
) -> Groups:
    """Read items in order of id; `compat` groups by the key of the first design and by nothing else."""
    found = Groups()
    exact, alike = _Keyed(), _Keyed()
    numbers: dict[str, int] = {}
    for place, item in enumerate(items):
        found.ids.append(item.id)
        found.classes.append(numbers.setdefault(item.group_key, len(numbers)))
        if compat:
            exact.add(place, item, compat_key(item.content), None)
        else:
            key = exact_key(item.content)
            day = occasion(item.content, item.moment)
            if key is None:
                found.blank += 1
            else:
                exact.add(place, item, key, day)
                meant = likeness_key(item.content) if semantic else None
                if meant is not None:
                    alike.add(place, item, meant, day)
        if (place + 1) % _STEP == 0:
            on_progress(place + 1)
    found.exact = list(exact.groups.values())
    found.alike = list(alike.groups.values())
    return found
