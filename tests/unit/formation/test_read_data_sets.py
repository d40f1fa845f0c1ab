"""LoCoMo and LongMemEval as published: the conversations are read, the labels are not."""

import json

from negmem.core.formation.readers.records import Session
from tests.support.conversations import rejects_of, sessions_of

LOCOMO = [
    {
        "sample_id": "conv-1",
        "qa": [{"question": "q", "answer": "SECRET", "evidence": ["D1:1"], "category": 1}],
        "event_summary": {"events_session_1": {"Ann": ["SECRET"]}},
        "observation": {"session_1_observation": {"Ann": [["SECRET", "D1:1"]]}},
        "session_summary": {"session_1_summary": "SECRET"},
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bo",
            "session_10_date_time": "10:00 am on 9 May, 2023",
            "session_10": [{"speaker": "Bo", "dia_id": "D10:1", "text": "later"}],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [
                {
                    "speaker": "Ann",
                    "dia_id": "D2:1",
                    "text": "Look at this!",
                    "img_url": ["https://example.org/a.jpg"],
                    "blip_caption": "a photo of a dog",
                    "query": "SECRET",
                },
                {"speaker": "Bo", "dia_id": "D2:2", "text": "可爱"},
            ],
        },
    }
]
LONGMEMEVAL = [
    {
        "question_id": "q1_abs",
        "question_type": "SECRET",
        "question": "SECRET",
        "answer": "SECRET",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 03:00"],
        "haystack_session_ids": ["answer_1234_1", "ultrachat_9"],
        "answer_session_ids": ["answer_1234_1"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "我买了十二美元的杯子", "has_answer": True},
                {"role": "assistant", "content": "Nice."},
            ],
            [{"role": "user", "content": "hello"}, {"role": "assistant", "content": ""}],
        ],
    }
]


def test_locomo_as_published() -> None:
    for data in (json.dumps(LOCOMO), json.dumps(LOCOMO, indent=1), json.dumps(LOCOMO[0]) + "\n"):
        second, tenth = sessions_of(data)
        assert (second.thread, second.store) == ("conv-1/session_2", "conv-1")
        assert tenth.thread == "conv-1/session_10"
        ann, bo = second.turns
        assert (ann.speaker, ann.id, ann.text) == (
            "Ann",
            "D2:1",
            "Look at this!\n[picture: a photo of a dog]",
        )
        assert ann.metadata == {"image_caption": "a photo of a dog"}
        assert str(bo.occurred_at) == "2023-05-08 13:56:00+00:00"
        assert "SECRET" not in repr((second, tenth))


def test_one_of_the_two_is_the_user_when_told() -> None:
    second, _ = sessions_of(json.dumps(LOCOMO), me="bo")
    assert [turn.role for turn in second.turns] == ["other", "user"]


def test_longmemeval_as_published() -> None:
    for data in (json.dumps(LONGMEMEVAL), json.dumps(LONGMEMEVAL, indent=1)):
        first, second = sessions_of(data)
        assert first.store == second.store == "q1_abs"
        assert first.thread != second.thread and "answer" not in str(first.thread)
        assert [turn.text for turn in second.turns] == ["hello", ""]
        assert str(first.turns[0].occurred_at) == "2023-05-20 02:21:00+00:00"
        assert "SECRET" not in repr((first, second)) and "has_answer" not in repr(first)


def test_broken_entries_are_rejects_and_do_not_show_the_labels() -> None:
    entry = {**LONGMEMEVAL[0], "haystack_dates": ["2023/05/20 (Sat) 02:21"]}
    (fault,) = rejects_of(json.dumps([entry, LONGMEMEVAL[0]]))
    assert fault.reason == "haystack_mismatched" and "SECRET" not in fault.raw
    bad_turn = {**LONGMEMEVAL[0], "haystack_sessions": [[{"role": "user", "has_answer": True}], 5]}
    turn, session = rejects_of(json.dumps([bad_turn]))
    assert (turn.reason, session.reason) == ("text_invalid", "turns_invalid")
    assert "has_answer" not in turn.raw
    conversation = {
        "session_1": 5,
        "session_2": [7],
        "session_2_date_time": "1:56 pm on 8 May, 2023",
    }
    faults = rejects_of(json.dumps([{"sample_id": "c", "conversation": conversation}]))
    assert [fault.reason for fault in faults] == ["turns_invalid", "turn_invalid"]
    faults = rejects_of(json.dumps([{"sample_id": "c", "qa": [], "conversation": {}}]))
    assert [fault.reason for fault in faults] == ["no_turns"]


def test_their_cleaned_form_of_a_session_a_line() -> None:
    line = {"session_id": "s01", "turns": [{"turn_id": "s01#1", "role": "user", "text": "hi"}]}
    for wanted in ("auto", "longmemeval", "jsonl"):
        (found,) = sessions_of(json.dumps(line) + "\n", wanted)
        assert isinstance(found, Session)
        assert (found.thread, found.turns[0].id, found.occurred_at) == ("s01", "s01#1", None)
