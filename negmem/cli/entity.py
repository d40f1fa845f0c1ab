"""`negmem entity …`: people, firms and things."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.moments import parse_pairs
from negmem.cli.options import Common, Limit, Namespace, Offset, User, command, new_app

app = new_app("Entities: people, firms and things, with facts, events and relations.")

Id = Annotated[str, typer.Argument(metavar="ID", help="Its id, TYPE/ID, name or alias.")]
Type = Annotated[
    str | None, typer.Option("--type", metavar="TYPE", help="person, company, project, …")
]


@command(app, "entity add", writes=True)
def add(
    common: Common,
    id: Annotated[str, typer.Argument(metavar="ID", help="Such as zhang_san.")],
    type: Annotated[
        str, typer.Option("--type", metavar="TYPE", help="person, company, project, …")
    ],
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="What it is called.")],
    description: Annotated[
        str | None, typer.Option("--description", metavar="TEXT", help="Who or what it is.")
    ] = None,
    alias: Annotated[
        list[str] | None,
        typer.Option("--alias", metavar="NAME", help="May be given several times."),
    ] = None,
    property: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="KEY=VALUE", help="May be given several times."),
    ] = None,
    namespace: Namespace = "global",
    user: User = None,
    update: Annotated[
        bool, typer.Option("--update", help="Change the one that stands; what is not given stays.")
    ] = False,
) -> None:
    """Add an entity; another one under its id and type is refused, never merged."""
    from negmem.cli.render.entities import draw_change
    from negmem.core.learning import entities

    asking = common.checked_user(user)
    properties = parse_pairs(property, "--property")
    with common.installed() as session:
        done = entities.add(
            session,
            asking,
            id,
            entity_type=type,
            name=name,
            description=description,
            properties=properties,
            aliases=alias or (),
            namespace=namespace,
            update=update,
            dry_run=common.dry_run,
        )
        common.answer(done, draw_change)


@command(app, "entity fact", writes=True)
def fact(
    common: Common,
    id: Id,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is so.")],
    type: Type = None,
    confidence: Annotated[
        float, typer.Option("--confidence", metavar="0..1", help="How sure it is.")
    ] = 1.0,
    namespace: Namespace = "global",
    user: User = None,
) -> None:
    """Add what is so of an entity."""
    from negmem.cli.render.entities import draw_change
    from negmem.core.learning import entities

    asking = common.checked_user(user)
    with common.installed() as session:
        done = entities.add_fact(
            session,
            asking,
            id,
            text,
            entity_type=type,
            confidence=confidence,
            namespace=namespace,
            dry_run=common.dry_run,
        )
        common.answer(done, draw_change)


@command(app, "entity event", writes=True)
def event(
    common: Common,
    id: Id,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What happened.")],
    date: Annotated[
        str | None, typer.Option("--date", metavar="WHEN", help="2026-03-01, 2026-Q1, 2026年3月, …")
    ] = None,
    type: Type = None,
    namespace: Namespace = "global",
    user: User = None,
) -> None:
    """Add what happened to an entity."""
    from negmem.cli.render.entities import draw_change
    from negmem.core.learning import entities

    asking = common.checked_user(user)
    with common.installed() as session:
        done = entities.add_event(
            session,
            asking,
            id,
            text,
            date=date,
            entity_type=type,
            namespace=namespace,
            dry_run=common.dry_run,
        )
        common.answer(done, draw_change)


@command(app, "entity relate", writes=True)
def relate(
    common: Common,
    id: Id,
    relation: Annotated[str, typer.Argument(metavar="RELATION", help="Such as works_at.")],
    other: Annotated[str, typer.Argument(metavar="OTHER", help="The other entity.")],
    direction: Annotated[
        str,
        typer.Option("--direction", metavar="WAY", help="outgoing, or incoming: OTHER to ID."),
    ] = "outgoing",
    type: Type = None,
    other_type: Annotated[
        str | None, typer.Option("--other-type", metavar="TYPE", help="Which OTHER.")
    ] = None,
    namespace: Namespace = "global",
    user: User = None,
) -> None:
    """Relate two entities of one namespace."""
    from negmem.cli.render.entities import draw_change
    from negmem.core.learning import entities

    asking = common.checked_user(user)
    with common.installed() as session:
        done = entities.relate(
            session,
            asking,
            id,
            relation,
            other,
            direction=direction,
            entity_type=type,
            other_type=other_type,
            namespace=namespace,
            dry_run=common.dry_run,
        )
        common.answer(done, draw_change)


@command(app, "entity replace", writes=True)
def replace(
    common: Common,
    id: Id,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="The id of the fact.")],
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="What is so instead; none: nothing.")
    ] = None,
    type: Type = None,
    namespace: Namespace = "global",
    user: User = None,
) -> None:
    """A fact holds no more; it stays stored, as superseded."""
    from negmem.cli.render.entities import draw_change
    from negmem.core.learning import entity_changes
    from negmem.core.text.ids import parsed_id

    asking = common.checked_user(user)
    with common.installed() as session:
        done = entity_changes.replace_fact(
            session,
            asking,
            id,
            parsed_id(fact, "fact of an entity", "negmem entity show ID --json"),
            text,
            entity_type=type,
            namespace=namespace,
            dry_run=common.dry_run,
        )
        common.answer(done, draw_change)


@command(app, "entity rm", writes=True)
def rm(
    common: Common,
    id: Id,
    part: Annotated[
        str | None,
        typer.Option("--part", metavar="ID", help="Only this fact, event or outgoing relation."),
    ] = None,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why it goes; kept.")
    ] = "removed by hand",
    type: Type = None,
    namespace: Namespace = "global",
    user: User = None,
) -> None:
    """Take an entity, or a part of it, out of search and contexts; undo brings it back."""
    from negmem.cli.render.entities import draw_change
    from negmem.core.learning import entity_changes
    from negmem.core.text.ids import parsed_id

    asking = common.checked_user(user)
    hint = "negmem entity show ID --json"
    one = None if part is None else parsed_id(part, "part of an entity", hint)
    with common.installed() as session:
        done = entity_changes.remove(
            session,
            asking,
            id,
            part=one,
            reason=reason,
            entity_type=type,
            namespace=namespace,
            dry_run=common.dry_run,
        )
        common.answer(done, draw_change)


@command(app, "entity undo", writes=True)
def undo(
    common: Common, id: Id, type: Type = None, namespace: Namespace = "global", user: User = None
) -> None:
    """Take the last change back, a removal too; a second undo takes back the first."""
    from negmem.cli.render.entities import draw_change
    from negmem.core.learning import entity_changes

    asking = common.checked_user(user)
    with common.installed() as session:
        done = entity_changes.undo(
            session, asking, id, entity_type=type, namespace=namespace, dry_run=common.dry_run
        )
        common.answer(done, draw_change)


@command(app, "entity list")
def list_(
    common: Common,
    type: Type = None,
    namespace: Namespace = "global",
    user: User = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> None:
    """Entities, the last changed first."""
    from negmem.cli.render.entities import draw_list
    from negmem.core.learning import entities

    asking = common.checked_user(user)
    with common.installed() as session:
        found = entities.list_entities(
            session, asking, entity_type=type, namespace=namespace, limit=limit, offset=offset
        )
        common.answer(found, draw_list)


@command(app, "entity show")
def show(
    common: Common,
    id: Id,
    type: Type = None,
    namespace: Namespace = "global",
    user: User = None,
    history: Annotated[
        bool, typer.Option("--history", help="What it was before, oldest first.")
    ] = False,
) -> None:
    """One entity with its facts, events and relations."""
    from negmem.cli.render.entities import draw_shown
    from negmem.core.learning import entities

    asking = common.checked_user(user)
    with common.installed() as session:
        found = entities.show(
            session, asking, id, entity_type=type, namespace=namespace, history=history
        )
        common.answer(found, draw_shown)


@command(app, "entity search")
def search(
    common: Common,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A question, or any text.")],
    namespace: Namespace = "global",
    user: User = None,
    limit: Limit = 10,
    offset: Offset = 0,
) -> None:
    """Entities that a text names or that answer it."""
    from negmem.cli.render.entities import draw_found
    from negmem.core.learning import entities

    asking = common.checked_user(user)
    with common.installed() as session:
        found = entities.search_entities(
            session, asking, query, namespace=namespace, limit=limit, offset=offset
        )
        common.answer(found, draw_found)
