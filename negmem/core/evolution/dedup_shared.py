"""What deduplication reads and writes of the stores that belong to a namespace: learnings and entities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core import merging
from negmem.core.evolution.dedup_stores import SqlStore
from negmem.core.learning import entity_rows, items
from negmem.core.learning.access import Owner, access_of
from negmem.core.merging import Merge, Text
from negmem.core.on_trail import record_removed
from negmem.core.session import Session
from negmem.core.text.exact_key import exact_key


class SharedStore(SqlStore, ABC):
    """A store of one owner; each write is alone in it and asks again whether the user may."""

    queries = "curator_shared"

    def __init__(self, session: Session, user: str | None, owner: Owner) -> None:
        super().__init__(session, owner.params(session))
        self._asking = user
        self._owner = owner

    def texts(self, ids: Sequence[UUID]) -> dict[UUID, Text]:
        """Live ones."""
        rows = self._rows(f"{self.name}_texts", {"ids": list(ids)})
        return {row["id"]: Text(**row) for row in rows}

    @abstractmethod
    def prune(self, ids: Sequence[str], versions: Sequence[int], reason: str) -> list[str]:
        """Remove what still has its version, in one transaction; returns their ids."""

    @abstractmethod
    def taken(self, run_id: UUID) -> list[UUID]:
        """What a run removed and can come back."""

    @abstractmethod
    def undo(self, run_id: UUID) -> list[UUID]:
        """Bring back what a run removed; returns their ids."""

    def _rows(self, block: str, params: dict[str, Any]) -> list[dict[str, Any]]:
        return self._session.database.rows(self.queries, block, {**self.scope, **params})

    def _alone(self) -> None:
        access_of(self._session, self._asking).require(self._owner, "write")
        items.lock_store(self._session, self._owner, self.name)

    def _record(self, table: str, ids: Sequence[UUID], said: str) -> None:
        """What is taken away of one person is on the trail."""
        record_removed(self._session, self._owner.person, [f"{table}:{one}" for one in ids], said)

    def _embed(self, ids: Sequence[UUID]) -> None:
        for one in ids:
            items.embed(self._session, self._owner, self.name, one)


class LearningStore(SharedStore):
    """Learned knowledge: title, lesson and context are one text; the survivor takes over the tags."""

    name = "learning"

    def apply(self, merges: Sequence[Merge], run_id: UUID) -> list[tuple[UUID, UUID]]:
        """The loser is removed and names its survivor; both keep what they said as a version."""
        asked = {"pairs": merging.pairs_json(merges)}

        def work() -> tuple[list[tuple[UUID, UUID]], list[UUID]]:
            with self._session.database.transaction():
                self._alone()
                rows = self._rows("learning_mergeable", asked)
                if not rows:
                    return [], []
                done = [(row["survivor"], row["loser"]) for row in rows]
                everyone = sorted({one for pair in done for one in pair})
                self._keep(everyone, "merged")
                items.unindex(self._session, self._owner, self.name, everyone)
                pairs = Jsonb([{"survivor": str(s), "loser": str(gone)} for s, gone in done])
                changed = self._rows("learning_merge", {"pairs": pairs, "run_id": run_id})
                self._record("learnings", [gone for _, gone in done], "merged by curator dedup")
                items.index(self._session, self._owner, self.name, everyone)
            return done, [row["id"] for row in changed]

        done, retagged = items.retried(work)
        self._embed(retagged)
        return done

    def prune(self, ids: Sequence[str], versions: Sequence[int], reason: str) -> list[str]:
        """A version of each is kept, so that `learn undo` brings one back."""

        def work() -> list[UUID]:
            with self._session.database.transaction():
                self._alone()
                asked = {"ids": list(ids), "versions": list(versions)}
                chosen = [row["id"] for row in self._rows("learning_prunable", asked)]
                if chosen:
                    self._keep(chosen, "removed")
                    items.unindex(self._session, self._owner, self.name, chosen)
                    values = {**self.scope, "ids": chosen, "reason": reason}
                    self._session.database.execute(self.queries, "learning_prune", values)
                    self._record("learnings", chosen, "curator prune")
            return chosen

        return [str(one) for one in items.retried(work)]

    def taken(self, run_id: UUID) -> list[UUID]:
        """What can come back."""
        return [row["id"] for row in self._rows("learning_taken", {"run_id": run_id})]

    def undo(self, run_id: UUID) -> list[UUID]:
        """Told apart from their survivors, so that the next run does not merge them again."""

        def work() -> tuple[list[UUID], list[UUID]]:
            with self._session.database.transaction():
                self._alone()
                rows = self._rows("learning_taken", {"run_id": run_id})
                back = [row["id"] for row in rows]
                stay = sorted({row["survivor"] for row in rows} - {None})
                if back:
                    self._keep([*back, *stay], "undone")
                    items.unindex(self._session, self._owner, self.name, [*back, *stay])
                    params = {**self.scope, "ids": back}
                    self._session.database.execute(self.queries, "learning_release", params)
                    items.index(self._session, self._owner, self.name, [*back, *stay])
            return back, stay

        back, stay = items.retried(work)
        self._embed(stay)
        return back

    def _keep(self, ids: Sequence[UUID], reason: str) -> None:
        values = {"ids": list(ids), "reason": reason, "changed_by": self._session.actor}
        self._session.database.execute(self.queries, "learning_keep", {**self.scope, **values})


class EntityStore(SharedStore):
    """Entities, and the facts and events of each: only those of one entity, and one date, are compared.

    Two entities go together where what is said of them does and one of them is bare, or both have a fact
    or an event in common: two of one name stay two.
    """

    name = "entity"
    has_vectors = False

    def __init__(self, session: Session, user: str | None, owner: Owner) -> None:
        super().__init__(session, user, owner)
        self._known: dict[UUID, frozenset[str]] = {}

    def bits(self) -> Any:
        """None: what an entity is embedded by is more than what is compared."""
        return iter(())

    def cosines(self, pairs: Sequence[tuple[UUID, UUID]]) -> dict[tuple[UUID, UUID], float]:
        """None, as there are no bits."""
        return {}

    def texts(self, ids: Sequence[UUID]) -> dict[UUID, Text]:
        """Live ones; what is known of entities is read with them."""
        found = super().texts(ids)
        whole = [one for one, text in found.items() if text.type == "entity"]
        known: dict[UUID, set[str]] = defaultdict(set)
        for row in self._rows("entity_parts", {"ids": whole}) if whole else []:
            known[row["entity"]].add(exact_key(row["content"]) or row["content"])
        self._known = {one: frozenset(known[one]) for one in whole}
        return found

    def apart(self, one: Text, other: Text) -> str | None:
        """Two entities of which different things are known, and nothing the same."""
        if one.type != "entity":
            return None
        known = self._known.get(one.id, frozenset()), self._known.get(other.id, frozenset())
        return "identity" if all(known) and not known[0] & known[1] else None

    def apply(self, merges: Sequence[Merge], run_id: UUID) -> list[tuple[UUID, UUID]]:
        """What a loser had goes over to its survivor; the entities keep what they were as a version."""
        asked = {"pairs": merging.pairs_json(merges), "run_id": run_id}
        ids = [one for merge in merges for one in (merge.survivor, merge.loser)]

        def work() -> tuple[list[tuple[UUID, UUID]], list[UUID]]:
            with self._session.database.transaction():
                self._alone()
                touched = self._begin([r["id"] for r in self._rows("entity_touched", {"ids": ids})])
                rows = self._rows("entity_merge", asked)
                gone = [row["loser"] for row in rows]
                self._record("entities", gone, "merged by curator dedup")
                items.index(self._session, self._owner, self.name, touched)
            return [(row["survivor"], row["loser"]) for row in rows], touched

        done, touched = items.retried(work)
        gone = {loser for _, loser in done}
        self._embed([one for one in touched if one not in gone])
        return done

    def taken(self, run_id: UUID) -> list[UUID]:
        """What can come back."""
        return [row["id"] for row in self._rows("entity_taken", {"run_id": run_id})]

    def undo(self, run_id: UUID) -> list[UUID]:
        """Each with the facts, events and relations that it had, told apart from its survivor."""

        def work() -> tuple[list[UUID], list[UUID]]:
            with self._session.database.transaction():
                self._alone()
                rows = self._rows("entity_taken", {"run_id": run_id})
                if not rows:
                    return [], []
                touched = self._begin(sorted({row["entity"] for row in rows} - {None}))
                back = self._rows("entity_release", {"run_id": run_id})
                changed = sorted({row["entity"] for row in back} | set(touched))
                items.index(self._session, self._owner, self.name, changed)
            return [row["id"] for row in back if row["id"] is not None], changed

        back, changed = items.retried(work)
        self._embed(changed)
        return back

    def prune(self, ids: Sequence[str], versions: Sequence[int], reason: str) -> list[str]:
        """Facts and events; the entities that lose them keep what they were as a version."""

        def work() -> tuple[list[UUID], list[UUID]]:
            with self._session.database.transaction():
                self._alone()
                asked = {"ids": list(ids), "versions": list(versions)}
                chosen = [row["id"] for row in self._rows("entity_prunable", asked)]
                rows = self._rows("entity_touched", {"ids": chosen}) if chosen else []
                touched = self._begin([row["id"] for row in rows])
                if chosen:
                    values = {**self.scope, "ids": chosen, "reason": reason}
                    self._session.database.execute(self.queries, "entity_prune", values)
                    self._record("entities", touched, "curator prune of facts and events")
                    items.index(self._session, self._owner, self.name, touched)
            return chosen, touched

        chosen, touched = items.retried(work)
        self._embed(touched)
        return [str(one) for one in chosen]

    def _begin(self, ids: Sequence[UUID]) -> list[UUID]:
        for before in entity_rows.fetch(self._session, [self._owner], ids):
            entity_rows.keep(self._session, self._owner, before, "curated")
        params = {**self.scope, "ids": list(ids)}
        self._session.database.execute(self.queries, "entity_touch", params)
        items.unindex(self._session, self._owner, self.name, ids)
        return list(ids)
