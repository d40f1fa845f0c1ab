"""The YAML file: read, its variables filled in, checked key by key against the model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from negmem.config import yamltext
from negmem.config.keys import Group, Key, suggestion, tree
from negmem.config.problems import Problem
from negmem.config.secrets import has_clear_password
from negmem.errors import UsageError

_MAX_BYTES = 4 * yamltext.MAX_CHARS
_VARIABLE = re.compile(
    r"\$\$|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}|(?P<broken>\$\{)"
)


@dataclass
class Document:
    """What a YAML text says: nested values, the place of each key, and what is wrong with it."""

    name: str
    values: dict[str, Any] = field(default_factory=dict)
    marks: dict[str, yamltext.Mark] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def place(self, path: str) -> str:
        """file:line:column of a key, or of the section that would hold it."""
        while path and path not in self.marks:
            path = path.rpartition(".")[0]
        mark = self.marks.get(path)
        return f"{self.name}:{mark.line}:{mark.column}" if mark else f"{self.name}:1:1"


def read_text(path: Path, origin: str) -> str:
    """The file's text without a byte order mark.

    Args: origin, who named the file. Raises: UsageError `config_not_found`, `config_unreadable`.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise UsageError(
                "config_unreadable",
                f"{path} is too large for a configuration",
                why=f"over {_MAX_BYTES:,} bytes, named by {origin}",
                hint=f"ls -l {path}",
            )
        return data.decode("utf-8-sig")
    except FileNotFoundError:
        raise UsageError(
            "config_not_found",
            f"there is no file {path}",
            why=f"it is named by {origin}",
            hint=f"negmem init --config {path}    makes one",
        ) from None
    except UnicodeDecodeError as error:
        raise UsageError(
            "config_unreadable",
            f"{path} is not UTF-8 text",
            why=f"byte {error.start} is 0x{error.object[error.start]:02x}",
            hint=f"file {path}",
        ) from None
    except OSError as error:
        raise UsageError(
            "config_unreadable",
            f"{path} can't be read",
            why=f"{error.strerror}, named by {origin}",
            hint=f"ls -l {path}",
        ) from None


def parse_document(text: str, name: str, env: Mapping[str, str]) -> Document:
    """What a YAML text says; `name` stands before line and column in messages. Never raises."""
    document = Document(name)
    try:
        root, repeated = yamltext.parse(text)
    except yamltext.YamlError as error:
        where = f"{name}:{error.line}:{error.column}"
        document.problems.append(Problem("config_syntax", where, "", error.text))
        return document
    for fault in repeated:
        where = f"{name}:{fault.line}:{fault.column}"
        document.problems.append(Problem("config_repeated_key", where, "", fault.text))
    document.values = _Reader(document, env).group(root, tree())
    return document


class _Reader:
    """Walks the nodes beside the model: unknown keys, variables and secrets are found here."""

    def __init__(self, document: Document, env: Mapping[str, str]) -> None:
        self._document, self._env = document, env

    def group(self, node: yamltext.Mapping, group: Group) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, (word, inner) in node.entries.items():
            member = group.members.get(name)
            if member is None:
                path = f"{group.path}.{name}" if group.path else name
                text = f"unknown key {path}; {suggestion(group, name)}"
                self._problem("config_unknown_key", word.mark, path, text)
            elif isinstance(member, Key):
                self._document.marks[member.path] = inner.mark
                self._value(member, name, inner, values)
            elif isinstance(inner, yamltext.Mapping):
                self._document.marks[member.path] = word.mark
                values[name] = self.group(inner, member)
            elif not _is_nothing(inner):
                text = f"{member.path} must be a mapping of keys, got {_kind(inner)}"
                self._problem("config_invalid", inner.mark, member.path, text)
        return values

    def _value(self, key: Key, name: str, node: yamltext.Node, values: dict[str, Any]) -> None:
        if key.is_list and isinstance(node, yamltext.Sequence):
            words = [self._word(key, item) for item in node.items]
            if all(ok for ok, _ in words):
                values[name] = tuple(value for _, value in words)
        elif key.is_list or not isinstance(node, yamltext.Scalar):
            text = f"{key.path} must be {key.expectation}, got {_kind(node)}"
            self._problem("config_invalid", node.mark, key.path, text)
        else:
            ok, value = self._word(key, node)
            if ok:
                values[name] = value

    def _word(self, key: Key, node: yamltext.Node) -> tuple[bool, object]:
        """Whether a node is a usable word, and the value it has for a key."""
        if not isinstance(node, yamltext.Scalar):
            text = f"{key.path} takes words, got {_kind(node)} in it"
            self._problem("config_invalid", node.mark, key.path, text)
            return False, None
        if _is_nothing(node):
            return True, None
        if key.is_secret and has_clear_password(node.text):
            name = "PGPASSWORD" if key.attribute == "dsn" else "API_PASSWORD"
            text = f"{key.path} holds a password in clear; write ${{{name}}} in its place"
            text += " or leave it out and use ~/.pgpass" if key.attribute == "dsn" else ""
            self._problem("config_secret_in_yaml", node.mark, key.path, text)
            return False, None
        text, was_filled, missing = expand(node.text, self._env)
        for name in missing:
            said = f"variable {name} is not set" if name else "a ${ that is no ${NAME}"
            self._problem("config_variable_unset", node.mark, key.path, f"{key.path}: {said}")
        is_typed = (node.is_plain or was_filled) and str not in key.kinds
        return not missing, yamltext.resolve(text) if is_typed else text

    def _problem(self, code: str, mark: yamltext.Mark, path: str, text: str) -> None:
        where = f"{self._document.name}:{mark.line}:{mark.column}"
        self._document.problems.append(Problem(code, where, path, text))


def expand(text: str, env: Mapping[str, str]) -> tuple[str, bool, list[str]]:
    """The text with `${NAME}` and `${NAME:-default}` filled in; `$$` is a dollar sign.

    Returns: the text, whether any variable was filled in, and the names that are not set (an empty
    name stands for a broken reference). What a variable holds is neither YAML nor expanded again.
    """
    was_filled = False
    missing: list[str] = []

    def fill(match: re.Match[str]) -> str:
        nonlocal was_filled
        if match.group() == "$$":
            return "$"
        name, default = match.group("name"), match.group("default")
        value = env.get(name) if name else None
        if default is not None and not value:
            value = default
        if value is None:
            missing.append(name or "")
            return ""
        was_filled = True
        return value

    return _VARIABLE.sub(fill, text), was_filled, missing


def _is_nothing(node: yamltext.Node) -> bool:
    return isinstance(node, yamltext.Scalar) and node.is_plain and yamltext.is_null(node.text)


def _kind(node: yamltext.Node) -> str:
    if isinstance(node, yamltext.Scalar):
        return "nothing" if _is_nothing(node) else "a single value"
    return "a list" if isinstance(node, yamltext.Sequence) else "a mapping"
