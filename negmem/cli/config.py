"""`negmem config …`: the YAML and the effective configuration."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, Limit, command, new_app
from negmem.errors import UsageError

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.config.load import LoadedConfig

app = new_app("The YAML and the effective configuration, with the origin of each value.")

Prefix = Annotated[
    str | None, typer.Argument(metavar="[KEY]", help="A key or a section, such as retrieval.")
]
Key = Annotated[str, typer.Argument(metavar="KEY", help="Such as retrieval.limit.")]
Value = Annotated[str, typer.Argument(metavar="VALUE")]
File = Annotated[
    Path | None, typer.Argument(metavar="[FILE]", help="Default: the file that counts.")
]


def _load(common: Common, path: str | None = None) -> LoadedConfig:
    from negmem.config.load import load_config

    named = path or common.config
    flags = {
        "connection.dsn": common.dsn,
        "connection.schema": common.schema,
        "connection.app": common.app,
    }
    return load_config(Path(named) if named is not None else None, os.environ, flags)


@command(app, "config show")
def show(
    common: Common,
    key: Prefix = None,
    stored: Annotated[
        bool, typer.Option("--stored", help="Ask the database for automation, which it stores.")
    ] = False,
    defaults: Annotated[
        bool, typer.Option("--defaults", help="Print the YAML of all keys with their defaults.")
    ] = False,
) -> int:
    """Show each effective value and where it comes from. Connects only with --stored."""
    from negmem.cli.render.config import draw_shown
    from negmem.config.render import render_default_yaml
    from negmem.config.show import effective_values

    console = common.console
    if defaults and not common.json:
        console.out(render_default_yaml().rstrip("\n"))
        return ExitCode.DONE
    if not stored:
        shown = effective_values(_load(common), key or "")
        common.answer(shown, draw_shown)
        if shown.path is None:
            console.note("no YAML file: defaults, variables and flags")
        if not key and not any(value.key.startswith("automation.") for value in shown.values):
            console.note("automation is what the database stores: negmem config show --stored")
        return ExitCode.DONE
    from negmem.core.automation.stored import read_stored

    with common.installed() as session:
        shown = effective_values(session.loaded, key or "", read_stored(session))
        common.answer(shown, draw_shown)
    return ExitCode.DONE


@command(app, "config set", writes=True)
def set_(common: Common, key: Key, value: Value) -> int:
    """Set one key: under automation in the database, any other in the YAML file.

    The comments of the file stay. A value is checked before anything is written.
    """
    from negmem.cli.render.config import draw_change
    from negmem.config.automation import PREFIX, check_value

    check_value(key, value)
    if key.startswith(PREFIX):
        from negmem.core.automation.stored import set_stored
        from negmem.core.evolution.effect import tell_effect

        with common.session() as session:
            session.require_installed()
            if set_stored(session, key, value, dry_run=True).changed:
                tell_effect(session, {key: value})
            change = set_stored(session, key, value, dry_run=common.dry_run)
            common.answer(change, draw_change)
        return ExitCode.DONE
    from negmem.config.edit import change_of, set_in_file

    path = _file(common)
    edit = set_in_file(path, key, value, os.environ, dry_run=common.dry_run)
    common.answer(change_of(edit, path, common.dry_run), draw_change)
    return ExitCode.DONE


def _file(common: Common) -> Path:
    from negmem.config.load import find_config

    found = find_config(None if common.config is None else Path(common.config), os.environ)
    if found.path is None:
        raise UsageError(
            "config_not_found",
            "there is no YAML file to change",
            why=f"looked for {', '.join(str(path) for path in found.searched)}",
            hint="negmem init    makes one, or name one with --config FILE",
        )
    return found.path


@command(app, "config export")
def export(common: Common) -> None:
    """Print the stored automation config as the YAML section that declares it."""
    from negmem.core.automation import stored

    with common.installed() as session:
        exported = stored.export(session)
        common.answer(exported, _draw_export)


def _draw_export(console: Console, exported: Any) -> None:
    console.out(exported.yaml.rstrip("\n"))


@command(app, "config history")
def history(common: Common, limit: Limit = 20) -> None:
    """Show who changed which keys of the stored config, when and by which command."""
    from negmem.cli.render.config import draw_history
    from negmem.core.automation import stored

    with common.installed() as session:
        found = stored.history(session, limit=limit)
        common.answer(found, draw_history)


@command(app, "config validate")
def validate(common: Common, file: File = None) -> None:
    """Check the YAML file, the variables and the flags; tells every fault at once."""
    from negmem.core.models.config import ConfigValidation

    loaded = _load(common, None if file is None else str(file))
    valid = ConfigValidation(
        path=None if loaded.path is None else str(loaded.path),
        valid=True,
        keys_set=sum(origin.kind != "default" for origin in loaded.origins.values()),
    )
    common.answer(valid, _draw_valid)


def _draw_valid(console: Console, valid: Any) -> None:
    console.out(f"valid  {valid.path or 'no YAML file'}, {valid.keys_set} keys set")


@command(app, "config schema")
def schema(common: Common) -> None:
    """Print the JSON schema of the YAML: every key with its type, range and meaning."""
    from negmem.config.render import schema_document
    from negmem.core.models.config import ConfigSchema

    document = ConfigSchema(document=schema_document())
    common.answer(document, _draw_schema)


def _draw_schema(console: Console, schema: Any) -> None:
    console.json(schema.document)


@command(app, "config path")
def path(common: Common) -> None:
    """Print the path of the YAML file that counts."""
    from negmem.config.load import find_config
    from negmem.core.models.config import ConfigPath

    found = find_config(None if common.config is None else Path(common.config), os.environ)
    result = ConfigPath(
        path=None if found.path is None else str(found.path),
        origin=found.origin,
        searched=[str(candidate) for candidate in found.searched],
    )
    common.answer(result, _draw_path)


def _draw_path(console: Console, found: Any) -> None:
    if found.path is not None:
        console.out(found.path)
    else:
        console.note(f"no YAML file; looked for {', '.join(found.searched)}")
