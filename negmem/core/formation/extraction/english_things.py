"""Where a thing ends in an English clause, and lists of things."""

from __future__ import annotations

import re

from negmem.core.formation.extraction.keys import thing_key

_CUT = re.compile(
    r"\s*,\s*\w{3,}ing\b.*$|\s+(?:because|since|so that|although|though|whereas|while|unless|until|when(?:ever)?|if|where|which|who|whose|even though"
    r"|except|as long as|as soon as|but)\b.*$|\s*[(\[{\ufffc].*$|\s+-\s.*$|\s*,\s*(?:so|which|who|but|and i|because|too|though|actually"
    r"|especially|particularly|mainly|mostly|for example|e\.g|like|such as|as well|please|thanks|thank you|lol|haha|right|you know|by the way|btw|honestly|to be honest|i think|i guess"
    r"|now|by far|hands down|obviously|of course|always|ever since|since)\b.*$",
    re.I,
)
_TAIL = re.compile(
    r"(?:,?\s+(?:really|very much|so much|a lot|a ton|lots|too much|too|as well|though|anymore|any more|any longer|at all|either|now|these days|nowadays"
    r"|lately|recently|right now|the most|the best|best|most of all|above all|in general|generally|personally|tbh|lol|haha|to be honest"
    r"|honestly|please|again|already|anyway|for (?:years|ages|a while|a long time|as long as i can remember)|since childhood|since i was (?:a kid|little|young|a child)"
    r"|at the moment|currently|by the way|btw|ever since|so far|again|from time to time|in particular|of all time|ever|over everything|more than anything(?: else)?|with (?:a |all my )?passion|by far|immensely|dearly|deeply"
    r"|for (?:about |over |almost |nearly |more than |the (?:past|last) )?(?:\d+|a|an|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|several|many|some) (?:years?|months?|weeks?|decades?)(?: now)?"
    r"|since (?:last )?(?:\d{4}|january|february|march|april|may|june|july|august|september|october|november|december|week|month|year|spring|summer|fall|autumn|winter)(?: \d{4})?|full[- ]time|part[- ]time|last (?:week|month|year|spring|summer|fall|autumn|winter|night)|this (?:week|month|year)|in \d{4}|(?:\d+|a|one|two|three|four|five|six|ten|many|some|several|a few|a couple of) (?:days?|weeks?|months?|years?) ago)){1,6}$",
    re.I,
)
_LEADING = re.compile(r"^(?:(?:the|a|an|some|any|my|our|really|just|that|to be)\s+)(?=\S)", re.I)
_PRONOUN = re.compile(
    r"^(?:it|that|this|them|him|her|you|your|yours|these|those|what|how|(?:the |your |these |those |all the )?(?:way|ideas?|sounds? of|looks? of|fact|thought|one|suggestions?|advice|tips?|concept|recommendations?|answers?|first|second|last|help|options? \w|number \d|version \w|#\d)"
    r"|everything|something|anything|nothing|one|ones|both|all of|all|there|so|me|myself|us|everyone|people who|when|where|who|whatever|either|neither|his|their|its|not|to (?:know|ask|say|hear|think|see (?:it|that|what|how))|more|less|things?|stuff|such)\b",
    re.I,
)


def ended(text: str) -> str:
    """A thing without what comes after it: reasons, asides, "very much", "anymore"."""
    cut = _CUT.sub("", text.strip())
    cut = cut.strip(" ,.!;:-~*_\"'")
    while True:
        shorter = _TAIL.sub("", cut).strip(" ,.-")
        if shorter == cut:
            return cut
        cut = shorter


def bare(text: str) -> str:
    """As `ended`, without a leading article."""
    return _LEADING.sub("", ended(text))


def is_named(text: str) -> bool:
    """Whether a thing says by itself what it is: no pronoun, neither empty nor a whole story."""
    return (
        bool(text)
        and not _PRONOUN.match(text)
        and len(text) > 1
        and len(text.split()) <= 14
        and bool(thing_key(text))
    )


_LIST = re.compile(r"\s*,\s*(?:and|or)\s+|\s*,\s*|\s+(?:and|or|&|nor)\s+", re.I)


def listed(text: str) -> list[str]:
    """The members of a list of short things, else the text as one thing."""
    parts = [part.strip() for part in _LIST.split(text) if part.strip()]
    if len(parts) < 2 or any(len(part.split()) > 3 for part in parts):
        return [text]
    if len(parts) == 2 and "," in text:
        return [parts[0]] if len(parts[1].split()) > 3 else parts
    if re.search(
        r"\b(?:between|both|combination|mix)\b|rock and roll|mac and cheese|bed and breakfast|fish and chips|black and white|peace and quiet|r and b",
        text,
        re.I,
    ):
        return [text]
    return parts
