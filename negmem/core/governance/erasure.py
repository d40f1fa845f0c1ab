"""Everything about one person gone: in batches that may be killed, while others keep writing, with a certificate."""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from psycopg.types.json import Jsonb

from negmem.core.governance import trail
from negmem.core.governance.registry import TABLES, Kind, Table, table
from negmem.core.models.audit import Reached
from negmem.core.models.erasure import Erased, Verification
from negmem.core.session import Session
from negmem.core.text.indexed import embedded_text
from negmem.core.text.refusals import held
from negmem.errors import NegmemError, UsageError

BATCH = 5000
_TRIES = 10
_ROUNDS = 5
_RETRIED = frozenset(("40P01", "40001", "55P03"))
_MOST_NEEDLES = 50
_SHORTEST_NAME = 3
# With the person's row, in the last transaction: until then the trail can be read.
_LAST = ("audit_details", "audit_requests", "audit_keys", "users")
# What others point to goes after them.
_LATE = (
    *("memory_retrieval_logs", "memory_topics", "memories", "facts", "entities", "events"),
    "threads",
)
_TEXT_KINDS: tuple[Kind, ...] = ("text", "texts", "json", "name", "person", "actor", "terms")
_NAMED_ELSEWHERE = ("namespaces", "instructions")
UNREACHABLE = (
    "backups, and archived write-ahead log: after a restore run negmem audit replay",
    "replicas that have not caught up yet, and their backups",
    "space in data files until vacuum uses it again, and write-ahead log until it is recycled",
    "exports, files that were ingested, and reject files: they are where they were written to",
    "logs of the database server, of poolers and of programs around negmem",
    "providers of language and embedding models that texts were sent to",
    "caches of embeddings on other machines",
    "what other people's memories say about the person in their own words",
)


@dataclass
class _Work:
    session: Session
    user: str
    person: str
    on_progress: Callable[[int, str], None] | None
    rows: int = 0
    cached: int = 0
    replaced: dict[str, int] = field(default_factory=dict)

    @property
    def scope(self) -> dict[str, Any]:
        return {"user_id": self.user, "app_name": self.session.app}


def owned_tables() -> list[Table]:
    """Tables that rows go from, children before what they point to."""
    owned = [one for one in TABLES if one.owner in ("user", "kind") and one.name not in _LAST]
    early = [one for one in owned if one.name not in _LATE]
    return [*early, *(table(name) for name in _LATE)]


def check_scope(session: Session, user: str) -> None:
    """Refuse a name that is a pattern. Raises: UsageError `user_wildcard`."""
    if not set(user) & set("%*"):
        return
    row = session.database.row("memory", "user_known", {"user_id": user, "app_name": session.app})
    if row is None or not set(user) - set("%*?_"):
        raise UsageError(
            "user_wildcard",
            "an erasure is of one person, by name",
            why=f"{user[:60]!r} looks like a pattern, and patterns are not followed",
            hint="negmem audit erase --user NAME",
        )


def erase(
    session: Session,
    user: str,
    *,
    actor: str | None = None,
    dry_run: bool = False,
    on_progress: Callable[[int, str], None] | None = None,
) -> Erased:
    """Erase everything about one person of the session's app; returns the certificate.

    Nothing is written for the person from the first moment on: writers meet `user_being_erased`. Each batch
    is a transaction, so that a run that was killed is finished by the same call. The person's key of the
    trail is destroyed last; the list of erased persons and the certificate hold an HMAC.
    Raises: NegmemError `user_on_hold`, `erasure_incomplete`, `privilege_missing`; UsageError `user_wildcard`.
    """
    check_scope(session, user)
    scope = {"user_id": user, "app_name": session.app}
    database = session.database
    standing = database.row("erasure", "standing", scope)
    assert standing is not None
    if standing["is_held"]:
        raise held(user)
    if dry_run:
        return _planned(session, user)
    needles, vectors = _needles(session, user)
    with database.transaction():
        begin = {
            **scope,
            "actor": actor or session.actor,
            "actor_verified": bool(actor or session.config.governance.actor),
            "note": None,
        }
        row = database.row("erasure", "begin", begin)
        assert row is not None
        answer = row["answer"]
    if answer.get("held"):
        raise held(user)
    work = _Work(session, user, answer["person"], on_progress)
    with _cache(session) as cache:
        for _ in range(_ROUNDS):
            for one in owned_tables():
                _empty(work, one, cache)
            if _finish(work, is_known=answer["known"]):
                break
        else:
            raise _incomplete(user)
    left = _left(work)
    verified = _verify(session, needles, vectors, left)
    standing = database.row("erasure", "standing", scope)
    assert standing is not None
    certificate = standing["certificate"]
    if certificate and certificate.get("state") == "done":
        # Erased before, or meanwhile by another run of the same command: that one's counts are whole.
        if not answer["known"]:
            session.warn("user_unknown", f'"{user}" was erased before, and is not here')
        return Erased.model_validate_json(json.dumps(certificate["said"]))
    if not answer["known"] and certificate is None:
        session.warn("user_unknown", f'app "{session.app}" knows no user "{user}"')
    done = _certificate(work, certificate or {}, verified)
    if certificate is not None:
        with database.transaction():
            kept = {
                "state": "done",
                "said": done.model_dump(mode="json"),
                "erased_before": done.erased_before,
            }
            params = {"app_name": session.app, "person": work.person, "certificate": Jsonb(kept)}
            database.execute("erasure", "certify", params)
    return done


def _retried(act: Callable[[], Any]) -> Any:
    """`act`, again where another writer stood in the way."""
    for attempt in range(1, _TRIES + 1):
        try:
            return act()
        except NegmemError as error:
            if getattr(error, "sqlstate", "") not in _RETRIED or attempt == _TRIES:
                raise
            time.sleep(random.uniform(0.05, 0.2) * attempt)
    raise AssertionError("the last try raises")


def _batch(work: _Work, one: Table, after: Any) -> tuple[int, Any]:
    params = {
        **work.scope,
        "table": one.name,
        "is_shareable": one.owner == "kind",
        "person": work.person,
        "after": None if after is None else Jsonb(after),
        "row_limit": BATCH,
    }
    row = work.session.database.row("erasure", "batch", params)
    assert row is not None
    work.rows += row["removed"]
    return row["removed"], row["last_key"]


def _empty(work: _Work, one: Table, cache: Any) -> None:
    """All rows of one table, a transaction a batch; what is cached of a text goes before the text."""
    database = work.session.database
    after: Any = None
    while True:
        if cache is not None and one.name in ("memories", "facts"):
            noun = "memory_texts" if one.name == "memories" else "fact_texts"
            last = None if after is None else after[-1]
            rows = database.rows("erasure", noun, {**work.scope, "after": last, "row_limit": BATCH})
            texts = [embedded_text(row["speaker"], row["text"]) for row in rows]
            work.cached += cache.forget([*texts, *(row["text"] for row in rows)])

        def act(after: Any = after) -> tuple[int, Any]:
            with database.transaction():
                return _batch(work, one, after)

        removed, last_key = _retried(act)
        if work.on_progress is not None and removed:
            work.on_progress(work.rows, one.name)
        if last_key is None and removed < BATCH:
            return
        after = last_key


def _finish(work: _Work, *, is_known: bool) -> bool:
    """The last transaction: no writer is left, what came behind the batches goes, and then the person.

    False: so much came meanwhile that it takes batches again.
    """
    database = work.session.database

    def act() -> bool:
        with database.transaction():
            database.rows("erasure", "lock", work.scope)
            for one in owned_tables():
                if _batch(work, one, None)[0] == BATCH:
                    return False
            replaced: dict[str, int] = {}
            for name, column in _columns_of_names():
                params = {**work.scope, "table": name, "column": column}
                row = database.row("erasure", "mentions", params)
                if row and row["changed"]:
                    replaced[name] = replaced.get(name, 0) + row["changed"]
            for name in _LAST:
                while _batch(work, table(name), None)[0] == BATCH:
                    pass
            work.replaced = replaced
            return True

    return bool(_retried(act))


def _columns_of_names() -> Iterator[tuple[str, str]]:
    """Where rows of others may name the person: who did it, whom a proposal is about."""
    for one in TABLES:
        is_owned = one.owner in ("user", "kind")
        if one.name in _LAST or not (is_owned or one.name in _NAMED_ELSEWHERE):
            continue
        own = {"user": "user_id", "kind": "owner"}.get(one.owner)
        for column in one.of_kind("actor", "person"):
            if column != own:
                yield one.name, column


def _left(work: _Work) -> int:
    """Rows under the person's key after all: from a writer that did not ask. They go too."""
    database = work.session.database
    total = 0
    for _ in range(_ROUNDS):
        if database.row("memory", "user_known", work.scope) is not None:
            return total  # the person came back after the erasure
        before = work.rows
        for one in owned_tables():
            _empty(work, one, None)
        if work.rows == before:
            return total
        total += work.rows - before
    raise _incomplete(work.user)


def _incomplete(user: str) -> NegmemError:
    return NegmemError(
        "erasure_incomplete",
        "rows for this person keep coming",
        why="a writer that does not ask whether the person is erased writes faster than rows go",
        hint=f"stop that writer, then negmem audit erase --user {user} --yes",
    )


def _needles(session: Session, user: str) -> tuple[list[str], list[str]]:
    """Texts to look for afterwards; they are held in memory alone."""
    params = {"user_id": user, "app_name": session.app, "most": _MOST_NEEDLES}
    rows = session.database.rows("erasure", "needles", params)
    texts = [row["needle"] for row in rows if row["kind"] == "text" and row["needle"].strip()]
    chosen = random.sample(texts, min(len(texts), _MOST_NEEDLES))
    if len(user) >= _SHORTEST_NAME:
        chosen.append(user)
    return chosen, [row["needle"] for row in rows if row["kind"] == "vector"]


def _verify(session: Session, needles: list[str], vectors: list[str], left: int) -> Verification:
    """Search every column of the registry that can hold text, JSON, keys or vectors for what was known."""
    database = session.database
    mentions, searched = [], 0
    with database.transaction(read_only=True, statement_timeout_ms=0):
        for one in TABLES:
            texts, of_vectors = one.of_kind(*_TEXT_KINDS), one.of_kind("vector")
            if not texts and not of_vectors:
                continue
            searched += 1
            params = {
                "table": one.name,
                "app_name": session.app,
                "texts": texts,
                "needles": needles,
                "vectors": of_vectors,
                "vector_needles": vectors,
            }
            row = database.row("erasure", "traces", params)
            if row and row["rows"]:
                mentions.append(Reached(table=one.name, rows=row["rows"]))
        now = database.row("erasure", "installation")
    assert now is not None
    return Verification(
        at=now["now"],
        tables=searched,
        needles=len(needles),
        vectors=len(vectors),
        left=left,
        mentions=mentions,
    )


def _certificate(work: _Work, kept: dict[str, Any], verified: Verification) -> Erased:
    installation = work.session.database.row("erasure", "installation")
    assert installation is not None
    tables = [Reached(table=name, rows=rows) for name, rows in kept.get("tables", {}).items()]
    made = Erased(
        state="done" if kept else "nothing",
        app=work.session.app,
        installation=installation["id"],
        person=work.person,
        started_at=kept.get("started_at"),
        finished_at=installation["now"],
        tables=sorted(tables, key=lambda one: one.table),
        rows=sum(one.rows for one in tables),
        names_replaced=[Reached(table=name, rows=rows) for name, rows in work.replaced.items()],
        cached_vectors=work.cached,
        erased_before=int(kept.get("erased_before", 0)),
        verification=verified,
        unreachable=list(UNREACHABLE),
        trail_head=trail.head(work.session, signed=False).head,
    )
    return made.model_copy(update={"sha256": digest_of(made)})


def digest_of(certificate: Erased) -> str:
    """SHA-256 of a certificate without its own hash, in hexadecimal."""
    said = certificate.model_dump(mode="json", exclude={"sha256"})
    return hashlib.sha256(json.dumps(said, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _planned(session: Session, user: str) -> Erased:
    """The reach: rows by table, counted under the person's key."""
    counts = []
    scope = {"user_id": user, "app_name": session.app}
    for one in (*owned_tables(), *(table(name) for name in _LAST)):
        params = {**scope, "table": one.name, "is_shareable": one.owner == "kind"}
        row = session.database.row("erasure", "count", params)
        if row and row["rows"]:
            counts.append(Reached(table=one.name, rows=row["rows"]))
    if not counts:
        session.warn("user_unknown", f'app "{session.app}" knows no user "{user}"')
    installation = session.database.row("erasure", "installation")
    assert installation is not None
    return Erased(
        state="planned",
        app=session.app,
        installation=installation["id"],
        person="",
        started_at=None,
        finished_at=None,
        tables=sorted(counts, key=lambda one: one.table),
        rows=sum(one.rows for one in counts),
        names_replaced=[],
        cached_vectors=0,
        erased_before=0,
        verification=None,
        unreachable=list(UNREACHABLE),
        trail_head=trail.head(session, signed=False).head,
    )


@contextmanager
def _cache(session: Session) -> Iterator[Any]:
    """The cache of embeddings of this machine, where there is one."""
    from negmem.db.embedded import home
    from negmem.providers.cache import FILE_NAME, EmbeddingCache

    path = home(session.env) / "cache" / FILE_NAME
    if not path.exists():
        yield None
        return
    with EmbeddingCache(path) as cache:
        yield cache
