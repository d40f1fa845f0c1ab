"""How long a command takes from the shell, start of the program included.

    python -m tests.perf.shell_time [--runs 20] -- search "what does Biscuit eat?" --user maya

Runs `negmem` with these arguments in the present environment and folder; prints the wall time.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path


def main() -> None:
    """Measure, and print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("arguments", nargs="+")
    options = parser.parse_args()
    program = [str(Path(sys.executable).with_name("negmem")), *options.arguments]
    subprocess.run(program, check=True, capture_output=True)
    walls = []
    for _ in range(options.runs):
        started = time.perf_counter()
        subprocess.run(program, check=True, capture_output=True)
        walls.append((time.perf_counter() - started) * 1000)
    print(
        f"{options.runs} runs: median {statistics.median(walls):.0f} ms,"
        f" minimum {min(walls):.0f} ms, maximum {max(walls):.0f} ms"
    )


if __name__ == "__main__":
    main()
