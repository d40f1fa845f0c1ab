"""A context as text: itself on stdout, its account on stderr."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from negmem.cli.render.text import one_line, safe_text

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.context import Context


def draw_context(console: Console, context: Context) -> None:
    """The context as an agent reads it; how it was come by is a note beside it."""
    for step in context.fallbacks:
        console.note(
            f"level {step.to_level} (fell from {step.from_level}: {one_line(step.reason)})"
        )
        if step.hint:
            console.note(f"  fix: {step.hint}")
    if context.text:
        console.out(safe_text(context.text))
    else:
        console.note("nothing to put into a context")
    parts = ", ".join(f"{s.name} {s.tokens:,}" for s in context.sections if s.items)
    console.note(
        f"{context.tokens:,} of {context.max_tokens:,} tokens ({context.tokenizer.name})"
        + (f": {parts}" if parts else "")
    )
    if context.left_out:
        console.note(left_out([item.reason for item in context.left_out]))
        if console.common.verbose:
            for item in context.left_out:
                size = "too long to count" if item.tokens is None else f"{item.tokens:,} tokens"
                console.note(f"  {item.id}  {item.section:<12} {item.reason:<8} {size}")


def left_out(reasons: Sequence[str]) -> str:
    """How many candidates stayed out, by reason."""
    return (
        f"left out {len(reasons):,}: {reasons.count('budget'):,} for want of room,"
        f" {reasons.count('repeated'):,} shown already"
    )
