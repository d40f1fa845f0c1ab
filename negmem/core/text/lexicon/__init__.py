"""Which words mean the same, are opposites, or are forms of one word: from WordNet, and from groups of our own.

Read when it is first asked for (50 ms, 10 MB). Words are looked up by their stem, as likeness compares stems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Lexicon:
    """English by stems: `groups` gives the groups of a word, `phrases` those that begin with a word."""

    groups: dict[str, set[int]] = field(default_factory=dict)
    phrases: dict[str, list[tuple[frozenset[str], int]]] = field(default_factory=dict)
    opposites: set[frozenset[str]] = field(default_factory=set)
    forms: set[frozenset[str]] = field(default_factory=set)

    def same(self, one: str, other: str) -> bool:
        """Whether two stems share a group or are forms of one word."""
        return (
            frozenset((one, other)) in self.forms
            or not self.groups.get(one, set()).isdisjoint(self.groups.get(other, ()))
        ) and not self.opposite(one, other)

    def opposite(self, one: str, other: str) -> bool:
        """Whether two stems are opposites."""
        return frozenset((one, other)) in self.opposites

    def phrase_groups(self, words: Iterable[str]) -> list[tuple[frozenset[str], int]]:
        """The phrases whose words all are among `words`, each with its group."""
        given = frozenset(words)
        return [
            (phrase, group)
            for word in given
            for phrase, group in self.phrases.get(word, ())
            if phrase <= given
        ]


def lines_of(name: str) -> list[str]:
    """The lines of a word list beside this file, without comments."""
    text = (_FOLDER / name).read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@lru_cache(maxsize=1)
def english(stem: Callable[[str], str]) -> Lexicon:
    """The English lexicon, its words brought to their `stem`."""
    lexicon = Lexicon()
    more = lines_of("english_more.txt")
    loose = [line.removeprefix("? ") for line in more if line.startswith(("?", "!"))]
    for number, line in enumerate([*lines_of("english.txt"), *loose]):
        words = line.split()
        if words[0] in ("!", "~"):
            pair = frozenset(map(stem, words[1:]))
            if len(pair) == 2:
                (lexicon.opposites if words[0] == "!" else lexicon.forms).add(pair)
            continue
        for word in words:
            parts = frozenset(map(stem, word.split("_")))
            if len(parts) == 1:
                lexicon.groups.setdefault(stem(word), set()).add(number)
            else:
                lexicon.phrases.setdefault(min(parts), []).append((parts, number))
    return lexicon
