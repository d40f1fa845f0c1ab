"""What deduplication reads and writes of a store: the rules above are the same for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core import merging
from negmem.core.merging import Merge, Text
from negmem.core.session import Session
from negmem.errors import UsageError

STORES = ("memory", "fact", "learning", "entity")
SHARED = ("learning", "entity")
"""Those that belong to a namespace."""
_PAGE = 2_000
_FIRST = UUID(int=0)


@dataclass(frozen=True)
class Item:
    """One live item; only items of one `group_key` are compared."""

    id: UUID
    group_key: str
    content: str
    moment: datetime


def check_store(name: str) -> None:
    """Raises: UsageError `store_unknown` for a name that the curator has no store of."""
    if name not in STORES:
        raise UsageError(
            "store_unknown",
            f'the curator knows no store "{name}"',
            why=f"known: {', '.join(STORES)}",
            hint="negmem curator dedup --help",
        )


class Store(Protocol):
    """A store of one owner."""

    name: str
    has_vectors: bool
    queries: str
    scope: dict[str, Any]

    def items(self) -> Iterator[Item]:
        """All live items that may be merged, by id, streamed."""
        ...

    def texts(self, ids: Sequence[UUID]) -> dict[UUID, Text]:
        """What decides about the live ones of some items."""
        ...

    def bits(self) -> Iterator[tuple[UUID, bytes]]:
        """The packed sign bits of the live items, by id, streamed."""
        ...

    def cosines(self, pairs: Sequence[tuple[UUID, UUID]]) -> dict[tuple[UUID, UUID], float]:
        """The cosine of each pair of which both have a vector."""
        ...

    def apply(self, merges: Sequence[Merge], run_id: UUID) -> list[tuple[UUID, UUID]]:
        """Merge what is still as it was planned, in one transaction; returns (survivor, loser) pairs."""
        ...

    def taken(self, run_id: UUID) -> list[UUID]:
        """What a run merged away and nobody brought back."""
        ...

    def undo(self, run_id: UUID) -> list[UUID]:
        """Bring back what a run merged away; returns their ids."""
        ...

    def count(self) -> int:
        """How many items are live."""
        ...

    def apart(self, one: Text, other: Text) -> str | None:
        """What of these two, beside their texts, keeps them apart."""
        ...


class SqlStore:
    """What all stores have in common: paging, vectors of the active model.

    Args: scope, the parameters that begin the key of the owner's rows.
    """

    name = ""
    has_vectors = True
    queries = "curator"

    def __init__(self, session: Session, scope: dict[str, Any]) -> None:
        self._session = session
        self.scope = scope
        row = session.database.row("installation", "active_model", {"app_name": session.app})
        self._model: int | None = None if row is None else row["id"]

    def items(self) -> Iterator[Item]:
        """All live ones that may be merged."""
        for row in self._paged(f"{self.name}_items", {}):
            yield Item(**row)

    def bits(self) -> Iterator[tuple[UUID, bytes]]:
        """Those of the active model."""
        if self._model is None:
            return
        for row in self._paged(f"{self.name}_bits", {"model_id": self._model}):
            bits: str = row["bits"]
            width = -(-len(bits) // 8)
            yield row["id"], int(bits.ljust(width * 8, "0"), 2).to_bytes(width, "big")

    def cosines(self, pairs: Sequence[tuple[UUID, UUID]]) -> dict[tuple[UUID, UUID], float]:
        """Those of the active model."""
        if self._model is None or not pairs:
            return {}
        params = {
            **self.scope,
            "model_id": self._model,
            "ones": [one for one, _ in pairs],
            "others": [other for _, other in pairs],
        }
        rows = self._session.database.rows(self.queries, f"{self.name}_cosines", params)
        return {(row["one"], row["other"]): row["cosine"] for row in rows}

    def count(self) -> int:
        """All that are live."""
        row = self._session.database.row(self.queries, f"{self.name}_count", self.scope)
        return 0 if row is None else int(row["live"])

    def apart(self, one: Text, other: Text) -> str | None:
        """Nothing: the texts decide."""
        return None

    def _paged(self, block: str, params: dict[str, Any]) -> Iterator[dict[str, Any]]:
        after = _FIRST
        while True:
            page = {**self.scope, **params, "after": after, "row_limit": _PAGE}
            rows = self._session.database.rows(self.queries, block, page)
            yield from rows
            if len(rows) < _PAGE:
                return
            after = rows[-1]["id"]


class _UserStore(SqlStore):
    """A store of one user."""

    def __init__(self, session: Session, user: str) -> None:
        super().__init__(session, {"user_id": user, "app_name": session.app})
        self._user = user


class MemoryStore(_UserStore):
    """The memories of one user; core ones are never merged."""

    name = "memory"

    def texts(self, ids: Sequence[UUID]) -> dict[UUID, Text]:
        """As the merge step reads them."""
        params = {**self.scope, "ids": list(ids)}
        rows = self._session.database.rows("merge", "texts", params)
        return {row["id"]: Text(**row) for row in rows}

    def apply(self, merges: Sequence[Merge], run_id: UUID) -> list[tuple[UUID, UUID]]:
        """By the same statement as consolidation merges."""
        return merging.apply_merges(self._session, self._user, merges, run_id)

    def taken(self, run_id: UUID) -> list[UUID]:
        """As the merge step marked them."""
        params = {**self.scope, "run_id": run_id}
        return [row["id"] for row in self._session.database.rows("merge", "merged_by", params)]

    def undo(self, run_id: UUID) -> list[UUID]:
        """Told apart from their survivors, so that the next run does not merge them again."""
        return merging.undo_run(self._session, self._user, run_id)


class FactStore(_UserStore):
    """The active facts of one user: "key: value" is the text, and facts of one type are compared."""

    name = "fact"

    def texts(self, ids: Sequence[UUID]) -> dict[UUID, Text]:
        """Active ones."""
        params = {**self.scope, "ids": list(ids)}
        rows = self._session.database.rows("curator", "fact_texts", params)
        return {row["id"]: Text(**row) for row in rows}

    def apply(self, merges: Sequence[Merge], run_id: UUID) -> list[tuple[UUID, UUID]]:
        """Both are locked and compared again; the loser is removed and linked to its survivor."""
        database = self._session.database
        params = {**self.scope, "pairs": merging.pairs_json(merges), "run_id": run_id}
        actor = {"actor": self._session.actor}
        with database.transaction():
            database.rows("curator", "lock_facts", self.scope)
            rows = database.rows("curator", "fact_mergeable", params)
            for row in rows:
                gone = {"ids": [row["loser"]], "reason": f"merged into {row['survivor']}"}
                database.rows("curator", "fact_prune", {**self.scope, **gone, **actor})
            if rows:
                done = [{"survivor": str(r["survivor"]), "loser": str(r["loser"])} for r in rows]
                database.execute("curator", "fact_link", {**params, "pairs": Jsonb(done)})
        return [(row["survivor"], row["loser"]) for row in rows]

    def taken(self, run_id: UUID) -> list[UUID]:
        """As they were marked."""
        params = {**self.scope, "run_id": run_id}
        return [row["id"] for row in self._session.database.rows("curator", "fact_taken", params)]

    def undo(self, run_id: UUID) -> list[UUID]:
        """Told apart from their survivors, so that the next run does not merge them again."""
        database = self._session.database
        with database.transaction():
            database.rows("curator", "lock_facts", self.scope)
            ids = self.taken(run_id)
            if ids:
                asked = {**self.scope, "ids": ids}
                database.rows("curator", "fact_restore", {**asked, "actor": self._session.actor})
                database.execute("curator", "fact_release", asked)
        return ids
