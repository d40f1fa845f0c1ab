"""A certificate as a file: written once, read by its owner alone."""

from __future__ import annotations

import os
from pathlib import Path

from negmem.core.models.erasure import Erased
from negmem.errors import NegmemError, UsageError


def check_free(path: Path) -> None:
    """Before anything is erased. Raises: UsageError `file_exists`."""
    if path.exists():
        raise UsageError(
            "file_exists",
            "there is such a file already",
            why=f"{path} would be overwritten",
            hint=f"rm {path}    or another name",
        )


def write_certificate(path: Path, certificate: Erased) -> None:
    """Write it whole or not at all. Raises: NegmemError `export_not_written`."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                file.write(certificate.model_dump_json(indent=2) + "\n")
                file.flush()
                os.fsync(file.fileno())
            part.rename(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise NegmemError(
            "export_not_written",
            "the person is erased, but the certificate could not be written",
            why=f"{path}: {error.strerror or error}",
            hint="the same command again, with another --output: it returns the certificate",
        ) from None
