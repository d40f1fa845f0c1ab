"""negmem's own JSON Lines: a session a line, or a single turn a line.

Also read here are the `sessions` files of retrieval data sets, which name the same things
`conversation_id`, `session_id`, `turn_id` or `dia_id`, and whose turns may be exchanges of `user` and
`assistant`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from negmem.core.formation.readers.calls import with_caption
from negmem.core.formation.readers.documents import Element, json_documents, json_lines
from negmem.core.formation.readers.records import (
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

_SESSION_KEYS = frozenset(
    (
        *("thread", "thread_id", "conversation_id", "session_id", "user", "user_id", "user_name"),
        *("speakers", "datetime", "turns"),
    )
)
_TURN_KEYS = frozenset(
    (
        *("id", "turn_id", "dia_id", "role", "speaker", "text", "datetime", "metadata"),
        *("user", "assistant", "image_caption", "image_query"),
    )
)
# what a data set knows about its own questions; never stored, and no remark made of it
_LABELS = frozenset(
    ("evidence", "answer", "category", "noise", "has_answer", "answerable", "mini", "choices")
)


def read_jsonl(source: Source, options: ReadOptions, *, as_lines: bool) -> Iterator[Record]:
    """The sessions of an input in negmem's own format, one JSON object a session or turn."""
    elements = json_lines(source) if as_lines else json_documents(source, frozenset())
    reader = SessionLines(options)
    for element in elements:
        if isinstance(element, Reject):
            yield element
        elif not (element.ends and not element.value):
            yield from reader.read(element)


class SessionLines:
    """Reads one object at a time, and remembers which unknown keys it has spoken of."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._unknown: set[str] = set()

    def read(self, element: Element) -> Iterator[Record]:
        """The session of one object, its rejects and remarks."""
        value, place = element.value, element.place
        raw = element.raw or value
        try:
            if not isinstance(value, Mapping):
                raise RecordFaultError("not_a_session", f"{json_type(value)}, not an object")
            if "turns" in value:
                yield from self._session(value, place)
            elif "text" in value:
                yield from self._single(value, place)
            else:
                raise RecordFaultError("not_a_session", "neither turns nor text in the object")
        except RecordFaultError as fault:
            yield reject(place, fault, raw)

    def _session(self, value: Mapping[str, object], place: Place) -> Iterator[Record]:
        turns = value["turns"]
        if not isinstance(turns, list):
            raise RecordFaultError("turns_invalid", f"turns is {json_type(turns)}, not a list")
        if not turns:
            raise RecordFaultError("no_turns", "the list of turns is empty")
        head = self._head(value, place)
        builder = TurnBuilder(self._options, occurred_at=head.occurred_at)
        yield from self._unknown_keys(value, _SESSION_KEYS, "session")
        yield from in_pieces(lambda: head, self._turns(turns, builder, place), builder)

    def _turns(
        self, turns: list[object], builder: TurnBuilder, place: Place
    ) -> Iterator[Turn | Reject | Remark]:
        position = 0
        for number, turn in enumerate(turns, start=1):
            position += 1
            try:
                if not isinstance(turn, Mapping):
                    raise RecordFaultError("turn_invalid", f"the turn is {json_type(turn)}")
                if "text" not in turn and "assistant" in turn:
                    position += 1
                    yield from _exchange(turn, position - 1, builder)
                else:
                    yield _turn(turn, position, builder)
            except RecordFaultError as fault:
                yield reject(Place(place.line, place.item, number), fault, turn)
                continue
            yield from self._unknown_keys(turn, _TURN_KEYS, "turn")

    def _single(self, value: Mapping[str, object], place: Place) -> Iterator[Record]:
        head = self._head({**value, "datetime": None}, place)
        if head.thread is None and self._options.thread is None:
            raise RecordFaultError("thread_missing", "a single turn names its thread")
        builder = TurnBuilder(self._options)
        turn = _turn(value, 1, builder)
        yield from self._unknown_keys(value, _SESSION_KEYS | _TURN_KEYS, "turn")
        separate = turn.id is None and turn.occurred_at is None
        yield Session(
            place,
            head.thread,
            head.user,
            turn.occurred_at,
            (turn,),
            turn.content_hash,
            store=head.store,
            separate=separate,
            replaced=head.replaced + builder.take_replaced(),
        )

    def _head(self, value: Mapping[str, object], place: Place) -> Session:
        user, replaced = clean_name(_first(value, "user", "user_id"), "user")
        if user is None and "" in (value.get("user"), value.get("user_id")):
            raise RecordFaultError("user_empty", "the user is an empty string")
        if user is not None and not user.strip():
            raise RecordFaultError("user_empty", "the user is blank")
        conversation, more = clean_name(value.get("conversation_id"), "conversation_id")
        replaced += more
        session, more = clean_name(value.get("session_id"), "session_id")
        replaced += more
        thread, more = clean_name(_first(value, "thread", "thread_id"), "thread")
        replaced += more
        if thread is None:
            thread = "/".join(part for part in (conversation, session) if part) or None
        moment = session_time(value.get("datetime"), self._options)
        return Session(place, thread, user, moment, store=conversation, replaced=replaced)

    def _unknown_keys(
        self, value: Mapping[str, object], known: frozenset[str], where: str
    ) -> Iterator[Remark]:
        for key in value.keys() - known - _LABELS:
            name = f"{where}.{key[:60]}"
            if name not in self._unknown and len(self._unknown) < 50:
                self._unknown.add(name)
                yield Remark("key_ignored", name)


def _turn(turn: Mapping[str, object], position: int, builder: TurnBuilder) -> Turn:
    if "text" not in turn:
        raise RecordFaultError("text_missing", "the turn has no text")
    metadata = turn.get("metadata")
    caption = turn.get("image_caption")
    if caption is not None and (metadata is None or isinstance(metadata, Mapping)):
        metadata = {**(metadata or {}), "image_caption": caption}
    return builder.turn(
        position,
        with_caption(turn["text"], caption),
        role=turn.get("role"),
        speaker=turn.get("speaker"),
        time=turn.get("datetime"),
        id=_first(turn, "id", "turn_id", "dia_id"),
        metadata=metadata,
    )


def _exchange(turn: Mapping[str, object], position: int, builder: TurnBuilder) -> list[Turn]:
    return [
        builder.turn(
            position + offset,
            turn.get(role),
            role=role,
            time=turn.get("datetime"),
            id=_first(turn, "id", "turn_id", "dia_id"),
            metadata=turn.get("metadata"),
        )
        for offset, role in enumerate(("user", "assistant"))
    ]


def _first(value: Mapping[str, object], *keys: str) -> object:
    return next((value[key] for key in keys if value.get(key) not in (None, "")), None)
