"""What somebody takes back in the same breath: "blue. Actually no, it's green"; 我叫小明，不对，小民. Pure."""

from __future__ import annotations

import re

MAX_THING_CHARS = 60

_SOFT = r"(?:(?:oh|oops|whoops|ugh|um+|uh|er+|hm+|well|wait|hold on|sorry|pardon|my bad|my mistake)[,.! -]+)*"
_HARD = (
    r"(?:actually,? no|no,? wait|wait,? no|no,? actually|no,? sorry|sorry,? no|scratch that|strike that|correction"
    r"|i meant(?: to say)?|i mean|make that|or rather|i should say)\b"
)
_IS = (
    r"(?:(?:it|that|this|they)(?:'s|'re| is| are| was| should be)|i mean|i meant|make (?:it|that))"
)
# Alone it needs a sign that something is taken back: "no" and "actually" only with "it's".
_WHOLE = re.compile(
    rf"^{_SOFT}(?:{_HARD}[,:;.! -]*(?:{_IS} )?|(?:no|nope|actually)[,:;.! -]+{_IS} )"
    r"(?:actually |really )?(?P<thing>[^\s,;][^,;]*)$",
    re.I,
)
_INSIDE = re.compile(
    rf"^(?P<head>.{{6,}}?)(?:\s*[,;:—–]\s*|\s+-+\s+){_SOFT}(?:{_HARD}|no|sorry)[,:;.! -]+(?:{_IS} )?"
    r"(?P<thing>[^\s,;][^,;]*)$",
    re.I,
)
_NO_THING = re.compile(
    r"(?:i|i'm|i've|i'd|i'll|you|we|he|she|they|it|its|it's|that|that's|this|there|me|my|not|no|nothing|thanks?|please|ok|okay"
    r"|fine|late|early|true|false|great|good|right|wrong|time|so|too|just|really|because|what|why|how|when|where|who|complicated"
    r"|hard|easy|sure|cool|over|done|up|all|if|to|the (?:other|same|opposite)|don't|do|does|was|were|is|are|can|will|love|like|hate)\b",
    re.I,
)

_WRONG = (
    r"(?:(?:啊|哦|噢|喔|呃|额|嗯|哎呀?|诶|等等|等一下|等下|抱歉|不好意思|对不起|sorry)[，,、！!…\s]*)*"
    r"(?:不对不对|不对|不是不是|我?(?:说|讲|记|打|写)错了?|口误|更正一下|更正|纠正一下|[啊哦噢喔哎]不是?|不不不?|应该说)"
)
_THEN = r"[，,：:、！!…\s]*(?:(?:其实|正确的|准确地说)?(?:应该)?(?:是|叫|为))?"
_WHOLE_CHINESE = re.compile(
    rf"^(?:{_WRONG}{_THEN}|其实是|应该是)(?P<thing>[^，,。！？\s]{{1,16}})$", re.I
)
_INSIDE_CHINESE = re.compile(
    rf"^(?P<head>.{{2,}}?)(?:[，,;；、…]|——|—|\s)+{_WRONG}{_THEN}(?P<thing>[^，,。！？\s]{{1,16}})$",
    re.I,
)
_NO_THING_CHINESE = re.compile(
    r"[我你您他她它咱谁这那不没有别还就也都因为所以如果怎什]|(?:一样|错的?|对的?|真的|假的)$"
)


def taken_back(sentence: str) -> str | None:
    """What a sentence puts in the place of what the one before it said; None where it corrects nothing."""
    match = _WHOLE.match(sentence)
    if match is not None:
        return _thing(match["thing"])
    match = _WHOLE_CHINESE.match(sentence)
    return None if match is None else _thing_in_chinese(match["thing"])


def taken_back_inside(sentence: str) -> tuple[str, str] | None:
    """What a sentence says before it corrects itself, and what it puts in its place."""
    match = _INSIDE.match(sentence)
    thing = None if match is None else _thing(match["thing"])
    if thing is None:
        match = _INSIDE_CHINESE.match(sentence)
        thing = None if match is None else _thing_in_chinese(match["thing"])
    return None if match is None or thing is None else (match["head"].strip(), thing)


def corrected(said: str, wrong: str, thing: str) -> str | None:
    """The words with the right thing in the place of the wrong one; None where the two can't be of a kind."""
    at = said.casefold().rfind(wrong.casefold())
    if at < 0 or len(said.casefold()) != len(said) or not wrong:
        return None
    if wrong[0].isupper() and thing[0].islower():
        return None
    if bool(re.search(r"\d", wrong)) != bool(re.search(r"\d", thing)):
        return None
    return said[:at] + thing + said[at + len(wrong) :]


def _thing(text: str) -> str | None:
    thing = text.strip(" .!\"'")
    is_short = 0 < len(thing) <= MAX_THING_CHARS and len(thing.split()) <= 5
    return thing if is_short and not _NO_THING.match(thing) else None


def _thing_in_chinese(text: str) -> str | None:
    thing = re.sub(r"(?:啦|了|呀|啊|吧|才对|来着)$", "", text.strip())
    return thing if thing and not _NO_THING_CHINESE.match(thing) else None
