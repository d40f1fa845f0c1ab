"""`negmem search`: find memories, and explain why."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.moments import parse_moment, parse_pairs
from negmem.cli.options import Common, Offset, Since, Until, User, command, new_app

app = new_app("Find memories, and explain why.")


@command(app, "search")
def search(
    common: Common,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question, in any language.")],
    user: User = None,
    level: Annotated[
        str,
        typer.Option("--level", metavar="LEVEL", help="auto, hybrid, vector, keyword or ilike."),
    ] = "auto",
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", metavar="N", min=1, help="At most N results. Default: 10."),
    ] = None,
    offset: Offset = 0,
    kinds: Annotated[
        str,
        typer.Option("--kind", metavar="KINDS", help="Of memory, fact, entity, learning."),
    ] = "memory,fact",
    types: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPES", help="Types of memory, with commas between."),
    ] = None,
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="NAME", help="Of one conversation.")
    ] = None,
    since: Since = None,
    until: Until = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="WHEN",
            help="What had been said by then, and facts as they were true then.",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="KEY=VALUE", help="In the metadata; may be repeated."),
    ] = None,
    semantic_weight: Annotated[
        float | None,
        typer.Option(
            "--semantic-weight",
            metavar="W",
            min=0,
            max=1,
            help="Of the vectors. Default: as configured.",
        ),
    ] = None,
    keyword_weight: Annotated[
        float | None,
        typer.Option(
            "--keyword-weight",
            metavar="W",
            min=0,
            max=1,
            help="Of the words. Default: as configured.",
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="What each part adds to a score; the plan.")
    ] = False,
    why_not: Annotated[
        str | None,
        typer.Option(
            "--why-not", metavar="ID", help="Why this memory or fact is not there; records nothing."
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 3 when the search fell to a lower level.")
    ] = False,
    no_record: Annotated[
        bool, typer.Option("--no-record", help="Count no access, write no log.")
    ] = False,
) -> int:
    """What of one user's memories answers a question, best first."""
    from negmem.cli.render.explain import draw_answer
    from negmem.core.retrieval.as_of import search_at as run
    from negmem.core.retrieval.search import Filters

    owner = common.require_user(user)
    day = parse_moment(as_of, "--as-of")
    filters = Filters(
        types=_names(types) if types is not None else None,
        thread=thread,
        since=parse_moment(since, "--since"),
        until=parse_moment(until, "--until"),
        where=parse_pairs(where, "--where"),
    )
    wanted = None
    if why_not is not None:
        from negmem.core.memories import parse_id

        wanted = parse_id(why_not)
    with common.installed() as session:
        answer = run(
            session,
            owner,
            query,
            limit=limit,
            offset=offset,
            as_of=day,
            kinds=_names(kinds),
            filters=filters,
            explain=explain,
            record=not no_record,
            why_not=wanted,
            level=level,
            semantic_weight=semantic_weight,
            keyword_weight=keyword_weight,
        )
        common.answer(answer, lambda console, shown: draw_answer(console, shown, query, owner))
    fell = [step for step in answer.fallbacks if strict or step.code != "no_match"]
    return ExitCode.ATTENTION if fell and (strict or level != "auto") else ExitCode.DONE


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
