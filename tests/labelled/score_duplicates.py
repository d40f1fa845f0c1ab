"""How well the merge rules tell duplicates: `python -m tests.labelled.score_duplicates [FILE…]`.

A pair is merged where its vectors nominate it and the rules find nothing that keeps it apart, as the step
dedup_merge does it. Prints precision and recall, by language and by note, and the pairs that went wrong.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from negmem.core.merging import NOMINATED_FROM
from negmem.core.text.exact_key import exact_key
from negmem.core.text.likeness import likeness
from negmem.providers.local import LocalEmbedder

DEVELOPMENT = Path(__file__).parent / "duplicates_dev.jsonl"


def verdicts(pairs: list[dict[str, Any]], threshold: float = NOMINATED_FROM) -> list[bool]:
    """Whether each pair would be merged, with the vectors of the local model."""
    embedder = LocalEmbedder()
    first = embedder.embed_documents([pair["a"] for pair in pairs])
    second = embedder.embed_documents([pair["b"] for pair in pairs])
    scale = embedder.calibration.documents
    found = []
    for pair, one, other in zip(pairs, first, second, strict=True):
        similarity = scale.similarity(float(one @ other))
        key = exact_key(pair["a"])
        is_exact = key is not None and key == exact_key(pair["b"])
        same = likeness(pair["a"], pair["b"], similarity).same
        found.append(is_exact or (similarity >= threshold and same))
    return found


def report(paths: list[Path]) -> None:
    """Print the figures of some files of labelled pairs together."""
    pairs = [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
    merged = verdicts(pairs)
    groups: dict[str, Counter[str]] = {}
    for pair, was_merged in zip(pairs, merged, strict=True):
        outcome = (
            ("tp" if pair["duplicate"] else "fp")
            if was_merged
            else ("fn" if pair["duplicate"] else "tn")
        )
        for name in ("all", pair["lang"], pair["note"]):
            groups.setdefault(name, Counter())[outcome] += 1
        if outcome in ("fp", "fn"):
            guard = likeness(pair["a"], pair["b"]).guard
            print(f"{outcome} {pair['id']} {guard}: {pair['a']} | {pair['b']}")
    print(f"\n{'':<16}{'pairs':>6}{'precision':>11}{'recall':>8}")
    for name, counts in groups.items():
        said, wanted = counts["tp"] + counts["fp"], counts["tp"] + counts["fn"]
        precision = f"{counts['tp'] / said:.3f}" if said else "–"
        recall = f"{counts['tp'] / wanted:.3f}" if wanted else "–"
        print(f"{name:<16}{sum(counts.values()):>6}{precision:>11}{recall:>8}")


if __name__ == "__main__":
    report([Path(name) for name in sys.argv[1:]] or [DEVELOPMENT])
