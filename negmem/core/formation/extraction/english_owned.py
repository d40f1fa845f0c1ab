"""Possessions, tools, habits and named attributes in an English clause."""

from __future__ import annotations

import re
from collections.abc import Iterator

from negmem.core.formation.extraction.english_said import ADVERBS, profile_fact
from negmem.core.formation.extraction.english_things import bare, ended, is_named, listed
from negmem.core.formation.extraction.found import Found
from negmem.core.formation.extraction.keys import attribute_key, is_number, thing_key

_STUDIES = re.compile(
    rf"^i(?:'m| am|'ve been| have been|'ve| have)? {ADVERBS}(?P<verb>study|studying|studied|major in|majoring in|majored in|minored in|graduated (?:from|in)|graduated|got my degree in|have a (?:degree|master's|bachelor's|phd|doctorate) in|hold a (?:degree|master's|phd|bachelor's|doctorate) in|did my (?:phd|master's|degree|undergrad) (?:in|at)|doing (?:a|my) (?:phd|master's|degree|mba) (?:in|at)|went to (?:college|university|school) (?:at|in)|attend|attended|go to|enrolled (?:in|at)|pursuing (?:a|my) \w+ in|pursuing) (?P<thing>\S.*)$",
    re.I,
)
_SCHOOLISH = re.compile(
    r"\b(?:university|college|school|institute|academy|mit|ucla|stanford|harvard|oxford|cambridge|yale|princeton|eth|tu)\b",
    re.I,
)
_PLAYS = re.compile(
    r"^i (?:also |still |usually |can |regularly |often |mostly |sometimes |currently ){0,6}(?P<not>can't |don't |do not |cannot |never )?(?P<verb>play|coach|sing in|volunteer at|volunteer for|run|own|rent|drive|ride|teach|manage|lead|commute|use|practi[sc]e|collect|keep|raise|breed|grow|write|paint|bake|knit|wear|swim|cook|cycle|wake up|get up|go to bed|work out|own|take|do|host|sail|breed|garden|weigh|code in|program in|smoke|vote|subscribe to|bike|walk|meditate|foster|blog|shoot|restore|brew) (?P<thing>\S.*)$",
    re.I,
)
_HAVE = re.compile(
    r"^i(?:'ve| have|'ve got| have got| own| got| adopted|'ve adopted| have adopted| bought| keep| just got| just bought| just adopted| recently got| recently adopted| recently bought)? ?(?P<not>don't have |don't own |do not have |do not own |have no |haven't got |never had |own no |no longer have |no longer own )?(?:got )?(?P<thing>(?:a|an|two|three|four|five|six|seven|eight|nine|ten|\d+|one|no|any|several|some|twin|twins|my own)\b.*)$",
    re.I,
)
_POSSESSION = re.compile(
    r"\b(?:dogs?|cats?|pupp(?:y|ies)|kittens?|parrots?|rabbits?|hamsters?|horses?|pets?|bird|fish|goldfish|aquarium|turtles?|tortoise|snake|chickens|goats?|car|truck|van|motorcycle|motorbike|scooter|bike|bicycle|e-bike|tesla|toyota|honda|ford|bmw|volvo|subaru|house|flat|apartment|condo|cottage|cabin|garden|allotment|piano|guitar|violin|cello|drum|camera|macbook|iphone|laptop|pc|ipad|kindle|pixel|thinkpad|chromebook|playstation|xbox|switch|driver'?s licen[cs]e|driving licen[cs]e|licen[cs]e|passport|visa|green card|degree|phd|master's|mba|bachelor's|tattoos?|beard|piercing|boat|ukulele|telescope|printer|drone|business|company|shop|bakery|restaurant|café|cafe|studio|farm|startup|blog|podcast|youtube channel|newsletter|mortgage|tv|television|dishwasher|smartphone|landline|bank account|credit card|gym membership|subscription|pension|fixed address|facebook account|account)\b",
    re.I,
)
_ATTRIBUTE = re.compile(
    r"^my (?:(?:current|new|main|primary|own|work|personal|actual|official|latest) )?(?P<what>[\w' -]{2,30}?)(?:'s| is| are| has been| will be| has become|'s now| changed to| has changed to)(?P<not>n't| not| no longer)? (?:(?:now|currently|actually|still|on|in|at|called|around|about|set to|simply|just|the|always|officially|also) ){0,6}(?P<thing>\S.*)$",
    re.I,
)
_USES = re.compile(
    r"^i (?:(?:mainly|mostly|usually|always|currently|only|exclusively|now|just|primarily|also|still|typically|daily) ){0,6}(?P<verb>use|run|code in|program in|develop in|develop on|write (?:mostly |mainly )?in|drive|ride|switched to|'ve switched to|migrated to|upgraded to) (?P<thing>\S.*)$",
    re.I,
)
_SWITCHED = re.compile(
    r"^i(?:'ve| have)? (?:(?:just|recently|finally|now|since|completely|fully) ){0,6}(?:switched|moved|migrated|changed|gone|went)(?: over| back)?(?: from (?P<old>[\w .+#-]{1,40}?))? (?:to|over to) (?P<thing>\S.*)$",
    re.I,
)
_OFF = re.compile(
    r"^(?:you|your|the other|do it|it|that|this|them|him|her|bed|sleep|work|school|church)\b", re.I
)
_STATE_WORDS = re.compile(
    r"^(?:broken|dead|slow|fine|ok|okay|good|great|bad|sore|tired|hurting|killing|acting|making|getting|being|not|so|very|really|too|driving|late|ready|done|full|empty|down|up|coming|going|gone|out|over|here|there|what|that|how|to|if|whether|because|when|wrong|right|better|worse|due|it|this|in the|on the way|running|always|never|about to|nothing|everything|pretty|super|quite|a bit|a little|a mess|cold|wet)\b",
    re.I,
)


_RELATIVE = re.compile(
    r"\b(?:kids?|children|siblings?|brothers?|sisters?|sons?|daughters?|twins?|triplets|girlfriend|boyfriend|wife|husband|partner|fiancée?|nieces?|nephews?|cousins?|grandchildren|grandkids|grandson|granddaughter|roommates?|flatmates?|housemates?|stepson|stepdaughter|toddler|newborn|baby|teenagers?|stepsister|stepbrother|half-(?:brother|sister)|in-laws|godson|goddaughter|friends?|uncle|aunt|pen pal|mentor|boss|manager|therapist|coach|nanny|cleaner|assistant)\b",
    re.I,
)
_DOINGS = frozenset((
    "play", "coach", "sing in", "teach", "own", "practise", "practice", "collect", "commute",
    "drive", "ride", "knit", "wear", "raise", "breed", "wake up", "get up", "go to bed", "rent",
    "weigh", "smoke", "manage", "lead", "foster", "volunteer at", "volunteer for", "host", "brew",
    "restore", "subscribe to", "sail",
))  # fmt: skip
_NAMED_ONLY = frozenset((
    "car", "computer", "phone", "room", "employer", "school", "department", "location",
))  # fmt: skip


def read_possessions(clause: str) -> Iterator[Found]:
    """What the speaker has, or has not; family goes to relations."""
    match = _HAVE.match(clause)
    if match is None or re.match(r"i (?:a|an|two|no)\b", clause, re.I):
        return
    thing = ended(match["thing"])
    negated = bool(match["not"]) or bool(re.match(r"no\s", thing, re.I))
    name = bare(re.sub(r"^no\s+", "", thing, flags=re.I))
    head = re.split(r"\s+(?:called|named|who|that|with|in|from|and|for|to)\b|,", name)[0]
    named = re.search(
        r"\b(?:called|named)\s+(?P<name>[A-Z][\w'-]*(?:(?:\s+and\s+|\s*,\s*|\s+)[A-Z][\w'-]*){0,6})",
        thing,
    )
    if _RELATIVE.search(head) and not re.match(r"i (?:bought|got)\b", clause, re.I):
        last = _RELATIVE.findall(head)[-1].lower()
        words = f"has no {name}" if negated else f"has {head}"
        yield Found("relation", f"has:{thing_key(last)}", name if negated else head, words, negated)
        if named and not negated:
            yield Found("relation", thing_key(last), named["name"], f"{last} {named['name']}")
        return
    if (_POSSESSION.search(head) or (named and not negated)) and len(head.split()) <= 6:
        kinds = _POSSESSION.findall(head)
        last = kinds[-1].lower() if kinds else head.split()[-1].lower()
        yield from profile_fact(f"has:{thing_key(last)}", name if not named else head, negated)
        if named and not negated:
            yield Found("relation", thing_key(last), named["name"], f"{last} {named['name']}")


def read_habits(clause: str) -> Iterator[Found]:
    """Tools, instruments, studies and standing habits."""
    match = _SWITCHED.match(clause)
    if (
        match
        and not _OFF.match(match["thing"])
        and (
            match["old"]
            or re.match(r"i(?:'ve| have)? (?:\w+ )?(?:switched|migrated|changed)", clause, re.I)
        )
    ):
        thing = bare(match["thing"])
        if is_named(thing) and len(thing.split()) <= 5:
            words = f"uses {thing} now"
            yield Found("preference", f"likes:{thing_key(thing)}", thing, words)
        return
    match = _USES.match(clause)
    if (
        match
        and not _OFF.match(match["thing"])
        and re.search(r"[A-Z]|mac|linux|windows|python|vim|emacs|android|metric", match["thing"])
    ):
        if re.match(r"run (?:into|out|to|a \d|the)", clause[clause.lower().find("run") :], re.I):
            return
        thing = re.split(r"\s+(?:for|to|at|with|on|as|in)\s+", bare(match["thing"]))[0]
        if is_named(thing) and len(thing.split()) <= 5:
            yield from profile_fact(f"uses:{thing_key(thing)}", thing)
        return
    match = _PLAYS.match(clause)
    if match:
        verb, thing = match["verb"].lower(), ended(match["thing"])
        if _OFF.match(thing) or re.match(
            r"(?:a (?:lot|bit|little)|an? (?:error|email|issue|look|break|picture|photo|note|test)|the (?:code|command|tests?|script|bus|train|same|risk|following)|to\b|into\b|out\b|up\b|with\b|some (?:tests?|code))",
            thing,
            re.I,
        ):
            return
        if verb in ("drive", "ride", "wear", "own") and not re.match(
            r"(?:a|an|my|two|three|size|glasses|contact|contacts|hearing|[A-Z])\b", match["thing"]
        ):
            return
        if verb == "run" and re.match(
            r"(?:my own|a small|an? \w+ (?:shop|store|business|company|bakery|cafe|café|studio|agency|restaurant|blog|podcast|farm)|a (?:shop|store|business|company|bakery|cafe|café|studio|agency|restaurant|blog|podcast|farm))\b",
            match["thing"],
            re.I,
        ):
            yield from profile_fact("runs", f"run {thing}")
            return
        if verb in ("wake up", "get up", "go to bed") and not re.match(
            r"(?:at|early|late|around|before|after|by)\b", thing, re.I
        ):
            return
        if verb in _DOINGS:
            yield from profile_fact(
                f"{verb}:{thing_key(thing)}"
                if verb in ("play", "teach", "collect", "own", "ride", "drive", "wear")
                else verb,
                f"{verb} {thing}",
                bool(match["not"]),
            )
        return
    match = _STUDIES.match(clause)
    if match:
        verb, thing = match["verb"].lower(), ended(match["thing"])
        if verb in ("go to", "attend", "attended") and not _SCHOOLISH.search(
            " ".join(thing.split()[:5])
        ):
            return
        split = re.match(r"(?P<subject>.*?)\s+(?:at|from)\s+(?P<place>\S.*)$", thing)
        if re.search(r"from$|school|college|university|attend|go to| at$", verb) or (
            _SCHOOLISH.search(thing) and not split
        ):
            yield from profile_fact(
                "school", bare(re.split(r"\s+(?:with|in)\s+(?:a|an|\d)", thing)[0])
            )
        else:
            subject = re.sub(r"^(?:for\b.*)$", "", split["subject"] if split else thing)
            if subject and not re.match(
                r"(?:with|for|in|last|early|hard|the|all|a lot|this|that|how)\b", subject, re.I
            ):
                yield from profile_fact("major", subject)
            if split:
                yield from profile_fact("school", bare(split["place"]))


def read_attribute(clause: str) -> Iterator[Found]:
    """ "My K is V" for the attributes that have a key."""
    match = _ATTRIBUTE.match(clause)
    if match is None:
        return
    key = attribute_key(match["what"])
    thing = ended(match["thing"])
    if key is None or _STATE_WORDS.match(thing) or not is_named(bare(thing)):
        return
    if key in _NAMED_ONLY and not re.match(r"(?:a|an|called|named)\b|[A-Z0-9+(<*]", match["thing"]):
        return
    if key == "phone" and not is_number(thing):
        key = "phone model"
    if key == "hobby":
        for one in listed(bare(thing)):
            yield Found(
                "preference",
                f"likes:{thing_key(one)}",
                bare(one),
                f"likes {bare(one)}",
                bool(match["not"]),
            )
        return
    yield from profile_fact(key, bare(thing), bool(match["not"]))
