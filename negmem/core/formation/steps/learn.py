"""Learns from what the user said: observations, entities, lessons; and whatever further stores make of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from negmem.core import summaries
from negmem.core.formation.pipeline import JobType, Policy, StepOutcome, Work
from negmem.core.formation.turns import (
    Turn,
    is_own,
    mark_read,
    read_before,
    read_turns,
    source_of,
    threads_of,
)
from negmem.core.learning import machine, reading
from negmem.core.learning.protocol import Bound, Message
from negmem.core.learning.reading_prompt import VERSION
from negmem.core.learning.stores import custom_store

POLICY: Policy = "fail_tolerant"
JOB_TYPES: tuple[JobType, ...] = ("fast_replay", "full_consolidation")

CONTEXT_TURNS = 4
_NEEDS_MODEL = "needs a language model: llm.model is not set, or patterns were asked for"


def run(work: Work) -> StepOutcome:
    """Put new turns of the user to the model, once for all stores, and to further stores each alone.

    Turns that were read before are not put to it again. Without a model there is nothing to do for the
    stores built in: their facts come from the step fact_extract.
    """
    stores = reading.open_stores(work.session)
    others = work.session.config.learning.stores
    has_model = work.extractor == "llm" and work.generator is not None
    keeps_sessions = work.session.config.learning.session_context.enabled
    if not others and not keeps_sessions and not (stores and has_model):
        return StepOutcome("skipped", _NEEDS_MODEL if stores else "no store is open to it")
    counts: Counter[str] = Counter()
    failures: list[str] = []
    wait_s = None
    for thread_id in threads_of(work):
        part = replace(work, thread_id=thread_id)
        work.checkpoint()
        turns = read_turns(part, before=CONTEXT_TURNS)
        if not any(turn.is_new and is_own(turn) for turn in turns):
            continue
        bound = machine.bound_of_thread(work.session, work.user, thread_id)
        if stores and has_model:
            found = _by_model(part, turns, bound, stores)
            counts.update(found.counts)
            for reason in found.rejected:
                counts[f"rejected_{reason}"] += 1
            if found.refusal is not None and found.is_pending:
                failures.append(f"{found.refusal.code}: {found.refusal.reason}")
                wait_s = max(wait_s or 0.0, found.refusal.retry_after_s or 0.0)
        failures += _by_others(part, turns, bound, counts)
        if keeps_sessions:
            work.checkpoint()
            made = summaries.refresh_changed(
                work.session,
                work.user,
                summary_type="session",
                thread_id=thread_id,
                generator=work.generator if has_model else None,
                run_id=work.job_id,
                checkpoint=work.checkpoint,
            )
            counts["session_context"] += sum(one.action == "written" for one in made)
    counts = Counter({name: number for name, number in counts.items() if number})
    if failures:
        return StepOutcome("failed", "; ".join(failures)[:500], counts, retry_after_s=wait_s)
    if not counts:
        return StepOutcome("skipped", "the user said nothing new")
    return StepOutcome("done", counts=counts)


def _by_model(work: Work, turns: list[Turn], bound: Bound, stores: list[str]) -> reading.Reading:
    generator = work.generator
    assert generator is not None
    reader = f"learn:{generator.model}:{VERSION}"[:64]
    versions, already = read_before(work, turns, reader)
    sources = [
        source_of(turn, turn.is_new and is_own(turn) and turn.memory_id not in already)
        for turn in turns
        if turn.kind == "message" and turn.text.strip()
    ]
    if not any(turn.is_own for turn in sources):
        return reading.Reading()
    return reading.read_turns(
        work.session,
        work.user,
        sources,
        generator,
        stores=stores,
        namespace=bound.namespace,
        thread=bound.thread,
        checkpoint=work.checkpoint,
        done=lambda read: mark_read(work, read, versions, reader),
    )


def _by_others(work: Work, turns: list[Turn], bound: Bound, counts: Counter[str]) -> list[str]:
    """Let each further store process the turns; returns which failed, and why."""
    messages = [
        Message(turn.role or "", turn.text, turn.event_id, turn.occurred_at, turn.is_new)
        for turn in turns
        if turn.kind == "message"
    ]
    failures = []
    for name in work.session.config.learning.stores:
        work.checkpoint()
        try:
            done = custom_store(name).process(bound, messages, work.generator)
        except Exception as error:
            found = machine.told(work.session, name, error)
            failures.append(f"{name}: {found.code}: {found.message}")
            continue
        for what, number in done.counts.items():
            counts[f"{name}_{what}"] += number
    return failures
