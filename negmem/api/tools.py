"""`mem.tools`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from negmem.api.arguments import Noun, user_of

if TYPE_CHECKING:
    from negmem.core.models.tool import ToolAnswer, ToolList, ToolSchemas


class Tools(Noun):
    """`mem.tools`: the tools of agents."""

    def list(self) -> ToolList:
        """All tools, and whether an agent gets them as configured."""
        from negmem.core.tools import listing

        return listing.list_tools(self._owner.session)

    def schema(self, name: str | None = None) -> ToolSchemas:
        """OpenAI function schemas of the tools that are offered, or of one: `tools` of a request."""
        from negmem.core.tools import listing

        return listing.schemas(self._owner.session, name)

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | str | None = None,
        *,
        user: str,
        namespace: str | None = None,
        thread: str | None = None,
        agent: str | None = None,
        dry_run: bool = False,
    ) -> ToolAnswer:
        """Call a tool with what a model gave for it, unchecked: a mapping, or JSON text.

        Args: user, namespace (of entities and lessons; None: global), thread and agent are set by your
        program, never taken from a model. `text` of the answer is what the model reads; a refusal is an
        answer with `is_error`.
        """
        from negmem.core.learning.protocol import Bound
        from negmem.core.tools import calling

        session = self._owner.session
        bound = Bound(session, user=user_of(user), namespace=namespace, thread=thread, agent=agent)
        return calling.call(session, bound, name, arguments, dry_run=dry_run)
