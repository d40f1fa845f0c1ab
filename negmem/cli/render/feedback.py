"""Feedback as text: what was stored, and when it will count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.feedback import Feedback


def draw_feedback(console: Console, feedback: Feedback) -> None:
    """One line on what was said, one on what it moves."""
    verb = "would store" if feedback.dry_run else "stored"
    if feedback.replayed:
        verb = "stored already"
    named = len(set(feedback.memories) | set(feedback.used))
    rating = "" if feedback.rating is None else f" · rated {feedback.rating} of 5"
    console.out(
        f"{verb}: {feedback.outcome}, {named} of {feedback.returned} items named{rating}"
        f" · user {one_line(feedback.user)}"
    )
    if not named:
        console.note("no memory is named: it counts for negmem metrics, and moves no weight")
    elif not feedback.replayed and not feedback.dry_run:
        console.note(
            "a memory with enough votes (automation.reweight_relevance.min_count) is weighed by the"
            " next run: negmem automation run reweight_relevance"
        )
