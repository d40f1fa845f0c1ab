"""`negmem learn …`: learned knowledge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from negmem.cli.options import Common, Deleted, Limit, Namespace, Offset, User, command, new_app

if TYPE_CHECKING:
    from uuid import UUID

app = new_app("Learned knowledge: lessons, searched before they are saved.")

Id = Annotated[str, typer.Argument(metavar="ID")]
Tags = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", help="May be given several times.")
]
Expected = Annotated[
    int | None,
    typer.Option("--expected-version", metavar="N", min=1, help="Refuse if it changed."),
]


def _id(text: str) -> UUID:
    from negmem.core.text.ids import parsed_id

    return parsed_id(text, "learning", "negmem learn list")


@command(app, "learn save", writes=True)
def save(
    common: Common,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="What it is about.")],
    learning: Annotated[str, typer.Option("--learning", metavar="TEXT", help="The lesson.")],
    context: Annotated[
        str | None, typer.Option("--context", metavar="TEXT", help="When it applies.")
    ] = None,
    tag: Tags = None,
    namespace: Namespace = "global",
    user: User = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Beside lessons that say nearly the same.")
    ] = False,
) -> None:
    """Save a lesson, unless one like it is there: it is searched for first."""
    from negmem.cli.render.learnings import draw_change
    from negmem.core.learning import learnings

    asking = common.checked_user(user)
    with common.installed() as session:
        done = learnings.save(
            session,
            asking,
            title=title,
            learning=learning,
            context=context,
            tags=tag or (),
            namespace=namespace,
            anyway=anyway,
            dry_run=common.dry_run,
        )
        common.answer(done, draw_change)


@command(app, "learn search")
def search(
    common: Common,
    query: Annotated[str, typer.Argument(metavar="QUERY")],
    namespace: Namespace = "global",
    user: User = None,
    limit: Limit = 10,
    offset: Offset = 0,
) -> None:
    """Lessons that answer a question, by words and by meaning."""
    from negmem.cli.render.learnings import draw_found
    from negmem.core.learning import learnings

    asking = common.checked_user(user)
    with common.installed() as session:
        found = learnings.search_learnings(
            session, asking, query, namespace=namespace, limit=limit, offset=offset
        )
        common.answer(found, draw_found)


@command(app, "learn list")
def list_(
    common: Common,
    namespace: Namespace = "global",
    user: User = None,
    tag: Tags = None,
    deleted: Deleted = False,
    limit: Limit = 20,
    offset: Offset = 0,
) -> None:
    """Lessons, the last changed first."""
    from negmem.cli.render.learnings import draw_list
    from negmem.core.learning import learnings

    asking = common.checked_user(user)
    with common.installed() as session:
        found = learnings.list_learnings(
            session,
            asking,
            namespace=namespace,
            tags=tag or (),
            removed=deleted,
            limit=limit,
            offset=offset,
        )
        common.answer(found, draw_list)


@command(app, "learn show")
def show(common: Common, id: Id, user: User = None) -> None:
    """One lesson, the turns of --user it rests on, who added it and who changed it."""
    from negmem.cli.render.learnings import draw_shown
    from negmem.core.learning import learnings

    asking, wanted = common.checked_user(user), _id(id)
    with common.installed() as session:
        common.answer(learnings.show(session, asking, wanted), draw_shown)


@command(app, "learn edit", writes=True)
def edit(
    common: Common,
    id: Id,
    user: User = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="Another title.")
    ] = None,
    learning: Annotated[
        str | None,
        typer.Option("--learning", metavar="TEXT", help="Another wording of the lesson."),
    ] = None,
    context: Annotated[
        str | None, typer.Option("--context", metavar="TEXT", help='"" takes it away.')
    ] = None,
    tag: Tags = None,
    expected_version: Expected = None,
) -> None:
    """Change a lesson; what it said before is kept. --tag gives all its tags anew."""
    from negmem.cli.render.learnings import draw_change
    from negmem.core.learning import learnings

    asking, wanted = common.checked_user(user), _id(id)
    with common.installed() as session:
        done = learnings.edit(
            session,
            asking,
            wanted,
            title=title,
            learning=learning,
            context=context,
            tags=tag,
            expected_version=expected_version,
            dry_run=common.dry_run,
        )
        common.answer(done, draw_change)


@command(app, "learn rm", writes=True)
def remove(
    common: Common,
    id: Id,
    user: User = None,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="Why it goes; kept.")
    ] = None,
    expected_version: Expected = None,
) -> None:
    """Take a lesson out of search and contexts; `learn undo` brings it back."""
    from negmem.cli.render.learnings import draw_change
    from negmem.core.learning import learnings

    asking, wanted = common.checked_user(user), _id(id)
    with common.installed() as session:
        done = learnings.remove(
            session,
            asking,
            wanted,
            reason=reason,
            expected_version=expected_version,
            dry_run=common.dry_run,
        )
        common.answer(done, draw_change)


@command(app, "learn versions")
def versions(common: Common, id: Id, user: User = None) -> None:
    """What a lesson said before, oldest first."""
    from negmem.cli.render.learnings import draw_versions
    from negmem.core.learning import learnings

    asking, wanted = common.checked_user(user), _id(id)
    with common.installed() as session:
        common.answer(learnings.versions(session, asking, wanted), draw_versions)


@command(app, "learn undo", writes=True)
def undo(common: Common, id: Id, user: User = None) -> None:
    """Take the last change back: an edit, a removal, or an undo."""
    from negmem.cli.render.learnings import draw_change
    from negmem.core.learning import learnings

    asking, wanted = common.checked_user(user), _id(id)
    with common.installed() as session:
        done = learnings.undo(session, asking, wanted, dry_run=common.dry_run)
        common.answer(done, draw_change)
