"""The automation document that the database stores: merged with the defaults, checked, changed."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from negmem.config.keys import Group, Key, all_keys, suggestion, tree
from negmem.config.load import merge, read_argument
from negmem.config.model import Automation, Config
from negmem.config.problems import ConfigError, Problem, check
from negmem.errors import NegmemError, UsageError

PREFIX = "automation."


@dataclass(frozen=True)
class DocumentChange:
    """One key of the stored document with its old and new effective value, and the document after."""

    key: str
    before: object
    after: object
    document: dict[str, Any]


def default_document() -> dict[str, Any]:
    """Every key of the automation document with its default."""
    return Automation().model_dump()


def effective_automation(stored: Mapping[str, Any]) -> Automation:
    """The stored document laid over the defaults: mappings merge, everything else is replaced.

    Raises: NegmemError `stored_config_invalid` with every fault.
    """
    automation, problems = _checked(stored, "stored")
    if automation is None:
        raise NegmemError(
            "stored_config_invalid",
            "the automation config stored in the database is not usable",
            why="\n".join(str(problem) for problem in problems),
            hint="negmem config set KEY VALUE    for each, or: negmem sync --take yaml",
        )
    return automation


def set_in_document(stored: Mapping[str, Any], key: str, text: str) -> DocumentChange:
    """The stored document with one key set to what a command line says.

    Raises: UsageError `config_unknown_key`, ConfigError where the document would be wrong.
    """
    leaf = leaf_key(key)
    document = deepcopy(dict(stored))
    inner = document
    *sections, name = key.removeprefix(PREFIX).split(".")
    for section in sections:
        if not isinstance(inner.get(section), dict):
            inner[section] = {}
        inner = inner[section]
    inner[name] = read_argument(leaf, text)
    automation, problems = _checked(document, "config set")
    _, known = _checked(stored, "config set")
    fresh = [problem for problem in problems if problem not in known]
    if fresh or automation is None:
        raise ConfigError(fresh or problems)
    before = default_document()
    merge(before, stored)
    return DocumentChange(key, _at(before, key), _at(automation.model_dump(), key), document)


def check_value(key: str, text: str) -> None:
    """Refuse a value that is wrong whatever else stands in the document.

    Raises: UsageError `config_unknown_key`, ConfigError.
    """
    leaf = leaf_key(key)
    document: Any = read_argument(leaf, text)
    for part in reversed(key.split(".")):
        document = {part: document}
    _, single, _ = check(Config, document, tree(), lambda path: "config set")
    if single:
        raise ConfigError(single)


def leaf_key(key: str) -> Key:
    """The key of a dotted path. Raises: UsageError `config_unknown_key` with the nearest one."""
    if found := all_keys().get(key):
        return found
    group: Group = tree()
    *sections, name = key.split(".")
    for section in sections:
        member = group.members.get(section)
        if not isinstance(member, Group):
            name = section
            break
        group = member
    member = group.members.get(name)
    if isinstance(member, Group):
        raise UsageError(
            "config_unknown_key",
            f"{key} is a section, not a key",
            why=f"its keys: {', '.join(member.members)}",
            hint=f"negmem config set {key}.{next(iter(member.members))} VALUE",
        )
    raise UsageError(
        "config_unknown_key",
        f"there is no key {key}",
        why=suggestion(group, name),
        hint="negmem config show    lists every key",
    )


def _checked(document: Mapping[str, Any], source: str) -> tuple[Automation | None, list[Problem]]:
    merged = default_document()
    merge(merged, document)
    group = tree().members["automation"]
    assert isinstance(group, Group)
    automation, single, joint = check(Automation, merged, group, lambda path: source)
    return automation, single + joint


def _at(document: Any, key: str) -> object:
    for part in key.removeprefix(PREFIX).split("."):
        document = document.get(part) if isinstance(document, dict) else None
    return document
