"""`negmem memory …`: single memories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from negmem.cli import memory_history, memory_links
from negmem.cli.exits import ExitCode
from negmem.cli.moments import parse_moment, parse_pairs
from negmem.cli.options import (
    Common,
    Deleted,
    Limit,
    Offset,
    Since,
    TrailNote,
    Until,
    User,
    command,
    new_app,
)

app = new_app("Add, list, show, edit, remove, restore, pin and link memories.")

Text = Annotated[str, typer.Argument(metavar="TEXT", help="What to remember.")]
Id = Annotated[str, typer.Argument(metavar="ID")]
Ids = Annotated[list[str], typer.Argument(metavar="ID…")]
Type = Annotated[
    str | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        help="core, semantic, preference, procedural, fact or episodic.",
    ),
]
Thread = Annotated[str | None, typer.Option("--thread", metavar="NAME", help="Its conversation.")]
Metadata = Annotated[
    list[str] | None,
    typer.Option("--metadata", metavar="KEY=VALUE", help="May be given several times."),
]


@command(app, "memory add", writes=True)
def add(
    common: Common,
    text: Text,
    user: User = None,
    memory_type: Type = None,
    thread: Thread = None,
    metadata: Metadata = None,
    occurred_at: Annotated[
        str | None,
        typer.Option("--occurred-at", metavar="WHEN", help="When it was said. Default: now."),
    ] = None,
) -> None:
    """Store one memory, searchable at once."""
    from negmem.cli.render.memories import draw_added
    from negmem.core import memories

    owner = common.require_user(user)
    pairs = parse_pairs(metadata, "--metadata")
    moment = parse_moment(occurred_at, "--occurred-at")
    with common.installed() as session:
        added = memories.add(
            session,
            owner,
            text,
            memory_type=memory_type or "episodic",
            thread=thread,
            metadata=pairs,
            occurred_at=moment,
            dry_run=common.dry_run,
        )
        common.answer(added, draw_added)


@command(app, "memory list")
def list_(
    common: Common,
    user: User = None,
    memory_type: Type = None,
    thread: Thread = None,
    since: Since = None,
    until: Until = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="KEY=VALUE",
            help="In the metadata; may be repeated. source=observation: what was learned of the user.",
        ),
    ] = None,
    deleted: Deleted = False,
    pinned: Annotated[bool, typer.Option("--pinned", help="Only pinned ones.")] = False,
    oldest_first: Annotated[
        bool, typer.Option("--oldest-first", help="Default: newest first.")
    ] = False,
    limit: Limit = 20,
    offset: Offset = 0,
) -> None:
    """One user's memories, by when they were said."""
    from negmem.cli.render.memories import draw_list
    from negmem.core import memories

    owner = common.require_user(user)
    first, last = parse_moment(since, "--since"), parse_moment(until, "--until")
    with common.installed() as session:
        found = memories.list_memories(
            session,
            owner,
            memory_type=memory_type,
            thread=thread,
            since=first,
            until=last,
            where=parse_pairs(where, "--where"),
            deleted=deleted,
            pinned=pinned,
            newest_first=not oldest_first,
            limit=limit,
            offset=offset,
        )
        common.answer(found, draw_list)
        if found.truncated:
            common.console.note(f"{len(found.memories):,} of {found.total:,}")


@command(app, "memory show")
def show(common: Common, memory_id: Id, user: User = None) -> None:
    """One memory with everything known about it."""
    from negmem.cli.render.memories import draw_memory
    from negmem.core import memories

    wanted = memories.parse_id(memory_id)
    named = common.checked_user(user)
    with common.installed() as session:
        owner = named or memories.owner_of(session, [wanted])
        found = memories.show(session, owner, wanted)
        common.answer(found, draw_memory)


@command(app, "memory edit", writes=True)
def edit(
    common: Common,
    memory_id: Id,
    user: User = None,
    content: Annotated[
        str | None, typer.Option("--content", metavar="TEXT", help="What it says from now on.")
    ] = None,
    memory_type: Type = None,
    metadata: Metadata = None,
    expected_version: Annotated[
        int | None,
        typer.Option("--expected-version", metavar="N", help="Refuse if it changed meanwhile."),
    ] = None,
    note: TrailNote = None,
) -> None:
    """Change a memory; what it said before is kept. `--metadata KEY=null` takes a key out."""
    from negmem.cli.render.memories import draw_memory
    from negmem.core import memories
    from negmem.errors import UsageError

    wanted = memories.parse_id(memory_id)
    pairs = parse_pairs(metadata, "--metadata")
    if content is None and memory_type is None and not pairs:
        raise UsageError(
            "nothing_to_change",
            "there is nothing to change",
            why="neither --content, --type nor --metadata was given",
            hint=f'negmem memory edit {memory_id} --content "…"',
        )
    named = common.checked_user(user)
    with common.installed() as session:
        owner = named or memories.owner_of(session, [wanted])
        changed = memories.edit(
            session,
            owner,
            wanted,
            content=content,
            memory_type=memory_type,
            metadata=pairs,
            expected_version=expected_version,
            note=note,
            dry_run=common.dry_run,
        )
        common.answer(changed, draw_memory, extra={"dry_run": common.dry_run})


@command(app, "memory undo", writes=True)
def undo(common: Common, memory_id: Id, user: User = None, note: TrailNote = None) -> None:
    """Take the last edit back; a second undo takes back the first. What was removed: `restore`."""
    from negmem.cli.render.memories import draw_memory
    from negmem.core import memories

    wanted = memories.parse_id(memory_id)
    named = common.checked_user(user)
    with common.installed() as session:
        owner = named or memories.owner_of(session, [wanted])
        back = memories.undo(session, owner, wanted, note=note, dry_run=common.dry_run)
        common.answer(back, draw_memory, extra={"dry_run": common.dry_run})


def _change(common: Common, ids: list[str], user: str | None, act: Callable[..., Any]) -> int:
    from negmem.cli.render.memories import draw_change
    from negmem.core import memories

    wanted = [memories.parse_id(text) for text in ids]
    named = common.checked_user(user)
    with common.installed() as session:
        owner = named or memories.owner_of(session, wanted)
        result = act(session, owner, wanted, dry_run=common.dry_run)
        common.answer(result, draw_change)
    return ExitCode.FAILED if result.unknown else ExitCode.DONE


@command(app, "memory rm", writes=True)
def remove(common: Common, ids: Ids, user: User = None) -> int:
    """Remove memories: out of every search at once, back with restore until the next purge."""
    from negmem.core import memories

    return _change(common, ids, user, memories.remove)


@command(app, "memory restore", writes=True)
def restore(common: Common, ids: Ids, user: User = None) -> int:
    """Bring removed memories back, searchable as before."""
    from negmem.core import memories

    return _change(common, ids, user, memories.restore)


@command(app, "memory pin", writes=True)
def pin(common: Common, ids: Ids, user: User = None) -> int:
    """Keep memories from fading and from pruning."""
    from negmem.core import memories

    return _change(common, ids, user, memories.pin)


@command(app, "memory unpin", writes=True)
def unpin(common: Common, ids: Ids, user: User = None) -> int:
    """Let memories fade again."""
    from negmem.core import memories

    return _change(common, ids, user, memories.unpin)


app.registered_commands += memory_links.app.registered_commands
app.registered_commands += memory_history.app.registered_commands
