"""`learning`: which stores are on, and who decides on what is written to them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from negmem.config.agents import AgentTools
from negmem.config.sections import Code, Section, key


class _Store(Section):
    enabled: bool = key(False, "whether this store is on")


class ReviewableStore(_Store):
    """A store whose writes may wait for a person."""

    enabled: bool = key(True, "whether this store is on")
    mode: Literal["always", "agentic", "propose", "hitl"] = key(
        "always",
        "who decides: the extractor, the agent, a person",
    )


class ProfileStore(ReviewableStore):
    """Who the user is."""

    fields: tuple[
        Annotated[
            str,
            Field(
                pattern=r"^[a-z][a-z0-9_]*:(text|integer|number|boolean|date|list)"
                r"(:[^\s:,|][^:,|]*(\|[^\s:,|][^:,|]*)*)?$"
            ),
        ],
        ...,
    ] = key(
        (),
        "fields beside the built-in ones, as name:type or name:type:alias|alias; types: text, integer,"
        " number, boolean, date, list",
    )

    @model_validator(mode="after")
    def _one_field_a_name(self) -> ProfileStore:
        known: dict[str, str] = {}
        for entry in self.fields:
            name, _, rest = entry.partition(":")
            for alias in (name, *filter(None, rest.partition(":")[2].split("|"))):
                form = alias.strip().casefold()
                if known.setdefault(form, name) != name:
                    raise ValueError(f"{alias!r} names two fields: {known[form]} and {name}")
        return self


class EntityStore(ReviewableStore):
    """People, firms and things."""

    namespace: str = key(
        "user",
        "where the extractor writes: user, global or a team; a command names its own",
        min_length=1,
        max_length=255,
    )


class KnowledgeStore(_Store):
    """Lessons learned."""

    mode: Literal["always", "agentic", "propose", "hitl"] = key(
        "agentic",
        "who decides: the extractor, the agent, a person",
    )
    namespace: str = key(
        "user",
        "where the extractor writes: user, global or a team; a command names its own",
        min_length=1,
        max_length=255,
    )


class SessionContextStore(_Store):
    """The running summary of a session."""

    mode: Literal["always"] = key("always", "always: it is kept by the extractor")


class DecisionLogStore(_Store):
    """Decisions and their reasons."""

    mode: Literal["agentic"] = key("agentic", "agentic: the agent logs its decisions")


class Learning(Section):
    """What is learned of users and their world, once it is asked to. Default: preset standard."""

    profile: ProfileStore = ProfileStore()
    memory: ReviewableStore = key(ReviewableStore(), "What is known of the user.")
    entity: EntityStore = EntityStore()
    knowledge: KnowledgeStore = KnowledgeStore()
    session_context: SessionContextStore = SessionContextStore()
    decision_log: DecisionLogStore = DecisionLogStore()
    max_operations: int = key(
        10, "times: how often a model may change the stores for one batch of turns", ge=1, le=100
    )
    stores: tuple[Code, ...] = key(
        (), "names of further stores, which are found by the entry points negmem.stores"
    )
    global_access: Literal["write", "read", "members"] = key(
        "write",
        "what a user may do in the namespace global without a grant: write (and read), read, or"
        " members: nothing",
    )
    tools: AgentTools = AgentTools()

    @field_validator("stores")
    @classmethod
    def _each_once(cls, stores: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(stores)) < len(stores):
            raise ValueError("each store is named once")
        return stores
