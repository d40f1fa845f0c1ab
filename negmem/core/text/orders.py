"""Words that give orders to a model instead of telling something. Pure."""

from __future__ import annotations

import re

_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\s+(?:all |any |the |your |of |these |those |my ){0,4}"
    r"(?:previous|prior|above|earlier|preceding|existing|system|initial|original)\b"
    r"|\b(?:ignore|disregard|override) (?:all |any |your |the ){0,2}(?:instructions?|rules|guidelines|guardrails)\b"
    r"|\bsystem prompt\b|\byou are now\b|\bjailbreak|\bdeveloper mode\b"
    r"|\b(?:reveal|print|repeat) (?:your|the) (?:prompt|instructions)\b|\bnew (?:system )?instructions?\s*:"
    r"|^\s*(?:system|assistant|developer)\s*[:：]|<\|im_(?:start|end)\||\[/?INST\]|</?(?:system|assistant|instructions?)>"
    r"|(?:忽略|无视|忘记|忘掉|不要?理会|抛开|跳过|绕过)(?:掉|你|您|的|一切|全部){0,3}"
    r"(?:之前|先前|此前|以上|上述|上面|前面|所有|原来|原有|系统|已有|既定)"
    r"|系统提示词|系统指令|开发者模式|越狱|(?:新的?|最新)(?:系统)?指令\s*[:：]|^\s*(?:系统|助手)\s*[:：]",
    re.I | re.M,
)


def gives_orders(text: str) -> bool:
    """Whether a text tells a model what to do with its instructions; such a text proves nothing."""
    return bool(_ORDERS.search(text))
