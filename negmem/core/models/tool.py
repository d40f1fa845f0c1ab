"""Tools of agents, as the API returns them and `--json` prints them."""

from __future__ import annotations

import json
from typing import Any

from negmem.core.models.base import Model


class ToolInfo(Model):
    """One tool: the store it is of, whether it writes, and whether an agent gets it as configured.

    `reason` says why it is not offered.
    """

    name: str
    store: str
    description: str
    writes: bool
    offered: bool
    reason: str | None


class ToolList(Model):
    """The tools there are, store by store."""

    tools: list[ToolInfo]


class ToolSchemas(Model):
    """Tools as OpenAI's function schemas: what goes into `tools` of a request."""

    tools: list[dict[str, Any]]


class ToolAnswer(Model):
    """What a tool answers: `content` is what the model reads, with `error` where `is_error`.

    `tokens` is what it takes of the budget; `left_out` counts items that had no room, `cut` says that texts
    were shortened.
    """

    tool: str
    is_error: bool
    content: dict[str, Any]
    tokens: int
    left_out: int = 0
    cut: bool = False

    @property
    def text(self) -> str:
        """The content as the JSON that a model reads."""
        return json.dumps(self.content, ensure_ascii=False)
