"""`negmem decision …`: what agents chose for a user and why, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from negmem.cli.options import Common, Deleted, Limit, Offset, User, command, new_app

if TYPE_CHECKING:
    from uuid import UUID

app = new_app("Decisions: what an agent chose for a user and why, and what came of it.")

Id = Annotated[str, typer.Argument(metavar="ID", help="Of a decision.")]
Agent = Annotated[str | None, typer.Option("--agent", metavar="NAME", help="Which agent's.")]
Type = Annotated[
    str | None, typer.Option("--type", metavar="TYPE", help="tool_selection, escalation, …")
]


def _id(text: str) -> UUID:
    from negmem.core.text.ids import parsed_id

    return parsed_id(text, "decision", "negmem decision list --user NAME")


@command(app, "decision add", writes=True)
def add(
    common: Common,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What was decided.")],
    user: User = None,
    reasoning: Annotated[
        str | None, typer.Option("--reasoning", metavar="TEXT", help="Why it was chosen.")
    ] = None,
    context: Annotated[
        str | None, typer.Option("--context", metavar="TEXT", help="In what situation.")
    ] = None,
    alternative: Annotated[
        list[str] | None,
        typer.Option("--alternative", metavar="TEXT", help="May be given several times."),
    ] = None,
    confidence: Annotated[
        float | None, typer.Option("--confidence", metavar="0..1", help="How sure the agent was.")
    ] = None,
    type: Type = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="May be given several times.")
    ] = None,
    agent: Agent = None,
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="NAME", help="In which conversation.")
    ] = None,
) -> None:
    """Log a decision that was made for a user."""
    from negmem.cli.render.decisions import draw_change
    from negmem.core.learning import decision_log

    owner = common.require_user(user)
    with common.installed() as session:
        done = decision_log.log_decision(
            session,
            owner,
            text,
            reasoning=reasoning,
            decision_type=type,
            context=context,
            alternatives=alternative or (),
            confidence=confidence,
            tags=tag or (),
            agent=agent,
            thread=thread,
            dry_run=common.dry_run,
        )
        common.answer(done, draw_change)


@command(app, "decision list")
def list_(
    common: Common,
    user: User = None,
    query: Annotated[
        str | None, typer.Option("--query", metavar="WORDS", help="Those that have some of them.")
    ] = None,
    type: Type = None,
    agent: Agent = None,
    days: Annotated[
        int | None, typer.Option("--days", metavar="N", min=1, help="Of the last N days.")
    ] = None,
    deleted: Deleted = False,
    limit: Limit = 20,
    offset: Offset = 0,
) -> None:
    """Decisions that were made for a user, newest first."""
    from negmem.cli.render.decisions import draw_list
    from negmem.core.learning import decision_log

    owner = common.require_user(user)
    with common.installed() as session:
        found = decision_log.list_decisions(
            session,
            owner,
            query,
            decision_type=type,
            agent=agent,
            days=days,
            removed=deleted,
            limit=limit,
            offset=offset,
        )
        common.answer(found, draw_list)


@command(app, "decision show")
def show(common: Common, id: Id, user: User = None) -> None:
    """One decision with its reasons and outcome, where it came from and who changed it."""
    from negmem.cli.render.decisions import draw_shown
    from negmem.core.learning import decision_log

    owner, wanted = common.require_user(user), _id(id)
    with common.installed() as session:
        common.answer(decision_log.show(session, owner, wanted), draw_shown)


@command(app, "decision outcome", writes=True)
def outcome(
    common: Common,
    id: Id,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What came of it.")],
    user: User = None,
    quality: Annotated[
        str | None, typer.Option("--quality", metavar="QUALITY", help="good, bad or neutral.")
    ] = None,
) -> None:
    """Note what came of a decision; what was noted before is kept."""
    from negmem.cli.render.decisions import draw_change
    from negmem.core.learning import decision_log

    owner, wanted = common.require_user(user), _id(id)
    with common.installed() as session:
        done = decision_log.record_outcome(
            session, owner, wanted, text, quality=quality, dry_run=common.dry_run
        )
        common.answer(done, draw_change)


@command(app, "decision rm", writes=True)
def rm(
    common: Common,
    id: Id,
    user: User = None,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="Why it goes; kept.")
    ] = None,
) -> None:
    """Take a decision out of the log and of contexts; `decision undo` brings it back."""
    from negmem.cli.render.decisions import draw_change
    from negmem.core.learning import decision_log

    owner, wanted = common.require_user(user), _id(id)
    with common.installed() as session:
        done = decision_log.remove(session, owner, wanted, reason=reason, dry_run=common.dry_run)
        common.answer(done, draw_change)


@command(app, "decision undo", writes=True)
def undo(common: Common, id: Id, user: User = None) -> None:
    """Take the last change back, an outcome or a removal; a second undo takes back the first."""
    from negmem.cli.render.decisions import draw_change
    from negmem.core.learning import decision_log

    owner, wanted = common.require_user(user), _id(id)
    with common.installed() as session:
        done = decision_log.undo(session, owner, wanted, dry_run=common.dry_run)
        common.answer(done, draw_change)
