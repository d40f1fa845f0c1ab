"""Strict YAML 1.2 with the place of everything kept: a tree of nodes, no guessing at types.

PyYAML finds the words; what they mean is decided here and by the model. `no` is a word, `22:30` is
text, `1e-3` a number; a key that stands twice is an error; tags and merge keys are not used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

MAX_CHARS, MAX_DEPTH = 1_000_000, 32


@dataclass(frozen=True)
class Mark:
    """A place in a text: line and column from 1, offsets in characters from 0."""

    line: int
    column: int
    start: int
    end: int


@dataclass(frozen=True)
class Scalar:
    """A word or quoted text as it stands, not yet of any type."""

    text: str
    is_plain: bool
    mark: Mark


@dataclass
class Sequence:
    """A list."""

    items: list[Node] = field(default_factory=list)
    mark: Mark = Mark(1, 1, 0, 0)
    is_complete: bool = False


@dataclass
class Mapping:
    """Keys with their values, in the order of the text."""

    entries: dict[str, tuple[Scalar, Node]] = field(default_factory=dict)
    mark: Mark = Mark(1, 1, 0, 0)
    is_flow: bool = False
    is_complete: bool = False


Node = Scalar | Sequence | Mapping


class YamlError(Exception):
    """The text is not the YAML that is read here; line and column from 1."""

    def __init__(self, text: str, line: int = 1, column: int = 1) -> None:
        super().__init__(text)
        self.text, self.line, self.column = text, line, column


def parse(text: str) -> tuple[Mapping, list[YamlError]]:
    """The tree of a YAML text, and the repeated keys in it (the first of them stands in the tree).

    Raises: YamlError where the text can't be read at all.
    """
    if len(text) > MAX_CHARS:
        raise YamlError(f"has {len(text):,} characters, at most {MAX_CHARS:,}")
    builder = _Builder()
    try:
        for event in _events(text):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if error.context_mark and mark and mark.index >= len(text.rstrip()):
            mark = error.context_mark  # what was opened there and never closed
        said = " ".join(part for part in (error.problem, error.context) if part)
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise YamlError(f"not YAML: {said}", *place) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - (text.rfind("\n", 0, error.position) + 1) + 1
        raise YamlError(
            f"not YAML: character U+{_code_point(error):04X} is not allowed", line, column
        ) from None
    root = builder.root
    if root is None or (isinstance(root, Scalar) and root.is_plain and is_null(root.text)):
        return Mapping(), []
    if not isinstance(root, Mapping):
        raise YamlError("a mapping of keys is wanted at the top", root.mark.line, root.mark.column)
    return root, builder.repeated


def _code_point(error: yaml.reader.ReaderError) -> int:
    return error.character if isinstance(error.character, int) else ord(error.character[:1] or "\0")


def _events(text: str) -> Iterator[yaml.Event]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.parse(text, Loader=loader)


class _Builder:
    """Builds the tree from events with a stack of its own, so that depth is bounded by a rule."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self.repeated: list[YamlError] = []
        self._open: list[Mapping | Sequence] = []
        self._keys: list[Scalar | None] = []
        self._anchors: dict[str, Node] = {}
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        mark = _mark(event)
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise YamlError("a second document begins; one is read", mark.line, mark.column)
        elif isinstance(event, yaml.AliasEvent):
            self._add(self._resolved(event.anchor, mark), mark)
        elif isinstance(event, yaml.NodeEvent):
            self._begin(event, mark)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            node = self._open.pop()
            self._keys.pop()
            node.is_complete = True
            node.mark = Mark(node.mark.line, node.mark.column, node.mark.start, mark.end)

    def _resolved(self, anchor: str | None, mark: Mark) -> Node:
        node = self._anchors.get(anchor or "")
        if node is None:
            raise YamlError(f"the anchor &{anchor} does not exist", mark.line, mark.column)
        if not isinstance(node, Scalar) and not node.is_complete:
            raise YamlError(f"the anchor &{anchor} contains itself", mark.line, mark.column)
        return node

    def _begin(self, event: yaml.NodeEvent, mark: Mark) -> None:
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise YamlError(f"tags such as {tag} are not used", mark.line, mark.column)
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            node = Scalar(event.value, not event.style, mark)
        elif isinstance(event, yaml.MappingStartEvent):
            node = Mapping(mark=mark, is_flow=bool(event.flow_style))
        else:
            node = Sequence(mark=mark)
        self._add(node, mark)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        if not isinstance(node, Scalar):
            if len(self._open) == MAX_DEPTH:
                raise YamlError(f"nested over {MAX_DEPTH} deep", mark.line, mark.column)
            self._open.append(node)
            self._keys.append(None)

    def _add(self, node: Node, mark: Mark) -> None:
        if not self._open:
            self.root = node
            return
        parent, key = self._open[-1], self._keys[-1]
        if isinstance(parent, Sequence):
            parent.items.append(node)
        elif key is None:
            if not isinstance(node, Scalar):
                raise YamlError("a key must be a word", mark.line, mark.column)
            if node.text == "<<" and node.is_plain:
                raise YamlError("merge keys (<<) are not YAML 1.2", mark.line, mark.column)
            self._keys[-1] = Scalar(node.text, node.is_plain, mark)
        else:
            self._keys[-1] = None
            if key.text in parent.entries:
                first = parent.entries[key.text][0].mark.line
                self.repeated.append(
                    YamlError(
                        f"the key {key.text!r} stands in line {first} already",
                        key.mark.line,
                        key.mark.column,
                    )
                )
            else:
                parent.entries[key.text] = (key, node)


def _mark(event: yaml.Event) -> Mark:
    start, end = event.start_mark, event.end_mark
    if start is None or end is None:
        return Mark(1, 1, 0, 0)
    return Mark(start.line + 1, start.column + 1, start.index, end.index)


_BOOLEANS = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_INTEGER = re.compile(r"[-+]?[0-9]{1,400}|0o[0-7]{1,400}|0x[0-9a-fA-F]{1,400}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]{1,400}|[0-9]{1,400}(\.[0-9]{0,400})?)([eE][-+]?[0-9]{1,9})?")
_SPECIAL = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def is_null(text: str) -> bool:
    """Whether a plain word means nothing at all (YAML 1.2 core schema)."""
    return text in ("", "~", "null", "Null", "NULL")


def resolve(text: str) -> bool | int | float | str | None:
    """What a plain word means by the YAML 1.2 core schema."""
    if is_null(text):
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        return int(text, 0 if text[:2] in ("0o", "0x") else 10)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _SPECIAL.fullmatch(text):
        return float(text.replace(".", "", 1))
    return text


_SAFE_WORD = re.compile(r"[A-Za-z_/][A-Za-z0-9_./@-]*")
_OLD_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"))


def render(value: object) -> str:
    """One YAML value on one line, written so that old and new YAML read it alike."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        shortest = repr(value)
        return shortest if "e" not in shortest or "." in shortest else shortest.replace("e", ".0e")
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return _render_text(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(render(item) for item in value) + "]"
    raise TypeError(f"{type(value).__name__} has no place in the YAML")


def _render_text(text: str) -> str:
    if _SAFE_WORD.fullmatch(text) and text.lower() not in _OLD_WORDS:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(_escape(character) for character in escaped) + '"'


def _escape(character: str) -> str:
    code = ord(character)
    if character in "\t\n\r":
        return {"\t": "\\t", "\n": "\\n", "\r": "\\r"}[character]
    if code < 0x20 or 0x7F <= code < 0xA0 or code in (0x2028, 0x2029, 0xFEFF):
        return f"\\u{code:04x}"
    return character
