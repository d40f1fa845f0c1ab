"""OpenAI messages in the forms in which they are kept."""

import json

import pytest

from negmem.core.formation.readers import records as module
from tests.support.conversations import records_of, rejects_of, sessions_of, turns_of

MESSAGES = [
    {"role": "system", "content": "You are helpful."},
    {"role": "user", "content": "上海天气怎么样？"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "get_weather", "arguments": '{"city": "上海"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": '{"temp": 21}'},
    {"role": "assistant", "content": "21 度，多云。"},
]
TEXTS = [
    "You are helpful.",
    "上海天气怎么样？",
    'get_weather({"city": "上海"})',
    '{"temp": 21}',
    "21 度，多云。",
]


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(MESSAGES),
        json.dumps(MESSAGES, indent=2, ensure_ascii=False),
        json.dumps({"messages": MESSAGES}),
        json.dumps({"messages": MESSAGES}, indent=2),
        json.dumps([{"messages": MESSAGES}]),
        json.dumps({"custom_id": "r1", "body": {"model": "m", "messages": MESSAGES}}) + "\n",
        "".join(json.dumps(message) + "\n" for message in MESSAGES),
        json.dumps(MESSAGES) + "\n" + json.dumps(MESSAGES) + "\n",
    ],
)
def test_one_conversation_however_it_is_wrapped(data: str) -> None:
    found = sessions_of(data)
    assert len({session.opening for session in found}) == 1
    for session in found:
        assert [turn.text for turn in session.turns] == TEXTS
        assert [turn.position for turn in session.turns] == [1, 2, 3, 4, 5]
        assert [turn.role for turn in session.turns] == [
            *("system", "user", "assistant", "tool", "assistant")
        ]
        assert [turn.kind for turn in session.turns] == [
            *("message", "message", "tool_call", "tool_call", "message")
        ]
    assert found[0].turns[2].actions["tool_calls"][0]["id"] == "call_1"  # type: ignore[index,call-overload]
    assert found[0].turns[3].metadata == {"tool_call_id": "call_1"}


def test_content_parts() -> None:
    content = [
        {"type": "text", "text": "What is on this picture?"},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "input_text", "text": "第二段"},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "transcript": "spoken words"}},
    ]
    answer = [
        {"type": "output_text", "text": "A cat.", "annotations": []},
        {"type": "refusal", "refusal": "I won't name it."},
    ]
    user, assistant = turns_of(
        json.dumps([{"role": "user", "content": content}, {"role": "assistant", "content": answer}])
    )
    assert user.text == "What is on this picture?\n第二段\nspoken words"
    assert user.metadata["attachments"] == [
        {"type": "image_url", "link": "https://example.org/a.png"},
        {"type": "image_url"},
        {"type": "input_audio"},
    ]
    assert assistant.text == "A cat.\nI won't name it."


def test_text_beside_a_call_is_what_was_said() -> None:
    (turn,) = turns_of(
        json.dumps(
            [
                {
                    "role": "assistant",
                    "content": "Let me look.",
                    "function_call": {"name": "look", "arguments": "{}"},
                }
            ]
        )
    )
    assert (turn.text, turn.kind) == ("Let me look.", "message")
    assert turn.actions == {"tool_calls": [{"name": "look", "arguments": "{}"}]}


def test_items_of_the_newer_interface() -> None:
    call, output = turns_of(
        json.dumps(
            [
                {"role": "user", "content": "go"},
                {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"},
                {"type": "function_call_output", "call_id": "c", "output": "done"},
            ]
        )
    )[1:]
    assert (call.role, call.text, call.metadata) == ("assistant", "f({})", {"tool_call_id": "c"})
    assert (output.role, output.text) == ("tool", "done")


def test_thread_user_names_and_times() -> None:
    (session,) = sessions_of(
        json.dumps(
            {
                "messages": [
                    {"role": "user", "name": "Ann", "content": "hi", "created_at": 1772442000},
                    {"role": "developer", "content": "be brief"},
                ],
                "conversation_id": "c1",
                "user": "alice",
                "created": 1772441000,
            }
        )
    )
    assert (session.thread, session.user) == ("c1", "alice")
    ann, developer = session.turns
    assert (ann.speaker, ann.role, developer.role) == ("Ann", "user", "system")
    assert str(ann.occurred_at) == "2026-03-02 09:00:00+00:00"


def test_a_log_of_a_growing_conversation_repeats_its_turns_exactly() -> None:
    data = "".join(
        json.dumps({"created": 1772441000 + n, "messages": MESSAGES[:n]}) + "\n" for n in (1, 3, 5)
    )
    found = sessions_of(data)
    hashes = [[turn.content_hash for turn in session.turns] for session in found]
    assert hashes[1][:1] == hashes[0] and hashes[2][:3] == hashes[1]
    assert len({session.opening for session in found}) == 1


def test_a_long_array_comes_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIECE_TURNS", 4)
    data = json.dumps([{"role": "user", "content": f"第 {n} 条"} for n in range(10)])
    found = sessions_of(data)
    assert [len(session.turns) for session in found] == [4, 4, 2]
    assert [turn.position for session in found for turn in session.turns] == list(range(1, 11))
    assert [session.continues for session in found] == [False, True, True]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"role": "user", "content": 5}, "text_invalid"),
        ({"role": "user", "content": [{"type": "text", "text": 5}]}, "text_invalid"),
        ({"role": "user", "content": [5]}, "text_invalid"),
        ({"content": "nobody"}, "role_missing"),
        ("text", "turn_invalid"),
    ],
)
def test_a_bad_message_is_a_reject(value: object, reason: str) -> None:
    (fault,) = rejects_of(json.dumps({"messages": [MESSAGES[0], value]}))
    assert (fault.reason, fault.place.turn) == (reason, 2)


def test_a_cut_off_array_gives_what_stands_before_the_cut() -> None:
    data = json.dumps(MESSAGES, indent=1, ensure_ascii=False)
    found = records_of(data[: data.index("21 度")])
    assert [type(record).__name__ for record in found] == ["Reject", "Session"]
    assert found[0].reason == "not_json"  # type: ignore[union-attr]
    assert len(found[1].turns) == 4  # type: ignore[union-attr]


def test_bytes_that_are_not_utf8_cost_their_message_alone() -> None:
    data = json.dumps(MESSAGES, ensure_ascii=False).encode().replace("多云".encode(), b"\xff\xfe")
    found = records_of(data)
    assert [type(record).__name__ for record in found] == ["Reject", "Session"]
    assert (found[0].reason, found[0].place.item) == ("invalid_utf8", 5)  # type: ignore[union-attr]


def test_an_object_that_is_no_conversation_is_a_reject() -> None:
    reasons = [fault.reason for fault in rejects_of('{"a": 1}\n{"messages": []}\n', "openai")]
    assert reasons == ["not_a_session", "no_turns"]
