"""The effective values with their origins, as the Python API and `config show` give them."""

from __future__ import annotations

from datetime import timezone
from typing import Any

from pydantic import BaseModel, SecretStr

from negmem.config.automation import PREFIX, default_document, leaf_key
from negmem.config.keys import Group, Key, all_keys, tree
from negmem.config.load import LoadedConfig
from negmem.config.secrets import mask_dsn
from negmem.core.models.config import ConfigShown, ConfigValue, StoredConfig


def effective_values(
    loaded: LoadedConfig, prefix: str = "", stored: StoredConfig | None = None
) -> ConfigShown:
    """Every effective value, or those of one key or section.

    Args: prefix, a dotted key or section; stored, the database's document, which then stands for
    `automation` (it is what runs). Raises: UsageError `config_unknown_key`.
    """
    if prefix and not _is_section(prefix):
        leaf_key(prefix)
    values = [
        _value(loaded, key, stored)
        for key in all_keys().values()
        if f"{key.path}.".startswith(f"{prefix}." if prefix else "")
    ]
    return ConfigShown(
        path=None if loaded.path is None else str(loaded.path),
        values=[value for value in values if value is not None],
    )


def _is_section(path: str) -> bool:
    member: Key | Group | None = tree()
    for part in path.split("."):
        member = member.members.get(part) if isinstance(member, Group) else None
    return isinstance(member, Group)


def _value(loaded: LoadedConfig, key: Key, stored: StoredConfig | None) -> ConfigValue | None:
    if stored is not None and key.path.startswith(PREFIX):
        return _stored_value(key, stored)
    origin = loaded.origins[key.path]
    if key.path.startswith(PREFIX) and loaded.config.automation is None:
        return None
    return ConfigValue(
        key=key.path, value=_read(loaded.config, key), source=origin.kind, origin=origin.where
    )


def _stored_value(key: Key, stored: StoredConfig) -> ConfigValue:
    value = _at(stored.automation, key)
    if value is None:
        value = _at(default_document(), key)
        return ConfigValue(key=key.path, value=value, source="default", origin="default")
    moment = stored.updated_at.astimezone(timezone.utc)
    origin = f"stored by {stored.updated_by or 'unknown'}, {moment:%Y-%m-%d %H:%M} UTC"
    return ConfigValue(key=key.path, value=value, source="stored", origin=origin)


def _read(config: BaseModel, key: Key) -> Any:
    value: Any = config
    for section in key.path.split(".")[:-1]:
        value = getattr(value, section)
    value = getattr(value, key.attribute)
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if key.is_secret and isinstance(value, str):
        return mask_dsn(value)
    return list(value) if isinstance(value, tuple) else value


def _at(document: Any, key: Key) -> Any:
    for part in key.path.removeprefix(PREFIX).split("."):
        document = document.get(part) if isinstance(document, dict) else None
    return document
