"""The erasure of a person and its certificate, as the API returns them and `--json` prints them."""

from __future__ import annotations

from typing import Literal

from negmem.core.models.audit import Reached
from negmem.core.models.base import Model
from negmem.core.models.memory import Instant

FORMAT = "negmem.erasure-certificate"
VERSION = 1


class Verification(Model):
    """The search after an erasure. `left` are rows under the person's key; `mentions` are rows of others that
    still hold the person's name or one of the texts that were known (`needles` were searched for)."""

    at: Instant
    tables: int
    needles: int
    vectors: int
    left: int
    mentions: list[Reached]


class Erased(Model):
    """The certificate: counts and hashes, no content and no name. `person` is an HMAC under the installation's key.

    `state` is done, nothing (the app knew no such person) or planned (a dry run). `sha256` is that of the
    other fields as JSON with sorted keys.
    """

    format: str = FORMAT
    version: int = VERSION
    state: Literal["done", "nothing", "planned"]
    app: str
    installation: str
    person: str
    started_at: Instant | None
    finished_at: Instant | None
    tables: list[Reached]
    rows: int
    names_replaced: list[Reached]
    cached_vectors: int
    erased_before: int
    verification: Verification | None
    unreachable: list[str]
    trail_head: str
    sha256: str = ""


class ErasureList(Model):
    """The list of erased persons of an app as it was written out; `with_key`: with the key that names them."""

    path: str
    app: str
    persons: int
    with_key: bool


class ReplayedPerson(Model):
    """One person of the list who was here: erased again, or left since the person came after the erasure."""

    person: str
    action: Literal["erased", "came_later", "held", "would_be_erased"]
    rows: int


class Replayed(Model):
    """What a replay of erasures did after a restore."""

    app: str
    listed: int
    persons: list[ReplayedPerson]
    erased: int
    dry_run: bool = False
