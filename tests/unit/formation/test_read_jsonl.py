"""negmem's own format, and the files of retrieval data sets that look like it."""

import json
from datetime import datetime, timezone

import pytest

from negmem.core.formation.readers import records as module
from negmem.core.formation.readers.records import Session
from tests.support.conversations import (
    records_of,
    rejects_of,
    remarks_of,
    sessions_of,
    turns_of,
)

TIME = "2026-03-02T09:00:00Z"
MOMENT = datetime(2026, 3, 2, 9, tzinfo=timezone.utc)


def lines(*values: object) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def session(*texts: str, **members: object) -> dict[str, object]:
    turns = [{"role": "user", "text": text} for text in texts]
    return {"thread": "t1", "datetime": TIME, "user": "alice", "turns": turns, **members}


def test_a_session_line_with_everything() -> None:
    turn = {
        "id": "1",
        "role": "user",
        "text": "我的猫叫年糕 🐱",
        "datetime": "2026-03-02T17:01:00+08:00",
        "metadata": {"channel": "app"},
    }
    (found,) = sessions_of(
        lines({**session(), "turns": [turn, {"role": "assistant", "text": "好"}]})
    )
    assert (found.thread, found.user, found.occurred_at) == ("t1", "alice", MOMENT)
    first, second = found.turns
    assert (first.position, first.id, first.role, first.speaker) == (1, "1", "user", None)
    assert (first.text, first.metadata) == ("我的猫叫年糕 🐱", {"channel": "app"})
    assert first.occurred_at == datetime(2026, 3, 2, 9, 1, tzinfo=timezone.utc)
    assert (second.role, second.occurred_at, second.author) == ("assistant", MOMENT, "assistant")
    assert found.opening == first.content_hash and not found.separate


def test_what_may_be_missing() -> None:
    (found,) = sessions_of(lines({"turns": [{"role": "user", "text": "hi", "datetime": None}]}))
    assert (found.thread, found.user, found.occurred_at) == (None, None, None)


def test_speaker_stands_for_role() -> None:
    values = [{"speaker": "Mei", "text": "a"}, {"speaker": "user", "text": "b"}]
    mei, user = turns_of(lines({"thread": "t", "turns": values}))
    assert (mei.role, mei.speaker, mei.author) == ("other", "Mei", "Mei")
    assert (user.role, user.speaker, user.author) == ("user", None, "user")
    mei, _ = turns_of(lines({"thread": "t", "turns": values}), me="mei")
    assert (mei.role, mei.speaker) == ("user", "Mei")


def test_single_turn_lines() -> None:
    first, second = sessions_of(
        lines(
            {
                "thread": "t1",
                "user": "alice",
                "role": "user",
                "text": "port 8080",
                "datetime": TIME,
            },
            {"thread": "t1", "user": "alice", "role": "assistant", "text": "端口 8081"},
        )
    )
    assert (first.thread, first.user, first.turns[0].occurred_at) == ("t1", "alice", MOMENT)
    assert not first.separate and second.separate
    (fault,) = rejects_of(lines({"role": "user", "text": "no thread"}), "jsonl")
    assert fault.reason == "thread_missing"
    assert sessions_of(lines({"role": "user", "text": "no thread"}), "jsonl", thread="t9")


def test_files_of_retrieval_data_sets() -> None:
    (exchange,) = sessions_of(
        lines(
            {
                "conversation_id": "u00",
                "session_id": "2023-04-27",
                "datetime": "2023-04-27T00:00:00",
                "user_name": "张曼婷",
                "turns": [{"turn_id": "x0", "user": "你好", "assistant": "你好，张曼婷"}],
            }
        )
    )
    assert (exchange.thread, exchange.store, exchange.user) == ("u00/2023-04-27", "u00", None)
    assert [(t.position, t.role, t.id, t.text) for t in exchange.turns] == [
        (1, "user", "x0", "你好"),
        (2, "assistant", "x0", "你好，张曼婷"),
    ]
    (shown,) = turns_of(
        lines(
            {
                "conversation_id": "c",
                "session_id": "s",
                "turns": [
                    {"dia_id": "D1:1", "speaker": "Ann", "text": "look", "image_caption": "a dog"}
                ],
            }
        )
    )
    assert (shown.id, shown.text) == ("D1:1", "look\n[picture: a dog]")
    assert shown.metadata == {"image_caption": "a dog"}


def test_labels_are_not_read_and_unknown_keys_are_told_once() -> None:
    labelled = {"role": "user", "text": "a", "has_answer": True, "evidence": ["x"], "mood": "sad"}
    data = lines({"thread": "t", "turns": [labelled, labelled], "weather": "rain", "answer": "42"})
    found = records_of(data)
    assert [r.detail for r in remarks_of(data)] == ["session.weather", "turn.mood"]
    (read,) = [record for record in found if isinstance(record, Session)]
    assert all(turn.metadata == {} for turn in read.turns)
    assert "42" not in str(read) and "sad" not in str(read)


@pytest.mark.parametrize(
    ("line", "reason", "detail"),
    [
        (
            "{not json",
            "not_json",
            "Expecting property name enclosed in double quotes at character 1",
        ),
        ('{"thread": "t", "turns": [', "not_json", "Expecting value at character 26"),
        ("[1, 2]", "not_a_session", "a list, not an object"),
        ('"text"', "not_a_session", "str, not an object"),
        ("{}", "not_a_session", "neither turns nor text in the object"),
        ('{"thread": "t", "turns": {}}', "turns_invalid", "turns is an object, not a list"),
        ('{"thread": "t", "turns": []}', "no_turns", "the list of turns is empty"),
        ('{"user": "", "turns": [{}]}', "user_empty", "the user is an empty string"),
        ('{"user": ["a"], "turns": [{}]}', "name_invalid", "the user is a list, not a string"),
        (
            '{"datetime": "soon", "turns": [{}]}',
            "datetime_invalid",
            "'soon' is not a time, for example 2026-03-02T09:00:00Z",
        ),
        (
            '{"thread": "' + "t" * 256 + '", "turns": [{}]}',
            "name_too_long",
            "the thread has 256 characters, at most 255",
        ),
        ("[" * 100_000, "nested_too_deep", "nested too deep to be read"),
    ],
)
def test_a_bad_line_is_a_reject_and_the_rest_is_read(line: str, reason: str, detail: str) -> None:
    found = records_of(lines(session("a")) + line + "\n" + lines(session("b")), "jsonl")
    first, fault, last = found
    assert isinstance(first, Session) and isinstance(last, Session)
    assert (fault.place.line, fault.reason, fault.detail) == (2, reason, detail)  # type: ignore[union-attr]
    assert fault.raw == line  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        ("a string", "turn_invalid"),
        ({"role": "user"}, "text_missing"),
        ({"role": "user", "text": None}, "text_invalid"),
        ({"role": "user", "text": 7}, "text_invalid"),
        ({"text": "who?"}, "role_missing"),
        ({"role": "", "text": "who?"}, "role_missing"),
        ({"role": "user", "text": "a", "datetime": "0001-01-01"}, "datetime_invalid"),
        ({"role": "user", "text": "a", "metadata": [1]}, "metadata_invalid"),
        ({"role": "user", "text": "a", "metadata": {"k": "x" * 1_100_000}}, "metadata_too_long"),
        ({"role": "user", "text": "字" * 4_000_001}, "text_too_long"),
        ({"speaker": "s" * 300, "text": "a"}, "name_too_long"),
        ({"user": "你好", "assistant": None}, "text_invalid"),
    ],
)
def test_a_bad_turn_is_a_reject_and_keeps_its_place(turn: object, reason: str) -> None:
    good = {"role": "user", "text": "好"}
    found = records_of(lines({"thread": "t", "turns": [good, turn, good]}))
    (fault,) = [record for record in found if not isinstance(record, Session)]
    (read,) = [record for record in found if isinstance(record, Session)]
    assert (fault.reason, fault.place.line, fault.place.turn) == (reason, 1, 2)  # type: ignore[union-attr]
    step = 4 if isinstance(turn, dict) and "assistant" in turn else 3
    assert [t.position for t in read.turns] == [1, step]


def test_bytes_that_are_not_utf8_cost_their_line_alone() -> None:
    bad = b'{"thread": "t", "turns": [{"role": "user", "text": "caf\xe9"}]}\n'
    good = lines(session("咖啡")).encode()
    found = records_of(good + bad + good)
    assert [type(record).__name__ for record in found] == ["Session", "Reject", "Session"]
    fault = found[1]
    assert (fault.reason, fault.place.line) == ("invalid_utf8", 2)  # type: ignore[union-attr]
    assert "caf\\xe9" in fault.raw  # type: ignore[union-attr]


def test_nul_and_surrogates_are_replaced_and_counted_and_literals_stay() -> None:
    data = (
        r'{"thread": "t", "turns": [{"role": "user", "text": "W\u0000s\u0000l \\u0000",'
        r' "metadata": {"out": {"raw": "a\u0000b", "n": NaN}}},'
        r' {"role": "user", "text": "\ud83d\ude00 \ud83d"}]}'
    )
    (found,) = sessions_of(data)
    first, second = found.turns
    assert first.text == "W\ufffds\ufffdl \\u0000"
    assert first.metadata == {"out": {"raw": "a\ufffdb", "n": None}}
    assert second.text == "😀 \ufffd"
    assert (found.replaced.nul, found.replaced.surrogates, found.replaced.numbers) == (3, 1, 1)


def test_long_sessions_come_in_pieces_that_follow_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "PIECE_TURNS", 3)
    found = sessions_of(lines(session("a\0", *"bcdefg")))
    assert [[t.position for t in s.turns] for s in found] == [[1, 2, 3], [4, 5, 6], [7]]
    assert [s.continues for s in found] == [False, True, True]
    assert {s.opening for s in found} == {found[0].turns[0].content_hash}
    assert [s.replaced.nul for s in found] == [1, 0, 0]


def test_the_content_hash_tells_who_what_and_when_apart() -> None:
    variants = [
        {"role": "user", "text": "ok"},
        {"role": "assistant", "text": "ok"},
        {"speaker": "Ann", "text": "ok"},
        {"role": "user", "text": "ok "},
        {"role": "user", "text": "ok", "datetime": TIME},
    ]
    hashes = [t.content_hash for t in turns_of(lines({"thread": "t", "turns": variants}))]
    assert len(set(hashes)) == len(variants)
    again = [t.content_hash for t in turns_of(lines({"thread": "x", "turns": variants}))]
    assert again == hashes
    same = {"role": "human", "text": "ok", "id": "7", "metadata": {"a": 1}}
    assert turns_of(lines({"thread": "t", "turns": [same]}))[0].content_hash == hashes[0]
