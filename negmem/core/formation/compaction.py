"""Long threads made shorter for those who read them, without a model: the events keep every word.

Older answers of tools are cut to their beginning and end, so are other older turns that are very long; the
last turns stay whole; words such as "yesterday" or "明天" get the date that they meant when they were said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from negmem.config.model import Compaction

# Of what is kept, so much is the beginning: it says what the text is about, the end how it came out.
_HEAD_SHARE = 0.7


@dataclass(frozen=True)
class Turn:
    """What somebody said in a thread, or a tool answered.

    `text` is what is kept of it: edited or masked where the turn's memory was, shortened where
    compaction is on. `role` is user, assistant, tool, system or other; `speaker` a name, where speakers
    have names. `is_new` says whether it was recorded since the thread was consolidated last;
    `memory_id` is the turn's memory, if it has one.
    """

    event_id: UUID
    position: int
    kind: str
    role: str | None
    speaker: str | None
    text: str
    occurred_at: datetime | None
    is_new: bool
    memory_id: UUID | None


def compacted(
    turns: Sequence[Turn],
    settings: Compaction,
    *,
    dated: Callable[[str, datetime], str] | None = None,
) -> list[Turn]:
    """The turns, the older ones shortened; none is left out.

    Args: dated, puts dates behind relative words of a text, given when it was said.
    """
    first_whole = max(0, len(turns) - settings.keep_turns)
    return [
        _compacted(turn, settings, dated) if place < first_whole else turn
        for place, turn in enumerate(turns)
    ]


def _compacted(
    turn: Turn, settings: Compaction, dated: Callable[[str, datetime], str] | None
) -> Turn:
    is_tool = turn.role == "tool"
    text = shortened(turn.text, settings.tool_chars if is_tool else settings.turn_chars)
    if dated is not None and not is_tool and turn.occurred_at is not None:
        text = dated(text, turn.occurred_at)
    return turn if text == turn.text else replace(turn, text=text)


def shortened(text: str, most: int) -> str:
    """Beginning and end of a text, `most` characters of it, with what lies between counted.

    Unchanged where the note would take as much as it saves.
    """
    left_out = len(text) - most
    note = f"\n[… {left_out:,} characters left out …]\n"
    if left_out <= len(note):
        return text
    head = text[: round(most * _HEAD_SHARE)]
    tail = text[len(text) - (most - len(head)) :] if most > len(head) else ""
    return f"{_whole_words(head)}{note}{tail.lstrip()}".strip()


def _whole_words(head: str) -> str:
    """A beginning without the piece of a word at its end, where words have blanks between them."""
    cut = head.rstrip()
    last = cut.rfind(" ")
    is_word = len(cut) == len(head) and last >= 0 and cut[last + 1 :].isascii()
    return cut[:last].rstrip() if is_word and len(cut) - last <= 40 else cut
