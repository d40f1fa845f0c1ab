"""Finds facts in what the user said: by a model where one is set, else by patterns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from negmem.core.fact_names import profile_names_of
from negmem.core.fact_writing import FactWrite, write_facts
from negmem.core.formation.extraction.batches import Account, BatchResult, ask_model
from negmem.core.formation.extraction.patterns import extract
from negmem.core.formation.extraction.prompt import PROMPT_VERSION
from negmem.core.formation.pipeline import JobType, Policy, StepOutcome, Work
from negmem.core.formation.turns import (
    is_own,
    mark_read,
    read_before,
    read_turns,
    source_of,
    threads_of,
)
from negmem.core.learning import profile
from negmem.core.models.extraction import ExtractedFact
from negmem.core.review import Acting, acting

POLICY: Policy = "fail_tolerant"
JOB_TYPES: tuple[JobType, ...] = ("fast_replay", "full_consolidation")

CONTEXT_TURNS = 4
"""Older turns that a model is shown before the new ones, so that "yes, that one" means something."""

_WRITTEN_TOGETHER = 200


def run(work: Work) -> StepOutcome:
    """Read the user's own turns that the job is about and write the facts in them.

    With a model, turns that it has read before are not put to it again; where it fails, patterns read
    that batch, and the step fails at the end so that the job is tried again.
    """
    counts: Counter[str] = Counter()
    total = Account()
    for thread_id in threads_of(work):
        part = replace(work, thread_id=thread_id)
        work.checkpoint()
        if work.extractor == "llm" and work.generator is not None:
            _by_model(part, counts, total)
        else:
            _by_patterns(part, counts)
    if not counts["turns"]:
        return StepOutcome("skipped", "the user said nothing new")
    for reason, number in total.rejected.items():
        counts[f"rejected_{reason}"] += number
    if total.by_patterns and total.last_refusal is not None:
        refusal = total.last_refusal
        reason = (
            f"{refusal.code}: patterns read {total.by_patterns} of {total.batches} batches, since"
            f" {refusal.reason}"
        )[:500]
        if total.pending:
            return StepOutcome("failed", reason, counts, retry_after_s=total.retry_after_s)
        return StepOutcome("done", reason, counts)
    return StepOutcome("done", counts=counts)


def _by_patterns(work: Work, counts: Counter[str]) -> None:
    waiting: list[ExtractedFact] = []
    for turn in read_turns(work):
        if not turn.is_new or not is_own(turn):
            continue
        counts["turns"] += 1
        waiting.extend(extract(turn.text, turn.event_id, turn.occurred_at))
        if len(waiting) >= _WRITTEN_TOGETHER:
            _write(work, waiting, counts)
            waiting = []
    _write(work, waiting, counts)


def _by_model(work: Work, counts: Counter[str], total: Account) -> None:
    generator = work.generator
    assert generator is not None
    settings = work.session.config.llm
    reader = f"fact_extract:{generator.model}:{PROMPT_VERSION}"[:64]
    turns = read_turns(work, before=CONTEXT_TURNS)
    counts["turns"] += sum(1 for turn in turns if turn.is_new and is_own(turn))
    versions, already = read_before(work, turns, reader)
    sources = [
        source_of(turn, turn.is_new and is_own(turn) and turn.memory_id not in already)
        for turn in turns
        if turn.kind == "message" and turn.text.strip()
    ]
    if not any(turn.is_own for turn in sources):
        return

    def keep(result: BatchResult) -> None:
        _write(work, result.facts, counts)
        if not result.is_pending:
            mark_read(work, result.turns, versions, reader)

    account = ask_model(
        generator,
        sources,
        keep,
        max_turns=settings.batch_turns,
        max_chars=settings.batch_chars,
        checkpoint=work.checkpoint,
        names=profile_names_of(work.session),
    )
    counts["batches"] += account.batches
    counts["fallbacks"] += account.by_patterns
    counts["halved"] += account.halved
    counts["rejected"] += sum(account.rejected.values())
    total.batches += account.batches
    total.by_patterns += account.by_patterns
    total.pending += account.pending
    total.rejected.update(account.rejected)
    total.last_refusal = account.last_refusal or total.last_refusal
    if account.retry_after_s is not None:
        total.retry_after_s = max(total.retry_after_s or 0.0, account.retry_after_s)


def _write(work: Work, facts: Sequence[ExtractedFact], counts: Counter[str]) -> None:
    """Write facts by key; one short transaction."""
    if not facts:
        return
    work.checkpoint()
    counts["found"] += len(facts)
    names = profile_names_of(work.session)
    facts = [
        fact.model_copy(update={"key": names.field_of(fact.key)})
        if fact.type == profile.TYPE
        else fact
        for fact in facts
    ]
    facts = _reviewed(work, facts, counts)
    facts = _starting_when_said(work, facts)
    writes = [
        FactWrite(
            type=fact.type,
            key=fact.key,
            value=fact.value,
            confidence=fact.confidence,
            valid_from=fact.valid_from,
            valid_until=fact.valid_until,
            occurred_at=fact.occurred_at,
            thread_id=work.thread_id,
            event_ids=tuple(fact.event_ids),
            run_id=work.job_id,
            extractor=fact.extractor,
            model=fact.model,
        )
        for fact in facts
    ]
    for outcome in write_facts(work.session, work.user, writes):
        if outcome.action not in ("unchanged", "kept_manual"):
            counts["facts"] += 1
        counts[outcome.action] += 1
        counts["conflicts"] += int(outcome.conflict_id is not None)


def _reviewed(
    work: Work, facts: Sequence[ExtractedFact], counts: Counter[str]
) -> list[ExtractedFact]:
    """The facts without those of the profile, where the profile is off or others decide on its writes."""
    store = work.session.config.learning.profile
    if store.enabled and store.mode == "always":
        return list(facts)
    for fact in facts:
        if fact.type != profile.TYPE:
            continue
        if not store.enabled or store.mode == "agentic":
            counts["left_to_the_agent" if store.enabled else "profile_is_off"] += 1
            continue
        by = Acting(
            who=f"extractor {fact.extractor}",
            evidence=({"turns": [str(one) for one in fact.event_ids], "quote": fact.text},),
            confidence=fact.confidence,
            model=fact.model,
        )
        with acting(work.session, by):
            done = profile.learn(
                work.session,
                work.user,
                fact.key,
                fact.value,
                confidence=fact.confidence,
                occurred_at=fact.occurred_at,
                valid_from=fact.valid_from,
                valid_until=fact.valid_until,
                event_ids=fact.event_ids,
                extractor=fact.extractor,
                model=fact.model,
            )
        counts[done.action if done.proposal_id is None else "proposed"] += 1
    return [fact for fact in facts if fact.type != profile.TYPE]


def _starting_when_said(work: Work, facts: Sequence[ExtractedFact]) -> list[ExtractedFact]:
    """The facts, without a start in the past where that would hide them behind an older statement.

    "I live in Oslo", and weeks later "I moved to Bergen last month": what was said last is what holds.
    """
    dated = [place for place, fact in enumerate(facts) if fact.valid_from is not None]
    if not dated:
        return list(facts)
    rows = work.session.database.rows(
        "extraction",
        "later_starts",
        {
            "user_id": work.user,
            "app_name": work.app,
            "fact_types": [facts[place].type for place in dated],
            "keys": [facts[place].key for place in dated],
            "starts": [facts[place].valid_from for place in dated],
        },
    )
    hidden = {dated[row["number"]] for row in rows}
    told: set[tuple[str, str]] = set()
    for place, fact in enumerate(facts):
        if (fact.type, fact.key) in told:
            hidden.add(place)
        told.add((fact.type, fact.key))
    return [
        fact.model_copy(update={"valid_from": None}) if place in hidden else fact
        for place, fact in enumerate(facts)
    ]
