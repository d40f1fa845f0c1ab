"""`python -m negmem` is `negmem`."""

from negmem.cli.main import run

run()
