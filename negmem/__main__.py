"""`python -m negmem` is `negmem`."""

from negmem.cli.start import run

run()
