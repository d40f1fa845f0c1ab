"""`negmem completions …`: what a shell offers when Tab is pressed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from negmem.cli.completion import SCRIPTS, SHELLS, script
from negmem.cli.options import Common, command, new_app
from negmem.errors import NegmemError, UsageError

if TYPE_CHECKING:
    from negmem.cli.render.console import Console

app = new_app("Shell completions for bash, zsh and fish.")

Shell = Annotated[str, typer.Argument(metavar="bash|zsh|fish", help="bash, zsh or fish.")]


@command(app, "completions show")
def show(common: Common, shell: Shell) -> None:
    """Print the completion script of a shell."""
    from negmem.core.models.completions import CompletionScript

    text = CompletionScript(shell=_known(shell), script=script(shell))
    common.answer(text, _draw_script)


def _draw_script(console: Console, found: Any) -> None:
    console.out(found.script.rstrip("\n"))


@command(app, "completions install", writes=True)
def install(common: Common, shell: Shell) -> None:
    """Put the script where the shell looks for it; changes no start-up file."""
    from negmem.core.models.completions import InstalledCompletion

    path, next_step = _place(_known(shell), os.environ)
    text = script(shell)
    is_change = not path.exists() or path.read_text(encoding="utf-8", errors="replace") != text
    if is_change and not common.dry_run:
        _write(path, text)
    installed = InstalledCompletion(
        dry_run=common.dry_run,
        changed=is_change,
        shell=shell,
        path=str(path),
        next_step=next_step,
    )
    common.answer(installed, _draw_installed)


def _draw_installed(console: Console, installed: Any) -> None:
    verb = "would write" if installed.dry_run else "wrote"
    console.out(f"{verb if installed.changed else 'unchanged'}  {installed.path}")
    if installed.next_step:
        console.note(f"add to your start-up file: {installed.next_step}")


def _known(shell: str) -> str:
    if shell not in SHELLS:
        raise UsageError(
            "shell_unknown",
            f"there are no completions for {shell!r}",
            why=f"known: {', '.join(SHELLS)}",
            hint="negmem completions show bash",
        )
    return shell


def _place(shell: str, env: os._Environ[str]) -> tuple[Path, str | None]:
    """The user's folder for scripts of a shell, and what still has to be done by hand."""
    home = Path.home()
    data = Path(env.get("XDG_DATA_HOME") or home / ".local" / "share")
    if shell == "fish":
        config = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
        return config / "fish" / "completions" / SCRIPTS[shell], None
    if shell == "zsh":
        path = data / "zsh" / "site-functions" / SCRIPTS[shell]
        return path, f"fpath=({path.parent} $fpath); autoload -U compinit; compinit"
    path = data / "bash-completion" / "completions" / "negmem"
    return path, f"source {path}    (not needed where the package bash-completion is installed)"


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise NegmemError(
            "completions_not_writable",
            f"{path} can't be written",
            why=str(error.strerror),
            hint="negmem completions show bash > FILE    and source it",
        ) from None
    finally:
        temporary.unlink(missing_ok=True)
