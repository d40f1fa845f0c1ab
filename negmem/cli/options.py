"""The flags that every command shares, declared once, and the decorator that adds them."""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from negmem.errors import UsageError

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.base import Model
    from negmem.core.session import Session

_LONGEST_LINE = 400
Dsn = Annotated[
    str | None,
    typer.Option("--dsn", metavar="DSN", help="Connection string or URL.  [env: NEGMEM_DSN]"),
]
ConfigFile = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="The YAML file.  [env: NEGMEM_CONFIG]"),
]
Schema = Annotated[
    str | None,
    typer.Option("--schema", metavar="NAME", help="Default: negentropy.  [env: NEGMEM_SCHEMA]"),
]
App = Annotated[
    str | None,
    typer.Option(
        "--app", metavar="NAME", help="Scopes every row. Default: negmem.  [env: NEGMEM_APP]"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colour, no progress bar.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Less: only the answer and errors.")]
Verbose = Annotated[int, typer.Option("--verbose", "-v", count=True, help="More; -vv shows SQL.")]
Wait = Annotated[
    float,
    typer.Option("--wait", metavar="SECONDS", min=0, help="Wait for a server that is starting."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would happen, touch nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
User = Annotated[str | None, typer.Option("--user", "-u", metavar="USER", help="Whose memories.")]
TrailNote = Annotated[
    str | None,
    typer.Option("--note", metavar="TEXT", help="Why it is put right; stands on the trail."),
]
Limit = Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="At most N rows.")]
Offset = Annotated[int, typer.Option("--offset", metavar="N", min=0, help="Skip the first N.")]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="WHEN", help="ISO 8601, or an age such as 7d or 12h."),
]
Until = Annotated[
    str | None,
    typer.Option("--until", metavar="WHEN", help="ISO 8601, or an age such as 7d or 12h."),
]
Deleted = Annotated[bool, typer.Option("--deleted", help="Those that were removed instead.")]
Namespace = Annotated[
    str,
    typer.Option("--namespace", metavar="NAME", help="global, user, a team; reading also: all."),
]
Actor = Annotated[
    str | None,
    typer.Option("--actor", metavar="NAME", help="Who decides. Default: role and system user."),
]

_SHARED: dict[str, tuple[Any, Any]] = {
    "dsn": (Dsn, None),
    "config": (ConfigFile, None),
    "schema": (Schema, None),
    "app": (App, None),
    "json": (Json, False),
    "no_color": (NoColor, False),
    "quiet": (Quiet, False),
    "verbose": (Verbose, 0),
    "wait": (Wait, 0.0),
}
_WRITING: dict[str, tuple[Any, Any]] = {"dry_run": (DryRun, False), "yes": (Yes, False)}


@dataclass
class Common:
    """What every command was called with, and the ways to answer."""

    name: str
    dsn: str | None = None
    config: str | None = None
    schema: str | None = None
    app: str | None = None
    json: bool = False
    no_color: bool = False
    quiet: bool = False
    verbose: int = 0
    wait: float = 0.0
    dry_run: bool = False
    yes: bool = False
    warnings: list[dict[str, str]] = field(default_factory=list)

    @property
    def console(self) -> Console:
        """Where answers, questions and warnings go."""
        from negmem.cli.render.console import Console

        return Console(self)

    def session(self) -> Session:
        """Config, database and providers, opened as this command was told.

        Warnings that the session gives are shown with the answer.
        """
        from negmem.core.session import open_session

        return open_session(
            dsn=self.dsn,
            config_path=self.config,
            schema=self.schema,
            app=self.app,
            wait_s=self.wait,
            command=f"negmem {self.name}",
            warnings=self.warnings,
        )

    @contextmanager
    def installed(self) -> Iterator[Session]:
        """A session on a schema that is there and fits this program.

        Raises: NegmemError, as `Session.require_installed`.
        """
        with self.session() as session:
            session.require_installed()
            yield session

    def answer(
        self,
        model: Model,
        render: Callable[[Console, Any], None],
        extra: dict[str, Any] | None = None,
    ) -> None:
        """Write the answer of this command; its name is the name of the JSON schema."""
        self.console.answer(f"{self.name.replace(' ', '.')}/1", model, render, extra)

    def tell_target(self, session: Session) -> None:
        """Say which database is about to be changed, and where its name comes from."""
        database = session.database
        self.console.note(f"target: {database.label} (from {database.target.origin})")

    def again(self, *more: str) -> str:
        """The command line as it was typed with `more` behind it: a remedy to paste.

        What may hold a password, or fills the screen, is left out as "…".
        """
        typed, words = sys.argv[1:], self.name.split()
        line = shlex.join(["negmem", *typed, *more])
        secret = any("://" in a or "password=" in a or a.startswith("--dsn") for a in typed)
        whole = typed[: len(words)] == words and "--" not in typed
        if secret or not whole or len(line) > _LONGEST_LINE or not line.isprintable():
            return shlex.join(["negmem", *words]) + f" … {shlex.join(more)}"
        return line

    def require_user(self, user: str | None) -> str:
        """The user that a command is about.

        Raises: UsageError `user_missing`, `user_empty` or `user_invalid`.
        """
        if user is None:
            raise UsageError(
                "user_missing",
                f"negmem {self.name} needs to know whose memories",
                why="no --user was given",
                hint=self.again("--user", "NAME"),
            )
        from negmem.core.text.names import check_user

        return check_user(user, f"negmem {self.name} … --user NAME")

    def checked_user(self, user: str | None) -> str | None:
        """The user that a command may do without. Raises: UsageError `user_empty` or `user_invalid`."""
        return None if user is None else self.require_user(user)


def command(
    app: typer.Typer, name: str, *, writes: bool = False
) -> Callable[[Callable[..., int | None]], Callable[..., int | None]]:
    """Register a command that takes a `Common` first, then its own parameters.

    It ends with the exit code that the function returns; None is 0.
    Args: name, all its words as typed ("memory add"), which also name the JSON schema; writes adds
    --dry-run and --yes.
    """

    def register(function: Callable[..., int | None]) -> Callable[..., int | None]:
        signature = inspect.signature(function, eval_str=True)
        own = list(signature.parameters.values())[1:]
        shared = {**_SHARED, **(_WRITING if writes else {})}
        added = [
            inspect.Parameter(
                key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
            )
            for key, (annotation, default) in shared.items()
        ]
        parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + added

        def call(**values: Any) -> int | None:
            common = Common(name, **{key: values.pop(key) for key in shared})
            from negmem.cli import main

            main.running = common
            return function(common, **values)

        call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {p.name: p.annotation for p in parameters}
        call.__doc__ = function.__doc__
        call.__name__ = function.__name__
        app.command(name.split()[-1])(call)
        return function

    return register


def new_app(help_text: str) -> typer.Typer:
    """A noun: a group of commands."""
    return typer.Typer(
        help=help_text,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
