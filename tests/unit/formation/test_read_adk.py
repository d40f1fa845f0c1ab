"""Sessions and events of the Agent Development Kit: files, and the kit's own objects."""

import json
from types import SimpleNamespace

import pytest

from negmem.core.formation.readers.adk import adk_sessions
from negmem.core.formation.readers.records import ReadOptions, Remark, Session
from tests.support.conversations import records_of, rejects_of, remarks_of, sessions_of

EVENTS = [
    {
        "id": "e1",
        "author": "user",
        "invocationId": "inv-1",
        "timestamp": 1772442000.25,
        "content": {"role": "user", "parts": [{"text": "帮我订一张"}, {"text": "去杭州的票"}]},
    },
    {
        "id": "e2",
        "author": "booking_agent",
        "invocationId": "inv-1",
        "timestamp": 1772442001,
        "content": {
            "role": "model",
            "parts": [
                {"text": "I should call the tool", "thought": True},
                {"functionCall": {"id": "c1", "name": "book", "args": {"to": "杭州"}}},
            ],
        },
        "actions": {"stateDelta": {}, "artifactDelta": {}},
    },
    {
        "id": "e3",
        "author": "booking_agent",
        "content": {
            "role": "user",
            "parts": [{"functionResponse": {"name": "book", "response": {"ok": True}}}],
        },
    },
    {
        "id": "e4",
        "author": "booking_agent",
        "partial": True,
        "content": {"parts": [{"text": "订"}]},
    },
    {"id": "e5", "author": "booking_agent", "content": "订好了，G7301 次。"},
    {"id": "e6", "author": "booking_agent", "actions": {"stateDelta": {"ticket": "G7301"}}},
]
SESSION = {
    "id": "s-1",
    "appName": "travel",
    "userId": "alice",
    "state": {"city": "上海"},
    "events": EVENTS,
    "lastUpdateTime": 1772442009,
}
TEXTS = [
    "帮我订一张\n去杭州的票",
    'book({"to": "杭州"})',
    'book: {"ok": true}',
    "订好了，G7301 次。",
    "",
]


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(SESSION),
        json.dumps(SESSION, indent=2, ensure_ascii=False),
        json.dumps([SESSION]),
        json.dumps([SESSION, {**SESSION, "id": "s-2"}], indent=1),
        json.dumps(SESSION) + "\n" + json.dumps({**SESSION, "id": "s-2"}) + "\n",
        json.dumps(
            {**SESSION, "app_name": "travel", "user_id": "alice", "appName": None, "userId": None}
        ),
    ],
)
def test_a_session_however_it_is_wrapped(data: str) -> None:
    found = sessions_of(data)
    assert [session.thread for session in found] == ["s-1", "s-2"][: len(found)]
    for session in found:
        assert (session.user, session.state) == ("alice", {"city": "上海"})
        assert [turn.text for turn in session.turns] == TEXTS
        assert [turn.position for turn in session.turns] == [1, 2, 3, 4, 5]
        assert [turn.kind for turn in session.turns] == [
            *("message", "tool_call", "tool_call", "message", "state_update")
        ]
        user, call, _, answer, state = session.turns
        assert (user.role, user.speaker, user.id) == ("user", None, "e1")
        assert str(user.occurred_at) == "2026-03-02 09:00:00.250000+00:00"
        assert (answer.role, answer.speaker) == ("assistant", "booking_agent")
        assert call.metadata["thoughts"] == ["I should call the tool"]
        assert call.metadata["invocation_id"] == "inv-1"
        assert state.actions == {"stateDelta": {"ticket": "G7301"}}
    assert [remark.code for remark in remarks_of(data)] == ["partial_event"] * len(found)


def test_events_that_name_their_session() -> None:
    data = "".join(
        json.dumps({**event, "sessionId": f"s-{n // 2}", "userId": "alice"}) + "\n"
        for n, event in enumerate(EVENTS[:3])
    )
    first, second = sessions_of(data)
    assert (first.thread, first.user, len(first.turns)) == ("s-0", "alice", 2)
    assert (second.thread, len(second.turns), second.turns[0].position) == ("s-1", 1, 1)
    (unnamed,) = sessions_of(json.dumps(EVENTS[:3]))
    assert (unnamed.thread, unnamed.user, len(unnamed.turns)) == (None, None, 3)
    (single,) = sessions_of(json.dumps(EVENTS[0]) + "\n")
    assert len(single.turns) == 1


def test_the_three_shapes_of_content_as_python_objects() -> None:
    part = SimpleNamespace(text="像咖啡", thought=None, function_call=None)
    events = [
        SimpleNamespace(
            author="user", content=SimpleNamespace(parts=[part]), timestamp=1772442000.0
        ),
        SimpleNamespace(author="model", content={"parts": [{"text": "dictionary"}]}, partial=False),
        SimpleNamespace(author="assistant", content="plain"),
        SimpleNamespace(author="agent", content=None, actions=None),
        SimpleNamespace(author="agent", content=SimpleNamespace(parts=[part]), partial=True),
    ]
    session = SimpleNamespace(id="s", user_id="alice", app_name="a", state={"k": 1}, events=events)
    found = list(adk_sessions([session], ReadOptions()))
    assert isinstance(found[0], Remark)
    read = found[1]
    assert isinstance(read, Session)
    assert [turn.text for turn in read.turns] == ["像咖啡", "dictionary", "plain", ""]
    assert [turn.role for turn in read.turns] == ["user", *["assistant"] * 3]
    assert (read.thread, read.user, read.state) == ("s", "alice", {"k": 1})


def test_the_kinds_of_parts() -> None:
    parts = [
        {"text": "看图"},
        {"inline_data": {"mime_type": "image/png", "data": "AAAA"}},
        {"fileData": {"fileUri": "gs://b/a.pdf", "mimeType": "application/pdf"}},
        {"executable_code": {"code": "print(1)", "language": "PYTHON"}},
        {"code_execution_result": {"outcome": "OK", "output": "1\n"}},
    ]
    ((turn,),) = [
        s.turns for s in sessions_of(json.dumps([{"author": "user", "content": {"parts": parts}}]))
    ]
    assert turn.text == "看图\nprint(1)\n1\n"
    assert turn.metadata["attachments"] == [
        {"type": "inline_data", "media_type": "image/png"},
        {"type": "file_data", "link": "gs://b/a.pdf", "media_type": "application/pdf"},
    ]


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({"author": "user", "content": 5}, "text_invalid"),
        ({"author": "user", "content": {"parts": "text"}}, "text_invalid"),
        ({"author": "user", "content": {"parts": [{"text": 5}]}}, "text_invalid"),
        ({"content": "nobody"}, "role_missing"),
        ({"author": "user", "content": "a", "timestamp": -1e15}, "datetime_invalid"),
        (7, "turn_invalid"),
    ],
)
def test_a_bad_event_is_a_reject(event: object, reason: str) -> None:
    (fault,) = rejects_of(json.dumps({**SESSION, "events": [EVENTS[0], event]}))
    assert fault.reason == reason


def test_what_is_no_session_is_a_reject() -> None:
    faults = rejects_of('{"id": "x"}\n{"id": "s", "events": []}\n{"id": "s", "events": 5}\n', "adk")
    assert [fault.reason for fault in faults] == ["not_a_session", "no_turns", "not_a_session"]
    nested = {"a": 1}
    for _ in range(200):
        nested = {"a": nested}  # type: ignore[dict-item]
    (deep,) = rejects_of(json.dumps({**SESSION, "state": nested}))
    assert deep.reason == "metadata_too_deep"
    assert len(records_of(json.dumps([{**SESSION, "state": nested}, SESSION]))) == 3
