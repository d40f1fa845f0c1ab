"""Opens what a command needs: configuration, database, embedder; and closes it again."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from negmem.config.load import LoadedConfig, load_config
from negmem.config.model import Config
from negmem.db import ledger
from negmem.db.connect import Database
from negmem.db.dsn import EMBEDDED, Target, from_environment, parse_dsn, said_by
from negmem.errors import NegmemError

if TYPE_CHECKING:
    from negmem.providers.embedding import Embedder, EmbedderAbsent

_UNTRIED = object()
_LOOK_AGAIN_S = 30.0


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
        self._configured: Embedder | EmbedderAbsent | None = None
        self._followed: dict[str, Any] | None = None
        self._is_embedder_given = False
        self._looked_at = float("-inf")
        self.pii_guard: object = None
        self.acting: object = None
        # While several acts are one transaction, what they embed is embedded before it opens.
        self.vectors_at_hand: dict[str, list[float] | None] | None = None
        self.vectors_due: list[Any] | None = None
        database.on_narrowed = self._warn_of_one_user

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

    def knows_user(self, user: str) -> bool:
        """Whether the app knows this user; warns `user_unknown` if not."""
        scope = {"user_id": user, "app_name": self.app}
        if self.database.row("memory", "user_known", scope) is not None:
            return True
        self.warn("user_unknown", f'app "{self.app}" knows no user "{user}"')
        return False

    def _warn_of_one_user(self) -> None:
        if self.database.facts.sees_no_rows:
            self.warn(
                "no_rows_seen",
                f"no policy of row-level security lets {self.database.facts.role} read a memory:"
                " what is there was not seen",
            )
            return
        self.warn(
            "one_user_seen",
            "row-level security shows this role one user at a time: of all the others nothing was seen",
        )

    @property
    def embedder_or_reason(self) -> Embedder | EmbedderAbsent:
        """The embedder of the stored vectors, or why there is none.

        That is the configured one, unless another model is configured than the vectors were made with:
        then the stored settings make it, until `embed migrate` is done. What is stored is looked at again
        from time to time, since another process may have changed it.
        """
        if self._is_embedder_given:
            return self._embedder  # type: ignore[return-value]
        due = time.monotonic() - self._looked_at > _LOOK_AGAIN_S
        if self._embedder is _UNTRIED or (due and not self.database.in_transaction):
            self.follow_stored_model()
        return self._embedder  # type: ignore[return-value]

    @property
    def configured_embedder(self) -> Embedder | EmbedderAbsent:
        """The embedder that the configuration names, whatever is stored; or why there is none."""
        from negmem.providers.embedding import make_embedder

        if self._is_embedder_given:
            return self._embedder  # type: ignore[return-value]
        if self._configured is None:
            self._configured = make_embedder(self.config.embedding)
        return self._configured

    @property
    def is_embedder_given(self) -> bool:
        """Whether `use_embedder` named the embedder, and neither configuration nor database does."""
        return self._is_embedder_given

    def follow_stored_model(self) -> bool:
        """Take the embedder that the stored vectors ask for; whether it is another than before."""
        from negmem.providers.embedding import identity_of

        if self._is_embedder_given:
            return False
        settings = self.config.embedding
        before, stored = self._embedder, self._stored_settings()
        self._looked_at = time.monotonic()
        if stored is None or settings.provider == "none" or stored == identity_of(settings):
            self._embedder = self.configured_embedder
        elif stored != self._followed or before is _UNTRIED:
            self._embedder = self.embedder_by(stored)
            self.warn(
                "embedding_change_pending",
                f"the stored vectors are of {stored.get('model') or stored['provider']}, and are searched with it;"
                f" another model is configured: negmem embed migrate",
            )
        self._followed = stored
        return before is not _UNTRIED and self._embedder is not before

    def embedder_by(self, settings: Mapping[str, Any]) -> Embedder | EmbedderAbsent:
        """An embedder by settings that were stored beside vectors, or why it can't be made."""
        from negmem.config.model import Embedding
        from negmem.providers.embedding import EmbedderAbsent, make_embedder

        current = self.config.embedding.model_dump()
        kept = {key: current[key] for key in ("timeout_ms", "max_retries", "max_batch_texts")}
        try:
            return make_embedder(Embedding(**{**kept, **settings}))
        except ValueError as error:
            return EmbedderAbsent(
                "embedding_settings_unusable",
                "the settings of the stored vectors can't be used",
                why=str(error).splitlines()[0],
                hint="negmem embed status",
            )

    def _stored_settings(self) -> dict[str, Any] | None:
        """The settings of the app's active model; None where none are stored, or they can't be read."""
        from negmem.db.failures import DatabaseError

        if self.database.in_transaction:
            return None
        try:
            facts = self.database.facts
            if not (facts.ledger_exists and facts.schema_usable):
                return None
            row = self.database.row("embed", "stored", {"app_name": self.app})
        except (DatabaseError, NegmemError):
            return None
        found: dict[str, Any] | None = None if row is None else row["settings"]
        return found

    def use_embedder(self, embedder: Embedder | EmbedderAbsent) -> None:
        """Use this embedder instead of the configured one."""
        self._embedder = embedder
        self._is_embedder_given = True

    @property
    def embedder(self) -> Embedder | None:
        """The embedder of the stored vectors, or None where there is none."""
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
                why=f"{len(due)} due, first {due[0].version:04d} {due[0].name}",
                hint="negmem db migrate",
            )

    def close(self) -> None:
        """Close the connection."""
        self.database.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
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
    return parse_dsn(cluster.dsn, EMBEDDED)


def explain_driver_error(error: Exception) -> NegmemError:
    """An error of the database driver as one of negmem's."""
    import psycopg

    from negmem.db.failures import translate

    assert isinstance(error, psycopg.Error)
    return translate(error)
