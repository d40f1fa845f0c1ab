"""`negmem memory link·unlink·links·topics`: how memories belong together."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.options import Common, Limit, Offset, User, command, new_app

app = new_app("Links between memories.")

Id = Annotated[str, typer.Argument(metavar="ID")]
Other = Annotated[str, typer.Argument(metavar="OTHER")]
TYPES = "semantic, temporal, thread_shared, entity, related_to, causes or follows."


@command(app, "memory link", writes=True)
def link(
    common: Common,
    memory_id: Id,
    other: Other,
    user: User = None,
    link_type: Annotated[str, typer.Option("--type", metavar="TYPE", help=TYPES)] = "related_to",
    weight: Annotated[
        float, typer.Option("--weight", metavar="W", help="0 to 1; what is outside is limited.")
    ] = 0.5,
) -> None:
    """Link two memories, facts or entities of one user. causes and follows go from ID to OTHER."""
    from negmem.cli.render.links import draw_change
    from negmem.core import associations, memories

    one, two = memories.parse_id(memory_id), memories.parse_id(other)
    if user is not None:
        common.require_user(user)
    with common.installed() as session:
        owner = user or memories.owner_of(session, [one, two])
        done = associations.link(
            session,
            owner,
            one,
            two,
            association_type=link_type,
            weight=weight,
            dry_run=common.dry_run,
        )
        common.answer(done, draw_change)


@command(app, "memory unlink", writes=True)
def unlink(
    common: Common,
    memory_id: Id,
    other: Other,
    user: User = None,
    link_type: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Default: links of all types.")
    ] = None,
) -> None:
    """Take links between two items back; consolidation does not make them again."""
    from negmem.cli.render.links import draw_change
    from negmem.core import associations, memories

    one, two = memories.parse_id(memory_id), memories.parse_id(other)
    if user is not None:
        common.require_user(user)
    with common.installed() as session:
        owner = user or memories.owner_of(session, [one, two])
        done = associations.unlink(
            session, owner, one, two, association_type=link_type, dry_run=common.dry_run
        )
        common.answer(done, draw_change)


@command(app, "memory links")
def links(
    common: Common,
    memory_id: Id,
    user: User = None,
    depth: Annotated[int, typer.Option("--depth", metavar="N", help="Hops, at most 5.")] = 1,
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", metavar="N", help="What has no room is left out, and listed."),
    ] = None,
    min_weight: Annotated[
        float, typer.Option("--min-weight", metavar="W", help="Leave weaker links out.")
    ] = 0.0,
    link_type: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="TYPE", help="Only these; may be given several times."),
    ] = None,
) -> None:
    """What is linked to a memory, hop by hop, nearest first."""
    from negmem.cli.render.links import draw_links
    from negmem.core import associations, memories

    item = memories.parse_id(memory_id)
    if user is not None:
        common.require_user(user)
    with common.installed() as session:
        owner = user or memories.owner_of(session, [item])
        found = associations.links(
            session,
            owner,
            item,
            depth=depth,
            max_tokens=max_tokens,
            min_weight=min_weight,
            types=link_type or None,
        )
        common.answer(found, draw_links)
        if found.left_out:
            common.console.note(f"{len(found.left_out):,} had no room in {max_tokens:,} tokens")


@command(app, "memory topics")
def topics(common: Common, user: User = None, limit: Limit = 20, offset: Offset = 0) -> None:
    """A user's topics: groups of similar memories that consolidation found."""
    from negmem.cli.render.links import draw_topics
    from negmem.core import topics as core_topics

    owner = common.require_user(user)
    with common.installed() as session:
        found = core_topics.list_topics(session, owner, limit=limit, offset=offset)
        common.answer(found, draw_topics)
        if found.truncated:
            common.console.note(f"{len(found.topics):,} of {found.total:,}")
