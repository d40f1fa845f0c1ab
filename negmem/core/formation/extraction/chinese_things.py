"""Where a thing ends in a Chinese clause, and lists of things."""

from __future__ import annotations

import re

_TAIL = re.compile(
    r"(?:了|啊|呀|呢|哦|喔|啦|嘛|哈+|吧|诶|哟|噢|咯|喽|的说|[。！!？?~～…\s、]|一点|得很|极了|死了|多一点|多一些|更多|什么的|之类的?(?:东西)?|等等|而已|就是了|最多|而不是.*|胜过.*|比较多){1,6}$"
)
_CUT = re.compile(
    r"(?:因为|由于|但是|不过|可是|尤其是?|特别是|主要是|(?<=\S)所以|除非|当然|\ufffc|（|\().*$"
)
_PRONOUN = re.compile(
    r"^(?:你|您|他|她|它|这|那|这样|那样|这个|那个|这里|那里|自己|的|得|过|着|上|一下|一个人(?!.)|什么|怎么|谁|哪|到|起来|是|有|就|都|也|和你|跟你|她们|他们|我|有点|不起|得|一些|多|更|什么的|事|人)(?=$|的|们|个|样|种|里|么|儿|说|想|觉|俩|家|怎|为|建议|回答|主意|想法|思路|安排)"
)


def ended(text: str) -> str:
    """A thing without final particles, reasons and asides."""
    cut = _CUT.sub("", text.strip())
    while True:
        shorter = _TAIL.sub("", cut).strip(" “”\"'")
        if shorter == cut:
            return cut
        cut = shorter


def is_named(text: str) -> bool:
    """Whether a thing says by itself what it is."""
    return bool(text) and len(text) <= 40 and not _PRONOUN.match(text)


def listed(text: str) -> list[str]:
    """The members of a list of short things, else the text as one thing.

    A verb before the first member counts for all: 喜欢吃苹果、香蕉和梨.
    """
    if re.match(r"[在用把和跟对从]", text):
        return [text]
    if not re.search(r"、", text):
        pair = re.fullmatch(
            r"([\u4e00-\u9fffA-Za-z]{1,8}?)(?:和|跟|与|以及|还有)([\u4e00-\u9fffA-Za-z]{1,8})", text
        )
        if pair and not re.search(
            r"的|人|朋友|一起|家|孩子|聊|玩|去|你|我|他|她", pair[1] + pair[2]
        ):
            return [pair[1], pair[2]]
        return [text]
    parts = [
        part
        for part in re.split(r"、|(?<=[\u4e00-\u9fff])(?:和|以及|还有)(?=[\u4e00-\u9fff])", text)
        if part.strip()
    ]
    shared = len(parts) > 1 and "的" in parts[-1] and "的" not in parts[0]
    if len(parts) < 2 or shared or any(len(part) > 10 for part in parts):
        return [text]
    return [part.strip() for part in parts]
