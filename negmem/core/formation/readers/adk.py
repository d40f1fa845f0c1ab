"""Sessions and events of Google's Agent Development Kit.

An event's content comes in three shapes: an object with parts, a mapping with parts, a plain string.
`read_adk` reads files; `adk_sessions` takes the kit's own Python objects.
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
from negmem.core.text.clean import TextRefusedError, clean_value

_PARTIAL = Remark("partial_event", "a part of a streamed answer; its last event holds the text")
_EventPart = tuple[object, Place, object]


def read_adk(source: Source, options: ReadOptions, *, as_lines: bool) -> Iterator[Record]:
    """The sessions of an input: session objects, arrays of them, or events that name their session."""
    if as_lines:
        elements: Iterator[Element | Reject] = json_lines(source)
    else:
        elements = json_documents(source, frozenset(("events",)))
    yield from _Sessions(elements, options).records()


def adk_sessions(sessions: Iterable[object], options: ReadOptions) -> Iterator[Record]:
    """The same of Python objects: sessions with `events`, each as the kit's services return them."""
    for number, session in enumerate(sessions, start=1):
        yield from _whole(session, Place(number), options)


class _Sessions:
    """Groups a stream of elements: a session is one object, or the events that follow each other."""

    def __init__(self, elements: Iterator[Element | Reject], options: ReadOptions) -> None:
        self._elements = elements
        self._options = options
        self._next: Element | Reject | None = next(elements, None)

    def records(self) -> Iterator[Record]:
        while (element := self._next) is not None:
            if isinstance(element, Reject):
                yield element
            elif element.key == "events" or _is_event(element.value):
                yield from self._events(element)
                continue
            elif _get(element.value, "events") is not None:
                yield from _whole(element.value, element.place, self._options)
            elif not (element.ends and (element.key is None) and _is_rest(element.value)):
                fault = RecordFaultError(
                    "not_a_session", "neither events nor content in the object"
                )
                yield reject(element.place, fault, element.raw or element.value)
            self._take()

    def _events(self, first: Element) -> Iterator[Record]:
        name = _session_name(first)
        builder = TurnBuilder(self._options)

        def events() -> Iterator[_EventPart | Reject]:
            while (element := self._next) is not None:
                if isinstance(element, Reject):
                    yield element
                elif first.key is not None and element.key == first.key:
                    yield element.value, element.place, element.raw
                elif element.key is None and _is_event(element.value):
                    if _session_name(element) != name:
                        return
                    yield element.value, element.place, element.raw or element.value
                else:
                    if element.ends:
                        self._take()
                    return
                self._take()

        def head() -> Session:
            session = _head(first.members, first.place, self._options)
            if session.thread is None:
                thread, _ = clean_name(name[0], "session id")
                user, _ = clean_name(name[1], "user")
                session = Session(first.place, thread, session.user or user, state=session.state)
            return session

        try:
            yield from in_pieces(head, _turns(events(), builder), builder)
        except RecordFaultError as fault:
            yield reject(first.place, fault, first.members or first.value)
            yield from (record for record in events() if isinstance(record, Reject))

    def _take(self) -> None:
        self._next = next(self._elements, None)


def _whole(session: object, place: Place, options: ReadOptions) -> Iterator[Record]:
    events = _get(session, "events")
    try:
        if not isinstance(events, (list, tuple)):
            raise RecordFaultError("not_a_session", f"events is {json_type(events)}, not a list")
        if not events:
            raise RecordFaultError("no_turns", "the list of events is empty")
        head = _head(session, place, options)
        builder = TurnBuilder(options, occurred_at=head.occurred_at)
        parts = (
            (event, Place(place.line, place.item, number), event)
            for number, event in enumerate(events, start=1)
        )
        yield from in_pieces(lambda: head, _turns(parts, builder), builder)
    except RecordFaultError as fault:
        yield reject(place, fault, session)


def _head(session: object, place: Place, options: ReadOptions) -> Session:
    thread, replaced = clean_name(_get(session, "id", "session_id", "sessionId"), "session id")
    user, more = clean_name(_get(session, "user_id", "userId"), "user")
    replaced += more
    moment = session_time(_get(session, "create_time", "createTime"), options)
    state = _get(session, "state")
    try:
        kept, more = clean_value(state if isinstance(state, Mapping) else {})
    except TextRefusedError as error:
        raise RecordFaultError(error.reason, f"state: {error.detail}") from None
    assert isinstance(kept, dict)
    return Session(place, thread, user, moment, state=kept, replaced=replaced + more)


def _turns(
    events: Iterable[_EventPart | Reject], builder: TurnBuilder
) -> Iterator[Turn | Reject | Remark]:
    position = 0
    for event in events:
        if isinstance(event, Reject):
            position += 1
            yield event
            continue
        value, place, raw = event
        if _get(value, "partial") is True:
            yield _PARTIAL
            continue
        position += 1
        try:
            yield _turn(value, position, builder)
        except RecordFaultError as fault:
            yield reject(place, fault, raw)


def _turn(event: object, position: int, builder: TurnBuilder) -> Turn:
    if not isinstance(event, Mapping) and not hasattr(event, "content"):
        raise RecordFaultError("turn_invalid", f"the event is {json_type(event)}")
    text, calls, extra = event_text(_get(event, "content"))
    deeds = _get(event, "actions")
    actions = {key: member for key, member in _members(deeds) if member not in (None, {}, [], "")}
    kind: Kind = "message"
    if not text.strip():
        kind = "tool_call" if calls else "state_update"
    if calls:
        actions["tool_calls"] = calls
        text = text if text.strip() else "\n".join(_shown(call) for call in calls)
    for key, name in (
        ("invocation_id", "invocationId"),
        ("error_code", "errorCode"),
        ("error_message", "errorMessage"),
    ):
        if (member := _get(event, key, name)) is not None:
            extra[key] = str(member)
    author = _get(event, "author")
    if author is None:
        author = _get(_get(event, "content"), "role")
    return builder.turn(
        position,
        text,
        role="user" if author == "user" else ("assistant" if author else None),
        speaker=author,
        time=_get(event, "timestamp"),
        kind=kind,
        id=_get(event, "id"),
        metadata=extra,
        actions=actions,
    )


def event_text(content: object) -> tuple[str, list[dict[str, object]], dict[str, object]]:
    """The text of an event's content, its calls of tools with their results, and what else it holds.

    Accepts an object with `parts` that have `text`, a mapping with the same, a plain string, null.

    Raises: RecordFaultError (`text_invalid`).
    """
    if content is None:
        return "", [], {}
    if isinstance(content, str):
        return content, [], {}
    parts = content if isinstance(content, (list, tuple)) else _get(content, "parts")
    if parts is None:
        text = _get(content, "text")
        if text is None and not isinstance(content, Mapping):
            raise RecordFaultError("text_invalid", f"the content is {json_type(content)}")
        parts = [] if text is None else [{"text": text}]
    if not isinstance(parts, (list, tuple)):
        raise RecordFaultError("text_invalid", f"the parts are {json_type(parts)}")
    texts: list[str] = []
    calls: list[dict[str, object]] = []
    extra: dict[str, object] = {}
    for part in parts:
        _part(part, texts, calls, extra)
    return "\n".join(texts), calls, extra


def _part(
    part: object, texts: list[str], calls: list[dict[str, object]], extra: dict[str, object]
) -> None:
    if isinstance(part, str):
        texts.append(part)
        return
    text = _get(part, "text")
    if text is not None:
        if not isinstance(text, str):
            raise RecordFaultError("text_invalid", f"the text of a part is {json_type(text)}")
        if _get(part, "thought") is True:
            _more(extra, "thoughts", text)
        else:
            texts.append(text)
    if (call := _get(part, "function_call", "functionCall")) is not None:
        calls.append({"name": _get(call, "name"), "arguments": _plain(_get(call, "args"))})
    if (answer := _get(part, "function_response", "functionResponse")) is not None:
        result = _plain(_get(answer, "response"))
        calls.append({"name": _get(answer, "name"), "result": result})
    if (code := _get(part, "executable_code", "executableCode")) is not None:
        texts.append(result_text(_get(code, "code")))
    if (result := _get(part, "code_execution_result", "codeExecutionResult")) is not None:
        texts.append(result_text(_get(result, "output")))
    for kind, name in (("inline_data", "inlineData"), ("file_data", "fileData")):
        if (data := _get(part, kind, name)) is not None:
            link = _get(data, "file_uri", "fileUri")
            _more(extra, "attachments", attachment(kind, link, _get(data, "mime_type", "mimeType")))


def _shown(call: dict[str, object]) -> str:
    if "result" in call:
        return f"{call['name'] or 'tool'}: {result_text(call['result'])}"
    return call_text(call["name"], call["arguments"])


def _more(extra: dict[str, object], key: str, member: object) -> None:
    held = extra.setdefault(key, [])
    assert isinstance(held, list)
    held.append(member)


def _get(holder: object, *names: str) -> object:
    """The first member or attribute that is there: files hold mappings, the kit's API objects."""
    for name in names:
        found = holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
        if found is not None:
            return found
    return None


def _plain(value: object) -> object:
    dump = getattr(value, "model_dump", None)
    return dump(mode="json") if callable(dump) else value


def _members(value: object) -> list[tuple[str, object]]:
    value = _plain(value)
    return (
        [(str(key), member) for key, member in value.items()] if isinstance(value, Mapping) else []
    )


def _is_event(value: object) -> bool:
    if not isinstance(value, Mapping) or "events" in value:
        return False
    return "content" in value or ("author" in value and "actions" in value)


def _is_rest(value: object) -> bool:
    """What is left of a document when its events were given one by one, or nothing at all."""
    return not isinstance(value, Mapping) or "content" not in value


def _session_name(element: Element) -> tuple[object, object]:
    if element.key not in (None, ""):
        return None, None
    return (
        _get(element.value, "session_id", "sessionId"),
        _get(element.value, "user_id", "userId"),
    )
