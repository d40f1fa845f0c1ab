"""The golden tables: expected values computed apart from this program, six decimals each."""

from __future__ import annotations

import csv
from pathlib import Path

TABLES = Path(__file__).resolve().parent.parent / "golden"

HALF_A_DIGIT = 5e-7
"""How far a value may lie from its six printed decimals."""


def rows(name: str) -> list[dict[str, str]]:
    """The rows of tests/golden/<name>.csv by column name; an empty cell means not given."""
    with (TABLES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def number(cell: str) -> float | None:
    """A cell as a number, None where it is empty."""
    return float(cell) if cell else None
