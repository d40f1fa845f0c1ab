"""The keys of the YAML as a tree read off the model: kinds, ranges in words, nearest names."""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from negmem.config import yamltext
from negmem.config.model import Config
from negmem.config.secrets import mask_dsn

VARIABLES = {
    "connection.dsn": "NEGMEM_DSN",
    "connection.schema": "NEGMEM_SCHEMA",
    "connection.app": "NEGMEM_APP",
}
FLAGS = {
    "connection.dsn": "--dsn",
    "connection.schema": "--schema",
    "connection.app": "--app",
    "embedding.provider": "--embedder",
    "embedding.dims": "--dims",
}


@dataclass(frozen=True)
class Key:
    """One key that takes a value.

    `kinds` are the types a word may become (str, int, float, bool, NoneType); `choices` the only
    words allowed, where there are such; `is_list` says that it takes a list of such words.
    """

    path: str
    attribute: str
    field: FieldInfo
    kinds: frozenset[type]
    choices: tuple[str, ...]
    is_list: bool
    is_secret: bool

    @property
    def variable(self) -> str | None:
        """The environment variable that sets it; None for automation, which the database stores."""
        if self.path.startswith("automation."):
            return None
        return VARIABLES.get(self.path, "NEGMEM_" + self.path.upper().replace(".", "__"))

    @property
    def may_be_null(self) -> bool:
        """Whether it can be left without a value."""
        return types.NoneType in self.kinds

    @property
    def expectation(self) -> str:
        """What a value must be, in words: `a whole number from 1 to 36500`."""
        if self.choices:
            words = ", ".join(self.choices[:-1])
            return f"{words} or {self.choices[-1]}" if words else self.choices[0]
        if self.is_list:
            return "a list of words"
        base = "text"
        for kind, words in ((bool, "true or false"), (int, "a whole number"), (float, "a number")):
            if kind in self.kinds:
                base = words
                break
        return base + self._range() + (" or null" if self.may_be_null else "")

    @property
    def bounds(self) -> str:
        """The allowed values in short: `1..36500`, `over 0..10`, `always | agentic`; else empty."""
        if self.choices:
            return " | ".join(self.choices)
        found = self._limits()
        low = found.get("ge", f"over {found['gt']}" if "gt" in found else "")
        high = found.get("le", f"under {found['lt']}" if "lt" in found else "")
        return f"{low}..{high}" if found and "min_length" not in found else ""

    def _limits(self) -> dict[str, Any]:
        return {
            name: getattr(item, name)
            for item in self.field.metadata
            for name in ("gt", "ge", "lt", "le", "min_length", "max_length")
            if getattr(item, name, None) is not None
        }

    def _range(self) -> str:
        bounds = self._limits()
        if "min_length" in bounds or "max_length" in bounds:
            longest = (
                f", at most {bounds['max_length']} characters" if "max_length" in bounds else ""
            )
            return ", not empty" + longest if bounds.get("min_length") else longest
        if "ge" in bounds and "le" in bounds:
            return f" from {bounds['ge']} to {bounds['le']}"
        words = {"gt": "over", "ge": "at least", "lt": "under", "le": "at most"}
        said = [f"{words[name]} {bounds[name]}" for name in words if name in bounds]
        return " " + " and ".join(said) if said else ""


@dataclass(frozen=True)
class Group:
    """A section: what it is about, its keys and sections by the name they have in the YAML."""

    path: str
    meaning: str
    members: dict[str, Key | Group]
    default: BaseModel | None

    def leaves(self) -> Iterator[Key]:
        """Every key under it, in the order of the model."""
        for member in self.members.values():
            if isinstance(member, Key):
                yield member
            else:
                yield from member.leaves()


@lru_cache(maxsize=1)
def tree() -> Group:
    """The whole YAML."""
    return _group("", Config, None, "")


@lru_cache(maxsize=1)
def all_keys() -> dict[str, Key]:
    """Every key by its dotted path."""
    return {key.path: key for key in tree().leaves()}


def nearest(word: str, known: list[str]) -> str | None:
    """The known word that someone who wrote `word` most likely meant."""
    found = difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.7)
    return found[0] if found else None


def suggestion(group: Group, word: str) -> str:
    """What an unknown key may have been meant to be, as the end of a message."""
    prefix = f"{group.path}." if group.path else ""
    if near := nearest(word, list(group.members)):
        return f"did you mean {prefix}{near}?"
    elsewhere = [path for path in all_keys() if path.rpartition(".")[2] == word]
    if elsewhere:
        return f"did you mean {' or '.join(elsewhere)}?"
    return f"known here: {', '.join(group.members)}"


def shown(key: Key, value: object) -> str:
    """A value as the YAML would write it, secrets masked."""
    if isinstance(value, SecretStr):
        value = mask_dsn(value.get_secret_value())
    return yamltext.render(value)


def _group(
    path: str, model: type[BaseModel], default: BaseModel | None, meaning: str | None
) -> Group:
    members: dict[str, Key | Group] = {}
    for attribute, field in model.model_fields.items():
        name = field.alias or attribute
        inner = f"{path}.{name}" if path else name
        kinds, choices, is_list, section = _kinds(field.annotation)
        if section is not None:
            held = _default(default or model(), attribute, section)
            members[name] = _group(inner, section, held, field.description)
        else:
            extra = field.json_schema_extra
            is_secret = SecretStr in kinds or (
                isinstance(extra, dict) and "may_hold_secret" in extra
            )
            plain = frozenset(str if kind is SecretStr else kind for kind in kinds)
            members[name] = Key(inner, attribute, field, plain, choices, is_list, is_secret)
    return Group(path, meaning or str(model.__doc__).strip(), members, default)


def _default(holder: BaseModel, attribute: str, section: type[BaseModel]) -> BaseModel:
    """What a section holds if nothing is said; where it may be absent, its own defaults."""
    found = getattr(holder, attribute)
    return found if isinstance(found, BaseModel) else section()


def _kinds(
    annotation: Any,
) -> tuple[frozenset[type], tuple[str, ...], bool, type[BaseModel] | None]:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _kinds(get_args(annotation)[0])
    if origin is Literal:
        return frozenset({str}), tuple(get_args(annotation)), False, None
    if origin is tuple:
        kinds, choices, _, _ = _kinds(get_args(annotation)[0])
        return kinds, choices, True, None
    if origin in (Union, types.UnionType):
        parts = [_kinds(part) for part in get_args(annotation)]
        kinds = frozenset[type]().union(*(part[0] for part in parts))
        choices = tuple(word for part in parts for word in part[1])
        section = next((part[3] for part in parts if part[3] is not None), None)
        return kinds, choices, any(part[2] for part in parts), section
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return frozenset(), (), False, annotation
    return frozenset({annotation}), (), False, None
