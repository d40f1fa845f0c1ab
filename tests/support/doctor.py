"""Runs the checks of `doctor` on a database, and reads the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from negmem.core.diagnostics.runner import diagnose
from negmem.core.models.diagnosis import Diagnosis, Finding
from negmem.core.session import Session, open_session
from negmem.providers.embedding import Embedder, EmbedderAbsent

ABSENT = EmbedderAbsent("embedder_disabled", "embedding is switched off", hint="")


@contextmanager
def session_on(
    dsn: str,
    *,
    embedder: Embedder | EmbedderAbsent = ABSENT,
    overrides: Mapping[str, Any] | None = None,
    **options: Any,
) -> Iterator[Session]:
    """A session on `dsn` with no YAML and no environment."""
    with open_session(dsn=dsn, env={}, overrides=overrides, **options) as session:
        session.use_embedder(embedder)
        yield session


def examine(dsn: str, *, only: Sequence[str] = (), fix: bool = False, **options: Any) -> Diagnosis:
    """What doctor finds at `dsn`."""
    with session_on(dsn, **options) as session:
        return diagnose(session, only=only, fix=fix)


def codes(diagnosis: Diagnosis, *severities: str) -> list[str]:
    """The codes of the findings, of these severities (of those that count, when none is named)."""
    return [
        f.code for f in diagnosis.findings if (f.severity in severities if severities else f.counts)
    ]


def finding(diagnosis: Diagnosis, code: str) -> Finding:
    """The one finding with this code."""
    found = [f for f in diagnosis.findings if f.code == code]
    assert len(found) == 1, f"{code}: {[f.code for f in diagnosis.findings]}"
    return found[0]


def outcome(diagnosis: Diagnosis, code: str) -> str:
    """How a check ended."""
    return next(c.status for c in diagnosis.checks if c.code == code)


def area(diagnosis: Diagnosis, name: str) -> str:
    """The line of an area, as `status: summary`."""
    return next(f"{a.status}: {a.summary}" for a in diagnosis.areas if a.name == name)
