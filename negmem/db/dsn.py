"""Reads connection strings without ever repeating one: libpq's own errors quote the password back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from negmem.errors import UsageError

EMBEDDED = "the embedded cluster"  # the origin of a target that nothing named
_SCHEME = re.compile(r"^(postgres(?:ql)?)(\+[a-z0-9_]+)?://(?P<rest>.*)$", re.DOTALL)
_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_TARGET_VARIABLES = ("PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE")
_PARAMETERS = {
    "PGHOST": "host",
    "PGHOSTADDR": "hostaddr",
    "PGPORT": "port",
    "PGDATABASE": "dbname",
    "PGUSER": "user",
    "PGSERVICE": "service",
}
_ENCODE = (
    "percent-encode it: python3 -c \"from urllib.parse import quote; print(quote(input(), ''))\""
)


@dataclass(frozen=True)
class Target:
    """One database to work on: libpq parameters, and where they were read.

    `defaults` is what libpq takes from PG* variables where `params` says nothing, for the label.
    """

    params: Mapping[str, str]
    origin: str
    defaults: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Where and as whom, as far as the parameters tell; never a password."""
        service = self.params.get("service") or self.defaults.get("service")
        # What a service says stands before the variables, and is known to libpq alone.
        said = self.params if service else {**self.defaults, **self.params}
        unsaid = f"service {service}" if service else "local socket"
        host = said.get("host") or said.get("hostaddr") or unsaid
        port = said.get("port")
        place = f"{host}:{port}" if port and not host.startswith("/") else host
        name = said.get("dbname") or "default database"
        user = said.get("user")
        return f"{name}@{place}" + (f" as {user}" if user else "")


def _malformed(why: str, origin: str, hint: str) -> UsageError:
    return UsageError(
        "dsn_malformed", f"the connection string from {origin} can't be read", why=why, hint=hint
    )


def _check_url(rest: str, origin: str) -> None:
    """Refuse what libpq would read wrongly: reserved characters in the user or password."""
    head, at, _tail = rest.rpartition("@")
    if at and any(c in head for c in "/@#?"):
        raise _malformed(
            "the part before the host holds one of @ / # ? as it stands, so the password must be"
            " percent-encoded",
            origin,
            _ENCODE,
        )
    if _PERCENT.search(rest):
        raise _malformed(
            "a % is not followed by two hexadecimal digits, so the password must be"
            " percent-encoded",
            origin,
            _ENCODE,
        )
    if "\x00" in unquote(rest):
        raise _malformed("it holds a NUL character", origin, _ENCODE)


def parse_dsn(text: str, origin: str) -> Target:
    """A libpq connection string or URL as a Target.

    A driver suffix (`postgresql+psycopg://`) is dropped. Raises: UsageError `dsn_malformed`, whose text
    holds nothing of the string.
    """
    text = text.strip()
    match = _SCHEME.match(text)
    if match is not None:
        _check_url(match["rest"], origin)
        text = f"postgresql://{match['rest']}"
    elif "://" in text or ":/" in text or "=" not in text:
        raise _malformed(
            "it is neither postgresql://user@host:port/database nor key=value pairs",
            origin,
            "postgresql://USER@HOST:5432/DATABASE, the password in PGPASSWORD or ~/.pgpass",
        )
    try:
        params = {k: str(v) for k, v in conninfo_to_dict(text).items() if v is not None}
    except (ProgrammingError, UnicodeError):
        params = None
    if params is None:
        raise _malformed(
            "libpq refuses it; its own message is withheld, since it repeats the string",
            origin,
            "quote values that hold blanks, percent-encode passwords in URLs",
        )
    wrong = [port for port in params.get("port", "").split(",") if port and not _is_port(port)]
    if wrong:
        raise _malformed(
            "the port is no number from 1 to 65535",
            origin,
            "postgresql://USER@HOST:5432/DATABASE",
        )
    return Target(params, origin)


def _is_port(text: str) -> bool:
    return text.strip().isdecimal() and 1 <= int(text) <= 65535


def from_environment(env: Mapping[str, str]) -> Target | None:
    """The target that the PG* variables name, if they name one."""
    named = [name for name in _TARGET_VARIABLES if env.get(name)]
    return Target({}, ", ".join(named), said_by(env)) if named else None


def said_by(env: Mapping[str, str]) -> dict[str, str]:
    """The libpq parameters that the PG* variables give, but the password."""
    return {param: env[name] for name, param in _PARAMETERS.items() if env.get(name)}
