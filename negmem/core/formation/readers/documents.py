"""JSON documents of any length, element by element, and JSON Lines, line by line.

The elements of a long array are parsed by Python's own JSON scanner over a sliding window: memory is
bounded by the longest element, lone surrogates and NUL arrive as they stand in the text, and a bad
element is known by its line. Event parsers in C were tried: they replace a lone surrogate without a
word, or end at it, and at the first byte that is not UTF-8.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from negmem.core.formation.readers.records import (
    Place,
    RecordFaultError,
    Reject,
    reject,
)
from negmem.core.formation.readers.source import (
    MAX_LINE_BYTES,
    CutShortError,
    LineTooLongError,
    Source,
)
from negmem.core.text.clean import TextRefusedError, decode_line, refuse_escaped_bytes

_BLANK = re.compile(r"[ \t\n\r\ufeff]*")
_CHUNK = 256 * 1024
_EDGE = 16
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True)
class Element:
    """A value of the input: a line, an item of an array, or what is left of a whole document.

    `key` names the item's array ("" for a document that is an array), None otherwise. `document`
    counts from 1, `members` are those that were read so far of the object around. `ends` marks the
    end of a document; its value holds the members that were not given as items.
    """

    place: Place
    value: object
    raw: str = ""
    key: str | None = None
    document: int = 1
    members: dict[str, object] = field(default_factory=dict)
    ends: bool = False


def json_lines(source: Source) -> Iterator[Element | Reject]:
    """Each line as one value; a line that is no JSON is a reject, as is the cut end of a gzip file."""
    number = 0
    try:
        for number, line in source.lines():
            place = Place(number)
            if isinstance(line, LineTooLongError):
                yield _too_long(place, line.head)
                continue
            if not line.strip():
                continue
            try:
                text = decode_line(line)
                value = parse(text)
            except (RecordFaultError, TextRefusedError) as error:
                yield reject(place, error, line.decode("utf-8", "backslashreplace"))
                continue
            yield Element(place, value, text)
    except CutShortError as error:
        yield _cut_short(Place(number + 1), error)


def parse(text: str) -> object:
    """The JSON value of a text.

    Raises: RecordFaultError (`not_json`, `nested_too_deep`).
    """
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise RecordFaultError("not_json", f"{error.msg} at character {error.pos}") from None
    except RecursionError:
        raise RecordFaultError("nested_too_deep", "nested too deep to be read") from None
    except ValueError:  # Python reads no whole number of more digits than its limit
        raise RecordFaultError("not_json", "a whole number of too many digits") from None


def json_documents(source: Source, arrays: frozenset[str]) -> Iterator[Element | Reject]:
    """The elements of the input's documents.

    A document that is an array gives its items with key "". An object gives the items of those
    members that are named in `arrays`. At its end each gives an element that `ends` it. Text that is
    no JSON ends the reading with a reject: what follows can't be told apart.
    """
    return _Documents(source, arrays).elements()


class _Incomplete(Exception):
    """The window ends inside a value."""


class _Documents:
    def __init__(self, source: Source, arrays: frozenset[str]) -> None:
        self._source = source
        self._arrays = arrays
        self._decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        self._window = ""
        self._at = 0
        self._line = 1
        self._ended = False

    def elements(self) -> Iterator[Element | Reject]:
        document = 0
        try:
            while (first := self._peek()) != "":
                document += 1
                if first == "[":
                    self._at += 1
                    yield from self._array("", document, {})
                    yield Element(Place(self._line), [], document=document, ends=True)
                elif first == "{":
                    yield from self._object(document)
                else:
                    place = Place(self._line)
                    value, raw = self._value()
                    yield Element(place, value, raw, document=document, ends=True)
        except RecordFaultError as error:
            yield reject(Place(self._line), error, self._window[self._at : self._at + 2000])
        except CutShortError as error:
            yield _cut_short(Place(self._line), error)

    def _object(self, document: int) -> Iterator[Element | Reject]:
        place = Place(self._line)
        members: dict[str, object] = {}
        self._at += 1
        if self._peek() == "}":
            self._at += 1
        else:
            while True:
                name, _ = self._value()
                if not isinstance(name, str):
                    raise RecordFaultError("not_json", "a member's name is not a string")
                self._expect(":")
                if name in self._arrays and self._peek() == "[":
                    self._at += 1
                    yield from self._array(name, document, members)
                else:
                    members[name], raw = self._value()
                    refuse_bad_bytes(raw)
                if self._next_of(",}") == "}":
                    break
        yield Element(place, members, document=document, members=members, ends=True)

    def _array(
        self, key: str, document: int, members: dict[str, object]
    ) -> Iterator[Element | Reject]:
        item = 0
        if self._peek() == "]":
            self._at += 1
            return
        while True:
            item += 1
            self._peek()
            place = Place(self._line, item)
            value, raw = self._value()
            try:
                refuse_escaped_bytes(raw)
            except TextRefusedError as error:
                shown = raw.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
                yield reject(place, error, shown)
            else:
                yield Element(place, value, raw, key, document, members)
            if self._next_of(",]") == "]":
                return

    def _value(self) -> tuple[object, str]:
        self._peek()
        while True:
            try:
                value, end = self._scan()
                break
            except _Incomplete:
                if len(self._window) - self._at > MAX_LINE_BYTES:
                    raise RecordFaultError(
                        "line_too_long", f"one value of more than {MAX_LINE_BYTES:,} characters"
                    ) from None
                self._grow()
        raw = self._window[self._at : end]
        self._line += raw.count("\n")
        self._at = end
        return value, raw

    def _scan(self) -> tuple[object, int]:
        try:
            value, end = _DECODER.raw_decode(self._window, self._at)
        except json.JSONDecodeError as error:
            near_end = error.pos >= len(self._window) - _EDGE
            if not self._ended and (near_end or error.msg.startswith("Unterminated string")):
                raise _Incomplete from None
            where = self._line + self._window.count("\n", self._at, error.pos)
            raise RecordFaultError("not_json", f"{error.msg} in line {where}") from None
        except RecursionError:
            raise RecordFaultError("nested_too_deep", "nested too deep to be read") from None
        except ValueError:
            raise RecordFaultError("not_json", "a whole number of too many digits") from None
        # a number may go on beyond the window: "1" of "1.5", also where it ends in "1e+"
        is_closed = isinstance(value, (dict, list, str))
        if end >= len(self._window) - _EDGE and not self._ended and not is_closed:
            raise _Incomplete
        return value, end

    def _peek(self) -> str:
        """The next character that is not blank, "" at the end."""
        while True:
            blank = _BLANK.match(self._window, self._at)
            end = blank.end() if blank else self._at
            self._line += self._window.count("\n", self._at, end)
            self._at = end
            if end < len(self._window):
                return self._window[end]
            if self._ended:
                return ""
            self._grow()

    def _next_of(self, wanted: str) -> str:
        found = self._peek()
        if not found or found not in wanted:
            shown = repr(found) if found else "the end"
            choices = " or ".join(map(repr, wanted))
            raise RecordFaultError(
                "not_json", f"expected {choices}, found {shown} in line {self._line}"
            )
        self._at += 1
        return found

    def _expect(self, wanted: str) -> None:
        self._next_of(wanted)

    def _grow(self) -> None:
        if self._ended:
            raise RecordFaultError("not_json", f"the input ends in a value, in line {self._line}")
        # twice what is held: a long element is scanned again a few times, not once a chunk
        wanted = max(_CHUNK, len(self._window) - self._at)
        parts = [self._window[self._at :]]
        while wanted > 0:
            piece = self._source.read(_CHUNK)
            if not piece:
                self._ended = True
                parts.append(self._decode(b"", True))
                break
            parts.append(self._decode(piece))
            wanted -= len(piece)
        self._window, self._at = "".join(parts), 0


def refuse_bad_bytes(raw: str) -> None:
    """Refuses a member that holds bytes that are not UTF-8.

    Raises: RecordFaultError (`invalid_utf8`).
    """
    try:
        refuse_escaped_bytes(raw)
    except TextRefusedError as error:
        raise RecordFaultError(error.reason, error.detail) from None


def _too_long(place: Place, head: bytes) -> Reject:
    return Reject(
        place,
        "line_too_long",
        f"more than {MAX_LINE_BYTES:,} bytes in one line",
        head.decode("utf-8", "backslashreplace")[:2000],
    )


def _cut_short(place: Place, error: CutShortError) -> Reject:
    return Reject(place, "input_cut_short", f"the gzip data ends early or is damaged: {error}", "")
