"""`negmem fact …`: what is known by key, in versions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.moments import parse_moment
from negmem.cli.options import Common, Deleted, Limit, Offset, TrailNote, User, command, new_app

app = new_app("Facts by key, with their versions.")

Id = Annotated[str, typer.Argument(metavar="ID")]
Ids = Annotated[list[str], typer.Argument(metavar="ID…")]
Type = Annotated[
    str | None,
    typer.Option("--type", metavar="TYPE", help="preference, profile, rule, plan, relation, …"),
]
AsOf = Annotated[
    str | None,
    typer.Option("--as-of", metavar="WHEN", help="What was true then. Default: now."),
]
BelievedAt = Annotated[
    str | None,
    typer.Option("--believed-at", metavar="WHEN", help="By what was known then. Default: now."),
]


@command(app, "fact set", writes=True)
def set_(
    common: Common,
    fact_type: Annotated[
        str, typer.Argument(metavar="TYPE", help="preference, profile, rule, plan, relation, …")
    ],
    key: Annotated[str, typer.Argument(metavar="KEY", help="Such as city or likes:tea.")],
    value: Annotated[
        str, typer.Argument(metavar="VALUE", help="JSON where it reads as such, else text.")
    ],
    user: User = None,
    confidence: Annotated[
        float, typer.Option("--confidence", metavar="0..1", help="How sure it is.")
    ] = 1.0,
    valid_from: Annotated[
        str | None, typer.Option("--valid-from", metavar="WHEN", help="True from. Default: now.")
    ] = None,
    valid_until: Annotated[
        str | None, typer.Option("--valid-until", metavar="WHEN", help="True until. Default: open.")
    ] = None,
    note: TrailNote = None,
) -> None:
    """Set a fact by hand: it stands against what is extracted, until it is set anew."""
    from negmem.cli.render.facts import draw_written
    from negmem.core import facts

    owner = common.require_user(user)
    starts = parse_moment(valid_from, "--valid-from")
    ends = parse_moment(valid_until, "--valid-until")
    with common.installed() as session:
        written = facts.set_fact(
            session,
            owner,
            fact_type,
            key,
            _value(value),
            confidence=confidence,
            valid_from=starts,
            valid_until=ends,
            note=note,
            dry_run=common.dry_run,
        )
        common.answer(written, draw_written)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@command(app, "fact list")
def list_(
    common: Common,
    user: User = None,
    fact_type: Type = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", help="Only under this key.")
    ] = None,
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="NAME", help="Said in this conversation.")
    ] = None,
    as_of: AsOf = None,
    believed_at: BelievedAt = None,
    deleted: Deleted = False,
    limit: Limit = 20,
    offset: Offset = 0,
) -> None:
    """One user's facts as they are, as they were, or as they were believed to be."""
    from negmem.cli.render.facts import draw_list
    from negmem.core import facts

    owner = common.require_user(user)
    true_at = parse_moment(as_of, "--as-of")
    known_at = parse_moment(believed_at, "--believed-at")
    with common.installed() as session:
        found = facts.list_facts(
            session,
            owner,
            fact_type=fact_type,
            key=key,
            thread=thread,
            as_of=true_at,
            believed_at=known_at,
            removed=deleted,
            limit=limit,
            offset=offset,
        )
        common.answer(found, draw_list)
        if found.truncated:
            common.console.note(f"{len(found.facts):,} of {found.total:,}")


@command(app, "fact show")
def show(common: Common, fact_id: Id, user: User = None) -> None:
    """One version of a fact with everything known about it."""
    from negmem.cli.render.facts import draw_fact
    from negmem.core import facts

    wanted = facts.parse_id(fact_id)
    named = common.checked_user(user)
    with common.installed() as session:
        owner = named or facts.owner_of(session, [wanted])
        common.answer(facts.show(session, owner, wanted), draw_fact)


@command(app, "fact history")
def history(
    common: Common,
    which: Annotated[str, typer.Argument(metavar="ID|KEY", help="A fact's id, or its key.")],
    user: User = None,
    fact_type: Type = None,
) -> None:
    """All versions under one key, oldest truth first, and the conflicts between them."""
    from negmem.cli.render.facts import draw_history
    from negmem.core import facts
    from negmem.errors import UsageError

    try:
        wanted = facts.parse_id(which)
    except UsageError:
        wanted = None
    if user is not None or wanted is None:
        common.require_user(user)
    with common.installed() as session:
        if wanted is None:
            owner = common.require_user(user)
            wanted = facts.find_key(session, owner, which, fact_type)
        else:
            owner = user or facts.owner_of(session, [wanted])
        found = facts.history(session, owner, wanted)
        common.answer(found, draw_history)


@command(app, "fact search")
def search(
    common: Common,
    query: Annotated[str, typer.Argument(metavar="QUERY")],
    user: User = None,
    fact_type: Type = None,
    as_of: AsOf = None,
    believed_at: BelievedAt = None,
    limit: Limit = 10,
) -> None:
    """What of a user's facts answers a question, of those that were true at a moment."""
    from negmem.cli.render.facts import draw_matches
    from negmem.core import fact_search

    owner = common.require_user(user)
    true_at = parse_moment(as_of, "--as-of")
    known_at = parse_moment(believed_at, "--believed-at")
    with common.installed() as session:
        found = fact_search.search_facts(
            session,
            owner,
            query,
            fact_type=fact_type,
            as_of=true_at,
            believed_at=known_at,
            limit=limit,
        )
        common.answer(found, draw_matches)


def _change(common: Common, ids: list[str], user: str | None, act: Callable[..., Any]) -> int:
    from negmem.cli.render.facts import draw_change
    from negmem.core import facts

    wanted = [facts.parse_id(text) for text in ids]
    named = common.checked_user(user)
    with common.installed() as session:
        owner = named or facts.owner_of(session, wanted)
        result = act(session, owner, wanted, dry_run=common.dry_run)
        common.answer(result, draw_change)
    return ExitCode.FAILED if result.unknown else ExitCode.DONE


@command(app, "fact rm", writes=True)
def remove(common: Common, ids: Ids, user: User = None) -> int:
    """Remove facts: out of every search at once, back with restore until the next purge."""
    from negmem.core import facts

    return _change(common, ids, user, facts.remove)


@command(app, "fact restore", writes=True)
def restore(common: Common, ids: Ids, user: User = None) -> int:
    """Bring removed facts back, unless another value stands under their key by now."""
    from negmem.core import facts

    return _change(common, ids, user, facts.restore)
