"""`negmem demo`: the whole product on example conversations, one command after another."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, command, new_app

if TYPE_CHECKING:
    from negmem.core.demo import DemoStep, Step

app = new_app("The whole product on example conversations.")


@command(app, "demo", writes=True)
def demo(common: Common) -> int:
    """Run the whole product on the embedded database; each step prints its command.

    Works in a schema of its own, negmem_demo, which it clears first and leaves for you to try.
    """
    from negmem.core import demo as plan

    console = common.console
    if common.dry_run:
        for step in plan.steps():
            console.out(_line(step))
        return ExitCode.DONE
    started = time.monotonic()
    variables = plan.environment()
    console.note(f"target: {variables['NEGMEM_DSN']}, schema {plan.SCHEMA}")
    plan.clear(variables)
    if not common.json:
        for name, value in variables.items():
            console.out(f"export {name}={shlex.quote(value)}")
    done = []
    with _environment(variables):
        for step in plan.steps():
            done.append(_run(common, step))
            if done[-1].exit_code not in (ExitCode.DONE, ExitCode.ATTENTION):
                break
    took_ms = (time.monotonic() - started) * 1000
    result = plan.Demo(environment=variables, steps=done, took_ms=took_ms)
    common.answer(result, _draw)
    return max(step.exit_code for step in done if step.exit_code != ExitCode.ATTENTION)


def _line(step: Step) -> str:
    return "negmem " + " ".join(shlex.quote(argument) for argument in step.arguments)


def _run(common: Common, step: Step) -> DemoStep:
    from negmem.cli import main
    from negmem.core.demo import DemoStep

    arguments = [*step.arguments, *(["--no-color"] if common.no_color else [])]
    answer = None
    started = time.monotonic()
    if common.json:
        caught = io.StringIO()
        with contextlib.redirect_stdout(caught):
            code = main.main([*arguments, "--json"])
        answer = json.loads(caught.getvalue())
    else:
        console = common.console
        console.out()
        console.out(console.style(f"# {step.title}", "dim"))
        console.out(console.style(f"$ {_line(step)}", "bold"))
        code = main.main(arguments)
    main.running = common
    took_ms = (time.monotonic() - started) * 1000
    return DemoStep(command=_line(step), exit_code=code, took_ms=took_ms, answer=answer)


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """The demo's variables, and no others that name a database, for the time of its steps."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(("NEGMEM_", "PG"))}
    for name in kept:
        if name != "NEGMEM_HOME":
            del os.environ[name]
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name, None)
        os.environ.update(kept)


def _draw(console: object, result: object) -> None:
    from negmem.cli.render.console import Console
    from negmem.core.demo import Demo

    assert isinstance(console, Console) and isinstance(result, Demo)
    failed = [step for step in result.steps if step.exit_code == ExitCode.FAILED]
    console.out()
    verdict = "stopped at the step above" if failed else f"{len(result.steps)} steps"
    console.out(f"demo: {verdict}, {result.took_ms / 1000:.1f} s")
    console.out("go on in the same database with the exports at the top, for instance")
    console.out("  negmem search 'what does Biscuit eat?' --user maya --explain")
    console.out("remove it:  negmem uninstall --yes")
