"""What can be wrong with a configuration, told all at once, each with its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from negmem.config import yamltext
from negmem.config.keys import Group, Key, all_keys, nearest, suggestion
from negmem.errors import UsageError

_Model = TypeVar("_Model", bound=BaseModel)
_SHOWN_CHARS = 60


@dataclass(frozen=True)
class Problem:
    """One fault: `where` is file:line:column, a flag or a variable; `key` the dotted path."""

    code: str
    where: str
    key: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


class ConfigError(UsageError):
    """The configuration is wrong; `problems` has each fault. The code is theirs, if they agree."""

    def __init__(self, problems: list[Problem], *, hint: str = "") -> None:
        codes = {problem.code for problem in problems}
        count = "an error" if len(problems) == 1 else f"{len(problems)} errors"
        super().__init__(
            codes.pop() if len(codes) == 1 else "config_invalid",
            f"the configuration has {count}",
            why="\n".join(str(problem) for problem in problems),
            hint=hint or "negmem config schema    shows every key with its type and range",
        )
        self.problems = tuple(problems)


def check(
    model: type[_Model],
    values: Mapping[str, Any],
    group: Group,
    place: Callable[[str], str],
) -> tuple[_Model | None, list[Problem], list[Problem]]:
    """The values as a model, the faults of single values, and the faults of values beside others.

    Args: group, the part of the tree that `model` is; place, where the value of a path stands.
    The model is None if there is any fault.
    """
    try:
        return model.model_validate(values), [], []
    except ValidationError as error:
        single: list[Problem] = []
        joint: list[Problem] = []
        for fault in error.errors(include_url=False):
            names = [part for part in fault["loc"] if isinstance(part, str)]
            path = ".".join(([group.path] if group.path else []) + names)
            key = all_keys().get(path)
            if fault["type"] == "extra_forbidden":
                text = f"unknown key {path}; {suggestion(_holder(group, names), names[-1])}"
                single.append(Problem("config_unknown_key", place(path), path, text))
            elif key is None:
                text = f"{path}: {_said(fault)}" if path else _said(fault)
                joint.append(Problem("config_invalid", place(path), path, text))
            else:
                text = _leaf_text(key, fault)
                single.append(Problem("config_invalid", place(path), path, text))
        return None, single, joint


def _holder(group: Group, names: list[str]) -> Group:
    """The section in which the last of the names was looked for."""
    for name in names[:-1]:
        member = group.members.get(name)
        group = member if isinstance(member, Group) else group
    return group


def _said(fault: Any) -> str:
    reason = fault.get("ctx", {}).get("error")
    return str(reason) if reason is not None else str(fault["msg"])


def _leaf_text(key: Key, fault: Any) -> str:
    value = fault["input"]
    got = "" if key.is_secret or key.attribute.endswith("_env") else f", got {_shown(value)}"
    if fault["type"] == "value_error":
        return f"{key.path}: {_said(fault)}"
    text = f"{key.path} must be {key.expectation}{got}"
    if key.choices and isinstance(value, str) and (near := nearest(value, list(key.choices))):
        return f"{text}; did you mean {near}?"
    if fault["type"] == "string_pattern_mismatch":
        return f"{text}; it must match {fault['ctx']['pattern']}"
    if bool in key.kinds and str(value).lower() in ("yes", "no", "on", "off", "y", "n"):
        return f"{text} (in YAML 1.2 that is a word)"
    return text


def _shown(value: object) -> str:
    if isinstance(value, str):
        short = value if len(value) <= _SHOWN_CHARS else value[: _SHOWN_CHARS - 1] + "…"
        return repr(short)
    if value is None or isinstance(value, (bool, int, float)):
        return yamltext.render(value)[:_SHOWN_CHARS]
    return "a list" if isinstance(value, (list, tuple)) else "a mapping"
