"""Transcripts in Markdown: who speaks stands in a heading or before a colon.

Read are `**Alice:** …`, `Alice: …`, `[2026-03-02 09:00] Alice: …`, `小明：…` and headings such as
`### User`. A heading with a date, or one that says session, begins a new session. Fenced code is
content. Names that stand bare before a colon count as speakers when they recur in the first 256 KB.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

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
    reject,
    session_time,
)
from negmem.core.formation.readers.source import CutShortError, LineTooLongError, Source
from negmem.core.text.clean import TextRefusedError, decode_line

_NAME = r"[^\W\d_][\w.'’·-]*(?: [^\W_][\w.'’·-]*){0,3}"
_STAMP = r"[\[(（](?P<time{0}>[^\])）]{{4,40}})[\])）]"
_SPEAKER = re.compile(
    rf"(?:[-*>]\s+)?(?:{_STAMP.format(1)}\s*)?"
    rf"(?P<bold>\*\*|__)?(?P<name>{_NAME})(?:\s*{_STAMP.format(2)})?"
    r"(?:\s*(?:\*\*|__))?\s*[:：]\s*(?:\*\*|__)?\s?(?P<text>.*)"
)
_HEADING = re.compile(r"#{1,6}\s+(?P<title>.*?)\s*#*")
_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")
_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]+\d{1,2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|\d{4}/\d{1,2}/\d{1,2}(?: \d{1,2}:\d{2})?"
    r"|\d{4}年\d{1,2}月\d{1,2}[日号](?:\s*\d{1,2}[:：]\d{2})?"
)
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")
_SESSION_WORDS = re.compile(
    r"\b(session|conversation|chat|dialogue)\b|会话|对话|聊天", re.IGNORECASE
)
_ROLE_NAMES = {
    **dict.fromkeys(("user", "human", "you", "prompt", "me", "用户", "我", "人类"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "bot", "response", "chatgpt"), "assistant"),
    **dict.fromkeys(("claude", "gemini", "copilot", "助手", "模型", "机器人"), "assistant"),
    **dict.fromkeys(("system", "系统"), "system"),
    **dict.fromkeys(("tool", "工具"), "tool"),
}
_NO_SPEAKERS = frozenset(
    (
        *("note", "warning", "todo", "example", "tip", "hint", "error", "http", "https", "url"),
        *("date", "summary", "title", "topic", "time", "file", "step", "steps", "result"),
        *("output", "input", "注意", "备注", "例如", "比如", "日期", "时间", "标题", "主题"),
        *("步骤", "结果", "提示"),
    )
)


def read_markdown(source: Source, options: ReadOptions) -> Iterator[Record]:
    """The sessions of a transcript."""
    yield from _Transcript(source, options).records()


def speakers_in(head: str) -> frozenset[str]:
    """The names that speak in a text: those of roles, those in bold, and bare ones that recur."""
    bare: Counter[str] = Counter()
    found: set[str] = set()
    fence = ""
    for line in head.splitlines():
        fence = _next_fence(line, fence)
        if fence:
            continue
        heading = _HEADING.fullmatch(line)
        if heading and heading["title"].rstrip(":：").strip().lower() in _ROLE_NAMES:
            found.add(heading["title"].rstrip(":：").strip())
        match = _SPEAKER.fullmatch(line)
        if not match or match["name"].lower() in _NO_SPEAKERS:
            continue
        if match["bold"] or match["time1"] or match["name"].lower() in _ROLE_NAMES:
            found.add(match["name"])
        else:
            bare[match["name"]] += 1
    return frozenset(found | {name for name, count in bare.items() if count >= 2})


@dataclass
class _Open:
    """The turn that is being read."""

    line: int
    speaker: str
    time: datetime | None
    lines: list[str]
    size: int = 0


class _Transcript:
    def __init__(self, source: Source, options: ReadOptions) -> None:
        self._source = source
        self._options = options
        self._speakers = speakers_in(source.head.decode("utf-8", "replace"))
        self._front = self._coming = self._head = Session(Place(1), None, None)
        self._pending: _Open | None = None
        self._stray: tuple[int, list[str]] | None = None
        self._lines = self._read()
        self._ahead: tuple[int, str] | Reject | None = next(self._lines, None)
        self._has_turns = False

    def records(self) -> Iterator[Record]:
        fault = self._front_matter()
        if fault:
            yield fault
        while self._ahead is not None or self._pending is not None:
            self._has_turns = False
            self._head = self._coming
            builder = TurnBuilder(self._options, occurred_at=self._head.occurred_at)
            yield from in_pieces(lambda: self._head, self._turns(builder), builder)

    def _turns(self, builder: TurnBuilder) -> Iterator[Turn | Reject]:
        position = 0
        for block in self._blocks(builder):
            if isinstance(block, Reject):
                yield block
                continue
            position += 1
            text = "\n".join(block.lines).strip("\n").rstrip()
            try:
                role = _ROLE_NAMES.get(block.speaker.lower())
                yield builder.turn(
                    position,
                    text,
                    role=role,
                    speaker=None if role else block.speaker,
                    time=block.time,
                )
            except RecordFaultError as error:
                yield reject(Place(block.line), error, text)

    def _blocks(self, builder: TurnBuilder) -> Iterator[_Open | Reject]:
        """The turns of one session; ends where the next session begins."""
        fence = ""
        while (ahead := self._ahead) is not None:
            if isinstance(ahead, Reject):
                yield ahead
                self._take()
                continue
            number, line = ahead
            was_fenced = bool(fence)
            fence = _next_fence(line, fence)
            heading = None if was_fenced or fence else _HEADING.fullmatch(line)
            speaker = None if was_fenced or fence else self._speaker(number, line, heading)
            begins = (
                heading is not None and speaker is None and self._begins_session(heading["title"])
            )
            if speaker or begins:
                yield from self._close()
                self._take()
                if begins and heading:
                    fault = self._new_session(number, heading["title"])
                    if fault:
                        yield fault
                    if self._has_turns:
                        return
                    self._head = self._coming
                    builder.occurred_at = self._head.occurred_at
                self._pending = speaker
                continue
            self._keep(number, line)
            self._take()
        yield from self._close()

    def _close(self) -> Iterator[_Open | Reject]:
        if self._stray:
            number, lines = self._stray
            self._stray = None
            fault = RecordFaultError("speaker_missing", "text before anyone speaks")
            yield reject(Place(number), fault, "\n".join(lines))
        if self._pending:
            self._has_turns = True
            pending, self._pending = self._pending, None
            yield pending

    def _keep(self, number: int, line: str) -> None:
        if self._pending is not None:
            if self._pending.size <= self._options.max_characters:
                self._pending.lines.append(line)
                self._pending.size += len(line) + 1
        elif line.strip() and not _HEADING.fullmatch(line) and not re.fullmatch(r"[-*_=\s]+", line):
            number, lines = self._stray or (number, [])
            if len(lines) < 20:
                lines.append(line)
            self._stray = (number, lines)

    def _speaker(self, number: int, line: str, heading: re.Match[str] | None) -> _Open | None:
        if heading:
            title = heading["title"].rstrip(":：").strip()
            known = title.lower() in _ROLE_NAMES
            return _Open(number, title, None, []) if known else None
        match = _SPEAKER.fullmatch(line)
        if not match or match["name"] not in self._speakers:
            return None
        stamp = match["time1"] or match["time2"]
        time = self._time(stamp) if stamp else None
        return _Open(number, match["name"], time, [match["text"]], len(match["text"]))

    def _time(self, stamp: str) -> datetime | None:
        clock = _CLOCK.fullmatch(stamp.strip())
        if clock and self._head.occurred_at:
            hour, minute, second = (int(part or 0) for part in clock.groups())
            if hour < 24 and minute < 60 and second < 60:
                local = self._head.occurred_at.astimezone(self._options.zone)
                return local.replace(hour=hour, minute=minute, second=second)
            return None
        found = _DATE.search(stamp)
        try:
            return session_time(found.group(), self._options) if found else None
        except RecordFaultError:
            return None

    def _begins_session(self, title: str) -> bool:
        return bool(_DATE.search(title) or _SESSION_WORDS.search(title)) or self._pending is None

    def _new_session(self, number: int, title: str) -> Reject | None:
        found = _DATE.search(title)
        self._coming = replace(self._front, place=Place(number))
        if not found:
            return None
        try:
            moment = session_time(found.group(), self._options)
        except RecordFaultError as error:
            return reject(Place(number), error, title)
        self._coming = replace(self._coming, occurred_at=moment)
        return None

    def _front_matter(self) -> Reject | None:
        """`user`, `thread` and `date` between two lines of three dashes at the very start."""
        ahead = self._ahead
        if isinstance(ahead, Reject) or ahead is None or ahead[1].rstrip() != "---":
            return None
        members: dict[str, str] = {}
        for _ in range(50):
            self._take()
            ahead = self._ahead
            if isinstance(ahead, Reject) or ahead is None:
                break
            if ahead[1].rstrip() == "---":
                self._take()
                break
            key, colon, value = ahead[1].partition(":")
            if colon:
                members[key.strip().lower()] = value.strip().strip("'\"")
        try:
            user, _ = clean_name(members.get("user"), "user")
            thread, _ = clean_name(members.get("thread"), "thread")
            moment = session_time(members.get("datetime") or members.get("date"), self._options)
        except RecordFaultError as error:
            return reject(Place(1), error, str(members))
        self._front = self._coming = Session(Place(1), thread, user, moment)
        return None

    def _take(self) -> None:
        self._ahead = next(self._lines, None)

    def _read(self) -> Iterator[tuple[int, str] | Reject]:
        number = 0
        try:
            for number, line in self._source.lines():
                if isinstance(line, LineTooLongError):
                    fault = RecordFaultError("line_too_long", "a line above the limit")
                    yield reject(Place(number), fault, line.head.decode("utf-8", "replace")[:2000])
                    continue
                try:
                    yield number, decode_line(line.removesuffix(b"\r"))
                except TextRefusedError as error:
                    yield reject(Place(number), error, line.decode("utf-8", "backslashreplace"))
        except CutShortError as error:
            fault = RecordFaultError("input_cut_short", f"the gzip data is damaged: {error}")
            yield reject(Place(number + 1), fault, "")


def _next_fence(line: str, fence: str) -> str:
    """The mark of the code block that the line stands in or opens, "" outside of code."""
    match = _FENCE.match(line)
    if not match:
        return fence
    mark = match.group(1)
    if not fence:
        return mark
    return "" if mark.startswith(fence) and line.strip() == mark else fence
