"""Contexts: what an agent should read before it answers, within a budget of tokens.

The user's summary, core blocks, instructions, the profile, what the search finds, what was learned, and the
last turns of one thread. Candidates and their order are those of the SQL function get_context_window();
here the model's own tokenizer counts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.config.automation import effective_automation
from negmem.config.model import ContextAssembler
from negmem.core.formulas.budget import Shares, shares
from negmem.core.models.context import (
    SECTIONS,
    Context,
    ContextBudget,
    ContextItem,
    ContextSection,
    ContextTokenizer,
)
from negmem.core.models.retrieval import SearchAnswer
from negmem.core.pii import gated, guard_of
from negmem.core.retrieval.candidates import (
    Candidate,
    Standing,
    searched,
    standing,
    standing_scope,
)
from negmem.core.retrieval.packing import Chosen, choose
from negmem.core.retrieval.search import Question, ask, check_level, clean_question, search
from negmem.core.session import Session
from negmem.core.text.names import check_name
from negmem.db.failures import DatabaseError
from negmem.db.searches import Beside, recording_is_refused, run_recording
from negmem.errors import UsageError
from negmem.providers.tokens import TokenCounter, counter_for

# As in sql/functions/get_context_window.sql.
CANDIDATES = 50
MAX_TOKENS = 2_000_000
_KINDS = {"memories": ("memory",), "reflections": ("memory",), "facts": ("fact",)}
_VECTOR = ("embedding", "provider", "model", "version", "dims")
_RECORDED = {"memories": "memory", "reflections": "memory", "facts": "fact"}


@gated
def assemble(
    session: Session,
    user: str,
    query: str,
    *,
    max_tokens: int | None = None,
    thread: str | None = None,
    blocks: Sequence[str] = SECTIONS,
    level: str = "auto",
    record: bool = True,
    counter: TokenCounter | None = None,
) -> Context:
    """The context for a question of one user.

    Args: max_tokens, of the whole, by default the stored config's; thread, whose last turns are shown,
    by default the one that changed last; blocks, the sections to fill.
    Access to what is in the context is recorded, to what was left out it is not.
    Raises: UsageError `block_unknown`, `thread_unknown`, `name_invalid`, `budget_invalid` and as `search`.
    """
    return select(
        session, user, query, max_tokens, thread, blocks, level, record=record, counter=counter
    )[0]


def select(
    session: Session,
    user: str,
    query: str,
    max_tokens: int | None,
    thread: str | None,
    blocks: Sequence[str],
    level: str = "auto",
    *,
    record: bool = True,
    counter: TokenCounter | None = None,
) -> tuple[Context, list[Candidate]]:
    """As `assemble`, with the candidates that the context's items came from; not through the gate."""
    _check_blocks(blocks)
    question = clean_question(query)
    check_level(level)
    if max_tokens is not None:
        _check_budget(max_tokens)
    counter = counter or counter_for(session.config.llm.model)
    found, answer = _found(session, user, question, thread, blocks, level, counter)
    settings = _settings(session, found.settings)
    total = settings.max_tokens if max_tokens is None else max_tokens
    both = shares(total, settings.memory_ratio, settings.history_ratio)
    candidates = guard_of(session).leave_out(user, found.candidates, lambda one: one.id)
    if answer is not None:
        candidates += searched(answer.results, blocks)
    chosen = choose(candidates, both, counter)
    context = _answer(chosen, both, total, counter, answer)
    if counter.notice is not None:
        session.warn("tokens_not_exact", counter.notice)
    if record and answer is not None:
        recorded = _record(session, user, question, thread, context, answer)
        context = context.model_copy(update={"retrieval_id": recorded})
    return context, candidates


def _found(
    session: Session,
    user: str,
    question: str,
    thread: str | None,
    blocks: Sequence[str],
    level: str,
    counter: TokenCounter,
) -> tuple[Standing, SearchAnswer | None]:
    """What stands, and what the search finds where a section wants that: in one round trip."""
    kinds = list(dict.fromkeys(kind for name in blocks for kind in _KINDS.get(name, ())))
    by_meaning = bool(kinds) or not {"knowledge", "entities"}.isdisjoint(blocks)
    asked = ask(session, question, level) if by_meaning else Question(question, "keyword")
    vector = {name: asked.params[name] for name in _VECTOR}
    thread_id = _thread_id(session, user, thread)
    scope = standing_scope(session, user, thread_id, blocks, question, vector)
    if not kinds:
        rows = session.database.rows("context", "candidates", scope)
        if asked.fallbacks or (asked.embedding is not None and not rows[0]["is_same_space"]):
            why = (
                asked.fallbacks[0].reason
                if asked.fallbacks
                else "the stored vectors are of another model"
            )
            session.warn("found_by_words", f"what was learned was found by words alone: {why}")
        return standing(session, rows, blocks), None
    taken: list[Standing] = []

    def take(rows: list[dict[str, Any]]) -> None:
        taken.append(standing(session, rows, blocks))
        # The server searches meanwhile; the counter remembers.
        for candidate in taken[0].candidates:
            counter.count(candidate.text + "\n")

    beside = Beside("context", "candidates", scope, take)
    answer = search(
        session,
        user,
        question,
        level=level,
        limit=CANDIDATES,
        kinds=kinds,
        record=False,
        beside=beside,
        asked=asked,
    )
    return taken[0], answer


def _check_blocks(blocks: Sequence[str]) -> None:
    wrong = [name for name in blocks if name not in SECTIONS]
    if wrong or not blocks:
        raise UsageError(
            "block_unknown",
            f"{wrong[0][:60]!r} is no section of a context" if wrong else "no section is named",
            why=f"the sections are {', '.join(SECTIONS)}",
            hint="--blocks memories,history",
        )


def _check_budget(max_tokens: int) -> None:
    if not 1 <= max_tokens <= MAX_TOKENS:
        raise UsageError(
            "budget_invalid",
            "no context has such a budget",
            why=f"--max-tokens goes from 1 to {MAX_TOKENS:,}, got {max_tokens:,}",
            hint="--max-tokens 2000",
        )


def _settings(session: Session, stored: dict[str, Any] | None) -> ContextAssembler:
    """The stored budget of the app, or the main app's; what is not stored has its default.

    Raises: NegmemError `stored_config_invalid`.
    """
    if stored is None:
        session.warn(
            "app_unknown",
            f'the database holds no config of the app "{session.app}": the default budget counts',
        )
    return _assembler(json.dumps(stored or {}))


@lru_cache(maxsize=64)
def _assembler(stored: str) -> ContextAssembler:
    return effective_automation({"context_assembler": json.loads(stored)}).context_assembler


def _thread_id(session: Session, user: str, thread: str | None) -> UUID | None:
    if thread is None:
        return None
    check_name(thread, "thread")
    scope = {"user_id": user, "app_name": session.app, "thread": thread}
    row = session.database.row("context", "thread", scope)
    if row is None:
        raise UsageError(
            "thread_unknown",
            "there is no such thread",
            why=f'user "{user}" of app "{session.app}" has no thread {thread[:60]!r}',
            hint="leave --thread out: then it is the one that changed last",
        )
    found: UUID = row["id"]
    return found


def _answer(
    chosen: Chosen,
    both: Shares,
    total: int,
    counter: TokenCounter,
    answer: SearchAnswer | None,
) -> Context:
    sections = []
    for name, taken in chosen.packed.sections.items():
        items = []
        for item in taken:
            found = chosen.candidates[item.id]
            items.append(
                ContextItem(
                    id=found.id,
                    text=item.text,
                    tokens=item.tokens,
                    score=found.score,
                    is_cut=item.is_cut or item.id in chosen.cut,
                    occurred_at=found.occurred_at,
                    thread=found.thread,
                    verify=list(found.verify),
                )
            )
        sections.append(
            ContextSection(name=name, tokens=sum(item.tokens for item in items), items=items)
        )
    return Context(
        text=chosen.packed.text,
        tokens=chosen.packed.tokens,
        max_tokens=total,
        budget=ContextBudget(
            memory=both.memory,
            history=both.history,
            utilization=round(chosen.packed.tokens / total, 4),
        ),
        tokenizer=ContextTokenizer(name=counter.name, is_exact=counter.is_exact),
        sections=sections,
        left_out=chosen.left_out,
        retrieval_id=None,
        level=None if answer is None else answer.level,
        fallbacks=[] if answer is None else answer.fallbacks,
    )


def _record(
    session: Session,
    user: str,
    question: str,
    thread: str | None,
    context: Context,
    answer: SearchAnswer,
) -> UUID | None:
    """Log what was shown, with its accesses queued; None, with a warning, where that is refused."""
    facts = session.database.facts
    if facts.in_recovery or facts.read_only:
        session.warn(
            "retrieval_not_recorded", "the context was not recorded: the server takes no writes"
        )
        return None
    scope = {"user_id": user, "app_name": session.app}
    shown = [
        (_RECORDED[section.name], item)
        for section in context.sections
        for item in section.items
        if section.name in _RECORDED
    ]
    shown.sort(key=lambda pair: -(pair[1].score or 0.0))
    items = [
        {"kind": kind, "id": str(item.id), "rank": rank, "score": item.score}
        for rank, (kind, item) in enumerate(shown, 1)
    ]
    if not items and answer.results:  # something was found: that is no search without a hit
        best = answer.results[0]
        items = [
            {
                "kind": best.kind,
                "id": str(best.id),
                "rank": 1,
                "score": best.score,
                "left_out": True,
            }
        ]
    steps = [{"from": f.from_level, "to": f.to_level, "code": f.code} for f in answer.fallbacks]
    params = {
        **scope,
        "query": guard_of(session).logged(question),
        "memory_ids": [item.id for kind, item in shown if kind == "memory"],
        "fact_ids": [item.id for kind, item in shown if kind == "fact"],
        "items": Jsonb(items),
        "level": answer.level,
        "fallbacks": Jsonb(steps),
        "thread": thread,
        "repeat_window_s": session.config.retrieval.repeat_window_s,
        "budget_tokens": context.max_tokens,
        "used_tokens": context.tokens,
    }
    try:
        found: UUID | None = run_recording(session.database, "context", "record", params)
    except DatabaseError as error:
        if not recording_is_refused(error):
            raise
        session.warn("retrieval_not_recorded", f"the context was not recorded: {error.why}")
        return None
    return found
