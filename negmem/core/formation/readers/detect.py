"""Which format an input has, told by its first lines, and the reader for it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from negmem.core.formation.readers.adk import read_adk
from negmem.core.formation.readers.jsonl import read_jsonl
from negmem.core.formation.readers.locomo import read_locomo
from negmem.core.formation.readers.longmemeval import read_longmemeval
from negmem.core.formation.readers.markdown import read_markdown, speakers_in
from negmem.core.formation.readers.openai import read_openai
from negmem.core.formation.readers.records import ReadOptions, Record
from negmem.core.formation.readers.source import HEAD_BYTES, Source
from negmem.errors import NegmemError, UsageError

Format = Literal["jsonl", "openai", "adk", "locomo", "longmemeval", "markdown"]
FORMATS: tuple[Format, ...] = get_args(Format)

_READERS = {
    "jsonl": read_jsonl,
    "openai": read_openai,
    "adk": read_adk,
    "locomo": read_locomo,
    "longmemeval": read_longmemeval,
}
_KEY = re.compile(r'"((?:[^"\\]|\\.){1,80})"\s*:')
_LINES_LOOKED_AT = 50
_LONGEST_FIRST_LINE = 16 * 1024 * 1024
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True)
class Detected:
    """The format of an input, and whether it is JSON Lines rather than one document."""

    format: Format
    as_lines: bool


def detect(source: Source, wanted: str = "auto") -> Detected:
    """The format; `wanted` names it or says auto.

    Raises: UsageError `input_format_unknown` for a name that is none; NegmemError
    `input_format_unclear` where auto can't tell.
    """
    as_lines = _is_lines(source, is_named_jsonl=wanted == "jsonl")
    head = source.head if as_lines else source.head[:HEAD_BYTES]
    source.forget_head()
    if wanted != "auto":
        if wanted not in FORMATS:
            raise UsageError(
                "input_format_unknown",
                f"no format {wanted!r}",
                why=f"the formats are auto, {', '.join(FORMATS)}",
                hint="negmem ingest --help",
            )
        return Detected(wanted, as_lines)
    text = head.decode("utf-8", "replace")
    found = _by_values(text) if as_lines else _by_keys(text)
    if found is None and not as_lines and speakers_in(text):
        found = "markdown"
    if found is None:
        first = next((line for line in text.splitlines() if line.strip()), "")[:60]
        raise NegmemError(
            "input_format_unclear",
            f"cannot tell the format of {source.name}",
            why=f"it begins with {first!r}",
            hint=f"negmem ingest {shlex.quote(source.path)} --format {'|'.join(FORMATS)}",
        )
    return Detected(found, as_lines)


def read(source: Source, detected: Detected, options: ReadOptions) -> Iterator[Record]:
    """The records of an input, as a stream."""
    if detected.format == "markdown":
        return read_markdown(source, options)
    return _READERS[detected.format](source, options, as_lines=detected.as_lines)


def _is_lines(source: Source, *, is_named_jsonl: bool) -> bool:
    """Whether each line stands for itself.

    That is so where the first or second line is a value, or most of the first fifty are. One that
    only opens a bracket begins a document. A single line is read as a document where it is an array.
    """
    if b"\n" not in source.head.strip():
        source.look_ahead(_LONGEST_FIRST_LINE)
    lines = [line for line in source.head.split(b"\n") if line.strip()]
    if len(lines) == 1:
        return lines[0].lstrip()[:1] == b"{" and len(source.head) < _LONGEST_FIRST_LINE
    if len(source.head) >= HEAD_BYTES:
        lines.pop()
    whole = [isinstance(_whole(line), (dict, list)) for line in lines[:_LINES_LOOKED_AT]]
    first = lines[0].strip()
    if not whole[0] and (first[:1] == b"[" or first == b"{"):
        return False
    return is_named_jsonl or any(whole[:2]) or sum(whole) * 2 > len(whole)


def _by_values(head: str) -> Format | None:
    for line in head.split("\n")[:_LINES_LOOKED_AT]:
        value = _whole(line)
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, Mapping) and (found := _by_members(value)):
            return found
    return None


def _by_keys(head: str) -> Format | None:
    """By the names of members that stand at the start, for documents that go on beyond it."""
    if head.lstrip()[:1] not in ("{", "["):
        return None
    return _by_members(dict.fromkeys(_KEY.findall(head[:65536])))


def _by_members(value: Mapping[str, object]) -> Format | None:
    names = value.keys()
    if "haystack_sessions" in names:
        return "longmemeval"
    if "conversation" in names and names & {"sample_id", "qa", "session_1", "speaker_a"}:
        return "locomo"
    if "events" in names and names & {"appName", "app_name", "userId", "user_id", "state", "id"}:
        return "adk"
    is_event = "author" in names and names & {"content", "actions"}
    if is_event and names & {"invocationId", "invocation_id", "timestamp", "actions", "content"}:
        return "adk"
    if "turns" in names:
        turns = value["turns"]
        first = turns[0] if isinstance(turns, list) and turns else None
        return "locomo" if isinstance(first, Mapping) and "dia_id" in first else "jsonl"
    if "text" in names and names & {"thread", "thread_id", "turn_id"}:
        return "jsonl"
    if "messages" in names or "body" in names or ("role" in names and "content" in names):
        return "openai"
    if "text" in names and names & {"role", "speaker"}:
        return "jsonl"
    return None


def _whole(line: str | bytes) -> object:
    try:
        return _DECODER.decode(line if isinstance(line, str) else line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
