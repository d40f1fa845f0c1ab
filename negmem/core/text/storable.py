"""Texts that somebody wrote for contexts, as they can be stored."""

from __future__ import annotations

from typing import Any

from negmem.core.text.clean import TextRefusedError, clean_text, clean_value
from negmem.errors import UsageError


def storable_text(content: object, hint: str, if_blank: str = "it is blank") -> str:
    """A text as it can be stored. Raises: UsageError `text_refused`; `if_blank` is its reason then."""
    if not isinstance(content, str):
        raise _refused(f"it is {type(content).__name__}, not text", hint)
    try:
        text, _ = clean_text(content)
    except TextRefusedError as error:
        raise _refused(f"{error.reason}: {error.detail}", hint) from None
    if not text.strip():
        raise _refused(if_blank, hint)
    return text


def storable_metadata(metadata: dict[str, Any], hint: str) -> dict[str, Any]:
    """Metadata as it can be stored. Raises: UsageError `text_refused`."""
    try:
        value, _ = clean_value(metadata)
    except TextRefusedError as error:
        raise _refused(f"{error.reason}: {error.detail}", hint) from None
    assert isinstance(value, dict)
    return dict(value)


def _refused(why: str, hint: str) -> UsageError:
    return UsageError("text_refused", "the text can't be stored", why=why, hint=hint)
