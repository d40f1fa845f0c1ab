"""Turns put to a model in batches: halved where they don't fit, read by patterns where it fails.

No transaction is open here: what comes of a batch is handed to `keep`, which writes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from negmem.core.formation.extraction.patterns import extract
from negmem.core.formation.extraction.prompt import (
    SCHEMA,
    Rejected,
    SourceTurn,
    check_shape,
    messages,
    read_answer,
)
from negmem.core.models.extraction import ExtractedFact
from negmem.core.text.profile_names import ProfileNames
from negmem.providers.generation import Answer, Generator, Refusal, RefusalKind

MAX_SHOWN_REJECTS = 20

# Asking later would end the same for this very batch: patterns have the last word on it.
_FINAL = frozenset((RefusalKind.DECLINED, RefusalKind.TOO_LONG))


@dataclass(frozen=True)
class BatchResult:
    """What came of some turns. `refusal` None: the model answered; else patterns did instead.

    `is_pending`: the model should be asked again, in a later run.
    """

    turns: tuple[SourceTurn, ...]
    facts: tuple[ExtractedFact, ...]
    refusal: Refusal | None = None

    @property
    def is_pending(self) -> bool:
        """Whether the model should be asked again later."""
        return self.refusal is not None and self.refusal.kind not in _FINAL


@dataclass
class Account:
    """Every batch and every item of every answer, in numbers."""

    batches: int = 0
    by_model: int = 0
    by_patterns: int = 0
    pending: int = 0
    halved: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    examples: list[Rejected] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)
    last_refusal: Refusal | None = None
    retry_after_s: float | None = None

    def book(self, result: BatchResult) -> None:
        """Count one batch."""
        self.batches += 1
        if result.refusal is None:
            self.by_model += 1
            return
        self.by_patterns += 1
        self.pending += int(result.is_pending)
        self.refusals[result.refusal.code] += 1
        if result.is_pending or self.last_refusal is None:
            self.last_refusal = result.refusal
        wait_s = result.refusal.retry_after_s
        if wait_s is not None:
            self.retry_after_s = max(self.retry_after_s or 0.0, wait_s)


def batched(
    turns: Sequence[SourceTurn], *, max_turns: int, max_chars: int
) -> Iterator[list[SourceTurn]]:
    """Turns in order, so many of the user's or so many characters together; at least one each."""
    batch: list[SourceTurn] = []
    chars = own = 0
    for turn in turns:
        size = min(len(turn.text), max_chars)
        if batch and (own + turn.is_own > max_turns or chars + size > max_chars):
            if own:
                yield batch
            batch, chars, own = [], 0, 0
        batch.append(turn)
        chars += size
        own += turn.is_own
    if own:
        yield batch


def ask_model(
    generator: Generator,
    turns: Sequence[SourceTurn],
    keep: Callable[[BatchResult], None],
    *,
    max_turns: int,
    max_chars: int,
    checkpoint: Callable[[], None],
    names: ProfileNames | None = None,
) -> Account:
    """Put the turns to the model and hand every batch's result to `keep`, in order.

    Args: names, of the profile's fields, by default the built-in ones.
    """
    account = Account()
    for batch in batched(turns, max_turns=max_turns, max_chars=max_chars):
        for result in _asked(generator, batch, max_chars, checkpoint, account, names):
            account.book(result)
            keep(result)
    return account


def _asked(
    generator: Generator,
    batch: list[SourceTurn],
    max_chars: int,
    checkpoint: Callable[[], None],
    account: Account,
    names: ProfileNames | None,
) -> Iterator[BatchResult]:
    outcome = generator.generate(
        messages(batch, max_chars, names), SCHEMA, check=check_shape, on_wait=checkpoint
    )
    if isinstance(outcome, Answer):
        reading = read_answer(outcome.value, batch, generator.model, names)
        account.rejected.update(reading.reasons)
        room = MAX_SHOWN_REJECTS - len(account.examples)
        account.examples.extend(reading.rejected[: max(0, room)])
        yield BatchResult(tuple(batch), tuple(reading.facts))
        return
    own = [place for place, turn in enumerate(batch) if turn.is_own]
    if outcome.kind is RefusalKind.TOO_LONG and len(batch) > 1:
        account.halved += 1
        if len(own) > 1:
            middle = own[len(own) // 2]
            halves = [batch[:middle], batch[middle:]]
        else:
            # The words of others around it take the room: the user's turn stands alone.
            halves = [[batch[own[0]]]]
        for half in halves:
            yield from _asked(generator, half, max_chars, checkpoint, account, names)
        return
    generator.book_fallback()
    facts = [
        fact
        for turn in batch
        if turn.is_own
        for fact in extract(turn.text, turn.event_id, turn.occurred_at)
    ]
    yield BatchResult(tuple(batch), tuple(facts), outcome)
