"""Summaries of users and threads: made anew only where what they are made of changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.core.holds import is_held
from negmem.core.models.summary import (
    SUMMARY_TYPES,
    RefreshedSummary,
    Summaries,
    Summary,
    SummaryRefresh,
)
from negmem.core.pii import gated, gated_write, guard_of
from negmem.core.session import Session
from negmem.core.summary_making import Sources, Written, compose, read_sources
from negmem.core.text.names import check_name
from negmem.core.text.pages import check_page
from negmem.errors import NegmemError, UsageError
from negmem.providers.tokens import TokenCounter

if TYPE_CHECKING:
    from negmem.providers.generation import Generator

LEAST_TURNS = 3
"""A shorter thread is its own summary."""
_RETRY_MODEL_AFTER_S = 24 * 3600
_CHANGED = "its sources changed"
_TRIES = 3


@gated
def show(
    session: Session,
    user: str,
    *,
    summary_type: str | None = None,
    thread: str | None = None,
    limit: int = 20,
    offset: int = 0,
) -> Summaries:
    """A page of a user's summaries, each with how fresh it is; `thread` asks for that of one thread.

    Raises: UsageError `summary_type_unknown`, `name_invalid`, `thread_unknown`, `limit_invalid`.
    """
    _check_type(summary_type)
    check_page(limit, offset, "negmem summary show --user NAME --limit 100")
    scope = _scope(session, user)
    if not session.knows_user(user):
        return Summaries(summaries=[], total=0, truncated=False)
    thread_id = None if thread is None else thread_of(session, user, thread)
    page = {"row_limit": limit, "row_offset": offset}
    params = {**scope, "summary_type": summary_type, "thread_id": thread_id, **page}
    rows = session.database.rows("summaries", "list", params)
    total = int(rows[0]["total"]) if rows else 0
    found = [_summary(session, scope, row) for row in rows]
    return Summaries(summaries=found, total=total, truncated=offset + len(found) < total)


def thread_of(session: Session, user: str, thread: str) -> UUID:
    """The id of a user's thread. Raises: UsageError `thread_unknown`, `name_invalid`."""
    check_name(thread, "thread")
    row = session.database.row("summaries", "thread", {**_scope(session, user), "thread": thread})
    if row is None:
        raise UsageError(
            "thread_unknown",
            "there is no such thread",
            why=f'user "{user}" of app "{session.app}" has no thread {thread[:60]!r}',
            hint=f"negmem summary show --user {user}",
        )
    found: UUID = row["id"]
    return found


def threads_to_summarize(session: Session, user: str, thread_id: UUID | None = None) -> list[UUID]:
    """Threads of three turns or more without a summary, and those that changed after theirs."""
    params = {**_scope(session, user), "thread_id": thread_id, "least": LEAST_TURNS}
    rows = session.database.rows("summaries", "threads_to_summarize", params)
    return [row["id"] for row in rows]


def refresh_changed(
    session: Session,
    user: str,
    *,
    summary_type: str | None = None,
    thread: str | None = None,
    thread_id: UUID | None = None,
    generator: Generator | None = None,
    force: bool = False,
    dry_run: bool = False,
    run_id: UUID | None = None,
    checkpoint: Callable[[], None] = lambda: None,
    profile_pause_s: float = 0.0,
) -> list[RefreshedSummary]:
    """Make anew what changed: the threads' summaries, then the user's; of one thread its alone.

    Args: summary_type, only that; profile_pause_s, as `pause_s` for the user's; the rest as `refresh`.
    Raises: UsageError `summary_type_unknown`, and as `refresh`.
    """
    _check_type(summary_type)
    if thread is not None:
        threads: list[UUID | None] = [thread_of(session, user, thread)]
    elif summary_type == "user_profile":
        threads = []
    else:
        threads = [*threads_to_summarize(session, user, thread_id)]
    if thread is None and summary_type != "session":
        threads.append(None)
    counter = TokenCounter(session.config.llm.model)
    done = []
    for one in threads:
        checkpoint()
        done.append(
            refresh(
                session,
                user,
                thread_id=one,
                thread=thread,
                generator=generator,
                force=force,
                dry_run=dry_run,
                run_id=run_id,
                checkpoint=checkpoint,
                counter=counter,
                pause_s=profile_pause_s if one is None else 0.0,
            )
        )
    if counter.notice is not None:
        session.warn("tokens_not_exact", counter.notice)
    return done


def refresh(
    session: Session,
    user: str,
    *,
    thread_id: UUID | None = None,
    thread: str | None = None,
    generator: Generator | None = None,
    force: bool = False,
    dry_run: bool = False,
    run_id: UUID | None = None,
    checkpoint: Callable[[], None] = lambda: None,
    counter: TokenCounter | None = None,
    pause_s: float = 0.0,
) -> RefreshedSummary:
    """Make one summary anew if its sources changed: of the thread, or without one of the user.

    With a generator a model writes it, held to its sources line by line; where it does not hold, or
    without one, it is made of facts and key sentences. No transaction is open while the model thinks.
    Two at once lose nothing: who comes second sees that it is done. A summary younger than `pause_s`
    seconds is left for later where its sources changed.
    """
    summary_type = "user_profile" if thread_id is None else "session"
    own = {"summary_type": summary_type, "thread_id": thread_id, "row_limit": 1, "row_offset": 0}
    scope = {**_scope(session, user), **own}
    counter = counter or TokenCounter(session.config.llm.model)

    def done(action: str, reason: str) -> RefreshedSummary:
        row = session.database.row("summaries", "list", scope)
        made = None if row is None else _summary(session, scope, row)
        named = thread if made is None else made.thread
        return RefreshedSummary(
            type=summary_type, thread=named, action=action, reason=reason, summary=made
        )

    for _ in range(_TRIES):
        read = read_sources(session, scope)
        current = session.database.row("summaries", "list", scope)
        reason = _reason(session, scope, current, read, generator, force)
        if current is not None and is_held(session, user):
            return done("unchanged", "the person is under legal hold: what stands is kept")
        if current is not None and not read.sources:
            if not dry_run:
                _remove(session, scope)
            return done("removed", "nothing is left that it could be made of")
        if not read.sources:
            return done("nothing", "there is nothing to summarize")
        if reason is None:
            return done("unchanged", "its sources are the same")
        if current is not None and reason == _CHANGED and current["age_s"] < pause_s:
            return done("unchanged", "it was made only now; what changed waits")
        if dry_run:
            return done("written", reason)
        checkpoint()
        text = compose(read, summary_type, generator, checkpoint, counter)
        if not text.content:
            return done("nothing", "no sentence says enough")
        checkpoint()
        version = 0 if current is None else int(current["version"])
        if _write(session, scope, read, text, version, run_id, counter):
            return done("written", reason)
    raise NegmemError(
        "version_conflict",
        "the summary's sources keep changing",
        why=f"{_TRIES} tries met another writer each",
        hint=f"negmem summary refresh --user {user}",
    )


@gated_write
def refresh_by_hand(
    session: Session,
    user: str,
    *,
    summary_type: str | None = None,
    thread: str | None = None,
    extractor: str = "auto",
    force: bool = False,
    max_calls: int | None = None,
    max_cost_usd: float | None = None,
    dry_run: bool = False,
) -> SummaryRefresh:
    """As `refresh_changed`, with the configured model unless `extractor` says pattern, and its costs.

    Raises: UsageError `extractor_unknown`, `llm_model_unset`, and as `refresh_changed`.
    """
    if extractor not in ("auto", "llm", "pattern"):
        raise UsageError(
            "extractor_unknown",
            f"there is no extractor {str(extractor)[:60]!r}",
            why="extractors are auto, llm and pattern",
            hint="negmem summary refresh --extractor pattern --user NAME",
        )
    generator = None
    if extractor != "pattern":
        from negmem.providers.generation import Budget, make_generator

        budget = Budget(max_calls=max_calls, max_cost_usd=max_cost_usd)
        generator = make_generator(session.config.llm, budget, env=session.env)
    if extractor == "llm" and generator is None:
        raise UsageError(
            "llm_model_unset",
            "there is no language model to write with",
            why="llm.model is null",
            hint="negmem config set llm.model NAME    or --extractor pattern",
        )
    session.knows_user(user)
    done = refresh_changed(
        session,
        user,
        summary_type=summary_type,
        thread=thread,
        generator=generator,
        force=force,
        dry_run=dry_run,
    )
    fallen = [
        one.summary.fallback
        for one in done
        if one.action == "written" and one.summary is not None and one.summary.fallback
    ]
    if fallen and not dry_run:
        session.warn("summary_fallback", f"{len(fallen)} without the model: {fallen[0]}")
    usage = None if generator is None else generator.usage
    return SummaryRefresh(
        refreshed=done,
        model=None if generator is None else generator.model,
        calls=0 if usage is None else usage.calls,
        tokens=0 if usage is None else usage.tokens,
        cost_usd=None if usage is None else usage.cost_usd,
        fell_back=bool(fallen) and not dry_run,
        dry_run=dry_run,
    )


def _scope(session: Session, user: str) -> dict[str, Any]:
    return {"user_id": user, "app_name": session.app}


def _check_type(summary_type: str | None) -> None:
    if summary_type is not None and summary_type not in SUMMARY_TYPES:
        raise UsageError(
            "summary_type_unknown",
            f"{summary_type[:60]!r} is no type of summary",
            why=f"the types are {', '.join(SUMMARY_TYPES)}",
            hint="--type user_profile",
        )


def _summary(session: Session, scope: dict[str, Any], row: dict[str, Any]) -> Summary:
    details = row.pop("details")
    del row["age_s"], row["total"]
    own = {**scope, "summary_type": row["type"], "thread_id": row.pop("thread_id")}
    return Summary(
        **row,
        freshness=_freshness(session, own, details),
        fallback=details.get("fallback"),
    )


def _freshness(session: Session, scope: dict[str, Any], details: dict[str, Any]) -> str:
    row = session.database.row("summaries", "gone", {**scope, "details": Jsonb(details)})
    if row is not None and row["gone"]:
        return "source_removed"
    same = read_sources(session, scope).fingerprint == details.get("fingerprint")
    return "fresh" if same else "sources_changed"


def _reason(
    session: Session,
    scope: dict[str, Any],
    current: dict[str, Any] | None,
    read: Sources,
    generator: Generator | None,
    force: bool,
) -> str | None:
    """Why a summary is made anew; None where it is as it should be."""
    if current is None:
        return "there was none"
    details = current["details"]
    if details.get("fingerprint") != read.fingerprint:
        return _CHANGED
    gone = session.database.row("summaries", "gone", {**scope, "details": Jsonb(details)})
    if gone is not None and gone["gone"]:
        return "a source was removed"
    if force:
        return "it was asked for"
    if generator is not None and current["model_used"] is None:
        failed = details.get("fallback") is not None
        if not failed or current["age_s"] > _RETRY_MODEL_AFTER_S:
            return "a model can write it now"
    return None


def _write(
    session: Session,
    scope: dict[str, Any],
    read: Sources,
    text: Written,
    version: int,
    run_id: UUID | None,
    counter: TokenCounter,
) -> bool:
    """Write the summary unless another was faster, or a source went meanwhile; whether it is written."""
    database = session.database
    screened = guard_of(session).screen(text.content, text.details)
    details = {
        **screened.metadata,
        "fingerprint": read.fingerprint,
        "memory_ids": [str(one) for one in read.memory_ids],
        "fact_ids": [str(one) for one in read.fact_ids],
    }
    values = {
        **scope,
        "content": screened.text,
        "details": Jsonb(details),
        "tokens": counter.count(screened.text),
        "memories": len(read.memory_ids),
        "facts": len(read.fact_ids),
        "model_used": text.model_used,
    }
    with database.transaction():
        database.execute("memory", "add_user", scope)
        locked = database.row("summaries", "lock", scope)
        if (0 if locked is None else locked["version"]) != version:
            return False
        gone = database.row("summaries", "gone", values)
        if gone is not None and gone["gone"]:
            return False
        if locked is None:
            added = database.row("summaries", "add", values)
            if added is None:
                return False
            summary_id = added["id"]
        else:
            summary_id = locked["id"]
            database.execute("summaries", "set", {**values, "id": summary_id})
            database.execute("summaries", "drop_sources", {**scope, "id": summary_id})
        sources = {
            **scope,
            "id": summary_id,
            "source_ids": [*read.memory_ids, *read.fact_ids],
            "run_id": run_id,
            "extractor": "summarize",
            "model_used": text.model_used,
        }
        database.execute("summaries", "add_sources", sources)
    return True


def _remove(session: Session, scope: dict[str, Any]) -> None:
    with session.database.transaction():
        if locked := session.database.row("summaries", "lock", scope):
            for act in ("drop_sources", "remove"):
                session.database.execute("summaries", act, {**scope, "id": locked["id"]})
