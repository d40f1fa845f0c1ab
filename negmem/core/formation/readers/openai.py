"""OpenAI messages: an array of messages, objects with `messages`, or a message a line.

A message's content is a string, null, or a list of parts; calls of tools and their results are turns
like any other. A log that repeats a growing conversation adds what is new in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from negmem.core.formation.readers.calls import attachment, call_text, result_text
from negmem.core.formation.readers.documents import Element, json_documents, json_lines
from negmem.core.formation.readers.records import (
    Kind,
    Place,
    ReadOptions,
    Record,
    RecordFaultError,
    Reject,
    Remark,
    Session,
    Turn,
    TurnBuilder,
    clean_name,
    in_pieces,
    json_type,
    reject,
    session_time,
)
from negmem.core.formation.readers.source import Source

_THREAD_KEYS = ("thread", "thread_id", "conversation_id", "session_id")
_TIME_KEYS = ("datetime", "timestamp", "created_at", "created")
_TEXT_PARTS = frozenset(("text", "input_text", "output_text", "summary_text"))


def read_openai(source: Source, options: ReadOptions, *, as_lines: bool) -> Iterator[Record]:
    """The sessions of an input of OpenAI messages."""
    if as_lines:
        elements: Iterator[Element | Reject] = json_lines(source)
    else:
        elements = json_documents(source, frozenset(("messages",)))
    pending = _Peekable(elements)
    while (element := pending.peek()) is not None:
        if isinstance(element, Reject):
            yield element
            pending.take()
        elif element.ends and not _holds_messages(element.value):
            pending.take()
        elif element.key == "messages" or _is_message(element.value):
            yield from _stream(pending, options)
        else:
            yield from _conversation(element, options)
            pending.take()


def _stream(pending: _Peekable, options: ReadOptions) -> Iterator[Record]:
    """One session whose messages are elements of their own, up to the end of the document."""
    first = pending.peek()
    assert isinstance(first, Element)
    builder = TurnBuilder(options, snapshots=True)

    def turns() -> Iterator[Turn | Reject | Remark]:
        number = 0
        while (element := pending.peek()) is not None:
            if isinstance(element, Reject):
                number += 1
                yield element
            elif element.key is None and not _is_message(element.value):
                if element.ends:
                    pending.take()
                return
            else:
                number += 1
                yield _turn(element.value, number, builder, element.place, element.raw)
            pending.take()

    try:
        builder.occurred_at = _head(first.members, first.place, options).occurred_at
        yield from in_pieces(lambda: _head(first.members, first.place, options), turns(), builder)
    except RecordFaultError as fault:
        yield reject(first.place, fault, first.members)
        yield from (record for record in turns() if isinstance(record, Reject))


def _conversation(element: Element, options: ReadOptions) -> Iterator[Record]:
    value, place = element.value, element.place
    members: Mapping[str, object] = value if isinstance(value, Mapping) else {}
    messages = value if isinstance(value, list) else members.get("messages")
    if messages is None and isinstance(members.get("body"), Mapping):
        messages = members["body"].get("messages")  # type: ignore[attr-defined]
    try:
        if not isinstance(messages, list):
            raise RecordFaultError("not_a_session", "neither messages nor role in the object")
        if not messages:
            raise RecordFaultError("no_turns", "the list of messages is empty")
        head = _head(members, place, options)
        builder = TurnBuilder(options, occurred_at=head.occurred_at, snapshots=True)
        turns = (
            _turn(message, number, builder, Place(place.line, place.item, number), message)
            for number, message in enumerate(messages, start=1)
        )
        yield from in_pieces(lambda: head, turns, builder)
    except RecordFaultError as fault:
        yield reject(place, fault, element.raw or value)


def _head(members: Mapping[str, object], place: Place, options: ReadOptions) -> Session:
    thread, replaced = clean_name(_first(members, _THREAD_KEYS), "thread")
    user, more = clean_name(members.get("user"), "user")
    moment = session_time(_first(members, _TIME_KEYS), options)
    return Session(place, thread, user, moment, replaced=replaced + more)


def _turn(
    message: object, position: int, builder: TurnBuilder, place: Place, raw: object
) -> Turn | Reject:
    try:
        if not isinstance(message, Mapping):
            raise RecordFaultError("turn_invalid", f"the message is {json_type(message)}")
        return _message(message, position, builder)
    except RecordFaultError as fault:
        return reject(place, fault, raw)


def _message(message: Mapping[str, object], position: int, builder: TurnBuilder) -> Turn:
    kind: Kind = "message"
    role = message.get("role")
    actions: dict[str, object] = {}
    metadata: dict[str, object] = {}
    item = message.get("type")
    if role is None and item in ("function_call", "function_call_output"):
        role = "tool" if item == "function_call_output" else "assistant"
        actions = {"tool_calls": [message]} if item == "function_call" else {}
        text = result_text(message.get("output"))
        kind = "tool_call"
    else:
        text, attached = content_text(message.get("content"))
        if attached:
            metadata["attachments"] = attached
        if refusal := message.get("refusal"):
            text = text or result_text(refusal)
    calls = message.get("tool_calls") or message.get("function_call")
    if calls:
        actions["tool_calls"] = calls if isinstance(calls, list) else [calls]
    if not text.strip() and actions:
        text = "\n".join(_call(call) for call in actions["tool_calls"])  # type: ignore[attr-defined]
        kind = "tool_call"
    if role in ("tool", "function"):
        kind = "tool_call"
    if call_id := message.get("tool_call_id") or message.get("call_id"):
        metadata["tool_call_id"] = call_id
    return builder.turn(
        position,
        text,
        role=role,
        speaker=message.get("name"),
        time=_first(message, _TIME_KEYS),
        kind=kind,
        id=message.get("id"),
        metadata=metadata,
        actions=actions,
    )


def content_text(content: object) -> tuple[str, list[dict[str, object]]]:
    """The text of a message's content, and what is attached to it.

    Raises: RecordFaultError (`text_invalid`).
    """
    if content is None:
        return "", []
    if isinstance(content, str):
        return content, []
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list):
        raise RecordFaultError("text_invalid", f"the content is {json_type(content)}")
    texts: list[str] = []
    attached: list[dict[str, object]] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
            continue
        if not isinstance(part, Mapping):
            raise RecordFaultError("text_invalid", f"a part of the content is {json_type(part)}")
        kind = str(part.get("type", "text"))
        text = part.get("refusal") if kind == "refusal" else part.get("text")
        if isinstance(text, Mapping):
            text = text.get("value")
        audio = part.get(kind) if kind.endswith("audio") else None
        if isinstance(audio, Mapping):
            text = audio.get("transcript")
        if isinstance(text, str):
            texts.append(text)
        elif kind in _TEXT_PARTS:
            raise RecordFaultError("text_invalid", f"the text of a part is {json_type(text)}")
        if kind not in _TEXT_PARTS and kind != "refusal":
            attached.append(attachment(kind, part.get(kind) or part.get("image_url")))
    return "\n".join(texts), attached


def _call(call: object) -> str:
    if not isinstance(call, Mapping):
        return call_text(None, call)
    function = call.get("function", call)
    if isinstance(function, Mapping):
        return call_text(function.get("name"), function.get("arguments", function.get("input")))
    return call_text(function, None)


def _is_message(value: object) -> bool:
    if not isinstance(value, Mapping) or "messages" in value:
        return False
    return "role" in value or value.get("type") in ("function_call", "function_call_output")


def _holds_messages(value: object) -> bool:
    if isinstance(value, list):
        return bool(value)
    if not isinstance(value, Mapping):
        return value is not None
    return "messages" in value or "body" in value or _is_message(value)


def _first(value: Mapping[str, object], keys: Iterable[str]) -> object:
    return next((value[key] for key in keys if value.get(key) not in (None, "")), None)


class _Peekable:
    def __init__(self, elements: Iterator[Element | Reject]) -> None:
        self._elements = elements
        self._next: Element | Reject | None = next(elements, None)

    def peek(self) -> Element | Reject | None:
        return self._next

    def take(self) -> None:
        self._next = next(self._elements, None)
