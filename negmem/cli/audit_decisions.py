"""`negmem audit retain·delete·anonymize·apply·history`: what was decided about memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from negmem.cli.options import Actor, Common, User, command, new_app
from negmem.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from negmem.core.models.audit import Decision

app = new_app("Decisions about memories.")

Ids = Annotated[list[str], typer.Argument(metavar="ID…")]
Expected = Annotated[
    int | None,
    typer.Option(
        "--expected-version",
        metavar="N",
        min=0,
        help="Refuse if the memory's last number on the trail is another; 0 before the first.",
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--idempotency-key",
        metavar="KEY",
        help="The same set again does nothing; another is refused.",
    ),
]
Note = Annotated[str | None, typer.Option("--note", metavar="TEXT", help="Why.")]


@command(app, "audit retain", writes=True)
def retain(
    common: Common,
    ids: Ids,
    user: User = None,
    expected_version: Expected = None,
    idempotency_key: Key = None,
    note: Note = None,
    actor: Actor = None,
) -> None:
    """Put on the trail that memories are kept, by whom and why. Changes nothing else."""
    _named(common, "retain", ids, user, expected_version, idempotency_key, note, actor)


@command(app, "audit delete", writes=True)
def delete(
    common: Common,
    ids: Ids,
    user: User = None,
    expected_version: Expected = None,
    idempotency_key: Key = None,
    note: Note = None,
    actor: Actor = None,
) -> None:
    """Delete memories for good, with exactly what came from them. --dry-run shows rows by table."""
    _named(common, "delete", ids, user, expected_version, idempotency_key, note, actor)


@command(app, "audit anonymize", writes=True)
def anonymize(
    common: Common,
    ids: Ids,
    user: User = None,
    expected_version: Expected = None,
    idempotency_key: Key = None,
    note: Note = None,
    actor: Actor = None,
) -> None:
    """Keep the rows of memories without what they said, and of the facts that came from them."""
    _named(common, "anonymize", ids, user, expected_version, idempotency_key, note, actor)


@command(app, "audit apply", writes=True)
def apply(
    common: Common,
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="JSON, JSON Lines or CSV.")],
    user: User = None,
    idempotency_key: Key = None,
    note: Annotated[
        str | None, typer.Option("--note", metavar="TEXT", help="Why, where the file says nothing.")
    ] = None,
    actor: Actor = None,
) -> None:
    """Carry out many decisions in one transaction: all, or none with each item that stands against it."""
    from negmem.core.governance.decision_files import read_decisions

    owner = common.require_user(user)
    decisions = [
        one if one.note is not None or note is None else one.model_copy(update={"note": note})
        for one in read_decisions(file)
    ]
    _act(common, owner, decisions, idempotency_key, actor)


def _named(
    common: Common,
    decision: str,
    ids: Sequence[str],
    user: str | None,
    expected_version: int | None,
    key: str | None,
    note: str | None,
    actor: str | None,
) -> None:
    from negmem.core.memories import parse_id
    from negmem.core.models.audit import Decision

    owner = common.require_user(user)
    if expected_version is not None and len(ids) > 1:
        raise UsageError(
            "version_for_several",
            "one version can't be that of several memories",
            why=f"{len(ids)} ids and one --expected-version",
            hint="negmem audit apply FILE    names a version for each",
        )
    decisions = [
        Decision.model_validate(
            {
                "memory_id": parse_id(one),
                "decision": decision,
                "expected_version": expected_version,
                "note": note,
            }
        )
        for one in ids
    ]
    _act(common, owner, decisions, key, actor)


def _act(
    common: Common,
    user: str,
    decisions: Sequence[Decision],
    key: str | None,
    actor: str | None,
) -> None:
    from negmem.cli.render.audit import draw_decided
    from negmem.core.governance.decisions import decide
    from negmem.core.models.audit import Decided

    console = common.console
    with common.installed() as session:
        common.tell_target(session)

        def act(dry_run: bool) -> Decided:
            return decide(
                session, user, decisions, idempotency_key=key, actor=actor, dry_run=dry_run
            )

        final = [one for one in decisions if one.decision != "retain"]
        if final and not common.dry_run and not common.yes:
            planned = act(True)
            rows = sum(one.rows for one in planned.reach)
            if rows:
                verbs = " and ".join(sorted({one.decision for one in final}))
                console.confirm(
                    f"{verbs} {len(final):,} memories of {user}, {rows:,} rows, for good?"
                )
        common.answer(act(common.dry_run), draw_decided)


@command(app, "audit history")
def history(
    common: Common,
    user: User = None,
    namespace: Annotated[
        str | None,
        typer.Option("--namespace", metavar="NAME", help="Of what is shared: global, or a team."),
    ] = None,
    memory: Annotated[
        str | None, typer.Option("--memory", metavar="ID", help="Only of this memory.")
    ] = None,
    before: Annotated[
        int | None,
        typer.Option("--before", metavar="N", min=1, help="Go on where `next` of a page says."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, help="At most N, up to 1000.")
    ] = 100,
) -> None:
    """What was decided, put right or taken away of a person, by whom and why; the newest first.

    With --namespace: what pii fix rewrote in a store that is shared.
    """
    from negmem.cli.render.audit import draw_history
    from negmem.core.governance.decisions import history as read
    from negmem.core.memories import parse_id

    owner = common.require_user(user) if user is not None or namespace is None else None
    memory_id = None if memory is None else parse_id(memory)
    with common.installed() as session:
        found = read(
            session, owner, namespace=namespace, memory_id=memory_id, before=before, limit=limit
        )
        common.answer(found, draw_history)
