"""Data sets for retrieval: conversations, questions, and which turns hold the answer.

A set is two files of JSON Lines (`sessions` and `qa`, plain or gzip). Only what was said, by whom and when
reaches the system; ids, evidence and categories are for the scorer alone.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from negmem.core.formation.readers.calls import with_caption
from negmem.errors import UsageError

_ADVERSARIAL = "5"


@dataclass(frozen=True)
class Turn:
    """What one side said. `evidence_id` is the id that the questions name; two sides may share one."""

    evidence_id: str
    text: str
    role: str | None
    speaker: str | None
    moment: str | None


@dataclass(frozen=True)
class Conversation:
    """One session. `session_id` is what questions name, `name` is unique within its store."""

    store: str
    session_id: str
    name: str
    moment: str | None
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Question:
    """A question to a store. `also` states the answer too: it counts for any@k and mrr@10 alone.

    `excluded` are sessions that must not count against it: they hold other questions' evidence.
    """

    id: str
    store: str
    text: str
    category: str
    evidence: frozenset[str]
    also: frozenset[str]
    sessions: frozenset[str]
    is_headline: bool
    excluded: frozenset[str] = frozenset()
    answer: str = ""
    moment: str | None = None


@dataclass(frozen=True)
class Dataset:
    """A whole set; `ks` are the cut-offs that its figures are given for."""

    name: str
    conversations: list[Conversation]
    questions: list[Question]
    ks: tuple[int, ...] = (1, 3, 5, 10)
    variant: str | None = None


@dataclass
class _Files:
    folder: Path
    prefix: str = ""
    seen: list[str] = field(default_factory=list)

    def rows(self, stem: str) -> Iterator[dict[str, Any]]:
        """The objects of one file. Raises: UsageError `dataset_not_found`, `dataset_malformed`."""
        for name in (f"{self.prefix}{stem}.jsonl", f"{self.prefix}{stem}.jsonl.gz"):
            path = self.folder / name
            if path.is_file():
                yield from _objects(path)
                return
        raise UsageError(
            "dataset_not_found",
            f"there is no {self.prefix}{stem} file",
            why=f"neither {self.prefix}{stem}.jsonl nor {self.prefix}{stem}.jsonl.gz is in"
            f" {self.folder}",
            hint="name the folder with --data DIR, and for memdaily the --variant",
        )


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    number = 0
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                number += 1
                if line.strip():
                    row = json.loads(line)
                    if not isinstance(row, dict):
                        raise ValueError("not an object")
                    yield row
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise UsageError(
            "dataset_malformed",
            f"{path.name} can't be read",
            why=f"line {number}: {error}",
            hint=f"look at {path}",
        ) from None


def load(
    name: str,
    folder: Path,
    *,
    variant: str | None = None,
    mini: bool = False,
    pooled: bool = False,
) -> Dataset:
    """The set `name` from its folder.

    `variant` (plain or noise100) is for memdaily; `mini` and `pooled` are for longmemeval: the marked 50
    questions alone, and all sessions in one store.
    Raises: UsageError `dataset_not_found`, `dataset_malformed`, `dataset_option_unknown`.
    """
    _check_options(name, variant, mini, pooled)
    if name == "longmemeval":
        return _longmemeval(_Files(folder), mini, pooled)
    chosen = (variant or "noise100") if name == "memdaily" else None
    files = _Files(folder, "" if chosen is None else f"{chosen}.")
    conversations = [
        _conversation(row, _id(row, "conversation_id")) for row in files.rows("sessions")
    ]
    questions = [_question(row, name) for row in files.rows("qa")]
    ks = (1, 3, 5, 10, 25, 50) if name == "locomo" else (1, 3, 5, 10)
    return _checked(Dataset(name, conversations, questions, ks, chosen))


def data_hash(name: str, folder: Path, variant: str | None) -> str:
    """SHA-256 over the content of a set's files, however they are packed."""
    prefix = f"{variant or 'noise100'}." if name == "memdaily" else ""
    digest = hashlib.sha256()
    for stem in ("sessions", "qa"):
        path = folder / f"{prefix}{stem}.jsonl"
        opened = open
        if not path.is_file():
            path = path.with_name(path.name + ".gz")
            opened = gzip.open  # type: ignore[assignment]
        digest.update(stem.encode() + b"\0")
        with opened(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def _check_options(name: str, variant: str | None, mini: bool, pooled: bool) -> None:
    wrong = ""
    if variant is not None and (name != "memdaily" or variant not in ("plain", "noise100")):
        wrong = "--variant plain or noise100 is for memdaily"
    elif (mini or pooled) and name != "longmemeval":
        wrong = "--mini and --pooled are for longmemeval"
    if wrong:
        raise UsageError(
            "dataset_option_unknown",
            f"the set {name} has no such form",
            why=wrong,
            hint="negmem bench retrieval --help",
        )


def _conversation(
    row: dict[str, Any], store: str, name: str = "", moment: str = ""
) -> Conversation:
    session_id = _id(row, "session_id")
    turns = row.get("turns")
    if not isinstance(turns, list):
        raise _malformed(f"session {session_id} has no turns")
    return Conversation(
        store=store,
        session_id=session_id,
        name=name or session_id,
        moment=moment or row.get("datetime"),
        turns=tuple(side for turn in turns for side in _sides(turn)),
    )


def _sides(turn: dict[str, Any]) -> list[Turn]:
    """A turn as it was said; an exchange is two turns of one id."""
    found = _id(turn, "turn_id", "dia_id", "id")
    moment = turn.get("datetime")
    if "user" in turn or "assistant" in turn:
        return [
            Turn(found, str(turn[role]), role, None, moment)
            for role in ("user", "assistant")
            if str(turn.get(role) or "").strip()
        ]
    text = with_caption(str(turn.get("text") or ""), turn.get("image_caption"))
    if not str(text).strip():
        return []
    role, speaker = turn.get("role"), turn.get("speaker")
    return [Turn(found, str(text), role, speaker, moment)]


def _question(row: dict[str, Any], name: str) -> Question:
    category = str(row.get("category", "all"))
    counts = row.get("answerable", True) is not False and row.get("scorable", True) is not False
    if name == "locomo":
        counts = row.get("scorable", True) is not False and category != _ADVERSARIAL
    evidence = frozenset(str(item) for item in row.get("evidence") or ())
    return Question(
        id=_id(row, "question_id"),
        store=_id(row, "conversation_id"),
        text=str(row.get("question", "")),
        category=category,
        evidence=evidence,
        also=frozenset(str(item) for item in row.get("evidence_alt") or ()),
        sessions=frozenset(str(item) for item in row.get("evidence_sessions") or ()),
        is_headline=counts and bool(evidence),
        answer=str(row.get("answer") or ""),
        moment=row.get("datetime"),
    )


def _longmemeval(files: _Files, mini: bool, pooled: bool) -> Dataset:
    rows = [row for row in files.rows("qa") if row.get("mini") or not mini]
    questions = [_question(row, "longmemeval") for row in rows]
    sessions = {_id(row, "session_id"): row for row in files.rows("sessions")}
    conversations: list[Conversation] = []
    if not pooled:
        for row in rows:
            store, times = _id(row, "conversation_id"), dict[str, int]()
            for entry in row.get("haystack") or ():
                found = _id(entry, "session_id")
                times[found] = times.get(found, 0) + 1
                name = found if times[found] == 1 else f"{found}@{times[found]}"
                if found not in sessions:
                    raise _malformed(f"haystack of {store} names no session: {found}")
                conversations.append(
                    _conversation(sessions[found], store, name, entry.get("datetime") or "")
                )
        variant = "mini" if mini else None
        return _checked(Dataset("longmemeval", conversations, questions, variant=variant))
    dates: dict[str, str] = {}
    for row in rows:
        for entry in row.get("haystack") or ():
            dates.setdefault(_id(entry, "session_id"), entry.get("datetime") or "")
    conversations = [
        _conversation(row, "pooled", moment=dates[name])
        for name, row in sessions.items()
        if name in dates
    ]
    held = frozenset(name for question in questions for name in question.sessions)
    asked = [replace(q, store="pooled", excluded=held - q.sessions) for q in questions]
    return _checked(Dataset("longmemeval", conversations, asked, variant="pooled"))


def _checked(dataset: Dataset) -> Dataset:
    """The set, if each question has a store and there is something to ask."""
    stores = {conversation.store for conversation in dataset.conversations}
    for question in dataset.questions:
        if question.store not in stores:
            raise _malformed(f"question {question.id} asks {question.store}, which has no session")
    if not any(question.is_headline for question in dataset.questions):
        raise _malformed("no question has evidence")
    return dataset


def _id(row: Any, *names: str) -> str:
    if isinstance(row, dict):
        for name in names:
            if row.get(name) not in (None, ""):
                return str(row[name])
    raise _malformed(f"{' or '.join(names)} is missing in {str(row)[:80]}")


def _malformed(why: str) -> UsageError:
    return UsageError(
        "dataset_malformed",
        "the data set is not of the form it should have",
        why=why,
        hint="negmem bench retrieval --help",
    )
