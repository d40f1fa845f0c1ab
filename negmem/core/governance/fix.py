"""Applies a policy to personal data that stands: in batches, each checked, rewritten and on the trail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.embedding import TextVectors, embed_texts
from negmem.core.governance.fix_shared import SHARED, rewrite_shared
from negmem.core.governance.pages import Pages, Row, place_after
from negmem.core.governance.registry import REWRITTEN, TABLES, owner_column
from negmem.core.governance.scan import MAX_ROWS, check_kinds, check_rows, check_user
from negmem.core.holds import check_may_delete, is_held
from negmem.core.learning import items
from negmem.core.learning.access import Owner
from negmem.core.models.pii import PiiFix, PiiFixed, PiiSkipped
from negmem.core.pii import FLAGS, Guard, guard_of
from negmem.core.pii_exit import UNSCANNED
from negmem.core.session import Session
from negmem.core.text.fact_words import fact_text
from negmem.core.text.indexed import embedded_text
from negmem.core.text.pii import Finding, Policy, counts_of, each_text, rewritten
from negmem.db.memories import Mark, mark_memories
from negmem.errors import UsageError

_POLICIES = ("mark", "mask", "anonymize")
# Where a row says what was found in it.
_HOLDERS = {
    "memories": "metadata",
    "facts": "metadata",
    "memory_core_blocks": "metadata",
    "memory_summaries": "details",
    "learnings": "metadata",
    "entities": "metadata",
}


@dataclass
class _Change:
    """One row as it is to stand; `marks` are the places in its text `content`."""

    row: Row
    after: dict[str, Any]
    findings: int
    marks: list[Finding]

    @property
    def user(self) -> str:
        """Whose row it is; empty where it is the app's."""
        return str(self.row.said[owner_column(self.row.table)])

    @property
    def owner(self) -> Owner:
        """Whose row it is, a team and the app included."""
        kind = str(self.row.key[0]) if self.row.table.owner == "kind" else "user"
        return Owner(kind, self.user)


@dataclass
class _Tally:
    fixed: dict[str, PiiFixed]
    left: dict[str, str]
    held: set[str] = field(default_factory=set)
    failed: int = 0
    changed_meanwhile: int = 0
    embedded: int = 0
    due: list[tuple[Owner, str, UUID]] = field(default_factory=list)


def fix(
    session: Session,
    user: str | None = None,
    *,
    policy: str,
    kinds: Sequence[str] | None = None,
    tables: Sequence[str] | None = None,
    max_rows: int = MAX_ROWS,
    after: str | None = None,
    dry_run: bool = False,
    on_progress: Callable[[int, str], None] | None = None,
) -> PiiFix:
    """Mark, mask or anonymize personal data where it stands: texts and JSON of the registry's tables.

    Words and vectors follow, caches of the texts go, and each row that was rewritten has an entry on the
    trail. A page is a transaction, safe to repeat: what was rewritten is not found again. A row that
    somebody else wrote meanwhile stays as it is. Rows that could not be scanned before lose that mark.
    Raises: UsageError `pii_policy_unknown`, and as `scan`.
    """
    if policy not in _POLICIES:
        raise UsageError(
            "pii_policy_unknown",
            f"{policy[:60]!r} is nothing that can be done to what stands",
            why=f"the policies are {', '.join(_POLICIES)}",
            hint="negmem pii fix --policy anonymize",
        )
    wanted = check_kinds(kinds)
    check_rows(max_rows)
    check_user(session, user)
    guard = guard_of(session)
    act = _Rewriting(guard, cast("Policy", policy), wanted)
    pages = Pages(session, user, tables=tables, after=after)
    columns = {
        one.name: [*one.of_kind(*REWRITTEN), owner_column(one)]
        for one in TABLES
        if one.owner in ("user", "kind") and one.of_kind(*REWRITTEN)
    }
    tally = _Tally({}, {})
    last: Row | None = None
    for page in pages.read(columns, max_rows):
        changes = [change for change in map(act.change, page) if change is not None]
        tally.failed += act.take_failed()
        if policy != "mark":
            changes = _without_held(session, changes, tally)
        table = page[0].table
        if changes and not table.is_fixed:
            tally.left[table.name] = table.why_not
        elif changes:
            written = changes if dry_run else _write(session, changes, policy, tally)
            before = tally.fixed.get(table.name, PiiFixed(table=table.name, rows=0, findings=0))
            tally.fixed[table.name] = PiiFixed(
                table=table.name,
                rows=before.rows + len(written),
                findings=before.findings + sum(change.findings for change in written),
            )
        last = page[-1]
        if on_progress is not None:
            on_progress(pages.rows, table.name)
    if tally.held:
        session.warn(
            "user_on_hold",
            f"{len(tally.held):,} users are under legal hold: what they said stays as it is",
        )
    fixed = [one for one in tally.fixed.values() if one.rows]
    return PiiFix(
        policy=policy,
        engine=session.config.governance.pii.engine,
        user=user,
        fixed=fixed,
        rows=sum(one.rows for one in fixed),
        scanned=pages.rows,
        changed_meanwhile=tally.changed_meanwhile,
        failed=tally.failed,
        embedded=tally.embedded,
        left=[PiiSkipped(table=name, reason=why) for name, why in tally.left.items()],
        skipped=pages.skipped,
        dry_run=dry_run,
        next=place_after(last) if last is not None and pages.rows >= max_rows else None,
    )


class _Rewriting:
    """The plan: what of a row changes under a policy."""

    def __init__(self, guard: Guard, policy: Policy, kinds: frozenset[str]) -> None:
        self._guard = guard
        self._policy = policy
        self._kinds = kinds
        self._failed = 0

    def take_failed(self) -> int:
        """How many rows could not be read since the last call."""
        failed, self._failed = self._failed, 0
        return failed

    def change(self, row: Row) -> _Change | None:
        """The row as it is to stand, None where nothing is to be done."""
        found: list[Finding] = []
        failure: str | None = None
        marks: list[Finding] = []

        def one_text(text: str) -> tuple[str, list[Finding]]:
            nonlocal failure
            findings, failed = self._guard.find(text)
            failure = failure or failed
            findings = [one for one in findings if one.kind in self._kinds]
            found.extend(findings)
            return rewritten(text, findings, lambda kind: self._policy)

        after: dict[str, Any] = {}
        for column, value in row.said.items():
            if column == owner_column(row.table):
                continue
            if column == "content" and isinstance(value, str):
                after[column], marks = one_text(value)
            elif value is not None:
                after[column] = each_text(value, lambda text: one_text(text)[0])
        if failure is not None:
            self._failed += 1
            return None
        if row.table.name == "facts" and after["key"] != row.said["key"]:
            # Two keys that look the same by now would be versions of one fact.
            after["key"] = f"{after['key'][:240]} {str(row.id)[-8:]}"
        _flag(self._guard, row, after, counts_of(found))
        changed = {name: value for name, value in after.items() if value != row.said[name]}
        if not changed:
            return None
        return _Change(row, changed, len(found), marks)


def _flag(guard: Guard, row: Row, after: dict[str, Any], counts: dict[str, int]) -> None:
    """Say in the row what was found in it, and that it was scanned."""
    holder = _HOLDERS.get(row.table.name)
    if holder is not None:
        after[holder] = _flagged(guard, after.get(holder), counts)
    elif row.table.name == "events" and isinstance(after.get("content"), dict):
        described = _flagged(guard, after["content"].get("metadata"), counts)
        if described or "metadata" in after["content"]:
            after["content"] = {**after["content"], "metadata": described}


def _flagged(guard: Guard, metadata: Any, counts: dict[str, int]) -> dict[str, Any]:
    described = dict(metadata) if isinstance(metadata, dict) else {}
    if guard.may_clear(described.get(UNSCANNED)):
        described.pop(UNSCANNED, None)
    return {**described, FLAGS: counts} if counts else described


def _without_held(session: Session, changes: list[_Change], tally: _Tally) -> list[_Change]:
    """Those of persons whose words may be taken away."""
    persons = {c.user for c in changes if c.owner.kind == "user"}
    held = {user for user in persons if is_held(session, user)}
    tally.held |= held
    return [c for c in changes if c.owner.kind != "user" or c.user not in held]


def _write(session: Session, changes: list[_Change], policy: str, tally: _Tally) -> list[_Change]:
    """Write one page of one table; those that still stood as they were read."""
    table = changes[0].row.table.name
    database, app = session.database, session.app
    vectors = _vectors(session, table, changes)
    written: list[_Change] = []
    with database.transaction():
        by_owner: dict[Owner, list[_Change]] = {}
        for change in changes:
            by_owner.setdefault(change.owner, []).append(change)
        for owner, few in sorted(by_owner.items(), key=lambda one: (one[0].kind, one[0].name)):
            user = owner.name
            if policy != "mark":
                check_may_delete(session, user, owner.kind)
            done = _rewrite(session, table, user, few, vectors, tally)
            if table == "memories":
                marks = {c.row.id: _marks(c) for c in done if c.row.id is not None}
                ids = {"memory_ids": list(marks)}
                scope = {"user_id": user, "app_name": app}
                database.execute("pii", "forget_marks", {**scope, **ids})
                mark_memories(database, app, marks, dict.fromkeys(marks, user))
            if done and policy != "mark":
                _record(session, table, owner.on_trail, done, policy)
            written += done
        if written:
            users = [owner.name for owner in by_owner if owner.kind == "user"]
            database.execute("pii", "drop_recalls", {"app_name": app, "users": users})
    for owner, kind, item in tally.due:
        items.embed(session, owner, kind, item)
    tally.due.clear()
    tally.changed_meanwhile += len(changes) - len(written)
    return written


def _vectors(
    session: Session, table: str, changes: list[_Change]
) -> tuple[TextVectors, dict[UUID, int]] | None:
    """Vectors of the new texts, computed before the transaction opens; by id the place of each."""
    texts: list[str] = []
    places: dict[UUID, int] = {}
    for change in changes:
        row, after = change.row, change.after
        if row.id is None or not _is_indexed(change):
            continue
        if table == "memories":
            metadata = after.get("metadata", row.said["metadata"]) or {}
            content = after.get("content", row.said["content"])
            texts.append(embedded_text(metadata.get("speaker"), content))
        else:
            texts.append(_fact_text(row, after))
        places[row.id] = len(texts) - 1
    made = embed_texts(session, texts)
    return None if made is None else (made, places)


def _fact_text(row: Row, after: dict[str, Any]) -> str:
    return fact_text(after.get("key", row.said["key"]), after.get("value", row.said["value"]))


def _is_indexed(change: _Change) -> bool:
    """Whether a change touches what words and vectors are made of."""
    row, after = change.row, change.after
    if row.table.name == "memories":
        speakers = [(one.get("metadata") or {}).get("speaker") for one in (row.said, after)]
        return "content" in after or ("metadata" in after and speakers[0] != speakers[1])
    return row.table.name == "facts" and bool({"key", "value"} & after.keys())


def _rewrite(
    session: Session,
    table: str,
    user: str,
    changes: list[_Change],
    vectors: tuple[TextVectors, dict[UUID, int]] | None,
    tally: _Tally,
) -> list[_Change]:
    if table in SHARED:
        return _rewrite_shared(session, table, changes, tally)
    database = session.database
    scope = {"user_id": user, "app_name": session.app}
    indexed = [c.row.id for c in changes if c.row.id is not None and _is_indexed(c)]
    if indexed:
        database.rows("pii", f"lock_{table}", {**scope, "ids": indexed})
        database.rows("pii", f"unindex_{table}", {**scope, "ids": indexed})
    done = _put(session, table, changes)
    if indexed:
        new = [c.row.id for c in done if c.row.id in set(indexed)]
        one = "memory" if table == "memories" else "fact"
        database.execute("pii", f"drop_{one}_vectors", {**scope, "ids": new})
        for item in new:
            if vectors is None or item is None:
                break
            values = vectors[0].vectors[vectors[1][item]]
            if values is not None:
                put = {f"{one}_id": item, "model_id": vectors[0].model_id, "embedding": values}
                tally.embedded += database.execute("pii", f"put_{one}_vector", {**scope, **put})
        database.rows("pii", f"index_{table}", {**scope, "ids": indexed})
    return done


def _rewrite_shared(
    session: Session, table: str, changes: list[_Change], tally: _Tally
) -> list[_Change]:
    done: list[_Change] = []

    def rewrite() -> dict[UUID, dict[str, Any]]:
        done.extend(_put(session, table, changes))
        return {c.row.id: c.after for c in done if c.row.id is not None}

    ids = [c.row.id for c in changes if c.row.id is not None]
    tally.due += rewrite_shared(session, table, changes[0].owner, ids, rewrite)
    return done


def _put(session: Session, table: str, changes: list[_Change]) -> list[_Change]:
    """Write rows that still stand as they were read; returns those."""
    done: list[_Change] = []
    for columns in dict.fromkeys(tuple(sorted(change.after)) for change in changes):
        few = [change for change in changes if tuple(sorted(change.after)) == columns]
        given = [
            {
                "key": change.row.key,
                "before": {name: change.row.said[name] for name in columns},
                "after": change.after,
            }
            for change in few
        ]
        params = {"table": table, "columns": list(columns), "rows": Jsonb(given)}
        rows = session.database.rows("pii", "rewrite", params)
        done += [few[place] for place in sorted(row["place"] for row in rows)]
    return done


def _marks(change: _Change) -> list[Mark]:
    return [Mark(m.kind, m.start, m.end, m.score, m.engine) for m in change.marks]


def _record(session: Session, table: str, user: str, changes: list[_Change], policy: str) -> None:
    """An entry on the trail a row; of another table than memories with its name before the id.

    `user` is whose row it is as the trail has it: a person, or a namespace.
    """
    prefix = "" if table == "memories" else f"{table}:"
    ids = [f"{prefix}{change.row.id or change.row.key[-1]}" for change in changes]
    params = {
        "app_name": session.app,
        "user_id": user,
        "ids": ids,
        "decision": "anonymize",
        "note": f"pii fix --policy {policy}",
        "actor": session.actor,
    }
    session.database.rows("pii", "audit", params)
