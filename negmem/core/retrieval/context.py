"""Contexts: what an agent should read before it answers, within a budget of tokens.

Core blocks, the profile, what the search finds, and the last turns of one thread. Candidates and
their order are those of the SQL function get_context_window(); here the model's own tokenizer counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.types.json import Jsonb

from negmem.config.automation import effective_automation
from negmem.config.model import ContextAssembler
from negmem.core.formulas.budget import Group, Item, Packed, Section, Shares, pack, shares
from negmem.core.models.context import (
    SECTIONS,
    Context,
    ContextBudget,
    ContextItem,
    ContextSection,
    ContextTokenizer,
    LeftOut,
)
from negmem.core.models.retrieval import SearchAnswer
from negmem.core.pii import gated, guard_of
from negmem.core.retrieval.candidates import Candidate, searched, standing
from negmem.core.retrieval.search import clean_question, search
from negmem.core.session import Session
from negmem.core.text.names import check_name
from negmem.db.failures import DatabaseError
from negmem.db.searches import recording_is_refused
from negmem.errors import UsageError
from negmem.providers.tokens import TokenCounter

# As in sql/functions/get_context_window.sql.
CANDIDATES = 50
MAX_TOKENS = 2_000_000
CORE_SHARE = 0.3
PROFILE_SHARE = 0.2
# A text of more characters than this for each token fits in no case, and is not counted whole.
_MAX_CHARS_PER_TOKEN = 64
_KINDS = {"memories": "memory", "facts": "fact"}


@dataclass(frozen=True)
class _Chosen:
    """What was packed: the final text, which texts are only beginnings, and what stayed out."""

    packed: Packed
    cut: frozenset[str]
    left_out: list[LeftOut]


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
    _check_blocks(blocks)
    question = clean_question(query)
    settings = _settings(session)
    total = settings.max_tokens if max_tokens is None else max_tokens
    if not 1 <= total <= MAX_TOKENS:
        raise UsageError(
            "budget_invalid",
            "no context has such a budget",
            why=f"--max-tokens goes from 1 to {MAX_TOKENS:,}, got {total:,}",
            hint="--max-tokens 2000",
        )
    both = shares(total, settings.memory_ratio, settings.history_ratio)
    counter = counter or TokenCounter(session.config.llm.model)
    candidates = standing(session, user, _thread_id(session, user, thread), blocks)
    candidates = guard_of(session).leave_out(user, candidates, lambda one: one.id)
    answer: SearchAnswer | None = None
    if kinds := [_KINDS[name] for name in blocks if name in _KINDS]:
        answer = search(
            session, user, question, level=level, limit=CANDIDATES, kinds=kinds, record=False
        )
        candidates += searched(answer.results)
    chosen = _choose(candidates, both, counter)
    context = _answer(candidates, chosen, both, total, counter, answer)
    if counter.notice is not None:
        session.warn("tokens_not_exact", counter.notice)
    if record and answer is not None:
        recorded = _record(session, user, question, thread, context, answer)
        return context.model_copy(update={"retrieval_id": recorded})
    return context


def _check_blocks(blocks: Sequence[str]) -> None:
    wrong = [name for name in blocks if name not in SECTIONS]
    if wrong or not blocks:
        raise UsageError(
            "block_unknown",
            f"{wrong[0][:60]!r} is no section of a context" if wrong else "no section is named",
            why=f"the sections are {', '.join(SECTIONS)}",
            hint="--blocks memories,history",
        )


def _settings(session: Session) -> ContextAssembler:
    """The stored budget of the app, or the main app's; what is not stored has its default.

    Raises: NegmemError `stored_config_invalid`.
    """
    row = session.database.row("context", "settings", {"app_name": session.app})
    if row is None:
        session.warn(
            "app_unknown",
            f'the database holds no config of the app "{session.app}": the default budget counts',
        )
    stored = {} if row is None or row["context_assembler"] is None else row["context_assembler"]
    return effective_automation({"context_assembler": stored}).context_assembler


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


def _choose(candidates: Sequence[Candidate], both: Shares, counter: TokenCounter) -> _Chosen:
    """History first, within its share; what it leaves goes to memory; then the whole is fitted."""
    longest = _MAX_CHARS_PER_TOKEN * both.total + 1

    def items(*names: str) -> list[Item]:
        return [Item(str(c.id), c.text[:longest]) for c in candidates if c.section in names]

    def fit(text: str, limit: int) -> str:
        return counter.fit(text, limit)[0]

    last = Section("history", items("history"), is_contiguous=True, is_reversed=True)
    history = pack([Group(both.history, [last])], both.history, ["history"], counter.count, fit)
    repeated = _repeated(candidates, {item.id for item in history.sections["history"]})
    room = both.total - sum(item.tokens for item in history.sections["history"])
    sections = [
        Section("core", items("core"), limit=int(CORE_SHARE * both.memory)),
        Section("profile", items("profile"), limit=int(PROFILE_SHARE * both.memory)),
        Section("found", [i for i in items("memories", "facts") if i.id not in repeated]),
    ]
    names = ["core", "profile", "found"]
    memory = pack([Group(room, sections)], room, names, counter.count, fit)

    taken = [i for one in (history, memory) for few in one.sections.values() for i in few]
    texts = {item.id: item.text for item in taken}
    whole = [
        Section(
            name,
            [
                Item(str(c.id), texts[str(c.id)])
                for c in _of(candidates, name)
                if str(c.id) in texts
            ],
            is_contiguous=name == "history",
            is_reversed=name == "history",
        )
        for name in SECTIONS
    ]
    packed = pack([Group(both.total, whole)], both.total, SECTIONS, counter.count, fit)
    inside = {item.id for few in packed.sections.values() for item in few}
    left_out = [
        LeftOut(
            id=c.id, section=c.section, reason="repeated" if str(c.id) in repeated else "budget"
        )
        for c in candidates
        if str(c.id) not in inside
    ]
    return _Chosen(packed, frozenset(item.id for item in taken if item.is_cut), left_out)


def _of(candidates: Sequence[Candidate], section: str) -> list[Candidate]:
    return [candidate for candidate in candidates if candidate.section == section]


def _repeated(candidates: Sequence[Candidate], in_history: set[str]) -> set[str]:
    """What the search found, but the history or the profile shows already."""
    shown = {(c.thread, c.said) for c in _of(candidates, "history") if str(c.id) in in_history}
    has_profile = bool(_of(candidates, "profile"))
    return {
        str(c.id)
        for c in candidates
        if c.section in _KINDS
        and (
            (c.thread, c.said) in shown
            or (has_profile and c.section == "facts" and c.type == "profile")
        )
    }


def _answer(
    candidates: Sequence[Candidate],
    chosen: _Chosen,
    both: Shares,
    total: int,
    counter: TokenCounter,
    answer: SearchAnswer | None,
) -> Context:
    by_id = {str(candidate.id): candidate for candidate in candidates}
    sections = []
    for name, taken in chosen.packed.sections.items():
        items = [
            ContextItem(
                id=by_id[item.id].id,
                text=item.text,
                tokens=item.tokens,
                score=by_id[item.id].score,
                is_cut=item.is_cut or item.id in chosen.cut,
                occurred_at=by_id[item.id].occurred_at,
                thread=by_id[item.id].thread,
            )
            for item in taken
        ]
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
    shown = {s.name: s.items for s in context.sections if s.name in _KINDS}
    scope = {"user_id": user, "app_name": session.app}
    items = [
        {"kind": _KINDS[name], "id": str(item.id), "rank": rank, "score": item.score}
        for name, few in shown.items()
        for rank, item in enumerate(few, 1)
    ]
    steps = [{"from": f.from_level, "to": f.to_level, "code": f.code} for f in answer.fallbacks]
    params = {
        **scope,
        "query": question,
        "memory_ids": [item.id for item in shown.get("memories", [])],
        "fact_ids": [item.id for item in shown.get("facts", [])],
        "items": Jsonb(items),
        "level": answer.level,
        "fallbacks": Jsonb(steps),
        "thread": thread,
        "repeat_window_s": session.config.retrieval.repeat_window_s,
    }
    try:
        with session.database.transaction():
            row = session.database.row("context", "record", params)
            found: UUID | None = None if row is None else row["retrieval_id"]
            if found is not None:
                used = {
                    "id": found,
                    "budget_tokens": context.max_tokens,
                    "used_tokens": context.tokens,
                }
                session.database.execute("context", "record_budget", {**scope, **used})
    except DatabaseError as error:
        if not recording_is_refused(error):
            raise
        session.warn("retrieval_not_recorded", f"the context was not recorded: {error.why}")
        return None
    return found
