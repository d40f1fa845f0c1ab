"""Whatever stands in an input, reading it gives records: a fault costs its own record, never the run."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negmem.core.formation.readers.records import Reject, Remark, Session
from tests.support.conversations import records_of

TURN = {"id": "1", "role": "user", "text": "你好", "datetime": None, "metadata": {"a": 1}}
PART = {"text": "hi", "functionCall": {"name": "f", "args": {}}, "inlineData": {"mimeType": "x"}}
SAMPLES: dict[str, Any] = {
    "jsonl": {"thread": "t", "user": "u", "datetime": "2026-03-02", "turns": [TURN, TURN]},
    "openai": {
        "thread": "t",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hi"}], "name": "Ann"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "c", "content": "x"},
        ],
    },
    "adk": {
        "id": "s",
        "userId": "u",
        "state": {"k": 1},
        "events": [
            {
                "author": "user",
                "timestamp": 1772442000.5,
                "content": {"role": "user", "parts": [PART, PART]},
                "actions": {"stateDelta": {"k": 2}},
            }
        ],
    },
    "locomo": {
        "sample_id": "c",
        "conversation": {
            "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "hi", "blip_caption": "x"}],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
        },
    },
    "longmemeval": {
        "question_id": "q",
        "haystack_sessions": [[{"role": "user", "content": "hi"}]],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_session_ids": ["s1"],
    },
}
TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every node of a JSON value."""
    found = [path]
    if isinstance(value, dict):
        items: Any = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        items = ()
    for key, member in items:
        found += places(member, (*path, key))
    return found


def with_node(value: Any, path: tuple[Any, ...], node: Any) -> Any:
    """A copy of a JSON value in which one node is another."""
    if not path:
        return node
    changed = copy.deepcopy(value)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = node
    return changed


@pytest.mark.parametrize("wanted", list(SAMPLES))
@given(data=st.data())
def test_a_node_of_another_kind_costs_its_own_record_at_most(
    wanted: str, data: st.DataObject
) -> None:
    sample = SAMPLES[wanted]
    path = data.draw(st.sampled_from(places(sample)))
    broken = with_node(sample, path, data.draw(JSON))
    layout = data.draw(st.sampled_from(["lines", "array", "document", "indented"]))
    if layout == "lines":
        text = "".join(json.dumps(value) + "\n" for value in (sample, broken, sample))
    elif layout == "array":
        text = json.dumps([sample, broken, sample], indent=1)
    else:
        text = json.dumps(broken, indent=2 if layout == "indented" else None)
    found = records_of(text, wanted)
    assert all(isinstance(record, (Session, Reject, Remark)) for record in found)
    if layout in ("lines", "array"):
        whole = [record for record in found if isinstance(record, Session)]
        assert len(whole) >= 2
    for record in found:
        if isinstance(record, Session):
            assert record.turns and record.opening
            for turn in record.turns:
                turn.text.encode("utf-8")
                assert "\0" not in turn.text and turn.author
                json.dumps([turn.metadata, turn.actions], allow_nan=False).encode("utf-8")


@given(st.text(st.sampled_from("#*`:：[]()-> \n\tAnnBo小明User2026-03"), max_size=120))
def test_any_transcript_gives_records_and_loses_no_turn(text: str) -> None:
    found = records_of("**Ann:** first\n" + text + "\n**Ann:** last\n", "markdown")
    turns = [turn.text for s in found if isinstance(s, Session) for turn in s.turns]
    assert any(turn.startswith("first") for turn in turns)


@given(st.binary(max_size=60), st.integers(0, 400))
def test_bytes_put_anywhere_give_records(junk: bytes, at: int) -> None:
    for wanted, sample in SAMPLES.items():
        data = (json.dumps([sample, sample], indent=1) + "\n" * 2000).encode()
        at = 1 + at % (len(data) - 1)
        for record in records_of(data[:at] + junk + data[at:], wanted):
            assert isinstance(record, (Session, Reject, Remark))
