"""`learning.tools`: what agents may do with the tools that they get."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from negmem.config.sections import Section, key


class AgentTools(Section):
    """The tools of agents, also over MCP."""

    in_always: bool = key(
        True, "whether agents may write too where the extractor does (mode always)"
    )
    calls: int = key(
        10,
        "how many times: a user's agents may call a tool within the window; 0: any number",
        ge=0,
        le=100_000,
    )
    window_s: int = key(60, "the window of that limit", ge=1, le=3_600)
    limits: tuple[Annotated[str, Field(pattern=r"^[a-z_]{1,64}:[0-9]{1,6}$")], ...] = key(
        (), "other limits for single tools, as name:calls"
    )
    max_tokens: int = key(
        2_000,
        "the longest answer of a tool; longer ones are shortened and say so",
        ge=200,
        le=100_000,
    )
    search_first_s: int = key(
        600, "a lesson is saved only if lessons were searched so recently", ge=1, le=3_600
    )
