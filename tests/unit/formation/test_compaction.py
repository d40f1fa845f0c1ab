"""Long threads shortened: what stays whole, what is cut, and that it is said."""

from __future__ import annotations

from datetime import datetime, timezone
from uuid import UUID

from negmem.config.model import Compaction
from negmem.core.formation.compaction import Turn, compacted, shortened
from negmem.core.text.dates import dated

SAID = datetime(2026, 3, 2, 9, tzinfo=timezone.utc)
SETTINGS = Compaction(enabled=True, keep_turns=2, tool_chars=60, turn_chars=100)


def turn(number: int, role: str, text: str) -> Turn:
    return Turn(UUID(int=number), number, "message", role, None, text, SAID, True, None)


def test_older_turns_are_cut_to_beginning_and_end_and_the_last_stay_whole() -> None:
    listing = "total 4812\n" + "drwxr-xr-x somebody\n" * 200 + "exit 0"
    turns = [
        turn(1, "tool", listing),
        turn(2, "user", "短句子，一个字也不能少。"),
        turn(3, "assistant", "第一句。" + "很长的回答" * 100 + "最后一句。"),
        turn(4, "tool", listing),
        turn(5, "user", "x" * 5_000),
    ]
    short = compacted(turns, SETTINGS)
    assert [one.event_id for one in short] == [one.event_id for one in turns]
    assert short[1] is turns[1]
    assert short[3:] == turns[3:]
    assert short[0].text.startswith("total 4812")
    assert short[0].text.endswith("exit 0")
    assert f"[… {len(listing) - 60:,} characters left out …]" in short[0].text
    assert len(short[0].text) < 120
    assert short[2].text.startswith("第一句。")
    assert short[2].text.endswith("最后一句。")


def test_dates_are_put_where_they_were_said_but_not_into_answers_of_tools() -> None:
    turns = [turn(1, "user", "见面 明天"), turn(2, "tool", "明天"), turn(3, "user", "明天")]
    short = compacted(
        turns,
        Compaction(enabled=True, keep_turns=1),
        dated=dated,
    )
    assert "2026-03-03" in short[0].text
    assert [one.text for one in short[1:]] == ["明天", "明天"]


def test_a_text_is_left_alone_where_the_note_would_save_nothing() -> None:
    assert shortened("a" * 130, 100) == "a" * 130
    assert shortened("", 0) == ""
    assert shortened("ab " * 40, 0).startswith("[… 120 characters left out")
    assert "wor\n" not in shortened("some words " * 20, 100)
