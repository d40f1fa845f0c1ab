"""Answers a shell that asks what may come next: reads no configuration, meets no database.

The shell asks with `_NEGMEM_COMPLETE=complete_bash` (or `_zsh`, `_fish`) and the line in COMP_WORDS
and COMP_CWORD, or in _TYPER_COMPLETE_ARGS; `source_bash` asks for the script itself.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from negmem.cli.tree import Command, Parameter

VARIABLE = "_NEGMEM_COMPLETE"
SHELLS = ("bash", "zsh", "fish")
SCRIPTS = {"bash": "negmem.bash", "zsh": "_negmem", "fish": "negmem.fish"}


def answer(env: Mapping[str, str] | None = None) -> int:
    """Write the completions that the environment asks for; returns the exit code, 0 always.

    Whatever goes wrong, nothing is written: a shell's line is no place for an error.
    """
    env = os.environ if env is None else env
    act, _, shell = env.get(VARIABLE, "").partition("_")
    if act in SHELLS:
        act, shell = shell, act
    try:
        if shell in SHELLS and act == "source":
            sys.stdout.write(script(shell))
        elif shell in SHELLS and act == "complete":
            sys.stdout.write(_in_words_of(shell, offers(*_asked(env))))
        sys.stdout.flush()
    except Exception:
        return 0
    return 0


def script(shell: str) -> str:
    """The completion script that ships for a shell."""
    from negmem.shipped import data_dir

    return (data_dir() / "completions" / SCRIPTS[shell]).read_text(encoding="utf-8")


def offers(words: list[str], unfinished: str) -> list[tuple[str, str]]:
    """What may stand in place of `unfinished` after `negmem` and `words`, each with its help."""
    from negmem.cli import tree

    if not words:
        found = list(tree.root_commands().items())
    else:
        top = tree.subtree(words[0])
        if top is None:
            return []
        found = _offers_of(top.find(words[1:]), words, unfinished)
    return [(word, text) for word, text in found if word.startswith(unfinished)]


def _offers_of(command: Command, words: list[str], unfinished: str) -> list[tuple[str, str]]:
    by_flag = {flag: option for option in command.options for flag in option.flags}
    last = by_flag.get(words[-1]) if words else None
    if last is not None and last.takes != "nothing":
        return [(value, "") for value in _values(command, last, words[-1])]
    if unfinished.startswith("-"):
        used = set(words)
        return [
            (flag, option.help)
            for option in command.options
            for flag in option.flags
            if flag.startswith("--") and (option.is_repeatable or not used & set(option.flags))
        ]
    found = [(inner.words[-1], inner.summary) for inner in command.commands]
    given, skip = 0, False
    for word in words[len(command.words) :]:
        option = by_flag.get(word)
        if skip or word.startswith("-"):
            skip = not skip and option is not None and option.takes != "nothing"
        else:
            given += 1
    if given < len(command.arguments):
        argument = command.arguments[given]
        found += [(value, "") for value in _values(command, argument, str(given))]
    return found


def _values(command: Command, parameter: Parameter, place: str) -> Sequence[str]:
    """The words that a parameter takes; those that cost an import stand in the shipped script."""
    if not parameter.is_costly:
        return parameter.values
    case = re.escape(f'"{" ".join(command.words)} {place}"')
    found = re.search(rf'{case}\)? .*?values="([^"]*)"', script("bash"))
    return found.group(1).split() if found else ()


def _asked(env: Mapping[str, str]) -> tuple[list[str], str]:
    """The words before the one that is being typed, without `negmem`, and that word so far."""
    if "COMP_WORDS" in env:
        words = _split(env["COMP_WORDS"])
        at = int(env.get("COMP_CWORD", len(words)))
        return words[1:at], words[at] if at < len(words) else ""
    line = env.get("_TYPER_COMPLETE_ARGS", "")
    words = _split(line)[1:]
    if words and not line.endswith(" "):
        return words[:-1], words[-1]
    return words, ""


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # an open quote: what is typed is not finished
        return line.split()


def _in_words_of(shell: str, found: list[tuple[str, str]]) -> str:
    if shell == "zsh":
        if not found:
            return "_files"
        parts = [f'"{_zsh(word)}":"{_zsh(text)}"' for word, text in found]
        return "_arguments '*: :((" + "\n".join(parts).replace("'", "") + "))'"
    if shell == "fish":
        return "".join(f"{word}\t{text}\n" if text else f"{word}\n" for word, text in found)
    return "".join(f"{word}\n" for word, _ in found)


def _zsh(text: str) -> str:
    for sign in ("\\", '"', "$", "`", ":", "(", ")"):
        text = text.replace(sign, f"\\{sign}")
    return text
