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
    str,
    typer.Option(
        "--store", metavar="STORE", help="memory (the default), fact, learning or entity."
    ),
]
Namespace = Annotated[
    str | None,
    typer.Option(
        "--namespace",
        metavar="NAME",
        help="Of learning and entity: global (the default), user, or a team.",
    ),
]

app = new_app("Keep memories to an age and a number, and each thing said once.")


_MANY = {
    "memory": "memories",
    "fact": "facts",
    "learning": "learnings",
    "entity": "facts and events",
}


@app.callback()
def curator() -> None:
    """Keep memories to an age and a number, and each thing said once."""


@command(app, "curator prune", writes=True)
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
    namespace: Namespace = None,
    undo: Annotated[
        str | None,
        typer.Option("--undo", metavar="RUN", help="Bring back what a run removed there."),
    ] = None,
    compat: Annotated[
        bool,
        typer.Option("--compat", help="The first design's rule: creation only, times as text."),
    ] = False,
) -> int:
    """Remove old memories and those above a number; `memory restore` brings them back.

    Pinned and core memories stay, and count. Of entities facts and events go, never an entity. Shows what
    goes and asks first.
    """
    from negmem.cli.render.pruning import draw_pruned
    from negmem.core.evolution import prune as pruning
    from negmem.core.evolution.stores import parse_run, store_of
    from negmem.core.formulas.pruning import Reason

    owner = _asking(common, user, store)
    run = None if undo is None else parse_run(undo)
    console = common.console
    with common.installed() as session:
        common.tell_target(session)
        if run is not None:
            chosen = store_of(session, owner, store, namespace=namespace)
            result = pruning.undo(session, chosen, run, dry_run=common.dry_run)
            common.answer(result, draw_pruned)
            return ExitCode.DONE
        planned = pruning.plan(
            session,
            owner,
            max_age_days=max_age_days,
            max_count=max_count,
            store=store,
            namespace=namespace,
            compat=compat,
        )
        if common.dry_run or planned.removed == 0:
            result = pruning.preview(session, planned)
            if not common.dry_run:
                result = result.model_copy(update={"dry_run": False})
        else:
            console.confirm(
                f"remove {planned.removed:,} of {planned.total:,} {_MANY[store]} of {_whose(owner, store, namespace)}"
                f" ({planned.count(Reason.AGE):,} by age, {planned.count(Reason.COUNT):,} by number)?"
            )
            result = pruning.apply(session, planned, on_progress=_progress(common))
        common.answer(result, draw_pruned)
        if result.run_id is not None:
            asked = _flags(owner, store, namespace)
            console.note(f"take it back with: negmem curator prune{asked} --undo {result.run_id}")
    return ExitCode.DONE


def _asking(common: Common, user: str | None, store: str) -> str | None:
    """Who asks; nobody in particular may where a store is shared."""
    if user is None and store in ("learning", "entity"):
        return None
    return common.require_user(user)


def _whose(user: str | None, store: str, namespace: str | None) -> str:
    if store not in ("learning", "entity"):
        return str(user)
    return str(user) if namespace == "user" else f"the namespace {namespace or 'global'}"


def _flags(user: str | None, store: str, namespace: str | None) -> str:
    words = [] if user is None else ["--user", user]
    words += [] if store == "memory" else ["--store", store]
    words += [] if namespace is None else ["--namespace", namespace]
    return "".join(f" {shlex.quote(word)}" for word in words)


@command(app, "curator dedup", writes=True)
def dedup(
    common: Common,
    user: User = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact", help="The same but for case, width, blanks and end marks. The default."
        ),
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
    namespace: Namespace = None,
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
) -> None:
    """Remove what is said twice; one of each stays, and `--undo` brings the others back.

    Negation, numbers, dates and names that differ keep two apart, however near they are. Shows what
    goes and asks first.
    """
    from negmem.cli.render.dedup import draw_deduplicated
    from negmem.core.evolution import dedup as deduplication
    from negmem.core.evolution import dedup_options
    from negmem.core.evolution.stores import parse_run, store_of
    from negmem.core.memories import parse_id

    owner = _asking(common, user, store)
    asked = dedup_options.options(
        exact=exact,
        semantic=semantic,
        threshold=threshold,
        compat=compat,
        max_comparisons=max_comparisons,
        after=None if after is None else parse_id(after),
    )
    run = None if undo is None else parse_run(undo)
    console = common.console
    with common.installed() as session:
        common.tell_target(session)
        chosen = store_of(session, owner, store, namespace=namespace)
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
                    f"remove {result.removed:,} for {result.groups:,} that stay, of"
                    f" {_whose(owner, store, namespace)}?"
                )
                result = deduplication.deduplicate(session, chosen, asked, on_progress=show)
            elif is_asking:
                result = result.model_copy(update={"dry_run": False})
        common.answer(result, draw_deduplicated)
        if run is None and result.run_id is not None:
            flags = _flags(owner, store, namespace)
            console.note(f"take it back with: negmem curator dedup{flags} --undo {result.run_id}")


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
