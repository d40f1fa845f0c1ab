"""Measures how long negmem takes to start: python -m tools.bench_startup [RUNS].

Beside each other, in turn: an empty program, a program that only imports typer, rich and pydantic, and
`negmem --help`. Byte code is cached by one run of each before the count begins.
"""

from __future__ import annotations

import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

IMPORTS = "import typer, rich, pydantic\n"
NAMES = ("python -c pass", "imports typer, rich, pydantic", "negmem --help", "bash completion")


def measure(runs: int) -> dict[str, list[float]]:
    """Wall times in milliseconds by name; the programs take turns, so that noise meets all alike."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "imports.py"
        script.write_text(IMPORTS)
        negmem = str(Path(sys.executable).with_name("negmem"))
        ask = {"_NEGMEM_COMPLETE": "complete_bash", "COMP_WORDS": "negmem memory add --t"}
        programs = dict(
            zip(
                NAMES,
                [
                    ([sys.executable, "-c", "pass"], {}),
                    ([sys.executable, str(script)], {}),
                    ([negmem, "--help"], {}),
                    ([negmem], {**ask, "COMP_CWORD": "3"}),
                ],
                strict=True,
            )
        )
        times: dict[str, list[float]] = {name: [] for name in programs}
        for number in range(runs + 1):
            for name, (command, env) in programs.items():
                started = time.perf_counter()
                subprocess.run(command, env=env, cwd=folder, capture_output=True, check=True)
                if number:
                    times[name].append((time.perf_counter() - started) * 1000)
        return times


def main(arguments: list[str]) -> int:
    """Print a Markdown table of the medians."""
    runs = int(arguments[0]) if arguments else 20
    times = measure(runs)
    base = statistics.median(times[NAMES[1]])
    sys.stdout.write(f"Python {platform.python_version()}, median of {runs} runs\n\n")
    sys.stdout.write(
        "| program | median | minimum | beside the imports |\n| --- | --- | --- | --- |\n"
    )
    for name, found in times.items():
        middle = statistics.median(found)
        row = f"| {name} | {middle:.0f} ms | {min(found):.0f} ms | {middle / base:.2f} |\n"
        sys.stdout.write(row)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
