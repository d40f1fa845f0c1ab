"""How calls of tools, and what is attached to a turn, stand in text and metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping

_LONGEST_LINK = 2000


def call_text(name: object, arguments: object) -> str:
    """A call as one line: `get_weather({"city": "Oslo"})`."""
    if arguments is None:
        shown = ""
    elif isinstance(arguments, str):
        shown = arguments
    else:
        shown = json.dumps(arguments, ensure_ascii=False, default=str)
    return f"{name or 'tool'}({shown})"


def result_text(result: object) -> str:
    """What a tool gave back, as text: a string as it is, anything else as JSON."""
    if result is None:
        return ""
    return (
        result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)
    )


def with_caption(text: object, caption: object) -> object:
    """The text of a turn that shares a picture: what was said, then what the picture shows."""
    if not isinstance(text, str) or not isinstance(caption, str) or not caption.strip():
        return text
    return f"{text}\n[picture: {caption.strip()}]".lstrip("\n")


def attachment(kind: str, link: object = None, media: object = None) -> dict[str, object]:
    """What is remembered of an attached file: its kind and where it lies, never its bytes."""
    kept: dict[str, object] = {"type": kind}
    if isinstance(link, Mapping):
        link = link.get("url")
    if isinstance(link, str) and link and not link.startswith("data:"):
        kept["link"] = link[:_LONGEST_LINK]
    if isinstance(media, str) and media:
        kept["media_type"] = media
    return kept
