"""Reads the configuration: flag over variable over YAML over default, each value with its origin.

Everything that is wrong is told at once, with its place, before anything is connected to.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import platformdirs

from negmem.config import yamltext
from negmem.config.document import parse_document, read_text
from negmem.config.keys import FLAGS, Key, all_keys, nearest, tree
from negmem.config.model import Config
from negmem.config.problems import ConfigError, Problem, check

FILE_NAME, FILE_VARIABLE = "negmem.yaml", "NEGMEM_CONFIG"
TARGET_VARIABLES = ("PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE")


@dataclass(frozen=True)
class Origin:
    """Where a value comes from: the name of the flag or variable, file:line, or `default`."""

    kind: Literal["flag", "variable", "yaml", "default"]
    where: str

    def __str__(self) -> str:
        return self.where


_DEFAULT = Origin("default", "default")


@dataclass(frozen=True)
class ConfigFile:
    """The YAML file that counts and who named it; `path` is None where there is none."""

    path: Path | None
    origin: str
    searched: tuple[Path, ...] = ()


@dataclass(frozen=True)
class LoadedConfig:
    """The effective configuration; `origins` has the dotted path of every key.

    `declared_automation` is what the YAML says under `automation`, only the keys that stand there;
    None where the section is absent.
    """

    config: Config
    origins: Mapping[str, Origin]
    path: Path | None
    declared_automation: dict[str, Any] | None = None


@dataclass
class _Layer:
    """What one source says, as nested values with their origins."""

    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def put(self, key: Key, text: str, origin: Origin) -> None:
        """Take a value as a command line or a variable gives it."""
        inner = self.values
        *sections, name = key.path.split(".")
        for section in sections:
            inner = inner.setdefault(section, {})
        inner[name] = read_argument(key, text)
        self.origins[key.path] = origin

    def place(self, path: str) -> str:
        """The origin of a key, or of the first one under a section."""
        if path in self.origins:
            return self.origins[path].where
        inner = [origin for name, origin in self.origins.items() if name.startswith(f"{path}.")]
        return next((o.where for o in inner if o.kind != "default"), "default")


def find_config(path: Path | None, env: Mapping[str, str]) -> ConfigFile:
    """The YAML file: `--config`, else NEGMEM_CONFIG, else ./negmem.yaml, else the user's folder.

    A file that was named is returned whether or not it exists.
    """
    if path is not None:
        return ConfigFile(path, "--config")
    if env.get(FILE_VARIABLE):
        return ConfigFile(Path(env[FILE_VARIABLE]), FILE_VARIABLE)
    here = Path(FILE_NAME)
    home = platformdirs.user_config_path("negmem") / FILE_NAME
    for candidate, origin in ((here, "the current folder"), (home, "the user's config folder")):
        if os.path.lexists(candidate):
            return ConfigFile(candidate, origin, (here, home))
    return ConfigFile(None, "no file found", (here, home))


def load_config(
    path: Path | None = None,
    env: Mapping[str, str] | None = None,
    flags: Mapping[str, str | int | None] | None = None,
    *,
    may_be_missing: bool = False,
) -> LoadedConfig:
    """The effective configuration.

    Args: path, the value of `--config`; env, os.environ if None; flags, values by dotted key, None
    where a flag was not given; may_be_missing, a named file need not exist (init makes it).
    Raises: ConfigError with every fault; UsageError `config_not_found`, `config_unreadable`.
    """
    env = os.environ if env is None else env
    file = find_config(path, env)
    if file.path is not None and may_be_missing and not os.path.lexists(file.path):
        file = ConfigFile(None, file.origin)
    layers = [_from_file(file, env), _from_variables(env), _from_flags(flags or {})]
    problems = [problem for layer in layers for problem in layer.problems]
    merged = _Layer(origins=dict.fromkeys(all_keys(), _DEFAULT))
    for layer in layers:
        merge(merged.values, layer.values)
        merged.origins.update(layer.origins)
    config, single, joint = check(Config, merged.values, tree(), merged.place)
    faulty = {problem.key.rpartition(".")[0] for problem in problems}
    problems += [problem for problem in joint if problem.key not in faulty]
    if config is None or problems:
        raise ConfigError(problems or single)
    if merged.origins["connection.dsn"] is _DEFAULT:
        merged.origins["connection.dsn"] = _other_target(env)
    declared = None
    if config.automation is not None:
        declared = config.automation.model_dump(exclude_unset=True)
    return LoadedConfig(config, merged.origins, file.path, declared)


def _other_target(env: Mapping[str, str]) -> Origin:
    """What names the database where no connection string does."""
    named = [name for name in TARGET_VARIABLES if env.get(name)]
    return Origin("variable", ", ".join(named)) if named else Origin("default", "embedded server")


def merge(values: dict[str, Any], over: Mapping[str, Any]) -> None:
    """Lay nested values over others: mappings merge, everything else is replaced."""
    for name, value in over.items():
        if isinstance(value, Mapping) and isinstance(values.get(name), dict):
            merge(values[name], value)
        elif isinstance(value, Mapping):
            values[name] = {}
            merge(values[name], value)
        else:
            values[name] = value


def read_argument(key: Key, text: str) -> object:
    """The value that a text from the command line or a variable has for a key."""
    if key.may_be_null and text in ("null", "~"):
        return None
    if key.is_list:
        return tuple(part for part in re.split(r"[,\s]+", text.strip().strip("[]")) if part)
    if str in key.kinds:
        return text
    return yamltext.resolve(text.strip())


def _from_file(file: ConfigFile, env: Mapping[str, str]) -> _Layer:
    if file.path is None:
        return _Layer()
    document = parse_document(read_text(file.path, file.origin), str(file.path), env)
    _, single, _ = check(Config, document.values, tree(), document.place)
    origins = {
        path: Origin("yaml", f"{document.name}:{mark.line}")
        for path, mark in document.marks.items()
        if path in all_keys()
    }
    problems = sorted(document.problems + single, key=lambda problem: _line_column(problem.where))
    return _Layer(document.values, origins, problems)


def _line_column(where: str) -> tuple[int, int]:
    line, column = where.rsplit(":", 2)[1:]
    return int(line), int(column)


def _from_variables(env: Mapping[str, str]) -> _Layer:
    layer = _Layer()
    known = {key.variable: key for key in all_keys().values() if key.variable is not None}
    for name in sorted(env):
        if name in known:
            if env[name]:
                layer.put(known[name], env[name], Origin("variable", name))
        elif name.startswith("NEGMEM_") and "__" in name:
            said = "no key has this name"
            if name.startswith("NEGMEM_AUTOMATION__"):
                said = "the database stores automation: negmem config set automation.KEY VALUE"
            elif near := nearest(name, [variable.lower() for variable in known]):
                said = f"did you mean {near.upper()}?"
            layer.problems.append(Problem("config_unknown_key", name, name, said))
    _, single, _ = check(Config, layer.values, tree(), layer.place)
    layer.problems += single
    return layer


def _from_flags(flags: Mapping[str, str | int | None]) -> _Layer:
    layer = _Layer()
    for path, value in flags.items():
        if value is not None:
            layer.put(all_keys()[path], str(value), Origin("flag", FLAGS.get(path, path)))
    _, single, _ = check(Config, layer.values, tree(), layer.place)
    layer.problems += single
    return layer
