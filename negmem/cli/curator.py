"""`negmem curator`: keeps a user's memories to an age and a number, and each thing said once."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, User, command, new_app

Store = Annotated[
    str, typer.Option("--store", metavar="STORE", help="memory (the default) or fact.")
]

app = new_app("Keep memories to an age and a number, and each thing said once.")


_MANY = {"memory": "memories", "fact": "facts"}


@app.callback()
def curator() -> None:
    """Keep memories to an age and a number, and each thing said once."""


@command(app, "prune", path="curator prune", writes=True)
def prune(
    common: Common,
    user: User = None,
    max_age_days: Annotated[
        float,
        typer.Option(
            "--max-age-days",
            metavar="N",
            help="Memories stored or changed before so many days go. 0: no limit.",
        ),
    ] = 0,
    max_count: Annotated[
        int,
        typer.Option(
            "--max-count", metavar="N", help="So many stay, the latest ones. 0: no limit."
        ),
    ] = 0,
    store: Store = "memory",
    compat: Annotated[
        bool,
        typer.Option("--compat", help="The first design's rule: creation only, times as text."),
    ] = False,
) -> int:
    """Remove old memories and those above a number; `memory restore` brings them back.

    Pinned and core memories stay, and count. Shows what goes and asks first.
    """
    from negmem.cli.render.pruning import draw_pruned
    from negmem.core.evolution import prune as pruning
    from negmem.core.formulas.pruning import Reason

    owner = common.require_user(user)
    console = common.console
    with common.session() as session:
        session.require_installed()
        console.note(f"target: {session.database.label} (from {session.database.target.origin})")
        planned = pruning.plan(
            session,
            owner,
            max_age_days=max_age_days,
            max_count=max_count,
            store=store,
            compat=compat,
        )
        if common.dry_run or planned.removed == 0:
            result = pruning.preview(session, planned)
            if not common.dry_run:
                result = result.model_copy(update={"dry_run": False})
        else:
            console.confirm(
                f"remove {planned.removed:,} of {planned.total:,} {_MANY[store]} of {owner}"
                f" ({planned.count(Reason.AGE):,} by age, {planned.count(Reason.COUNT):,} by number)?"
            )
            result = pruning.apply(session, planned, on_progress=_progress(common))
        console.answer("curator.prune/1", result, draw_pruned)
    return ExitCode.DONE


@command(app, "dedup", path="curator dedup", writes=True)
def dedup(
    common: Common,
    user: User = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="What is the same to the letter. The default.")
    ] = False,
    semantic: Annotated[
        bool, typer.Option("--semantic", help="Also what says the same in other words.")
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            metavar="S",
            min=0,
            max=1,
            help="With --semantic: calibrated similarity from which two are compared. Default: 0.2.",
        ),
    ] = None,
    store: Store = "memory",
    compat: Annotated[
        bool,
        typer.Option("--compat", help="The first design's key: case, signs and blanks ignored."),
    ] = False,
    max_comparisons: Annotated[
        int | None,
        typer.Option(
            "--max-comparisons", metavar="N", min=1, help="With --semantic: stop after so many."
        ),
    ] = None,
    after: Annotated[
        str | None,
        typer.Option("--after", metavar="ID", help="Go on where a run stopped at its ceiling."),
    ] = None,
    undo: Annotated[
        str | None, typer.Option("--undo", metavar="RUN", help="Bring back what a run removed.")
    ] = None,
) -> int:
    """Remove what is said twice; one of each stays, and `--undo` brings the others back.

    Negation, numbers, dates and names that differ keep two apart, however near they are. Shows what
    goes and asks first.
    """
    from negmem.cli.render.dedup import draw_deduplicated
    from negmem.core.evolution import dedup as deduplication
    from negmem.core.evolution import dedup_options
    from negmem.core.evolution.dedup_stores import store_of
    from negmem.core.evolution.prune import require_removable
    from negmem.core.memories import parse_id

    owner = common.require_user(user)
    asked = dedup_options.options(
        exact=exact,
        semantic=semantic,
        threshold=threshold,
        compat=compat,
        max_comparisons=max_comparisons,
        after=None if after is None else parse_id(after),
    )
    run = None if undo is None else parse_id(undo)
    console = common.console
    with common.session() as session:
        session.require_installed()
        console.note(f"target: {session.database.label} (from {session.database.target.origin})")
        require_removable(session, owner)
        chosen = store_of(session, owner, store)
        if run is not None:
            result = deduplication.undo(session, chosen, run, dry_run=common.dry_run)
        else:
            show = _stages(common)
            is_asking = not common.dry_run and not common.yes
            result = deduplication.deduplicate(
                session, chosen, asked, dry_run=common.dry_run or is_asking, on_progress=show
            )
            if is_asking and result.removed:
                console.confirm(
                    f"remove {result.removed:,} for {result.groups:,} that stay, of {owner}?"
                )
                result = deduplication.deduplicate(session, chosen, asked, on_progress=show)
            elif is_asking:
                result = result.model_copy(update={"dry_run": False})
        console.answer("curator.dedup/1", result, draw_deduplicated)
        if run is None and result.run_id is not None:
            chosen_by = "" if store == "memory" else f" --store {store}"
            console.note(
                f"take it back with: negmem curator dedup --user {shlex.quote(owner)}{chosen_by}"
                f" --undo {result.run_id}"
            )
    return ExitCode.DONE


def _stages(common: Common) -> Callable[[str, int, int], None]:
    is_shown = not common.json and not common.quiet and sys.stderr.isatty()

    def show(what: str, done: int, of: int) -> None:
        if is_shown:
            total = f" of {of:,}" if of else ""
            end = "\n" if done == of else ""
            sys.stderr.write(f"\r{what} {done:,}{total}\x1b[K{end}")
            sys.stderr.flush()

    return show


def _progress(common: Common) -> Callable[[int, int], None] | None:
    if common.json or common.quiet or not sys.stderr.isatty():
        return None

    def show(done: int, total: int) -> None:
        end = "\n" if done == total else ""
        sys.stderr.write(f"\r{done:,} of {total:,}{end}")
        sys.stderr.flush()

    return show
