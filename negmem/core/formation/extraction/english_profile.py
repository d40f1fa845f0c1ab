"""Who the speaker is, in an English clause that begins with I or my."""

from __future__ import annotations

import re
from collections.abc import Iterator

from negmem.core.formation.extraction.english_body import (
    read_age,
    read_diet,
    read_health,
    read_language,
    read_status,
)
from negmem.core.formation.extraction.english_owned import (
    read_attribute,
    read_habits,
    read_possessions,
)
from negmem.core.formation.extraction.english_said import (
    ADVERBS,
    NATIONALITY,
    profile_fact,
)
from negmem.core.formation.extraction.english_things import ended
from negmem.core.formation.extraction.english_work import read_identity, read_work
from negmem.core.formation.extraction.found import Found

_NAME = re.compile(
    r"^(?:my (?:full |real |first |given |actual )?name(?:'s| is)(?: actually| now)?|i(?:'m| am) (?:called|named)|i(?:'m| am) known as|i go by|people (?:usually )?(?:call|know) me(?: as)?|everyone calls me|everybody calls me|friends call me|my friends (?:all )?call me|the name's|name's)"
    r" (?P<not>not )?(?P<thing>\S.*)$",
    re.I,
)
_IM_NAME = re.compile(
    r"^(?:I'm|I am|i'm|i am|This is) (?P<thing>[A-Z][a-zA-Z'-]+(?: (?:[A-Z]\.|[A-Z][a-zA-Z'-]+)){0,2})(?=$|,| and | from | here)"
)
_NOT_A_NAME = re.compile(
    r"^(?:ok|okay|fine|sorry|sure|happy|glad|back|here|tired|not|so|very|really|just|going|working|in|on|at|from|the|a|an|done|ready|good|great|well|afraid|aware|new|late|single|married"
    r"|vegan|vegetarian|pescatarian|christian|muslim|jewish|hindu|buddhist|catholic|atheist|adhd|autistic|lgbtq?|gay|lesbian|bi|trans|monday|tuesday|january|english|it|hr|ceo|cto|i|lactose|republican|democrat|libra|leo|virgo|aries|taurus|gemini|cancer|scorpio|sagittarius|capricorn|aquarius|pisces)\b",
    re.I,
)
_LIVES = re.compile(
    rf"^(?:i|we)(?:'m|'re| am| are|'ve been| have been|'ve| have)? {ADVERBS}(?P<verb>live|living|reside|residing|based|settled|moved|relocated|moving back|immigrated|emigrated|stay|staying|lived)(?: down| up| over| back| here| out| abroad| house){{0,6}} (?P<prep>in|at|near|outside|to|on|out of|close to|just outside|around|with|from) (?P<thing>\S.*)$",
    re.I,
)
_FROM = re.compile(
    rf"^i(?:'m| am| was| come| hail| grew| spent)? ?{ADVERBS}(?P<how>originally from|from|come from|hail from|grew up in|grew up near|born and raised in|born in|raised in|up in|up near|a native of|my childhood in) (?P<thing>\S.*)$",
    re.I,
)


def found_profile(clause: str, before: str = "") -> Iterator[Found]:
    """Facts of the profile that the speaker states in one clause."""
    for read in (
        _name,
        read_health,
        read_diet,
        read_age,
        read_language,
        read_status,
        _location,
        read_work,
        read_identity,
        read_possessions,
        read_habits,
        read_attribute,
    ):
        results = list(read(clause))
        if results:
            yield from results
            return


def _name(clause: str) -> Iterator[Found]:
    match = _NAME.match(clause)
    if match:
        thing = re.sub(r"^(?:still|now|actually) ", "", ended(match["thing"]))
        thing = re.split(r"\s+and\s+|\s+but\s+|\s+(?=I\b|from\b|at\b|in\b|for\b|on\b)", thing)[0]
        if not _NOT_A_NAME.match(thing) and len(thing.split()) <= 5 and not match["not"]:
            yield from profile_fact("name", thing)
        elif match["not"]:
            yield from profile_fact("name", thing, True)
        return
    match = _IM_NAME.match(clause)
    if match and not NATIONALITY.match(match["thing"]) and not _NOT_A_NAME.match(match["thing"]):
        yield from profile_fact("name", match["thing"])


def _place(text: str) -> str:
    place = ended(text)
    place = re.split(
        r"\s+(?:and|with|for|about|from where|after|before|to (?:be|work|study|take|start|live|join|get)|by myself|alone|together|these|last|this|two|three|a few|in (?:january|february|march|april|may|june|july|august|september|october|november|december|\d{4}))\b",
        place,
        flags=re.I,
    )[0]
    return place.strip(" ,")


def _location(clause: str) -> Iterator[Found]:
    match = _LIVES.match(clause)
    if match:
        verb, prep = match["verb"].lower(), match["prep"].lower()
        negated = bool(
            re.search(r"\b(?:not|never|no longer|don't)\b|n't", clause[: match.start("verb")], re.I)
        )
        thing = match["thing"]
        if verb in ("lived", "stay", "staying") and not re.match(r"i(?:'ve| have)", clause, re.I):
            return
        if prep == "with":
            return
        if prep == "from":
            moved = re.match(
                r"(?P<old>.*?)\s+(?:over |down |up |back )?to\s+(?P<new>\S.*)$", thing, re.I
            )
            if moved is None:
                return
            thing = moved["new"]
        if verb in ("moved", "relocated", "immigrated", "emigrated", "settled") and prep == "to":
            back = re.match(r"(?P<new>.*?)\s+from\s+.*$", thing, re.I)
            thing = back["new"] if back else thing
        place = _place(thing)
        if place and not re.match(
            r"(?:the (?:moment|past|present|future|world|next|other)|fear|peace|a dream|denial|another|somewhere|here|there|my own|it|this|that)\b",
            place,
            re.I,
        ):
            yield from profile_fact("location", place, negated)
        return
    match = _FROM.match(clause)
    if match and not re.match(r"i (?:grew|spent)\s+(?:tired|fond)", clause, re.I):
        place = _place(match["thing"])
        negated = bool(re.search(r"\bnot\b", clause[: match.start("how")], re.I))
        if (
            place
            and re.match(
                r"[A-Z]|(?:a|the|northern|southern|eastern|western|rural|south|north|central)\b",
                place,
            )
            and not re.match(
                r"(?:The (?:Same|Other)|the (?:same|future|past|outside))", place, re.I
            )
        ):
            yield from profile_fact("hometown", place, negated)
        return
    match = re.match(
        r"^i(?:'m| am) (?:now |currently )?(?:based |living |located )?(?:in|at) (?P<thing>[A-Z][\w' -]+(?:, [A-Z]\w+)?)(?: now| these days| right now)?$",
        clause,
        re.I,
    )
    if (
        match
        and match["thing"][0].isupper()
        and not re.match(r"(?:My|The|A|An|I|HR|IT)\b", match["thing"])
    ):
        key = "employer" if " at " in clause[: match.start("thing")].lower() else "location"
        yield from profile_fact(key, match["thing"])
