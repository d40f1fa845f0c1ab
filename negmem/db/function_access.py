"""Who owns a function and who may call it: read, written down, given back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psycopg.types.json import Jsonb

from negmem import __version__
from negmem.db.connect import Connection, Database
from negmem.db.function_catalog import LiveFunction
from negmem.db.sqlfiles import blocks, fill, quote_identifier

if TYPE_CHECKING:
    from typing_extensions import LiteralString

_DEFAULT = ("OWNER", "PUBLIC")
_OWNER_LINE = "owner "


@dataclass(frozen=True)
class Access:
    """Owner, and who may call: `PUBLIC`, `OWNER` or a role in SQL words, with its grant option."""

    owner: str
    grants: tuple[str, ...]

    @classmethod
    def of(cls, live: LiveFunction) -> Access:
        """As it stands."""
        return cls(live.owner, tuple(sorted(live.grants)))

    @classmethod
    def parse(cls, text: str) -> Access:
        """From the text that `str` gives."""
        first, *grants = text.splitlines()
        return cls(first.removeprefix(_OWNER_LINE), tuple(grants))

    def __str__(self) -> str:
        return "\n".join((f"{_OWNER_LINE}{self.owner}", *self.grants))

    @property
    def is_default(self) -> bool:
        """Whether it is what CREATE FUNCTION gives: everybody may call."""
        return self.grants == _DEFAULT


def give_back(database: Database, live: LiveFunction, access: Access) -> LiteralString:
    """The statements that give a function made anew this owner and these grants."""
    names = {
        "schema": database.schema,
        "name": live.definition.name,
        "argument_types": live.definition.argument_types,
    }

    def statement(block: str, **values: str) -> LiteralString:
        return fill(blocks("functions")[block], {**names, **values})

    owner = quote_identifier(access.owner)
    made = [statement("give_owner", owner=owner)]
    if not access.is_default:
        made.append(statement("take_access", grantee="PUBLIC"))
        if "OWNER" not in access.grants:
            made.append(statement("take_access", grantee=owner))
        made += [
            statement("give_access", grantee=grant) for grant in access.grants if grant != "OWNER"
        ]
    return "\n".join(made)


def record(database: Database, connection: Connection, live: Sequence[LiveFunction]) -> None:
    """Write down who owns and may call these functions, for later runs to compare with."""
    objects = [
        {
            "kind": "grant",
            "name": f.definition.signature,
            "fingerprint": "access",
            "definition": str(Access.of(f)),
        }
        for f in live
    ]
    if objects:
        values = {"objects": Jsonb(objects), "negmem_version": __version__}
        database.execute("drift", "record", values)
