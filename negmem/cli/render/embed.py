"""Embedding models and their change as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.embed import EmbedChange, EmbedStatus, ModelSpace, Price

_STATES = {
    "unset": "no model is set for this app",
    "current": "all is embedded by the configured model",
    "incomplete": "some texts lack a vector: words find them",
    "pending": "another model is configured than the one that is searched",
    "changing": "a change was begun; the old model is searched meanwhile",
    "unconfirmed": "changed; the vectors before it stand for the way back",
}


def space_text(space: ModelSpace | None) -> str:
    """A model on one line."""
    if space is None:
        return "none"
    return one_line(f"{space.provider} {space.model} ({space.version}, {space.dims} dimensions)")


def price_line(action: str, price: Price) -> str:
    """What an action would take."""
    if not price.texts:
        return f"{action}: nothing to embed"
    cost = "an unknown price" if price.cost_usd is None else f"{price.cost_usd:,.4f} US dollars"
    return f"{action}: {price.texts:,} texts, about {price.tokens:,} tokens, {cost} ({price.basis})"


def draw_status(console: Console, status: EmbedStatus) -> None:
    """One line a model, then what follows."""
    for model in status.models:
        console.out(
            f"  {model.status:<9} {space_text(model.space)} · {model.memories:,} memories,"
            f" {model.facts:,} facts, {model.shared:,} learnings and entities"
            + (f" · {model.missing:,} missing" if model.missing else "")
            + (f" · {one_line(model.working)} is at it" if model.working else "")
        )
    reason = f" ({one_line(status.configured_reason)})" if status.configured_reason else ""
    console.out(f"  configured {space_text(status.configured)}{reason}")
    console.out(f"{status.state}: {_STATES[status.state]}")
    if status.next:
        console.out(f"  next: {status.next}")


def draw_change(console: Console, change: EmbedChange) -> None:
    """What was done or would be."""
    if change.dry_run:
        console.out(price_line(change.action, change.price))
    if change.action in ("confirm", "cancel"):
        if change.to_model is None:
            console.out(f"nothing to {change.action}")
        elif not change.dry_run:
            console.out(
                f"removed {change.removed_vectors:,} vectors of {space_text(change.to_model)}"
            )
        else:
            console.out(f"would remove the vectors of {space_text(change.to_model)}")
    else:
        if change.action != "complete":
            verb = (
                "would search"
                if change.dry_run
                else "searches now"
                if change.switched
                else "will search"
            )
            console.out(
                f"{verb} with {space_text(change.to_model)}, not {space_text(change.from_model)}"
            )
        if not change.dry_run:
            parked = f" · {change.parked:,} refused by the model" if change.parked else ""
            cost = "" if change.cost_usd is None else f" · {change.cost_usd:,.4f} US dollars"
            console.out(
                f"embedded {change.embedded:,} texts, {change.tokens:,} tokens{cost}{parked}"
            )
    if change.stopped:
        console.out(f"stopped: {one_line(change.stopped)}")
    if change.next:
        console.out(f"  next: {change.next}")
