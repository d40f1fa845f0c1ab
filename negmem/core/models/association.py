"""Links between memories, facts and entities, as the API returns them and `--json` prints them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.memory import Instant

ASSOCIATION_TYPES = (
    *("semantic", "temporal", "thread_shared", "entity"),
    *("related_to", "causes", "follows"),
)
"""The first four are also made by the step that links new memories, the others by people alone."""

DIRECTED_TYPES = ("entity", "causes", "follows")
"""Read from source to target; the others have no direction and stand once."""


class Association(Model):
    """One link. `origin` is `auto` or `manual`; `sources` counts the events behind it."""

    id: UUID
    source_id: UUID
    source_type: str
    target_id: UUID
    target_type: str
    type: str
    weight: float
    origin: str
    created_at: Instant
    sources: int


class LinkChange(Model):
    """What `link` or `unlink` did; `changed` is false where it stood so already."""

    action: str
    links: list[Association]
    changed: bool
    dry_run: bool = False


class LinkedItem(Model):
    """Something that is linked, `depth` hops away.

    `weight` and `type` are those of the last link, which begins at `via`; `strength` in [0, 1] is the
    product of the weights on the strongest way. `verify` names what in the text should be checked
    before it is relied on.
    """

    kind: str
    id: UUID
    depth: int
    strength: float
    weight: float
    type: str
    via: UUID
    content: str
    tokens: int
    occurred_at: Instant | None
    verify: list[str]


class LinkedItems(Model):
    """What is linked to one item, nearest first, within `max_tokens`; `left_out` had no room."""

    id: UUID
    depth: int
    items: list[LinkedItem]
    tokens: int
    max_tokens: int | None
    left_out: list[UUID]


class Topic(Model):
    """Memories about one thing; `members` counts those that are live."""

    id: UUID
    label: str
    members: int
    created_at: Instant
    updated_at: Instant
    examples: list[dict[str, Any]]


class TopicList(Model):
    """A user's topics, the largest first; `total` counts all of two members or more."""

    topics: list[Topic]
    total: int
    truncated: bool
