"""Connection strings without their secrets: how to show one, how to tell that it holds one."""

from __future__ import annotations

import re

MASK = "***"

_NAMES = "password|passwd|sslpassword|oauth_client_secret"
_IN_PAIRS = re.compile(rf"(?i)\b((?:{_NAMES})\s*=\s*)('(?:[^'\\]|\\.)*'?|(?:[^\s'\\]|\\.)+)")
_IN_QUERY = re.compile(rf"(?i)([?&](?:{_NAMES})=)([^&]+)")
_PAIRS_START = re.compile(r"\s*[A-Za-z_]+\s*=")
_SCHEME = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*:/+")
_REFERENCE = re.compile(r"\$\{[^}]*\}")
_PLAIN_REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*(:-)?\}")


def mask_dsn(dsn: str) -> str:
    """The connection string with every password replaced by `***`, also where it is malformed."""
    for start, end in reversed(_secret_spans(dsn)):
        dsn = dsn[:start] + MASK + dsn[end:]
    return dsn


def has_clear_password(dsn: str) -> bool:
    """Whether a connection string holds a password that is not wholly `${VARIABLE}` references."""
    return any(
        _PLAIN_REFERENCE.sub("", dsn[start:end]).strip("'") for start, end in _secret_spans(dsn)
    )


def _secret_spans(dsn: str) -> list[tuple[int, int]]:
    """Where the passwords stand. A stray `@` counts as part of the password: rather too much."""
    if _PAIRS_START.match(dsn):
        return [match.span(2) for match in _IN_PAIRS.finditer(dsn)]
    hidden = _REFERENCE.sub(lambda match: "x" * len(match.group()), dsn)
    spans = []
    scheme = _SCHEME.match(hidden)
    start = scheme.end() if scheme else 0
    end = hidden.rfind("@")
    colon = hidden.find(":", start, end) if end >= 0 else -1
    if colon >= 0:
        spans.append((colon + 1, end))
    spans += [m.span(2) for m in _IN_QUERY.finditer(hidden) if m.start() >= max(end, 0)]
    return spans
