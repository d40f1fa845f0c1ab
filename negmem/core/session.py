"""Opens what a command needs: configuration, database, embedder; and closes it again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from negmem.config.load import LoadedConfig, load_config
from negmem.config.model import Config
from negmem.db import ledger
from negmem.db.connect import Database
from negmem.db.dsn import Target, from_environment, parse_dsn, said_by
from negmem.errors import NegmemError

if TYPE_CHECKING:
    from negmem.providers.embedding import Embedder, EmbedderAbsent

_UNTRIED = object()


class Session:
    """One command's or one API object's view of negmem: an app in a schema of a database."""

    def __init__(
        self,
        loaded: LoadedConfig,
        database: Database,
        *,
        warnings: list[dict[str, str]] | None = None,
        config_path: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.loaded = loaded
        self.database = database
        self.config_path = config_path
        self.env: Mapping[str, str] = os.environ if env is None else env
        self.warnings: list[dict[str, str]] = [] if warnings is None else warnings
        self._embedder: object = _UNTRIED
        self.pii_guard: object = None

    @property
    def config(self) -> Config:
        """The effective configuration."""
        return self.loaded.config

    @property
    def app(self) -> str:
        """The application name that scopes every row."""
        return self.config.connection.app

    @property
    def actor(self) -> str:
        """Who acts, for records: the configured name, else database role and system user."""
        from negmem.db.connect import operating_system_user

        if self.config.governance.actor:
            return self.config.governance.actor
        return f"{self.database.facts.role}/{operating_system_user()}"

    def warn(self, code: str, message: str) -> None:
        """Add a warning to the answer, once."""
        entry = {"code": code, "message": message}
        if entry not in self.warnings:
            self.warnings.append(entry)

    @property
    def embedder_or_reason(self) -> Embedder | EmbedderAbsent:
        """The configured embedder, or why there is none."""
        if self._embedder is _UNTRIED:
            from negmem.providers.embedding import make_embedder

            self._embedder = make_embedder(self.config.embedding)
        return self._embedder  # type: ignore[return-value]

    def use_embedder(self, embedder: Embedder | EmbedderAbsent) -> None:
        """Use this embedder instead of the configured one."""
        self._embedder = embedder

    @property
    def embedder(self) -> Embedder | None:
        """The configured embedder, or None where there is none."""
        from negmem.providers.embedding import EmbedderAbsent

        found = self.embedder_or_reason
        return None if isinstance(found, EmbedderAbsent) else found

    def require_installed(self) -> None:
        """Refuse to work on a schema that is missing, behind or ahead of this program.

        Raises: NegmemError `schema_missing`, `schema_outdated`, `schema_newer`, `migration_changed`,
        `privilege_missing`.
        """
        facts = self.database.facts
        where = f'schema "{self.database.schema}" of {self.database.label}'
        if not facts.schema_exists:
            raise NegmemError(
                "schema_missing", "negmem is not set up here", why=f"no {where}", hint="negmem init"
            )
        if not facts.schema_usable:
            raise NegmemError(
                "privilege_missing",
                "the database role may not use the schema",
                why=f"{facts.role} has no USAGE on {where}",
                hint=f'GRANT USAGE ON SCHEMA "{self.database.schema}" TO "{facts.role}";',
            )
        if not facts.ledger_exists:
            raise NegmemError(
                "schema_missing",
                "negmem is not set up here",
                why=f"{where} has no ledger of migrations",
                hint="negmem init",
            )
        due = ledger.pending(ledger.applied(self.database))
        if due:
            raise NegmemError(
                "schema_outdated",
                "the schema is older than this program",
                why=f"{len(due)} migrations are due, first {due[0].version:04d} {due[0].name}",
                hint="negmem db migrate",
            )

    def close(self) -> None:
        """Close the connection."""
        self.database.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_session(
    *,
    dsn: str | None = None,
    config_path: str | None = None,
    schema: str | None = None,
    app: str | None = None,
    wait_s: float = 0.0,
    command: str = "negmem",
    warnings: list[dict[str, str]] | None = None,
    env: Mapping[str, str] | None = None,
    may_be_missing: bool = False,
    overrides: Mapping[str, str | int | None] | None = None,
) -> Session:
    """Read the configuration and name the database; connects at first use.

    Args: overrides, more values by dotted key as flags give them; may_be_missing, the YAML named by
    `config_path` need not exist.
    """
    env = os.environ if env is None else env
    flags: dict[str, str | int | None] = {
        "connection.dsn": dsn,
        "connection.schema": schema,
        "connection.app": app,
        **(overrides or {}),
    }
    loaded = load_config(
        Path(config_path) if config_path is not None else None,
        env,
        flags,
        may_be_missing=may_be_missing,
    )
    connection = loaded.config.connection
    database = Database(
        resolve_target(loaded, env),
        schema=connection.schema_name,
        command=command,
        wait_s=wait_s,
        connect_timeout_s=connection.connect_timeout_s,
        lock_timeout_ms=connection.lock_timeout_ms,
        statement_timeout_ms=connection.statement_timeout_ms,
    )
    path = Path(config_path) if config_path is not None else None
    return Session(loaded, database, warnings=warnings, config_path=path, env=env)


def resolve_target(loaded: LoadedConfig, env: Mapping[str, str]) -> Target:
    """The database to work on: flag, variable, YAML, PG*, else the embedded cluster (started)."""
    secret = loaded.config.connection.dsn
    if secret is not None:
        origin = loaded.origins["connection.dsn"].where
        return replace(parse_dsn(secret.get_secret_value(), origin), defaults=said_by(env))
    named = from_environment(env)
    if named is not None:
        return named
    from negmem.db import embedded

    cluster = embedded.start()
    return parse_dsn(cluster.dsn, "the embedded cluster")


def explain_driver_error(error: Exception) -> NegmemError:
    """An error of the database driver as one of negmem's."""
    import psycopg

    from negmem.db.failures import translate

    assert isinstance(error, psycopg.Error)
    return translate(error)
