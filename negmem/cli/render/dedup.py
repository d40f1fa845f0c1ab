"""A deduplication as text: each pair as two lines with the words marked that differ, then the counts."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from negmem.cli.render.marked_words import marked_pair

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.dedup import Deduplicated

_SHOWN_VETOED = 20
_REASONS = {
    "negation": "one denies",
    "amount": "numbers, dates or times differ",
    "name": "names differ",
    "time": "one speaks of the past",
    "detail": "one says more",
    "words": "words differ",
    "order": "who does what differs",
    "question": "one asks",
    "day": "said of another day",
    "length": "too long to compare",
    "pinned": "both are pinned",
    "chain": "both took in others",
    "kept_apart": "told apart by hand",
    "short": "interjections of a conversation",
    "empty": "without words",
    "identity": "different things are known of them",
}


def draw_deduplicated(console: Console, done: Deduplicated) -> None:
    """What went or would go and for what, what was kept apart, and how many."""
    if done.mode == "undo":
        verb = "would bring back" if done.dry_run else "brought back"
        console.out(f"{verb} {done.restored:,} · {done.kept:,} are live")
        return
    for pair in done.pairs:
        how = f"similarity {pair.similarity or 0:.2f}"
        if pair.exact:
            is_equal = pair.survivor_content == pair.removed_content
            how = "same to the letter" if is_equal else "same but for case and marks"
        if pair.similarity is None and not pair.exact:
            how = "same by rule"
        _draw_pair(
            console,
            [
                ("keep", pair.survivor, pair.survivor_content),
                ("drop", pair.removed, pair.removed_content),
            ],
            how,
        )
    if done.pairs_left_out:
        console.out(f"… and {done.pairs_left_out:,} more pairs")
    shown = done.vetoed_pairs[:_SHOWN_VETOED] if done.dry_run or console.common.verbose else []
    for veto in shown:
        why = _REASONS.get(veto.guard, veto.guard)
        if veto.similarity is not None:
            why = f"{why} · similarity {veto.similarity:.2f}"
        _draw_pair(
            console,
            [("both", veto.one, veto.one_content), ("stay", veto.other, veto.other_content)],
            why,
        )
    verb = "would remove" if done.dry_run else "removed"
    console.out(
        f"{verb} {done.removed:,} for {done.groups:,} that stay · {done.kept:,} live · {done.vetoed:,}"
        " near pairs kept apart"
    )
    if done.blank:
        console.note(f"{done.blank:,} have no words and are never merged")
    if done.changed_meanwhile:
        console.note(f"{done.changed_meanwhile:,} were changed meanwhile and are left as they are")


def _draw_pair(console: Console, sides: list[tuple[str, UUID, str]], why: str) -> None:
    def mark(text: str) -> str:
        return console.style(text, "warn") if console.colored else f"[{text}]"

    head = max(len(name) for name, _, _ in sides) + 2
    width = None if console.width is None else max(16, console.width - head)
    lines = marked_pair(sides[0][2], sides[1][2], mark, width)
    for (name, item, _), text in zip(sides, lines, strict=True):
        console.out(f"{name:<{head}}{text[0]}")
        for line in text[1:]:
            console.out(f"{'':<{head}}{line}")
        console.out(f"{'':<{head}}{console.style(str(item), 'dim')}")
    console.out(f"{'':<{head}}{console.style(why, 'dim')}")
    console.out()
