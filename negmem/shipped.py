"""Finds what ships beside the code: SQL, configuration, completions."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from negmem.errors import NegmemError


@cache
def data_dir() -> Path:
    """The folder that holds sql/, configs/ and completions/: inside the wheel, else the checkout."""
    package = Path(__file__).resolve().parent
    for root in (package / "_data", package.parent):
        if (root / "sql" / "migrations").is_dir():
            return root
    raise NegmemError(
        "installation_broken",
        "the SQL that ships with negmem is missing",
        why=f"neither {package / '_data'} nor {package.parent} holds sql/migrations",
        hint="pip install --force-reinstall negmem",
    )
