"""The automation document of an app as the database stores it: read, changed key by key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from psycopg.types.json import Jsonb

from negmem.config.automation import PREFIX, check_value, effective_automation, set_in_document
from negmem.config.render import render_document
from negmem.core.models.config import (
    ConfigChange,
    ConfigExport,
    ConfigHistory,
    ConfigRevision,
    KeyChange,
    StoredConfig,
)
from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError

_MOST_REVISIONS = 10_000


def read_stored(session: Session, *, for_update: bool = False) -> StoredConfig:
    """The stored document of the session's app, as it stands.

    Args: for_update, lock the row until the transaction ends. Raises: NegmemError `app_unknown`.
    """
    block = "stored_for_update" if for_update else "stored"
    row = session.database.row("config", block, {"app_name": session.app})
    if row is None:
        raise NegmemError(
            "app_unknown",
            f'the database holds no config of the app "{session.app}"',
            why=f'schema "{session.database.schema}" of {session.database.label} has no such row',
            hint=f"negmem init --app {session.app}",
        )
    return StoredConfig(
        app=row["app_name"],
        automation=row["config"],
        revision=row["revision"],
        is_main=row["is_main"],
        updated_by=row["updated_by"],
        updated_at=row["updated_at"],
    )


def store(
    session: Session, document: Mapping[str, Any], changed_keys: list[str], reason: str
) -> StoredConfig:
    """Write a document, within the caller's transaction, with actor, time and history.

    Args: changed_keys, dotted paths; reason, the command that asked for it.
    """
    row = session.database.row(
        "config",
        "store",
        {
            "app_name": session.app,
            "config": Jsonb(dict(document)),
            "changed_keys": changed_keys,
            "actor": session.actor,
            "reason": reason,
        },
    )
    assert row is not None
    return StoredConfig(
        app=row["app_name"],
        automation=row["config"],
        revision=row["revision"],
        is_main=row["is_main"],
        updated_by=row["updated_by"],
        updated_at=row["updated_at"],
    )


def set_stored(
    session: Session, key: str, value: str, *, dry_run: bool = False, reason: str = "config set"
) -> ConfigChange:
    """Set one key of the stored document; two at once lose nothing. Warns where YAML says otherwise.

    Args: key, a dotted path under `automation`; value, as a command line gives it.
    Raises: UsageError `config_unknown_key`, ConfigError for a wrong value, NegmemError `app_unknown`.
    """
    check_value(key, value)
    with session.database.transaction(read_only=dry_run):
        found = read_stored(session, for_update=not dry_run)
        change = set_in_document(found.automation, key, value)
        is_new = change.document != found.automation
        if is_new and not dry_run:
            store(session, change.document, [key], reason)
    _warn_of_declaration(session, key, change.after)
    return ConfigChange(
        dry_run=dry_run,
        changed=is_new,
        key=key,
        before=change.before,
        after=change.after,
        target="stored",
        place=found.app,
        actor=session.actor,
    )


def setter(
    session: Session, reason: str, *, dry_run: bool = False
) -> Callable[[str, str], ConfigChange]:
    """`set_stored` for callers that know keys and values alone; `reason`, the command that asks."""

    def set_key(key: str, value: str) -> ConfigChange:
        return set_stored(session, key, value, dry_run=dry_run, reason=reason)

    return set_key


def export(session: Session) -> ConfigExport:
    """The stored document in full, defaults included, with the YAML that declares it.

    Raises: NegmemError `app_unknown`, `stored_config_invalid`.
    """
    stored = read_stored(session)
    document = effective_automation(stored.automation).model_dump()
    return ConfigExport(
        app=stored.app,
        automation=document,
        revision=stored.revision,
        updated_by=stored.updated_by,
        updated_at=stored.updated_at,
        yaml=render_document(document),
    )


def history(session: Session, *, limit: int = 20) -> ConfigHistory:
    """Who changed which keys of the stored document, when and by which command; newest first.

    Raises: NegmemError `app_unknown`, UsageError `limit_invalid`.
    """
    if limit < 1:
        raise UsageError(
            "limit_invalid",
            "a page has one revision at least",
            why=f"got {limit}",
            hint="negmem config history -n 20",
        )
    read_stored(session)
    rows = session.database.rows(
        "config", "history", {"app_name": session.app, "limit": min(limit, _MOST_REVISIONS)}
    )
    total = rows[0]["total"] if rows else 0
    revisions = [
        ConfigRevision(
            revision=row["revision"],
            at=row["changed_at"],
            actor=row["changed_by"],
            reason=row["reason"],
            changes=_key_changes(row["config_before"] or {}, row["config"]),
        )
        for row in rows
    ]
    return ConfigHistory(
        app=session.app, revisions=revisions, total=total, truncated=len(rows) < total
    )


def _key_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[KeyChange]:
    old, new = _leaves(before), _leaves(after)
    return [
        KeyChange(key=key, before=old.get(key), after=new.get(key))
        for key in sorted({*old, *new})
        if old.get(key) != new.get(key)
    ]


def _leaves(document: Mapping[str, Any], prefix: str = PREFIX) -> dict[str, Any]:
    """A document as dotted paths under automation."""
    found: dict[str, Any] = {}
    for key, value in document.items():
        if isinstance(value, Mapping):
            found |= _leaves(value, f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = value
    return found


def _warn_of_declaration(session: Session, key: str, value: object) -> None:
    declared: object = session.loaded.declared_automation
    for part in key.removeprefix(PREFIX).split("."):
        declared = declared.get(part) if isinstance(declared, dict) else None
    if declared is not None and declared != value:
        origin = session.loaded.origins[key]
        session.warn(
            "yaml_declares_otherwise",
            f"{origin} declares {key}: {declared}; negmem diff will list the difference",
        )
