"""Tools of agents as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from negmem.cli.render.text import one_line, safe_text

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.tool import ToolAnswer, ToolList, ToolSchemas


def draw_list(console: Console, found: ToolList) -> None:
    """A line a tool, then why some are not offered."""
    for one in found.tools:
        sign = "ok  " if one.offered else "off "
        does = "writes" if one.writes else "reads "
        console.out(f"{sign}  {does}  {one.store:<12}  {console.style(one.name, 'name')}")
    for reason in dict.fromkeys(one.reason for one in found.tools if one.reason):
        console.note(f"off: {one_line(reason)}")


def draw_schemas(console: Console, found: ToolSchemas) -> None:
    """The JSON array that a request takes."""
    console.out(safe_text(json.dumps(found.tools, ensure_ascii=False, indent=2)))


def draw_answer(console: Console, answer: ToolAnswer) -> None:
    """What the model reads."""
    console.out(safe_text(json.dumps(answer.content, ensure_ascii=False, indent=2)))
    said = f"{answer.tokens} tokens"
    if answer.left_out:
        said += f", {answer.left_out} items had no room"
    if answer.cut:
        said += ", texts were cut"
    console.note(f"{'refused, ' if answer.is_error else ''}{said}")
