"""What `config` and changes of the stored configuration answer."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant

Source = Literal["flag", "variable", "yaml", "default", "stored"]


class ConfigValue(Model):
    """One key: its effective value (secrets masked) and where that comes from.

    `origin` is the flag, the variable, file:line, `default`, or who stored it in the database.
    """

    key: str
    value: Any
    source: Source
    origin: str


class ConfigShown(Model):
    """The effective configuration; `path` is the YAML file, None where there is none.

    Keys under `automation` are there if the YAML declares them, or if the database was asked.
    """

    path: str | None
    values: list[ConfigValue]


class ConfigChange(Model):
    """One key that was set, in the YAML file or in the database's stored document.

    `place` is file:line, or the app whose document it is; `actor` is set for stored changes.
    """

    dry_run: bool
    changed: bool
    key: str
    before: Any
    after: Any
    target: Literal["yaml", "stored"]
    place: str
    actor: str | None = None


class StoredConfig(Model):
    """The automation document that the database holds for an app."""

    app: str
    automation: dict[str, Any]
    revision: int
    is_main: bool
    updated_by: str | None
    updated_at: datetime


class ConfigExport(Model):
    """The stored document, and the YAML text that declares it."""

    app: str
    automation: dict[str, Any]
    revision: int
    updated_by: str | None
    updated_at: datetime
    yaml: str


class KeyChange(Model):
    """A key under automation, and its value before and after; None where it was not in the document."""

    key: str
    before: Any
    after: Any


class ConfigRevision(Model):
    """One change of the stored document: by whom, when, by which command, and which keys."""

    revision: int
    at: Instant
    actor: str
    reason: str
    changes: list[KeyChange]


class ConfigHistory(Model):
    """The changes of an app's stored document, newest first. `total` counts all of its revisions."""

    app: str
    revisions: list[ConfigRevision]
    total: int
    truncated: bool


class ConfigPath(Model):
    """The YAML file that counts, who named it, and where one was looked for."""

    path: str | None
    origin: str
    searched: list[str]


class ConfigValidation(Model):
    """A configuration without a fault: the file, and how many keys it sets."""

    path: str | None
    valid: bool
    keys_set: int


class ConfigSchema(Model):
    """The JSON schema of the YAML."""

    document: dict[str, Any]
