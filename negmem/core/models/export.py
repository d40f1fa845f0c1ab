"""What an export holds and what an import brought, as the API returns them and `--json` prints them."""

from __future__ import annotations

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant

FORMAT = "negmem.export"
VERSION = 1


class ExportedTable(Model):
    """One table of an export: its rows, and the SHA-256 of their lines in hexadecimal."""

    table: str
    rows: int
    sha256: str


class Exported(Model):
    """An export of everything about one person. `sha256` is that of all lines before the manifest."""

    format: str
    version: int
    app: str
    user: str
    exported_at: Instant
    tables: list[ExportedTable]
    rows: int
    sha256: str
    path: str | None


class ImportedTable(Model):
    """One table of an import: rows `added`, and those that `stood` under the same key before."""

    table: str
    added: int
    stood: int


class ImportSkipped(Model):
    """A table of the file that is not brought back, and why."""

    table: str
    rows: int
    reason: str


class Imported(Model):
    """What an import brought. With `dry_run` the file was checked and nothing written."""

    app: str
    user: str
    from_app: str
    exported_at: Instant
    tables: list[ImportedTable]
    added: int
    stood: int
    skipped: list[ImportSkipped]
    embedded: int
    sha256: str
    dry_run: bool = False
