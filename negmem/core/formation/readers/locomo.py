"""LoCoMo: long conversations of two people, as published (`locomo10.json`) or a session a line.

Only what was said, by whom and when, and the caption of a shared picture is read; questions, answers,
evidence and summaries are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from negmem.core.formation.readers.calls import with_caption
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

_SESSION = re.compile(r"session_(\d+)")


def read_locomo(source: Source, options: ReadOptions, *, as_lines: bool) -> Iterator[Record]:
    """A thread a session, named `<conversation>/session_<n>`; the conversation is the store."""
    elements = json_lines(source) if as_lines else json_documents(source, frozenset())
    lines = SessionLines(options)
    for element in elements:
        if isinstance(element, Reject):
            yield element
        elif isinstance(element.value, Mapping) and "conversation" in element.value:
            yield from _sample(element, options)
        elif not (element.ends and not element.value):
            yield from lines.read(element)


def _sample(element: Element, options: ReadOptions) -> Iterator[Record]:
    sample, place = element.value, element.place
    assert isinstance(sample, Mapping)
    conversation = sample["conversation"]
    try:
        if not isinstance(conversation, Mapping):
            found = json_type(conversation)
            raise RecordFaultError("not_a_session", f"the conversation is {found}, not an object")
        store, _ = clean_name(sample.get("sample_id"), "sample_id")
    except RecordFaultError as fault:
        yield reject(place, fault, element.raw or sample)
        return
    matches = (_SESSION.fullmatch(str(key)) for key in conversation)
    numbers = sorted(int(match[1]) for match in matches if match)
    if not numbers:
        empty = RecordFaultError("no_turns", "the conversation has no session_1")
        yield reject(place, empty, element.raw or sample)
    for number in numbers:
        name = f"session_{number}"
        turns = conversation[name]
        try:
            if not isinstance(turns, list):
                raise RecordFaultError("turns_invalid", f"{name} is {json_type(turns)}, not a list")
            moment = session_time(conversation.get(f"{name}_date_time"), options)
        except RecordFaultError as fault:
            yield reject(place, fault, {name: turns})
            continue
        head = Session(place, f"{store}/{name}" if store else name, None, moment, store=store)
        builder = TurnBuilder(options, occurred_at=moment)
        made = (_turn(turn, at, builder, place) for at, turn in enumerate(turns, start=1))
        yield from in_pieces(lambda head=head: head, made, builder)  # type: ignore[misc]


def _turn(turn: object, position: int, builder: TurnBuilder, place: Place) -> Turn | Reject:
    try:
        if not isinstance(turn, Mapping):
            raise RecordFaultError("turn_invalid", f"the turn is {json_type(turn)}")
        caption = turn.get("blip_caption")
        return builder.turn(
            position,
            with_caption(turn.get("text"), caption),
            speaker=turn.get("speaker"),
            id=turn.get("dia_id"),
            metadata={"image_caption": caption} if caption else None,
        )
    except RecordFaultError as fault:
        return reject(Place(place.line, place.item, position), fault, turn)
