"""Links and topics as text: one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.association import LinkChange, LinkedItems, TopicList


def draw_change(console: Console, change: LinkChange) -> None:
    """One line a link: its ends, type and weight."""
    done = {"link": "linked", "unlink": "unlinked"}[change.action]
    if not change.links:
        console.out("would be linked" if change.changed else "not linked")
    for link in change.links:
        if change.dry_run:
            state = f"would be {done}" if change.changed else "unchanged"
        else:
            state = done if change.changed else "unchanged"
        console.out(f"{link.source_id}  {link.type}  {link.target_id}  {link.weight:.2f}  {state}")


def draw_links(console: Console, found: LinkedItems) -> None:
    """One line an item: id, how far, by which link, how strong, what it says."""
    if not found.items:
        console.note("nothing is linked to it")
    for item in found.items:
        head = f"{item.id}  {item.depth}  {item.type:<13}  {item.strength:.3f}  "
        mark = f"[verify {', '.join(item.verify)}] " if item.verify else ""
        kind = "" if item.kind == "memory" else f"({item.kind}) "
        console.row(head, kind + mark + item.content)


def draw_topics(console: Console, found: TopicList) -> None:
    """One line a topic: id, how many memories, label, an example."""
    if not found.topics:
        console.note("no topics yet: negmem consolidate --job deep_reflection finds them")
    longest = max((len(one_line(t.label)) for t in found.topics), default=0)
    for topic in found.topics:
        label = one_line(topic.label)
        head = f"{topic.id}  {topic.members:>5}  {label:<{min(longest, 30)}}  "
        example = topic.examples[0]["content"] if topic.examples else ""
        console.row(head, str(example))
