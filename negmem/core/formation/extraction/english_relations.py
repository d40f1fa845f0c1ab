"""People and animals around the speaker, in an English clause."""

from __future__ import annotations

import re
from collections.abc import Iterator

from negmem.core.formation.extraction.english_plans import HAS_TIME as _HAS_TIME
from negmem.core.formation.extraction.english_preferences import found_preferences
from negmem.core.formation.extraction.english_profile import found_profile
from negmem.core.formation.extraction.english_things import bare, ended
from negmem.core.formation.extraction.found import Found
from negmem.core.formation.extraction.keys import RELATIONS, relation_key, thing_key

_KIN_WORDS = "|".join(
    sorted((re.escape(word) for word in RELATIONS if word.isascii()), key=len, reverse=True)
)
_KIN = rf"(?P<kin>(?:{_KIN_WORDS})s?)"
OF_KIN = re.compile(
    rf"^(?:my|our) (?P<adj>(?:new|old|other|only|own|dear|beloved|current|former|late|little|big|older|younger|elder|eldest|oldest|youngest|twin|\w+-year-old|half|step|first|second|middle|close|good|long-time|direct|line) ?){{0,6}}{_KIN}(?P<rest>\b.*)$",
    re.I,
)
_NAMES = r"(?P<name>(?:Mr|Mrs|Ms|Dr|Professor)?\.? ?[A-Z][\w'-]*(?:(?:\s+and\s+|\s*,\s*|\s+&\s+|\s+)[A-Z][\w'-]*){0,6})"
_ITS_NAME = re.compile(rf"^(?:'s|s'|')? (?:full |first )?names? (?:is|are|'s) {_NAMES}", re.I)
_IS_NAME = re.compile(
    rf"^(?:'s name)?(?: is|'s| are|,)?(?: called| named| now)? {_NAMES}(?=$|,|\.| and\b| who\b)"
)
_APPOSITION = re.compile(
    r"^,? (?P<name>(?:Mr|Mrs|Ms|Dr|Professor)?\.? ?[A-Z][\w'-]*(?: [A-Z][\w'-]*)?),?(?P<rest> .*)$"
)
_IS_KIN = re.compile(
    rf"^(?P<name>[A-Z][\w'-]*(?: [A-Z][\w'-]*)?) is (?:also )?my (?:(?:new|old|best|older|younger|twin|little|big|current|former|direct) ){{0,6}}{_KIN}$"
)
_PREDICATE = re.compile(
    r"^ ?(?:also |still |just |really |always |now |currently |recently |already |usually |never |often |both |only ){0,6}(?P<verb>is|are|'s|works?|lives?|likes?|loves?|hates?|prefers?|enjoys?|can't|cannot|doesn't|don't|isn't|aren't|has|have|had|speaks?|studies|study|teaches|teach|plays?|runs?|owns?|drives?|eats?|drinks?|starts?|moved|moves|turned|turns|just|never|was born|wants?|plans?|goes|go|collects?|sings?|got|graduated|retired|passed away|died|used to|comes?|grew|dislikes?|wears?|uses?|writes?|attends?|joined|became|will|won't|adores?|suffers?|needs?|allergic|knows?|bakes?|cooks?|trains?|sells?|visits?|arrives?|keeps?|snores?|sleeps?|barks?|weighs?)\b(?P<rest>.*)$",
    re.I,
)
_FLEETING = re.compile(
    r"^(?:'s|is|are|was|were)?\s*(?:(?:so|very|really|too|a bit|currently|just|always|still|such|being|getting|not) ){0,6}(?:here|there|home|coming over|asking|calling|waiting|asleep|sleeping|crying|yelling|late|mad|angry|upset|annoyed|happy|sad|great|nice|sweet|the best|awesome|amazing|cool|funny|cute|right|wrong|ok|okay|fine|busy|tired|excited|worried|fault|good|bad|better|visiting(?! (?:me|us) (?:next|in|on))|watching|being|what|why|how|driving me|making|trying|looking|going crazy|annoying|thinking|saying)\b",
    re.I,
)

_KINDS = ("location", "work", "occupation")
_LIKING = ("like", "love", "hate", "dislike", "prefer", "enjoy", "adore", "detest")
_SAYS_NAME = re.compile(r"\bis\b|'s|\bare\b|called|named")
_NOT_A_NAME = re.compile(
    r"(?:(?:I|I'm|Not|The|A|An|Mom|Dad|From|In|At|On|So|English|Chinese|German|French|Japanese|Italian"
    r"|Spanish|Vegan|Vegetarian)\b|\w+(?:ese|ish|ian)$)"
)
_SAYING_WHAT = frozenset((
    "is", "are", "'s", "isn't", "aren't", "can't", "cannot", "doesn't", "don't", "likes", "like",
    "loves", "love", "hates", "hate", "prefers", "enjoys", "has", "have", "speaks", "eats",
    "drinks", "dislikes", "enjoy", "turned", "became", "adores", "suffers",
))  # fmt: skip


def found_relations(clause: str) -> Iterator[Found]:
    """People and animals around the speaker, and what is said of them."""
    match = _IS_KIN.match(clause)
    if match:
        kin = relation_key(match["kin"]) or match["kin"].lower()
        yield Found("relation", kin, match["name"], f"{match['kin']} is {match['name']}")
        return
    match = re.match(
        r"^i(?:'m| am) (?:married|engaged) to (?P<name>[A-Z][\w'-]*(?: [A-Z][\w'-]*)?)",
        clause,
        re.I,
    )
    if match and match["name"][0].isupper():
        yield Found("relation", "partner", match["name"], f"partner is {match['name']}")
        return
    match = OF_KIN.match(clause)
    if match is None:
        return
    word = match["kin"]
    kin = relation_key(word) or thing_key(word)
    rest = match["rest"]
    named = _ITS_NAME.match(rest) or _IS_NAME.match(rest)
    if (
        named
        and not _NOT_A_NAME.match(named["name"])
        and _SAYS_NAME.search(rest[: named.start("name")])
    ):
        yield Found("relation", kin, named["name"].strip(), f"{word} is {named['name'].strip()}")
        return
    apposed = _APPOSITION.match(rest)
    if apposed and not re.match(r"(?:I|I'm)\b", apposed["name"]):
        yield Found(
            "relation", kin, apposed["name"].strip(), f"{word} is {apposed['name'].strip()}"
        )
        rest = apposed["rest"]
    if re.match(r"^'s\s", rest) or rest.startswith("'"):
        owned = re.match(
            r"^'s? (?P<what>birthday|favou?rite [\w ]{1,30}|name|job|phone number|email|anniversary|dog|cat|wedding|address|hobby) (?:is|'s|are) (?P<thing>\S.*)$",
            rest,
            re.I,
        )
        if owned:
            yield Found(
                "relation",
                f"{kin}:{thing_key(owned['what'])}",
                bare(owned["thing"]),
                f"{word}'s {owned['what']} is {ended(owned['thing'])}",
            )
        elif not re.match(r"^'s (?:a|an|in|from|at|allergic|vegetarian|vegan|\d+)\b", rest):
            return
    told = _PREDICATE.match(rest)
    if told is None or (_FLEETING.match(rest.strip()) and not _HAS_TIME.search(rest)):
        return
    verb, thing = told["verb"].lower(), ended(told["rest"])
    if (
        verb in ("used to", "wants", "want", "needs", "need", "was", "had", "just", "knows", "know")
        and verb != "was born"
    ):
        return
    negated = (
        bool(re.match(r"(?:can't|cannot|doesn't|don't|isn't|aren't|won't|never)", verb))
        or bool(re.match(r"\s*(?:is|are|'s)?\s*(?:not|never|no longer)\b", rest, re.I))
        or bool(re.match(r"^ ?(?:hates?|dislikes?)", rest, re.I))
        or " never " in rest[: told.start("verb") + 7]
    )
    what = _relation_thing(verb, thing)
    if not what or re.match(r"(?:it|that|this|me|you|him|her|them|so|to me)\b", what, re.I):
        return
    about = thing_key(re.sub(r"^(?:eat|drink|like|eating|have|work|live)s?\s+", "", what))
    kind = {
        "live": "location",
        "moved": "location",
        "work": "work",
        "is": "is",
        "are": "is",
        "'s": "is",
    }.get(verb.rstrip("s") if verb not in ("is", "'s") else verb)
    if kind == "work" and re.match(r"as\b", thing, re.I):
        kind = "occupation"
    key = f"{kin}:{kind}" if kind in _KINDS else f"{kin}:{_key_of_own(verb, thing) or about}"
    yield Found(
        "relation", key[:255], what, f"{word} {told['verb']}{told['rest']}".strip(), negated
    )


def _key_of_own(verb: str, thing: str) -> str | None:
    """The key that this would have if somebody said it of themselves: a changed job meets the old one."""
    if verb in ("is", "are", "'s", "isn't", "aren't", "became"):
        what = re.sub(r"^(?:not|no longer|now|also|really|currently|already|still)\s+", "", thing)
        found = [*found_profile(f"I'm {what}"), *found_preferences(f"I'm {what}")]
    elif verb in ("doesn't", "don't", "can't", "cannot"):
        found = [*found_preferences(f"I {'don' + verb[-2:] if verb[0] == 'd' else verb} {thing}")]
    elif verb.rstrip("s") in _LIKING:
        found = [*found_preferences(f"I {verb.rstrip('s')} {thing}")]
    elif verb in ("has", "have", "speaks", "speak", "studies", "study"):
        mine = {"has": "have", "studies": "study", "speaks": "speak"}.get(verb, verb)
        found = [*found_profile(f"I {mine} {thing}")]
    else:
        return None
    return next((one.key for one in found if one.key != "name"), None)


def _relation_thing(verb: str, thing: str) -> str:
    thing = thing.strip(" ,")
    if verb in _SAYING_WHAT:
        thing = re.sub(
            r"^(?:not|also|very|really|currently|now|allergic to|a|an|the|from|like|eat|drink|have|no longer|stand|called|named|severely allergic to|as)\s+",
            "",
            thing,
            flags=re.I,
        )
        return bare(thing)
    if verb in ("works", "work"):
        return bare(re.sub(r"^(?:as|at|for|in)\s+", "", thing, flags=re.I))
    if verb in ("lives", "live", "moved", "moves"):
        return re.sub(r"^(?:in|at|to|near)\s+", "", thing, flags=re.I)
    return f"{verb} {thing}".strip()
