"""`negmem metrics`: what the memory is worth."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.options import Common, User, command, new_app

app = new_app("Measure what the memory is worth, from its own logs.")


@command(app, "metrics", writes=True)
def metrics(
    common: Common,
    user: User = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Set in the stored config what the advice proposes.")
    ] = False,
) -> None:
    """Hits, falls, precision and noise of 7 and 30 days, layers L0 to L3 with targets, advice.

    Advice is printed alone; --apply sets it, --apply --dry-run says what would be set.
    """
    from negmem.cli.render.metrics import draw_metrics
    from negmem.core.automation.stored import setter
    from negmem.core.retrieval.metrics import measure

    owner = common.checked_user(user)
    console = common.console
    with common.installed() as session:
        found = measure(session, user=owner)
        settings = [one for one in found.advice if one.key is not None]
        if apply and settings:
            if not common.dry_run:
                said = ", ".join(
                    f"{one.key} {one.current:g} → {one.proposed:g}" for one in settings
                )
                console.confirm(f"set {said}?", deed="changes the stored config")
            set_key = setter(session, "metrics --apply", dry_run=common.dry_run)
            found = measure(session, user=owner, set_key=set_key, dry_run=common.dry_run)
        common.answer(found, draw_metrics)
