"""LongMemEval: chat sessions around one question each, as published or a session a line.

Only the sessions and their dates are read. The published session ids say which sessions hold the
answer, so they are replaced; `has_answer`, the question and its answer are not read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from negmem.core.formation.readers.documents import Element, json_documents, json_lines
from negmem.core.formation.readers.jsonl import SessionLines
from negmem.core.formation.readers.records import (
    Place,
    ReadOptions,
    Record,
    RecordFaultError,
    Reject,
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


def read_longmemeval(source: Source, options: ReadOptions, *, as_lines: bool) -> Iterator[Record]:
    """A thread a session of a haystack; the haystack, named by its question's id, is the store."""
    elements = json_lines(source) if as_lines else json_documents(source, frozenset())
    lines = SessionLines(options)
    for element in elements:
        if isinstance(element, Reject):
            yield element
        elif isinstance(element.value, Mapping) and "haystack_sessions" in element.value:
            yield from _haystack(element, options)
        elif not (element.ends and not element.value):
            yield from lines.read(element)


def _haystack(element: Element, options: ReadOptions) -> Iterator[Record]:
    entry, place = element.value, element.place
    assert isinstance(entry, Mapping)
    try:
        sessions = entry["haystack_sessions"]
        if not isinstance(sessions, list):
            found = json_type(sessions)
            raise RecordFaultError("turns_invalid", f"haystack_sessions is {found}, not a list")
        dates = _beside(entry, "haystack_dates", len(sessions))
        names = _beside(entry, "haystack_session_ids", len(sessions))
        store, _ = clean_name(entry.get("question_id"), "question_id")
    except RecordFaultError as fault:
        yield reject(place, fault, {"question_id": entry.get("question_id")})
        return
    for number, (turns, date, name) in enumerate(zip(sessions, dates, names, strict=True), start=1):
        try:
            if not isinstance(turns, list):
                raise RecordFaultError("turns_invalid", f"session {number} is {json_type(turns)}")
            moment = session_time(date, options)
            hidden = _hidden(name, number)
        except RecordFaultError as fault:
            yield reject(place, fault, turns)
            continue
        thread = f"{store}/{hidden}" if store else hidden
        head = Session(place, thread, None, moment, store=store)
        builder = TurnBuilder(options, occurred_at=moment)
        made = (_turn(turn, at, builder, place) for at, turn in enumerate(turns, start=1))
        yield from in_pieces(lambda head=head: head, made, builder)  # type: ignore[misc]


def _turn(turn: object, position: int, builder: TurnBuilder, place: Place) -> Turn | Reject:
    try:
        if not isinstance(turn, Mapping):
            raise RecordFaultError("turn_invalid", f"the turn is {json_type(turn)}")
        return builder.turn(position, turn.get("content"), role=turn.get("role"))
    except RecordFaultError as fault:
        shown = turn
        if isinstance(turn, Mapping):
            shown = {key: turn[key] for key in ("role", "content") if key in turn}
        return reject(Place(place.line, place.item, position), fault, shown)


def _beside(entry: Mapping[str, object], key: str, length: int) -> list[object]:
    values = entry.get(key)
    if values is None:
        return [None] * length
    if not isinstance(values, list) or len(values) != length:
        found = f"{len(values)}" if isinstance(values, list) else json_type(values)
        raise RecordFaultError("haystack_mismatched", f"{length} sessions, but {key} has {found}")
    return values


def _hidden(name: object, number: int) -> str:
    if name is None:
        return f"session_{number}"
    return "s" + hashlib.sha256(str(name).encode("utf-8", "surrogatepass")).hexdigest()[:10]
