"""`python -m negmem.cli` is `negmem`."""

from negmem.cli.start import run

run()
