"""What of a memory is embedded: who said it, then what was said."""

from __future__ import annotations

ROLES = frozenset(("user", "assistant", "model", "system", "tool", "agent", "human", "ai"))
"""Speakers that are roles, not names: they say nothing about who somebody is."""


def embedded_text(speaker: object, content: str) -> str:
    """`content` with its speaker's name before it; a role is left out.

    A bare turn says little about its speaker, and questions name people. The words of a memory add the
    date: sql/functions/index_terms.sql has the same rule for the speaker.
    """
    name = speaker if isinstance(speaker, str) else ""
    return content if name.lower() in ROLES or not name else f"{name}: {content}"
