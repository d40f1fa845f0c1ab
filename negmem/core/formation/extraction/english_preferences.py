"""Likes and dislikes in an English clause."""

from __future__ import annotations

import re
from collections.abc import Iterator

from negmem.core.formation.extraction.english_things import bare, ended, is_named, listed
from negmem.core.formation.extraction.found import Found
from negmem.core.formation.extraction.keys import thing_key

_ADVERB = (
    r"(?:(?:really|also|just|absolutely|still|do|actually|genuinely|truly|kind of|sort of|kinda|quite|particularly|especially|always|usually"
    r"|personally|totally|definitely|simply|generally|honestly|very much|rather|much|mostly|now|so|even|too|certainly|greatly|thoroughly|secretly|both|only"
    r"|deeply|strongly|tend to|have always|have really|have come to|'ve always|'ve really|'ve come to|'ve grown to|have grown to|'ve started to|have started to|'ve begun to|started to|have never really|have never|'ve never really|'ve never|never really|never|really never|no longer|don't really|do not really|don't"
    r"|do not|didn't|did not|can't say i|don't particularly|don't actually|don't even|used to)\s+){0,6}"
)
_NEGATIVE_ADVERB = re.compile(
    r"\b(?:don't|do not|never|no longer|didn't|did not|can't say)\b", re.I
)
_PAST = re.compile(r"\bused to\b", re.I)
_LIKE = re.compile(
    rf"^i(?:'m| am| have|'ve)?\s+(?P<adverb>{_ADVERB})"
    r"(?P<verb>like|love|liked|loved|enjoy|enjoyed|adore|adored|dig|cherish|treasure|favou?r|dislike|disliked|hate|hated|detest|loathe|despise|despised|abhor"
    r"|can't stand|cannot stand|can not stand|couldn't stand|can't bear|cannot bear|can't tolerate|can't abide|can't get enough of|cannot get enough of|can't live without|cannot live without|couldn't live without"
    r"|can't stomach|care for|cared for|swear by|live for|prefer|preferred|go for|loving|enjoying)\s+(?P<thing>\S.*)$",
    re.I,
)
_DISLIKES = re.compile(
    r"dislike|hate|detest|loathe|despise|abhor|stand$|bear$|tolerate$|abide$|stomach$", re.I
)
_BEING = re.compile(
    r"^i(?:'m| am|'ve been| have been|'ve become| have become|'ve gotten| have gotten|'ve got| got| was| became)\s+(?P<adverb>(?:(?:really|also|just|a|an|very|big|huge|massive|quite|super|pretty|totally|completely|absolutely|so|such|always|still|no|not|never|longer|been|particularly|"
    r"real|such a|the|biggest|much|of|too|all that|that|lifelong|long-time|avid|die-hard|diehard|now|recently|getting|not at all|"
    r"enthusiastic|passionate|terribly|rather|bit|secretly|actually|definitely|not a|become|becoming|exactly|kind of|sort of|totally|only)\s+){0,6})"
    r"(?P<verb>into|fond of|crazy about|mad about|nuts about|fan of|fans of|lover of|admirer of|passionate about|keen on|partial to|obsessed with|addicted to|hooked on|interested in"
    r"|enthusiast of|enthusiastic about|in love with|sick of|tired of|fed up with|bored of|bored with|disgusted by|annoyed by|irritated by|sold on|excited by|afraid of|scared of|terrified of|averse to)\s+(?P<thing>\S.*)$",
    re.I,
)
_BEING_DISLIKES = re.compile(
    r"^(?:sick|tired|fed|bored|disgusted|annoyed|irritated|averse|afraid|scared|terrified)", re.I
)
_FRAGMENT_NOT_FAN = re.compile(
    r"^(?:i'm |i am )?not (?:really )?(?:a |much of a )?(?:big |huge )?(?:fan of|into|fond of|keen on)\s+(?P<thing>\S.*)$",
    re.I,
)
_KIND_OF_FAN = re.compile(
    r"^i(?:'m| am)\s+(?P<not>not (?:really |much of |exactly )?)?(?:a |an )(?:total |real |huge |big |massive |lifelong |die-hard |avid |complete |true |proud |serious |such a ){0,6}"
    r"(?P<thing>[\w' -]{2,40}?)[ -](?:lover|fan|addict|enthusiast|fanatic|junkie|buff|nerd|geek|person)\b",
    re.I,
)
_OVER = re.compile(
    r"\s+(?:over|rather than|instead of|more than|to(?= (?!\w+ (?:my|the|a|with|in|on|at)\b)\S+(?: \S+){0,3}$)|than)\s+(?P<other>\S.*)$",
    re.I,
)
_RATHER = re.compile(
    r"^i(?:'d| would) (?:much |always )?rather (?P<thing>\S.*?)(?:\s+than\s+(?P<other>.*))?$", re.I
)
_BETTER = re.compile(
    r"^i (?:really |do |always )?(?:like|love|enjoy) (?P<thing>\S.*?) (?:better|more) than (?P<other>\S.*)$",
    re.I,
)
_FAVOURITE = re.compile(
    r"^my (?:(?:absolute|all-time|all time|current|new|personal|number one|own|second|own) ){0,6}(?:favou?rite|fave|preferred|go-to) (?P<kind>[\w' -]{0,40}?)(?:\s+(?:of all time|ever|in the world|right now|to \w+|these days|so far|by far|has always|have always|at the moment|lately)){0,6}"
    r"\s*(?P<is>is|are|'s|was|has to be|would be|will always be|has become|has been|have been|been|has got to be|must be|is now|used to be|isn't|is not|remains|changed to|always is)\s+(?P<now>(?:now|still|definitely|actually|probably|hands down|always|by far|currently|no longer|not|absolutely|called|no doubt|really|without a doubt|undoubtedly|been) ){0,6}(?P<thing>\S.*)$",
    re.I,
)
_IS_FAVOURITE = re.compile(
    r"^(?P<thing>[\w' &.-]{2,60}?) (?P<is>is|are|was|isn't|is not|is no longer|aren't|are not|has always been|will always be|has become|remains) (?:still |definitely |by far |now |probably |hands down |actually |always ){0,6}my (?:(?:absolute|all-time|all time|new|current|personal|number one) ){0,6}(?:favou?rite|fave|go-to|preferred)(?P<kind> [\w' -]{1,40}?)?(?:\s+(?:of all time|ever|in the world|right now|by far|these days)){0,6}$",
    re.I,
)
_DONT_CONSUME = re.compile(
    r"^i (?:really |just |also |absolutely |still ){0,6}(?P<verb>(?:don't|do not|never|can't|cannot|no longer|won't)(?: really| ever| usually)? (?:eat|drink|have(?= (?:gluten|dairy|lactose|sugar|nuts|peanuts|meat|milk|eggs|wheat|soy|alcohol|caffeine|seafood|shellfish|pork|spicy|coffee))|touch|watch|use|wear|listen to|play|read|smoke|do|consume|take|buy|order)|(?:(?:try|need|prefer|have) to )?avoid|stay away from|steer clear of|refuse to (?:eat|drink|use)|(?:quit|gave up|have given up|'ve given up|stopped|have stopped|'ve stopped|cut out) (?:drinking|eating|smoking|playing|watching|using)?|(?:quit|gave up|have given up|cut out))\s*(?P<thing>\S.*)$",
    re.I,
)
_ABSTAINS = re.compile(
    r"^i (?:really |still )?(?:don't|do not|never|no longer)(?: ever| really)? (?P<thing>smoke|drink|vape|gamble|swear)(?: at all| any ?more)?$"
    r"|^i(?:'ve| have)? (?:just |finally |recently )?(?:quit|stopped|given up|gave up) (?P<other>smoking|drinking|vaping|gambling)(?: (?:alcohol|completely|entirely|altogether|for good|last|in|this|for|since|a|two|three|when|after|because|years?|\d+)\b.*)?$",
    re.I,
)
_HABITS = {"smoking": "smoke", "drinking": "drink", "vaping": "vape", "gambling": "gamble"}
_ONLY = re.compile(
    r"^i (?:only|mostly|exclusively|mainly) (?:ever )?(?:drink|eat|wear|listen to|watch|read|buy) (?P<thing>\S.*)$",
    re.I,
)
_MORE_OF = re.compile(
    r"^i(?:'m| am) (?:more of |definitely |really |very much )?(?:a|an) (?P<thing>dog|cat|tea|coffee|beach|mountain|city|country|wine|beer|summer|winter|outdoors?|animal|sweet|savou?ry)[ -]person\b",
    re.I,
)
_STOPPED_LIKING = re.compile(
    r"^i(?:'ve| have)? (?:really |completely )?(?:stopped|quit) (?:liking|loving|enjoying|caring for)\s+(?P<thing>\S.*)$|^i(?:'ve| have)? (?:lost (?:all |my )?interest in|gone off|grown tired of|got tired of|gotten tired of|grown out of|went off|fallen out of love with|had enough of|lost my taste for)\s+(?P<other>\S.*)$",
    re.I,
)
_GOOD_TO_ME = re.compile(
    r"^(?P<thing>[\w' &-]{2,40}?) (?:just |really |definitely |totally )?(?:(?P<not>isn't|aren't|is not|are not)|is|are) (?:really |just |so |absolutely |totally |definitely ){0,6}(?:my thing|my cup of tea|my jam|my passion|my weakness|my guilty pleasure|not for me|for me(?= *$))\b",
    re.I,
)
_PLEASES_ME = re.compile(
    r"^(?P<thing>[\w' &-]{2,40}?) (?P<verb>(?:really |always |just |totally |absolutely ){0,6}(?:annoys|annoy|bores|bore|disgusts|disgust|irritates|irritate|fascinates|fascinate|drives|drive|gives|give|makes|make|relaxes|relax|calms|calm) me)(?P<how> (?:crazy|nuts|up the wall|the creeps|sick|happy|so happy|calm))?$",
    re.I,
)
_PASSION = re.compile(
    r"^my (?:biggest |greatest |true |main |real |great )?(?:passion|weakness|guilty pleasure|comfort food|pet peeve|favorite thing|interests?)\b.{0,20}? (?:is|are|include|includes) (?P<thing>\S.*)$",
    re.I,
)
_SOFT_SPOT = re.compile(
    r"^i(?:'ve| have| got|'ve got| have got) (?:always had )?(?:a|an|no|zero|little) (?P<not>)?(?:real |big |strong |huge |soft |great |deep |serious ){0,6}(?P<kind>soft spot|weakness|passion|love|thing|fondness|preference|interest|aversion|obsession|dislike|hatred|fear|phobia|patience|spot|taste|crush) (?:for|of|to|in|with|on) (?P<thing>\S.*)$",
    re.I,
)


def found_preferences(clause: str) -> Iterator[Found]:
    """Preferences that the speaker states in one clause."""
    for read in (_stopped, _comparison, _favourite, _liking, _being, _not_consumed, _others):
        results = list(read(clause))
        if results:
            yield from results
            return


def _preference(
    thing: str, negated: bool, ended_: bool = False, split: bool = True
) -> Iterator[Found]:
    whole = bare(thing)
    if not is_named(ended(thing)):
        return
    for one in listed(whole) if split else [whole]:
        name = bare(one)
        if not is_named(name):
            continue
        words = f"does not like {name}" if negated else f"likes {name}"
        yield Found("preference", f"likes:{thing_key(name)}", name, words, negated, ended_)


def _stopped(clause: str) -> Iterator[Found]:
    match = _STOPPED_LIKING.match(clause)
    if match:
        yield from _preference(match["thing"] or match["other"], True)


def _comparison(clause: str) -> Iterator[Found]:
    match = _BETTER.match(clause) or _RATHER.match(clause)
    if match is None:
        return
    thing = re.sub(r"^(?:have|be|eat|drink|use)\s+", "", bare(match["thing"]), flags=re.I)
    other = bare(match["other"] or "")
    if match.re is _RATHER and (
        not match["other"] or re.match(r"(?:not|you|we|he|she|they|it)\b", thing, re.I)
    ):
        return
    yield from _preferred(thing, other)


def _preferred(thing: str, other: str) -> Iterator[Found]:
    if not is_named(thing):
        return
    words = f"prefers {thing}" + (f" to {other}" if other else "")
    if other and is_named(other):
        pair = " / ".join(sorted((thing_key(thing), thing_key(other))))
        yield Found("preference", f"prefers:{pair}"[:255], thing, words)
    else:
        yield Found("preference", f"likes:{thing_key(thing)}", thing, words)


def _favourite(clause: str) -> Iterator[Found]:
    match = _FAVOURITE.match(clause) or _IS_FAVOURITE.match(clause)
    if match is None:
        return
    kind = (match["kind"] or "").strip()
    thing = ended(match["thing"])
    thing = re.sub(
        r"^(?:(?:the (?:one|color|colour|movie|book|song) )|probably |definitely )",
        "",
        thing,
        flags=re.I,
    )
    if match["is"].lower().startswith(("used", "was")):
        return
    is_not = bool(
        re.search(r"n't|not|no longer", f"{match['is']} {match.groupdict().get('now') or ''}", re.I)
    )
    if not is_named(bare(thing)) or re.match(r"(?:no|not|hard|difficult|when)\b", thing, re.I):
        return
    thing = bare(thing)
    about = thing_key(re.sub(r"^(?:kind|type|sort)s? of\s+", "", kind)) if kind else ""
    key = f"favorite:{about}" if about else f"likes:{thing_key(thing)}"
    head = f"favorite {kind}" if kind else "favorite"
    yield Found("preference", key, thing, f"{head} is {'not ' if is_not else ''}{thing}", is_not)


def _liking(clause: str) -> Iterator[Found]:
    match = _LIKE.match(clause)
    if match is None:
        return
    verb, thing = match["verb"].lower(), match["thing"]
    adverb = match["adverb"] or ""
    past = bool(_PAST.search(adverb)) or verb in (
        "liked",
        "loved",
        "enjoyed",
        "adored",
        "preferred",
        "hated",
        "disliked",
        "despised",
        "cared for",
    )
    negative = bool(_NEGATIVE_ADVERB.search(adverb))
    if re.match(r"(?:would|'d)\b", clause[1:].lstrip(), re.I) or (
        past and "used to" not in adverb.lower() and not negative
    ):
        if not re.search(r"have always|'ve always", clause, re.I):
            return
        past = False
    if verb in ("care for", "cared for") and not negative:
        return
    if re.match(
        r"(?:to (?:know|ask|say|hear|think|thank|point|remind|invite)|it if|you\b|how you|if\b|your\b)",
        thing,
        re.I,
    ):
        return
    dislikes = bool(_DISLIKES.search(verb))
    if re.search(r"\bused to\b", adverb, re.I):
        # What was liked once is no longer; what was hated once says nothing of today.
        if not dislikes:
            yield from _preference(re.sub(r"^(?:to )", "", thing), True, True)
        return
    negated = dislikes != negative if not (dislikes and negative) else False
    if dislikes and negative:
        return
    if verb in ("appreciate", "go for", "dig", "live for", "swear by") and negative:
        return
    if verb == "appreciate" and re.match(r"(?:your|the help|it|any|if)\b", thing, re.I):
        return
    over = _OVER.search(ended(thing)) if verb == "prefer" or "more than" in thing else None
    if over and not negative:
        yield from _preferred(bare(ended(thing)[: over.start()]), bare(over["other"]))
        return
    if verb == "prefer" and not negative:
        whole = re.sub(
            r"^(?:to (?:have|use|get|drink|eat)|using|having)\s+", "", bare(thing), flags=re.I
        )
        if is_named(whole):
            yield from _preferred(whole, "")
        return
    yield from _preference(re.sub(r"^(?:both|to be)\s+", "", thing), negated)


def _being(clause: str) -> Iterator[Found]:
    match = _FRAGMENT_NOT_FAN.match(clause)
    if match:
        yield from _preference(match["thing"], True)
        return
    match = _BEING.match(clause)
    if match:
        verb, adverb = match["verb"], match["adverb"] or ""
        if re.match(r"i (?:was|got|became)", clause, re.I) and not re.match(
            r"i (?:got|became)", clause, re.I
        ):
            return
        negative = bool(re.search(r"\b(?:not|never|no longer|no)\b", adverb, re.I))
        if _BEING_DISLIKES.match(verb):
            if negative or re.match(
                r"(?:afraid|scared|tired|sick) of (?:that|the|you|it|waiting)", verb, re.I
            ):
                return
            yield from _preference(match["thing"], True)
            return
        if re.match(r"interested in", verb, re.I) and re.match(
            r"\w+ing\b|what|how|your|the\b|this|that|both", match["thing"], re.I
        ):
            return
        if verb.lower() == "in love with" and re.match(
            r"(?:him|her|my|a|someone|this)\b", match["thing"], re.I
        ):
            return
        yield from _preference(match["thing"], negative)
        return
    match = _KIND_OF_FAN.match(clause)
    if match and not re.match(
        r"(?:private|shy|quiet|good|bad|happy|simple|nice|people|sports?|very|creative|positive|religious|spiritual|sick)$",
        match["thing"],
        re.I,
    ):
        thing = match["thing"]
        if re.search(r"person$", match.group(), re.I) and not re.match(
            r"(?:dog|cat|tea|coffee|beach|mountain|city|summer|winter|outdoors?|animal|wine|beer)s?$",
            thing,
            re.I,
        ):
            return
        yield from _preference(thing, bool(match["not"]))


def _not_consumed(clause: str) -> Iterator[Found]:
    bare_habit = _ABSTAINS.match(clause)
    if bare_habit:
        thing = bare_habit["thing"] or bare_habit["other"]
        habit = f"does not {_HABITS.get(thing.lower(), thing)}"
        yield Found("preference", f"likes:{thing_key(thing)}", thing, habit, True)
        return
    match = _DONT_CONSUME.match(clause)
    if match is None:
        return
    thing = re.sub(r"^(?:any|much|that much|a lot of|too much)\s+", "", match["thing"], flags=re.I)
    if re.search(r"\b(?:do|take|use|read|buy|order|won't)$", match["verb"], re.I) and not re.match(
        r"(?:drugs|meat|dairy|sugar|social media|facebook)", thing, re.I
    ):
        return
    if re.match(
        r"(?:my|to|at|in|on|the|until|before|after|so|enough|out|well|very|here|there|yet|alone|for)\b",
        thing,
        re.I,
    ):
        return
    # "I quit Google and joined Apple" is about employers.
    if re.match(
        r"[A-Z].*? (?:and (?:joined|started|moved|went|took)|to (?:join|start|found))\b", thing
    ):
        return
    yield from _preference(thing, True)


def _others(clause: str) -> Iterator[Found]:
    match = _ONLY.match(clause) or _MORE_OF.match(clause)
    if match:
        yield from _preference(match["thing"], False)
        return
    match = _GOOD_TO_ME.match(clause)
    if match and not re.match(r"(?:it|that|this|he|she|they|which|what)\b", match["thing"], re.I):
        if (
            match.group().lower().endswith(" for me")
            and not match["not"]
            and "not for me" not in match.group().lower()
        ):
            return
        negative = bool(match["not"]) or bool(
            re.search(r"n't|not for me|\bnot\b", match.group(), re.I)
        )
        yield from _preference(match["thing"], negative)
        return
    match = _PASSION.match(clause)
    if match:
        negative = "peeve" in clause.lower()
        yield from _preference(match["thing"], negative)
        return
    match = _SOFT_SPOT.match(clause)
    if match:
        kind = match["kind"].lower()
        negative = kind in ("aversion", "dislike", "hatred", "fear", "phobia") or bool(
            re.match(r"i(?:'ve| have| got|'ve got| have got) (?:no|zero|little)\b", clause, re.I)
        )
        if kind != "patience" or negative:
            yield from _preference(match["thing"], negative)
        return
    match = _PLEASES_ME.match(clause)
    if match and not re.match(
        r"(?:it|that|this|he|she|they|which|what|my|your|you|i)\b", match["thing"], re.I
    ):
        verb = match["verb"].lower() + (match["how"] or "").lower()
        if re.search(r"annoy|bore|disgust|irritate|crazy|nuts|wall|creeps|sick", verb):
            yield from _preference(match["thing"], True)
        elif re.search(r"fascinate|happy|relax|calm", verb):
            yield from _preference(match["thing"], False)
