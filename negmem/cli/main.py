"""The root command: finds a command by name, runs it, and is the one place that catches errors."""

from __future__ import annotations

import functools
import importlib
import io
import os
import sys
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from negmem.cli.exits import ExitCode
from negmem.errors import Interrupted, NegmemError, UsageError

if TYPE_CHECKING:
    from negmem.cli.options import Common

# name → module under negmem.cli, what it does. A module is imported when its command is used.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("init", "Make the YAML, the schema, its migrations and the managed functions."),
    "doctor": ("doctor", "Probe what the database can carry; say what is wrong and what to do."),
    "demo": ("demo", "Show the whole product on example conversations, on the embedded database."),
    "db": ("db", "The embedded cluster, and migrations."),
    "config": ("config", "The YAML and the effective configuration."),
    "sync": ("sync", "Make the database agree with what is declared."),
    "diff": ("diff", "Compare what is declared with what the database holds."),
    "automation": ("automation", "Config, functions and jobs."),
    "scheduler": ("scheduler", "The built-in scheduler, where pg_cron can't be had."),
    "ingest": ("ingest", "Read conversations into threads, events and memories."),
    "consolidate": ("consolidate", "Turn conversations into facts, summaries and links."),
    "memory": ("memory", "Add, list, show, edit, remove, restore, pin and link memories."),
    "fact": ("fact", "Facts by key, with their versions."),
    "conflict": ("conflict", "Facts that stand against each other, and what came of it."),
    "summary": ("summary", "Summaries of users and threads."),
    "core": ("core", "Core blocks: short texts that stand in every context."),
    "instruction": ("instruction", "Instructions of an app, version by version."),
    "profile": ("profile", "Profiles: who a user is, field by field."),
    "entity": ("entity", "Entities: people, firms and things."),
    "learn": ("learn", "Learned knowledge: lessons, searched before they are saved."),
    "decision": ("decision", "What agents chose for a user and why, and what came of it."),
    "proposals": ("proposals", "Writes that wait for a person."),
    "namespace": ("namespace", "Namespaces: who shares what."),
    "tools": ("tools", "The tools of agents: list, schemas, and a call by hand."),
    "mcp": ("mcp", "The tools of agents over MCP."),
    "search": ("search", "Find memories, and explain why."),
    "context": ("context", "Assemble a context within a token budget."),
    "recall": ("recall", "Recall what a new session should know of a user."),
    "feedback": ("feedback", "Say what a search was good for."),
    "metrics": ("metrics", "Measure what the memory is worth, from its own logs."),
    "audit": ("audit", "What is held about a person, decisions about it, and the trail."),
    "user": ("user", "Pause, hold and release persons."),
    "import": ("import_", "Bring an export of one person back, with the same ids."),
    "pii": ("pii", "Find personal data, and apply a policy to what stands."),
    "retention": ("retention", "Forgetting: run it, see what would go and why."),
    "curator": ("curator", "Prune by age and count; remove duplicates."),
    "embed": ("embed", "The embedding model, and the online change to another."),
    "bench": ("bench", "Measure retrieval, load and answers; compare over time."),
    "report": ("report", "The state of a deployment on one HTML page."),
    "top": ("top", "What goes on, on a screen that stays."),
    "completions": ("completions", "Shell completions."),
    "uninstall": ("uninstall", "Remove what negmem put into the database."),
}

running: Common | None = None


@functools.cache
def _built(name: str) -> Any:
    """A command with all below it; made once, for a process that runs more than one command line."""
    module = importlib.import_module(f"negmem.cli.{COMMANDS[name][0]}")
    group = getattr(module, f"{name}_app", None) or module.app
    found = typer.main.get_command(group)
    found.name = name
    return found


class LazyGroup(TyperGroup):
    """The root group: lists commands without importing them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All commands, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the module of one command."""
        return _built(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list of commands in --help, from the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


app = typer.Typer(
    cls=LazyGroup,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        from negmem import __version__

        sys.stdout.write(f"negmem {__version__}\n")
        raise typer.Exit(0)


@app.callback()
def root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
) -> None:
    """PostgreSQL as a trustworthy memory for agents."""


def main(arguments: list[str]) -> int:
    """Run one command line; returns the exit code. The one place that catches errors."""
    global running
    running = None
    try:
        _follow_verbosity(arguments)
        result = typer.main.get_command(app)(
            args=arguments, prog_name="negmem", standalone_mode=False
        )
        sys.stdout.flush()
        if result == ExitCode.INTERRUPTED and not isinstance(result, ExitCode):
            raise KeyboardInterrupt  # the parser met it, and told nobody
        return int(result) if isinstance(result, int) else ExitCode.DONE
    except NegmemError as error:
        return _report(error, arguments, None)
    except BrokenPipeError:
        _silence_stdout()
        return ExitCode.DONE
    except SystemExit:
        if type(sys.stdout).__name__ != "PacifyFlushWrapper":
            raise
        sys.stdout = sys.__stdout__  # the parser met the closed pipe first, and would say 1
        _silence_stdout()
        return ExitCode.DONE
    except (KeyboardInterrupt, typer.Abort):
        return _report(Interrupted(), arguments, None)
    except Exception as error:
        return _report(_explained(error, arguments), arguments, error)


def _follow_verbosity(arguments: list[str]) -> None:
    """Send what -v and -vv ask for to stderr; secrets never reach a logger."""
    count = sum(
        argument.count("v") if argument.strip("-v") == "" and argument.startswith("-v") else 0
        for argument in arguments
    ) + sum(argument == "--verbose" for argument in arguments)
    if count:
        import logging

        logging.basicConfig(
            stream=sys.stderr,
            level=logging.INFO if count == 1 else logging.WARNING,
            format="%(message)s",
            force=True,
        )
        logging.getLogger("negmem").setLevel(logging.INFO if count == 1 else logging.DEBUG)


def _explained(error: Exception, arguments: list[str]) -> NegmemError:
    """Any exception as one of ours: the parser's, the driver's, or a bug."""
    if getattr(error, "exit_code", None) == ExitCode.USAGE and hasattr(error, "format_message"):
        message = error.format_message() or "incomplete command line"
        context = getattr(error, "ctx", None)
        words = context.command_path if context is not None else "negmem"
        return UsageError(
            "usage",
            message.rstrip(".").strip()[:1].lower() + message.rstrip(".").strip()[1:],
            why=f"{words} was called with: {' '.join(_redacted(arguments)) or 'nothing'}",
            hint=f"{words} --help",
        )
    if type(error).__module__.startswith("psycopg"):
        from negmem.core.session import explain_driver_error

        return explain_driver_error(error)
    if isinstance(error, OSError):
        return NegmemError(
            "system_error",
            "the operating system refused what negmem asked of it",
            why=f"{error.strerror or error}" + (f": {error.filename}" if error.filename else ""),
            hint="run again with -vv to see where",
        )
    from negmem import __version__

    return NegmemError(
        "internal_error",
        "a bug in negmem",
        why=f"{type(error).__name__} in negmem {__version__}, Python {sys.version.split()[0]}",
        hint="run again with -vv to see the trace",
    )


def _redacted(arguments: list[str]) -> list[str]:
    """The arguments without the value of --dsn, which may hold a password."""
    shown = []
    hide_next = False
    for argument in arguments:
        if hide_next:
            shown.append("***")
            hide_next = False
        elif argument.startswith("--dsn="):
            shown.append("--dsn=***")
        elif "://" in argument or "password=" in argument:
            shown.append("***")
        else:
            shown.append(argument)
            hide_next = argument == "--dsn"
    return shown


def _report(error: NegmemError, arguments: list[str], cause: Exception | None) -> int:
    from negmem.cli.render.errors import write_error

    as_json = running.json if running else "--json" in arguments
    verbose = running.verbose if running else sum(a == "-vv" for a in arguments) * 2
    try:
        write_error(error, as_json=as_json, cause=cause or error if verbose >= 2 else None)
    except BrokenPipeError:
        _silence_stdout()
    except OSError:  # stdout takes nothing: the error is told where a person may see it
        _silence_stdout()
        write_error(error, as_json=False)
    return error.exit_code


def _silence_stdout() -> None:
    from negmem.cli.render.console import silence_stdout

    silence_stdout()


def run() -> None:
    """The console script."""
    # Looking for plugins of pydantic reads the metadata of every installed package (25 ms).
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    if "_NEGMEM_COMPLETE" in os.environ:
        from negmem.cli.completion import answer

        sys.exit(answer())
    code = main(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _silence_stdout()
    sys.exit(code)
