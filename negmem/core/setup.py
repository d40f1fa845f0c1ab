"""`init` as a whole: configuration file, schema, and the diagnosis at its end."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from negmem.config.load import find_config
from negmem.config.render import preset_text, render_initial_yaml
from negmem.core import installation
from negmem.core.adoption import Adoption
from negmem.core.diagnostics.runner import diagnose
from negmem.core.models.base import Model
from negmem.core.models.diagnosis import Diagnosis
from negmem.core.session import Session, open_session
from negmem.db import ledger
from negmem.errors import NegmemError

_PRESET = "standard"


class PlannedSetup(Model):
    """What `init --dry-run` would do."""

    dry_run: bool = True
    config_path: str | None
    adoption: Adoption | None
    statements: list[str]


class Setup(Model):
    """What `init` did. Empty `migrations` and no file written: all stood already."""

    dry_run: bool = False
    config_path: str | None
    config_written: bool
    schema_name: str
    app: str
    migrations: list[str]
    app_added: bool
    roles_made: list[str]
    row_security: bool
    adopted: Adoption | None
    embedding_model: str | None
    embedding_reason: str | None
    status: str
    diagnosis: Diagnosis


def open_for_init(
    *,
    dsn: str | None,
    config_path: str | None,
    schema: str | None,
    app: str | None,
    embedder: str | None,
    dims: int | None,
    wait_s: float,
    warnings: list[dict[str, str]],
) -> Session:
    """A session whose YAML need not exist yet."""
    return open_session(
        dsn=dsn,
        config_path=config_path,
        schema=schema,
        app=app,
        wait_s=wait_s,
        command="negmem init",
        warnings=warnings,
        may_be_missing=True,
        overrides={"embedding.provider": embedder, "embedding.dims": dims},
    )


def plan(
    session: Session,
    *,
    roles: bool = False,
    rls: bool | None = None,
    preset: str | None = None,
) -> PlannedSetup:
    """What `run` would do; nothing is touched. Raises: UsageError `preset_unknown`."""
    preset_text(preset or _PRESET)
    path = _new_config_path(session)
    return PlannedSetup(
        config_path=None if path is None else str(path),
        adoption=installation.planned_adoption(session),
        statements=installation.plan(session, with_roles=roles, row_level=rls),
    )


def run(
    session: Session,
    *,
    write_config: bool = True,
    roles: bool = False,
    rls: bool | None = None,
    preset: str | None = None,
) -> Setup:
    """Set up, then say what doctor says.

    Args: write_config, make the YAML if there is none; roles, make the four roles; rls, row-level security on
    or off (None: as it is); preset, what the new YAML says of the learning stores (None: standard).
    Raises: UsageError `preset_unknown`; NegmemError as `installation.install`. A server that can't carry negmem is refused before anything is made, the YAML
    included.
    """
    preset_text(preset or _PRESET)
    ledger.check_server(session.database)
    done = installation.install(session, with_roles=roles, row_level=rls)
    path = _new_config_path(session) if write_config else None
    written = path is not None and _write_new(path, _initial_yaml(session, preset or _PRESET))
    if preset is not None and not written:
        session.warn(
            "preset_not_in_config",
            f"--preset is for a new YAML; {path or session.loaded.path} stands, and its section learning"
            " decides",
        )
    _warn_of_other_embedder(session)
    embedder = session.embedder
    reason = None if embedder is not None else session.embedder_or_reason
    diagnosis = diagnose(session)
    shown = path or session.loaded.path
    return Setup(
        config_path=None if shown is None else str(shown),
        config_written=written,
        schema_name=session.database.schema,
        app=session.app,
        migrations=done.migrations,
        app_added=done.app_added,
        roles_made=done.roles_made,
        row_security=done.row_security,
        adopted=done.adopted,
        embedding_model=None
        if embedder is None
        else f"{embedder.name}: {embedder.model}, {embedder.dims} dimensions",
        embedding_reason=getattr(reason, "message", None),
        status=diagnosis.status,
        diagnosis=diagnosis,
    )


def _new_config_path(session: Session) -> Path | None:
    """Where the YAML would be written; None where there is one already."""
    if session.loaded.path is not None:
        return None
    wanted = find_config(session.config_path, session.env)
    return wanted.path or wanted.searched[0]


def _warn_of_other_embedder(session: Session) -> None:
    """A flag holds for this run alone; the YAML decides for the next."""
    origin = session.loaded.origins["embedding.provider"]
    if origin.kind == "flag" and session.loaded.path is not None:
        session.warn(
            "embedder_not_in_config",
            f"--embedder holds for this run; {session.loaded.path} decides for the next:"
            f" negmem config set embedding.provider {session.config.embedding.provider}",
        )


def _write_new(path: Path, text: str) -> bool:
    """Write a file that does not exist yet, whole or not at all; False if another made it first.

    Raises: NegmemError `config_not_writable`.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
            Path(name).chmod(0o644)
            os.link(name, path)
        finally:
            Path(name).unlink()
    except FileExistsError:
        return False
    except OSError as error:
        raise NegmemError(
            "config_not_writable",
            f"the configuration {path} can't be written",
            why=str(error.strerror or error),
            hint="name another place with --config FILE",
        ) from None
    return True


def _initial_yaml(session: Session, preset: str) -> str:
    return render_initial_yaml(
        schema=session.database.schema,
        app=session.app,
        embedder=session.config.embedding.provider,
        dims=session.config.embedding.dims,
        preset=preset,
    )
