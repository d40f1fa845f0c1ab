"""What `doctor --fix` may mend: derived data alone, in small commits that can be repeated.

Nothing a person wrote is touched: terms and their counts come from the memories, and recorded accesses
are only added where the searches left them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from negmem.core.diagnostics.probe import Probe
from negmem.core.diagnostics.registry import RepairPlan
from negmem.core.text.indexed import embedded_text
from negmem.db import functions, ledger
from negmem.db.connect import Database

_BATCH = 1_000
_EMBEDDED_AT_ONCE = 256
_MOST_EMBEDDED = 5_000


def update_functions(probe: Probe) -> RepairPlan | None:
    """Write the managed functions that are missing or outdated, as `init` does.

    What was edited by hand stays as it is: only `sync --overwrite-edited` takes that.
    """
    due = [c.signature for c in probe.comparisons.items if c.state in ("missing", "outdated")]
    if not due:
        return None
    database = probe.database

    def act() -> str:
        with database.transaction() as connection:
            ledger.lock_schema(database, connection)
            functions.install(database, connection, probe.main_automation)
        return f"wrote {', '.join(due)}"

    return RepairPlan(f"write {', '.join(due)}", act)


def remove_orphan_terms(probe: Probe) -> RepairPlan:
    """Remove the terms of memories that are gone; counts follow."""
    database = probe.database

    def act() -> str:
        removed = 0
        while True:
            with database.transaction():
                batch = database.rows("repair", "orphan_batch", {"most": _BATCH})
                for group in batch:
                    row = database.row("repair", "unindex", group)
                    removed += int(row["unindexed"]) if row else 0
            if not batch:
                return f"removed the terms of {removed:,} memories that are gone"

    return RepairPlan("remove the terms of memories that are gone", act)


def recount_term_statistics(probe: Probe) -> RepairPlan:
    """Count every owner's terms anew."""
    database = probe.database

    def act() -> str:
        changed = seen = 0
        for owner in _owners(database):
            with database.transaction():
                database.row("repair", "lock_statistics", owner)
                changed += database.execute("repair", "recount_statistics", owner)
            seen += 1
        return f"counted the terms of {seen:,} users, corrected {changed:,}"

    return RepairPlan("count every user's terms anew", act)


def index_missing_words(probe: Probe) -> RepairPlan:
    """Index the memories that have no terms."""
    database = probe.database

    def act() -> str:
        indexed = 0
        for owner in _owners(database):
            row = database.row("repair", "unindexed", owner)
            ids = row["ids"] if row else []
            for start in range(0, len(ids), _BATCH):
                with database.transaction():
                    params = {**owner, "ids": ids[start : start + _BATCH]}
                    done = database.row("repair", "index_memories", params)
                    indexed += int(done["indexed"]) if done else 0
        return f"indexed {indexed:,} memories by their words"

    return RepairPlan("index the memories that have no search terms", act)


def apply_accesses(probe: Probe) -> RepairPlan:
    """Add the accesses that searches recorded."""
    database = probe.database

    def act() -> str:
        applied = 0
        while True:
            with database.transaction():
                row = database.row("repair", "apply_accesses", {"app_name": probe.session.app})
            step = int(row["applied"]) if row else 0
            applied += step
            if step == 0:
                return f"added the accesses of {applied:,} searches"

    return RepairPlan("add the accesses that searches recorded", act)


def embed_missing(probe: Probe) -> RepairPlan | None:
    """Embed the app's memories that have no vector, up to a number; a hosted model is not called.

    Raises: NegmemError `embedding_space_mismatch` where another model is configured than stored.
    """
    from uuid import UUID, uuid4

    from negmem.core.formation.vectors import Vectorizer
    from negmem.db import memories

    session = probe.session
    vectorizer = Vectorizer(session)
    if not vectorizer.is_active or session.config.embedding.provider == "litellm":
        return None

    def act() -> str:
        seen = stored = 0
        after: dict[str, Any] = {"after_user": "", "after_id": UUID(int=0)}
        while seen < _MOST_EMBEDDED:
            model = vectorizer.model
            assert model is not None
            params = {"app_name": session.app, "model_id": model.id, "most": _EMBEDDED_AT_ONCE}
            rows = probe.database.rows("repair", "bare_memories", {**params, **after})
            if not rows:
                break
            seen += len(rows)
            after = {"after_user": rows[-1]["user_id"], "after_id": rows[-1]["id"]}
            vectors = vectorizer.embed(
                [row["user_id"] for row in rows],
                [row["id"] for row in rows],
                [embedded_text(row["speaker"], row["content"]) for row in rows],
                lambda: True,
            )
            if vectors is None:
                break
            done = memories.store(
                probe.database, session.app, memories.Batch(), run_id=uuid4(), missing=vectors
            )
            stored += done.repaired
        return f"embedded {stored:,} of {seen:,} memories that had no vector"

    return RepairPlan(
        f"embed the memories that have no vector, at most {_MOST_EMBEDDED:,} in one run", act
    )


def _owners(database: Database) -> Iterator[dict[str, Any]]:
    """Owners of memories or of counts, in order."""
    after = {"after_user": "", "after_app": ""}
    while True:
        page = database.rows("repair", "term_owners", {**after, "most": _BATCH})
        yield from page
        if len(page) < _BATCH:
            return
        after = {"after_user": page[-1]["user_id"], "after_app": page[-1]["app_name"]}
