"""The records that every reader yields, clean and checked, and the rules that all formats share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone, tzinfo
from typing import Literal

from negmem.core.formation.readers.times import BadTimeError, parse_time
from negmem.core.text.clean import (
    MAX_METADATA_CHARACTERS,
    NOTHING_REPLACED,
    JsonValue,
    Replaced,
    TextRefusedError,
    clean_text,
    clean_value,
)
from negmem.core.text.names import MAX_NAME_CHARACTERS

MAX_RAW_CHARACTERS = 1024 * 1024
PIECE_TURNS = 500
PIECE_CHARACTERS = 4 * 1024 * 1024

Kind = Literal["message", "tool_call", "state_update"]
JsonObject = dict[str, JsonValue]

_ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "agent": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}


class RecordFaultError(ValueError):
    """A turn or session that can't be taken: `reason` is a stable code, `detail` what was found."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True)
class Place:
    """Where something stands in the input, all from 1: line, item of a JSON array, turn of a session."""

    line: int
    item: int | None = None
    turn: int | None = None


@dataclass(frozen=True)
class Turn:
    """One turn, cleaned. `text` is what was said and nothing else; blank text makes no memory.

    `speaker` is a name where the data has one; `role` is user, assistant, system, tool or other.
    `position` is the place in its session, from 1.
    """

    position: int
    role: str
    speaker: str | None
    text: str
    occurred_at: datetime | None
    kind: Kind = "message"
    id: str | None = None
    metadata: JsonObject = field(default_factory=dict)
    actions: JsonObject = field(default_factory=dict)
    content_hash: bytes = b""

    @property
    def author(self) -> str:
        """The name of the speaker, else the role."""
        return self.speaker or self.role


@dataclass(frozen=True)
class Session:
    """A conversation, or a piece of a long one: pieces follow each other and positions go on.

    `thread` and `user` are None where the data names none; `store` is the data set's own name of the
    collection that the session belongs to. `opening` is the content hash of the session's first turn.
    `continues` says that the record before was an earlier piece of the same session; `separate`, that
    a record with the same opening may be another one (a bare turn without id or time).
    """

    place: Place
    thread: str | None
    user: str | None
    occurred_at: datetime | None = None
    turns: tuple[Turn, ...] = ()
    opening: bytes = b""
    store: str | None = None
    continues: bool = False
    separate: bool = False
    state: JsonObject = field(default_factory=dict)
    replaced: Replaced = NOTHING_REPLACED


@dataclass(frozen=True)
class Reject:
    """What was not taken: where it stands, why, and its text (cut above MAX_RAW_CHARACTERS)."""

    place: Place
    reason: str
    detail: str
    raw: str


@dataclass(frozen=True)
class Remark:
    """Something left out on purpose, counted by its code."""

    code: str
    detail: str


Record = Session | Reject | Remark


@dataclass(frozen=True)
class ReadOptions:
    """How to read: `me`, the speaker who is the user; `zone`, of times that name none.

    `thread` is the name for sessions that have none; `max_characters` bounds the text of a turn.
    """

    me: str | None = None
    zone: tzinfo = timezone.utc
    thread: str | None = None
    max_characters: int = 4_000_000


class TurnBuilder:
    """Makes the clean turns of one session and sums what was replaced.

    `occurred_at` is the time of turns that have none. With `snapshots` it stays out of their content
    hash, for logs that repeat a growing conversation under a new time each.
    """

    def __init__(
        self,
        options: ReadOptions,
        *,
        occurred_at: datetime | None = None,
        snapshots: bool = False,
    ) -> None:
        self._options = options
        self.occurred_at = occurred_at
        self._snapshots = snapshots
        self._replaced = NOTHING_REPLACED

    def take_replaced(self) -> Replaced:
        """What was replaced since the last call."""
        replaced, self._replaced = self._replaced, NOTHING_REPLACED
        return replaced

    def turn(
        self,
        position: int,
        text: object,
        *,
        role: object = None,
        speaker: object = None,
        time: object = None,
        kind: Kind = "message",
        id: object = None,
        metadata: object = None,
        actions: object = None,
    ) -> Turn:
        """The turn at a position (from 1), cleaned.

        Raises: RecordFaultError with a reason that the reject file shows.
        """
        if not isinstance(text, str):
            raise RecordFaultError("text_invalid", f"the text is {json_type(text)}, not a string")
        try:
            clean, replaced = self._text(text)
            members, in_metadata = _object(metadata, "metadata")
            deeds, in_actions = _object(actions, "actions")
        except TextRefusedError as error:
            raise RecordFaultError(error.reason, error.detail) from None
        try:
            own = parse_time(time, self._options.zone)
        except BadTimeError as error:
            raise RecordFaultError("datetime_invalid", str(error)) from None
        name, in_name = clean_name(speaker, "speaker")
        identity, in_id = clean_name(id, "turn id")
        part = self._role(role, name)
        if name is not None and name.lower() in _ROLES:
            name = None
        self._replaced += replaced + in_metadata + in_actions + in_name + in_id
        occurred_at = own or self.occurred_at
        hashed = own if self._snapshots else occurred_at
        return Turn(
            position=position,
            role=part,
            speaker=name,
            text=clean,
            occurred_at=occurred_at,
            kind=kind,
            id=identity,
            metadata=members,
            actions=deeds,
            content_hash=_content_hash(part, name, hashed, kind, clean, deeds),
        )

    def _text(self, text: str) -> tuple[str, Replaced]:
        limit = self._options.max_characters
        if len(text) > limit:
            raise TextRefusedError(
                "text_too_long", f"at most {limit:,} characters a turn, got {len(text):,}"
            )
        return clean_text(text, max_bytes=limit * 4)

    def _role(self, role: object, name: str | None) -> str:
        me = self._options.me
        if me is not None:
            if name is not None and name.casefold() == me.casefold():
                return "user"
            if role is None and name is not None:
                return _ROLES.get(name.lower(), "other")
        given = role if role is not None else name
        if not isinstance(given, str) or not given.strip():
            raise RecordFaultError("role_missing", "neither role nor speaker is named")
        return _ROLES.get(given.strip().lower(), "other")


def clean_name(value: object, what: str) -> tuple[str | None, Replaced]:
    """An identifier or name, cleaned; None where null or empty. Numbers count as their digits.

    Raises: RecordFaultError for other types and above MAX_NAME_CHARACTERS.
    """
    if value is None or value == "":
        return None, NOTHING_REPLACED
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise RecordFaultError("name_invalid", f"the {what} is {json_type(value)}, not a string")
    name, replaced = clean_text(value)
    if len(name) > MAX_NAME_CHARACTERS:
        raise RecordFaultError(
            "name_too_long", f"the {what} has {len(name)} characters, at most {MAX_NAME_CHARACTERS}"
        )
    return name or None, replaced


def session_time(value: object, options: ReadOptions) -> datetime | None:
    """The time of a session.

    Raises: RecordFaultError (`datetime_invalid`).
    """
    try:
        return parse_time(value, options.zone)
    except BadTimeError as error:
        raise RecordFaultError("datetime_invalid", str(error)) from None


def reject(place: Place, fault: RecordFaultError | TextRefusedError, raw: object) -> Reject:
    """The reject of a record; raw is its source text, or the value it was read as."""
    text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False, default=str)
    return Reject(place, fault.reason, fault.detail, text[:MAX_RAW_CHARACTERS])


def in_pieces(
    head: Callable[[], Session], turns: Iterable[Turn | Reject | Remark], builder: TurnBuilder
) -> Iterator[Record]:
    """The session in pieces of bounded size, with the rejects and remarks of its turns, in order.

    `head` gives the session without turns; it is asked when the first piece is full, so that members
    of the input that follow a short list of turns still count. No turn, no session.
    """
    session: Session | None = None
    piece: list[Turn] = []
    characters = 0
    opening = b""
    continues = False
    for turn in turns:
        if not isinstance(turn, Turn):
            yield turn
            continue
        opening = opening or turn.content_hash
        piece.append(turn)
        characters += len(turn.text)
        if len(piece) >= PIECE_TURNS or characters >= PIECE_CHARACTERS:
            session = session or head()
            yield _piece(session, piece, opening, continues, builder)
            continues, piece, characters = True, [], 0
    if piece:
        yield _piece(session or head(), piece, opening, continues, builder)


def _piece(
    session: Session, turns: list[Turn], opening: bytes, continues: bool, builder: TurnBuilder
) -> Session:
    replaced = builder.take_replaced()
    return replace(
        session,
        occurred_at=session.occurred_at or turns[0].occurred_at,
        turns=tuple(turns),
        opening=opening,
        continues=continues,
        replaced=replaced if continues else session.replaced + replaced,
    )


def _object(value: object, what: str) -> tuple[JsonObject, Replaced]:
    if value is None:
        return {}, NOTHING_REPLACED
    if not isinstance(value, Mapping):
        raise TextRefusedError(f"{what}_invalid", f"{what} is {json_type(value)}, not an object")
    members, replaced = clean_value(value)
    assert isinstance(members, dict)
    if members:
        size = len(json.dumps(members, ensure_ascii=False))
        if size > MAX_METADATA_CHARACTERS:
            raise TextRefusedError(
                f"{what}_too_long",
                f"at most {MAX_METADATA_CHARACTERS:,} characters of {what}, got {size:,}",
            )
    return members, replaced


def _content_hash(
    role: str,
    speaker: str | None,
    occurred_at: datetime | None,
    kind: str,
    text: str,
    actions: JsonObject,
) -> bytes:
    deeds = json.dumps(actions, sort_keys=True) if actions else ""
    moment = occurred_at.isoformat() if occurred_at else ""
    head = "\0".join((role, speaker or "", moment, kind, deeds))
    return hashlib.sha256(f"{head}\0".encode() + text.encode("utf-8")).digest()


def json_type(value: object) -> str:
    """What a JSON value is, in words."""
    if value is None:
        return "null"
    for types, name in ((bool, "a boolean"), ((int, float), "a number"), (list, "a list")):
        if isinstance(value, types):
            return name
    return "an object" if isinstance(value, Mapping) else type(value).__name__
