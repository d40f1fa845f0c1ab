"""`python -m negmem.cli` is `negmem`."""

from negmem.cli.main import run

run()
