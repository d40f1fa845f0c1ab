"""Sets a key in the YAML file and leaves every other character of it as it was."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from negmem.config import yamltext
from negmem.config.document import Document, parse_document
from negmem.config.keys import Key, all_keys, tree
from negmem.config.load import read_argument
from negmem.config.model import Config
from negmem.config.problems import ConfigError, Problem, check
from negmem.config.secrets import mask_dsn
from negmem.config.yamltext import Mapping as MappingNode
from negmem.config.yamltext import Node, Scalar, Sequence
from negmem.core.models.config import ConfigChange
from negmem.errors import NegmemError, UsageError

_BOM = "\ufeff"
_INDENT = 2


@dataclass(frozen=True)
class Edit:
    """One change of a YAML text, with the values that the key had and has; `line` is where it is."""

    key: str
    before: object
    after: object
    line: int
    text: str
    is_change: bool


def set_in_file(
    path: Path, key: str, value: str, env: Mapping[str, str], *, dry_run: bool = False
) -> Edit:
    """Set a key in a file, atomically; a second writer at the same moment waits and loses nothing.

    Args: value, as written on a command line. Raises: ConfigError where the file would be wrong
    afterwards, UsageError `config_edit_refused` where only a person can make this change,
    NegmemError `config_not_writable`.
    """
    try:
        with _locked(path.resolve()) as stream:
            data = stream.read().decode("utf-8")
            bom = _BOM if data.startswith(_BOM) else ""
            edit = plan_edit(data[len(bom) :], str(path), key, value, env)
            if not dry_run and edit.is_change:
                _replace(path.resolve(), (bom + edit.text).encode())
            return edit
    except UnicodeDecodeError:
        raise UsageError(
            "config_unreadable",
            f"{path} is not UTF-8 text",
            why="it holds bytes of another encoding",
            hint=f"file {path}",
        ) from None
    except FileNotFoundError:
        raise UsageError(
            "config_not_found",
            f"there is no file {path}",
            why="it would be changed, and init makes it",
            hint=f"negmem init --config {path}",
        ) from None
    except OSError as error:
        raise NegmemError(
            "config_not_writable",
            f"{path} can't be changed",
            why=str(error.strerror),
            hint=f"ls -ld {path} {path.parent}",
        ) from None


def change_of(edit: Edit, path: Path, dry_run: bool) -> ConfigChange:
    """An edit as the answer of `config set`, secrets masked."""
    return ConfigChange(
        dry_run=dry_run,
        changed=edit.is_change,
        key=edit.key,
        before=_masked(edit.key, edit.before),
        after=_masked(edit.key, edit.after),
        target="yaml",
        place=f"{path}:{edit.line}",
    )


def plan_edit(text: str, name: str, key: str, value: str, env: Mapping[str, str]) -> Edit:
    """The text with one key set, checked: it must read as before but for this key."""
    leaf = all_keys()[key]
    old = parse_document(text, name, env)
    blocking = [p for p in old.problems if p.code in ("config_syntax", "config_repeated_key")]
    if blocking:
        raise ConfigError(blocking, hint=f"negmem config validate --config {name}")
    root, _ = yamltext.parse(text)
    written = _written(leaf, value)
    new_text = _Editor(text).set(root, key.split("."), written)
    new = parse_document(new_text, name, env)
    fresh = _new_problems(old, new)
    if fresh:
        raise ConfigError([Problem(p.code, "config set", p.key, p.text) for p in fresh])
    expected = deepcopy(old.values)
    _put(expected, key.split("."), _read(new.values, key.split(".")))
    if new.values != expected or key not in new.marks:
        raise UsageError(
            "config_edit_refused",
            f"{key} can't be set in {name} without touching something else",
            why="it stands behind an anchor (&) or an alias (*)",
            hint=f"change {name} by hand, then: negmem config validate",
        )
    return Edit(
        key=key,
        before=_read(old.values, key.split(".")),
        after=_read(new.values, key.split(".")),
        line=new.marks[key].line,
        text=new_text,
        is_change=new_text != text,
    )


def _masked(key: str, value: object) -> object:
    return mask_dsn(value) if all_keys()[key].is_secret and isinstance(value, str) else value


def _written(key: Key, value: str) -> str:
    return yamltext.render(read_argument(key, value))


def _new_problems(old: Document, new: Document) -> list[Problem]:
    """What is wrong now and was not before, places apart."""
    known = {(p.code, p.key, p.text) for p in _problems(old)}
    return [p for p in _problems(new) if (p.code, p.key, p.text) not in known]


def _problems(document: Document) -> list[Problem]:
    _, single, joint = check(Config, document.values, tree(), document.place)
    return document.problems + single + joint


def _put(values: dict[str, Any], parts: list[str], value: object) -> None:
    for part in parts[:-1]:
        values = values.setdefault(part, {})
    values[parts[-1]] = value


def _read(values: Any, parts: list[str]) -> object:
    for part in parts:
        values = values.get(part) if isinstance(values, dict) else None
    return values


class _Editor:
    """Finds the place in the text where a key's value stands or belongs."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._newline = "\r\n" if "\r\n" in text else "\n"

    def set(self, root: MappingNode, parts: list[str], value: str) -> str:
        """The text with the value at the path `parts`."""
        node, depth = root, 0
        while depth < len(parts) - 1:
            entry = node.entries.get(parts[depth])
            if entry is None:
                break
            word, inner = entry
            depth += 1
            if not isinstance(inner, MappingNode):
                return self._fill_section(word, inner, self._block(parts[depth:], value, word))
            node = inner
        if depth == len(parts) - 1 and parts[depth] in node.entries:
            return self._replace(*node.entries[parts[depth]], value)
        return self._insert(node, parts[depth:], value)

    def _block(self, parts: list[str], value: str, parent: Scalar | None) -> str:
        """Lines for a nested key, indented under the parent's column; no newline at the end."""
        column = (parent.mark.column - 1 + _INDENT) if parent else 0
        lines = [" " * (column + _INDENT * depth) + f"{part}:" for depth, part in enumerate(parts)]
        return self._newline.join(lines) + f" {value}"

    def _replace(self, word: Scalar, node: Node, value: str) -> str:
        start, end = node.mark.start, node.mark.end
        if isinstance(node, Sequence) and self._text[start : start + 1] != "[":
            start = self._after_colon(word)
            end = max((item.mark.end for item in node.items), default=end)
            value = f" {value}"
        elif start == end:
            start = end = self._after_colon(word)
            value = f" {value}"
        elif self._text[:end].endswith("\n"):
            value += self._newline
        return self._text[:start] + value + self._text[end:]

    def _fill_section(self, word: Scalar, node: Node, block: str) -> str:
        """Give an empty section (`llm:`) its first key."""
        start, end = node.mark.start, node.mark.end
        if start == end:
            start = end = self._end_of_line(self._after_colon(word))
        return self._text[:start] + self._newline + block + self._text[end:]

    def _insert(self, node: MappingNode, parts: list[str], value: str) -> str:
        if node.is_flow:
            inner = value
            for part in reversed(parts[1:]):
                inner = f"{{{part}: {inner}}}"
            comma = ", " if node.entries else ""
            at = node.mark.end - 1
            return f"{self._text[:at].rstrip()}{comma}{parts[0]}: {inner}{self._text[at:]}"
        if not node.entries:
            start = self._text
            if start and not start.endswith("\n"):
                start += self._newline
            return start + self._block(parts, value, None) + self._newline
        first = next(iter(node.entries.values()))[0].mark.column - 1
        at = self._end_of_line(_deep_end(node))
        lines = self._block(parts, value, None).split(self._newline)
        block = self._newline.join(" " * first + line for line in lines)
        if at and self._text[at - 1] == "\n":
            return self._text[:at] + block + self._newline + self._text[at:]
        return self._text[:at] + self._newline + block + self._text[at:]

    def _after_colon(self, word: Scalar) -> int:
        return self._text.index(":", word.mark.end) + 1

    def _end_of_line(self, at: int) -> int:
        """Where the line ends that `at` is in; `at` itself if a line begins there."""
        if at and self._text[at - 1] == "\n":
            return at
        end = self._text.find("\n", at)
        if end < 0:
            return len(self._text)
        return end - 1 if self._text[end - 1] == "\r" else end


def _deep_end(node: Node) -> int:
    """Where the last word of a node ends; a block's own end mark lies beyond what follows it."""
    if isinstance(node, MappingNode) and not node.is_flow and node.entries:
        word, inner = list(node.entries.values())[-1]
        return max(word.mark.end, _deep_end(inner))
    if isinstance(node, Sequence) and node.items:
        return max(_deep_end(item) for item in node.items)
    return node.mark.end


@contextmanager
def _locked(path: Path) -> Iterator[BinaryIO]:
    """The file, open and locked; opened again if another writer replaced it in the meantime."""
    while True:
        stream = path.open("rb")
        fcntl.flock(stream, fcntl.LOCK_EX)
        try:
            if os.fstat(stream.fileno()).st_ino == path.stat().st_ino:
                yield stream
                return
        finally:
            stream.close()


def _replace(path: Path, data: bytes) -> None:
    """Put new content in the file's place in one step, with its mode and, where allowed, its owner."""
    status = path.stat()
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            os.fchmod(stream.fileno(), status.st_mode & 0o7777)
            if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                with contextlib.suppress(PermissionError):
                    os.fchown(stream.fileno(), status.st_uid, status.st_gid)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
