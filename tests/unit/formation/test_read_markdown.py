"""Transcripts in Markdown."""

import pytest

from negmem.core.formation.readers import records as module
from tests.support.conversations import records_of, rejects_of, sessions_of, turns_of


def test_speakers_in_bold_with_several_lines_and_code() -> None:
    text = (
        "**Alice:** How do I print?\n\n"
        "**Bob**: Like this:\n\n"
        "```python\n# Alice: not a speaker\nprint('**Bob:** hi')\n```\n\nEasy.\n"
        "- **Alice：** 谢谢！\n"
    )
    found = turns_of(text)
    assert [(turn.speaker, turn.text) for turn in found] == [
        ("Alice", "How do I print?"),
        (
            "Bob",
            "Like this:\n\n```python\n# Alice: not a speaker\nprint('**Bob:** hi')\n```\n\nEasy.",
        ),
        ("Alice", "谢谢！"),
    ]


def test_bare_names_and_chinese_colons() -> None:
    text = "小明：你周末去哪儿？\n小红：去苏州。\n注意：这不是人名\n小明：几点的车？\n小红：G7301，9:05。\n"
    found = turns_of(text)
    assert [turn.speaker for turn in found] == ["小明", "小红", "小明", "小红"]
    assert found[1].text == "去苏州。\n注意：这不是人名"
    assert found[3].text == "G7301，9:05。"


def test_headings_name_roles_and_begin_sessions() -> None:
    text = (
        "# Trip planning\n\n"
        "## Session 1 · 2026-03-02 09:00\n\n"
        "### User\n\nPlan a trip.\n\n"
        "### Assistant\n\n## Day one\n\nWalk.\n\n"
        "## 会话 2 · 2026年3月5日 20:00\n\n"
        "### 用户\n改成周五\n\n### 助手\n好的\n"
    )
    first, second = sessions_of(text)
    assert [(turn.role, turn.text) for turn in first.turns] == [
        ("user", "Plan a trip."),
        ("assistant", "## Day one\n\nWalk."),
    ]
    assert str(first.turns[0].occurred_at) == "2026-03-02 09:00:00+00:00"
    assert [(turn.role, turn.text) for turn in second.turns] == [
        ("user", "改成周五"),
        ("assistant", "好的"),
    ]
    assert str(second.turns[1].occurred_at) == "2026-03-05 20:00:00+00:00"
    assert [turn.position for turn in second.turns] == [1, 2]


def test_front_matter_and_stamps() -> None:
    text = (
        "---\nuser: alice\nthread: 'standup'\ndate: 2026-03-02\n---\n"
        "[09:01] Ann: good morning\n"
        "[2026-03-02 09:02:30] Bo: 早\n"
        "Ann (10:15): late\n"
    )
    (found,) = sessions_of(text)
    assert (found.user, found.thread) == ("alice", "standup")
    assert [(t.speaker, str(t.occurred_at)[:19]) for t in found.turns] == [
        ("Ann", "2026-03-02 09:01:00"),
        ("Bo", "2026-03-02 09:02:30"),
        ("Ann", "2026-03-02 10:15:00"),
    ]


def test_text_before_anyone_speaks_is_a_reject_with_its_line() -> None:
    found = records_of("# Title\n\nExported from somewhere\n\n**User:** hi\n\n**Assistant:** ho\n")
    fault = found[0]
    assert (fault.reason, fault.place.line, fault.raw) == (  # type: ignore[union-attr]
        "speaker_missing",
        3,
        "Exported from somewhere",
    )
    assert len(found[1].turns) == 2  # type: ignore[union-attr]


def test_bad_dates_and_bytes_are_rejects() -> None:
    (fault,) = rejects_of("## Session 0001-01-01\n**User:** hi\n")
    assert (fault.reason, fault.place.line) == ("datetime_invalid", 1)
    (fault,) = rejects_of(b"**User:** hi\ncaf\xe9\n**User:** ho\n")
    assert (fault.reason, fault.place.line) == ("invalid_utf8", 2)
    (fault,) = rejects_of("---\ndate: never\n---\n**User:** hi\n")
    assert fault.reason == "datetime_invalid"


def test_windows_line_ends() -> None:
    assert [turn.text for turn in turns_of("**User:** a\r\nb\r\n**Assistant:** c\r\n")] == [
        "a\nb",
        "c",
    ]


def test_a_turn_above_the_limit_is_refused_not_cut() -> None:
    line = "记忆" * 50 + "\n"
    data = "**User:** a\n" + line * 1500 + "**Assistant:** b\n"
    (fault,) = rejects_of(data, "markdown", max_characters=100_000)
    assert fault.reason == "text_too_long"


def test_long_transcripts_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIECE_TURNS", 2)
    found = sessions_of("".join(f"**User:** {n}\n" for n in range(5)))
    assert [len(session.turns) for session in found] == [2, 2, 1]
    assert [turn.position for session in found for turn in session.turns] == [1, 2, 3, 4, 5]


def test_crlf_and_trailing_spaces_inside_code_stay() -> None:
    (turn,) = turns_of("**User:** x\n\n    indented  \n\tt\tt\n")
    assert turn.text == "x\n\n    indented  \n\tt\tt"
