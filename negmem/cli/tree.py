"""The commands as data: what completions and the reference are made from.

What an option takes is read off its declaration: `a|b` as metavar, or a help that begins with the
values as in `text, json or junit`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import typer

_LISTED = re.compile(r"(?:One of )?([a-z][\w-]*(?:, [a-z][\w-]*)*) or ([a-z][\w-]*)(?=[.;:,]|$)")
_FILES = ("FILE", "PATH", "PATH|-", "F")
_FOLDERS = ("DIR", "FOLDER")


@dataclass(frozen=True)
class Parameter:
    """An option or argument.

    `flags` is empty for an argument; `takes` says what a shell should offer: nothing, a word, a file
    or a folder; `offer` gives the words it takes, where they are known; `is_costly` says that they
    are known only after a longer import.
    """

    name: str
    flags: tuple[str, ...]
    metavar: str
    help: str
    takes: str
    offer: Callable[[], tuple[str, ...]]
    is_required: bool
    is_repeatable: bool
    is_costly: bool

    @property
    def values(self) -> tuple[str, ...]:
        """The words that it takes; looked up when asked for, since some need an import."""
        return self.offer()


@dataclass(frozen=True)
class Command:
    """A command or a group of them; `words` are what one types after `negmem`."""

    words: tuple[str, ...]
    summary: str
    help: str
    options: tuple[Parameter, ...]
    arguments: tuple[Parameter, ...]
    commands: tuple[Command, ...]

    @property
    def path(self) -> str:
        """As typed: `negmem memory add`."""
        return " ".join(("negmem", *self.words))

    def walk(self) -> Iterator[Command]:
        """This command and all below it."""
        yield self
        for command in self.commands:
            yield from command.walk()

    def find(self, words: list[str]) -> Command:
        """The deepest command that the words lead to."""
        for command in self.commands:
            if words and command.words[-1] == words[0]:
                return command.find(words[1:])
        return self


def whole_tree() -> Command:
    """Every command; imports the modules of all."""
    from negmem.cli.main import app

    return _command(typer.main.get_command(app), ())


def subtree(name: str) -> Command | None:
    """One command of the root with what is below it; imports its module alone."""
    from negmem.cli.main import app

    found = typer.main.get_command(app).get_command(None, name)  # type: ignore[attr-defined]
    return None if found is None else _command(found, (name,))


def root_commands() -> dict[str, str]:
    """The commands of the root with their summaries; imports none of them."""
    from negmem.cli.main import COMMANDS

    return {name: summary for name, (_, summary) in COMMANDS.items()}


def _command(found: Any, words: tuple[str, ...]) -> Command:
    names = found.list_commands(None) if hasattr(found, "list_commands") else []
    parameters = [_parameter(parameter, words) for parameter in found.params]
    parameters = [p for p in parameters if p.name not in ("help", "version") or words == ()]
    text = str(found.help or "").strip()
    summary = root_commands().get(words[0], "") if len(words) == 1 else ""
    return Command(
        words=words,
        summary=summary or text.partition("\n")[0].strip(),
        help=text,
        options=tuple(p for p in parameters if p.flags),
        arguments=tuple(p for p in parameters if not p.flags),
        commands=tuple(_command(found.get_command(None, name), (*words, name)) for name in names),
    )


def _parameter(found: Any, words: tuple[str, ...]) -> Parameter:
    flags = tuple(flag for flag in (*found.opts, *found.secondary_opts) if flag.startswith("-"))
    is_flag = bool(getattr(found, "is_flag", False) or getattr(found, "count", False))
    metavar = "" if is_flag else str(found.metavar or found.name.upper())
    text = str(getattr(found, "help", "") or "")
    place = (" ".join(words), metavar.strip("[]…"))
    offer = _KNOWN.get(place) or partial(_listed, "" if is_flag else place[1], text)
    takes = "word"
    if is_flag:
        takes = "nothing"
    elif metavar.strip("[].…") in _FILES:
        takes = "file"
    elif metavar.strip("[].…") in _FOLDERS:
        takes = "folder"
    return Parameter(
        name=str(found.name),
        flags=flags,
        metavar=metavar,
        help=text,
        takes=takes,
        offer=offer,
        is_required=bool(found.required),
        is_repeatable=bool(getattr(found, "multiple", False)) or found.nargs == -1,
        is_costly=place in _KNOWN,
    )


def _listed(metavar: str, text: str) -> tuple[str, ...]:
    """The values that a declaration lists."""
    if not metavar:
        return ()
    if re.fullmatch(r"[a-z][\w-]*(\|[a-z][\w-]*)+", metavar):
        return tuple(metavar.split("|"))
    if match := _LISTED.match(text):
        return (*match.group(1).split(", "), match.group(2))
    return ()


def _config_keys() -> tuple[str, ...]:
    from negmem.config.keys import all_keys

    return tuple(all_keys())


def _config_sections() -> tuple[str, ...]:
    keys = _config_keys()
    return tuple(sorted({key.rpartition(".")[0] for key in keys})) + keys


def _checks() -> tuple[str, ...]:
    from negmem.core.diagnostics.registry import AREAS
    from negmem.core.diagnostics.runner import describe

    return AREAS + tuple(sorted(check.code for check in describe().checks))


_KNOWN: dict[tuple[str, str], Callable[[], tuple[str, ...]]] = {
    ("config set", "KEY"): _config_keys,
    ("config show", "KEY"): _config_sections,
    ("doctor", "CODE"): _checks,
}
