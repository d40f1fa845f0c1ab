"""A recall as text: itself on stdout, where it comes from on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.context import left_out
from negmem.cli.render.text import one_line, safe_text

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.recall import Recall

_STATES = {
    "hit": "from the cache",
    "miss": "made anew: nothing was cached",
    "stale": "made anew",
    "expired": "made anew: the cached one was too old",
    "refreshed": "made anew, as asked",
    "off": "made anew: nothing is cached",
}


def draw_recall(console: Console, recall: Recall) -> None:
    """The recall as an agent reads it; the state of the cache is a note beside it."""
    if recall.text:
        console.out(safe_text(recall.text))
    else:
        console.note("nothing to recall")
    cache = recall.cache
    said = _STATES[cache.state]
    if cache.state == "hit" and cache.age_s is not None:
        said += f", made {cache.age_s:,.0f} s ago"
    elif cache.reason:
        said += f": {one_line(cache.reason)}"
    kept = "" if cache.state == "hit" or cache.is_kept else ", not kept"
    console.note(
        f"{recall.tokens:,} of {recall.max_tokens:,} tokens ({recall.tokenizer.name}) · {said}{kept}"
    )
    if recall.left_out:
        console.note(left_out([item.reason for item in recall.left_out]))
    if recall.retrieval_id is not None:
        console.note(f"retrieval {recall.retrieval_id}")
