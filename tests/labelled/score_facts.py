"""Scores the pattern extractor on labelled turns: precision and recall by language and type.

A fact that was found matches a labelled one if the type and the negation are the same and the values
agree: after folding case, width, articles and punctuation the labelled value is a part of the value
that was found or of the clause that states it, or the found value is a part of the labelled one and
holds at least half of its characters. A labelled fact is matched once and a found fact matches once.

    python -m tests.labelled.score_facts FILE [--misses]
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from negmem.core.formation.extraction.found import Found
from negmem.core.formation.extraction.patterns import found_in
from negmem.core.text.sentences import folded

DEV = Path(__file__).parent / "facts_dev.jsonl"
TEST = Path(__file__).parent / "facts_test.jsonl"
_LOOSE = re.compile(r"[\s.,;:!?\"'“”‘’。，；：！？、·~-]+")
_ARTICLE = re.compile(r"\b(?:the|a|an)\b")


@dataclass
class Tally:
    """Counts of facts: labelled, found, and right."""

    labelled: int = 0
    found: int = 0
    right: int = 0

    @property
    def precision(self) -> float:
        """Share of what was found that is right; 1 where nothing was found."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """Share of what is labelled that was found; 1 where nothing is labelled."""
        return self.right / self.labelled if self.labelled else 1.0


@dataclass
class Score:
    """All tallies, by (language, type), with the turns that went wrong."""

    tallies: dict[tuple[str, str], Tally] = field(default_factory=lambda: defaultdict(Tally))
    wrong: list[str] = field(default_factory=list)

    def of(self, lang: str = "all", kind: str = "all") -> Tally:
        """The tally of a language and type, `all` for either."""
        total = Tally()
        for (one_lang, one_kind), tally in self.tallies.items():
            if lang in ("all", one_lang) and kind in ("all", one_kind):
                total.labelled += tally.labelled
                total.found += tally.found
                total.right += tally.right
        return total


def loose(value: str) -> str:
    """A value without case, articles, blanks and punctuation."""
    return _LOOSE.sub("", _ARTICLE.sub(" ", folded(value)))


def agree(label: dict[str, Any], found: Found) -> bool:
    """Whether a found fact is the labelled one."""
    if label["type"] != found.type or label["negated"] != found.negated:
        return False
    want, got, stated = loose(label["value"]), loose(found.object), loose(found.statement)
    if want in got or want in stated:
        return True
    return got in want and 2 * len(got) >= len(want)


def score(lines: list[dict[str, Any]]) -> Score:
    """Run the extractor over labelled turns; a turn of the assistant makes no facts."""
    result = Score()
    for line in lines:
        found = [one for one, _ in found_in(line["text"])] if line["speaker_is_user"] else []
        left = list(found)
        missed = []
        for label in line["facts"]:
            result.tallies[line["lang"], label["type"]].labelled += 1
            # The closest in length first, so that two labels don't fight for one found fact.
            fits = [one for one in left if agree(label, one)]
            fits.sort(key=lambda one: abs(len(one.object) - len(label["value"])))
            if fits:
                left.remove(fits[0])
                result.tallies[line["lang"], label["type"]].right += 1
            else:
                missed.append((label["type"], label["value"], label["negated"]))
        for one in found:
            result.tallies[line["lang"], one.type].found += 1
        if left or missed:
            extra = [(one.type, one.key, one.object, one.negated) for one in left]
            result.wrong.append(
                f"{line['id']} {line['note']}: {line['text']}\n    missed {missed}\n    extra  {extra}"
            )
    return result


def table(result: Score) -> str:
    """Precision and recall by language and type, as Markdown."""
    kinds = sorted({kind for _, kind in result.tallies})
    rows = [
        "| language | type | labelled | found | right | precision | recall |",
        "| --- " * 7 + "|",
    ]
    for lang in ("en", "zh", "all"):
        for kind in [*kinds, "all"]:
            tally = result.of(lang, kind)
            rows.append(
                f"| {lang} | {kind} | {tally.labelled} | {tally.found} | {tally.right}"
                f" | {tally.precision:.2f} | {tally.recall:.2f} |"
            )
    return "\n".join(rows)


def read(path: Path) -> list[dict[str, Any]]:
    """The labelled turns of a file."""
    with path.open(encoding="utf-8") as stream:
        return [json.loads(line) for line in stream if line.strip()]


def main() -> None:
    """Print the table, and what went wrong if asked."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path, nargs="?", default=DEV)
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    result = score(read(options.file))
    print(table(result))
    notes: Counter[str] = Counter(line.split()[1] for line in result.wrong)
    print(f"\nturns not right: {len(result.wrong)} {dict(notes)}")
    if options.misses:
        print("\n".join(result.wrong))


if __name__ == "__main__":
    main()
