"""Intentions and appointments of the speaker, in an English clause."""

from __future__ import annotations

import re
from collections.abc import Iterator

from negmem.core.formation.extraction.english_things import bare, ended
from negmem.core.formation.extraction.found import Found
from negmem.core.formation.extraction.keys import thing_key

_TIME = (
    r"(?:tomorrow|tonight|(?:next|this|coming|the following) (?:\w+ )?(?:week|weekend|month|year|spring|summer|fall|autumn|winter|semester|term|quarter|mon|tues|wednes|thurs|fri|satur|sun|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|morning|afternoon|evening|christmas|easter)"
    r"|in (?:a|an|two|three|four|five|six|seven|ten|\d+|a few|a couple of|early|late|mid) ?-?(?:days?|weeks?|months?|years?|hours?|minutes?|january|february|march|april|may|june|july|august|september|october|november|december)?|(?:in|on|at|by|before|until|from|this|since|over|during|around|for) (?:the )?(?:\d{1,2}(?:st|nd|rd|th)?(?: of)? )?(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|christmas|easter|thanksgiving|new year|spring|summer|fall|autumn|winter|\d{4}|noon|midnight|the (?:\d|weekend|summer|end)|end of|holidays|year ends|weekend)\w*"
    r"|on (?:the )?\d{1,2}(?:st|nd|rd|th)|(?:on )?(?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?)|later (?:today|this)|soon|the day after tomorrow|at \d{1,2}(?::\d\d)?(?: ?[ap]m)?|someday|one day|eventually|by \d{4}|before \w+ \w+|\d{4}|every \w+day)"
)
HAS_TIME = re.compile(rf"\b{_TIME}\b", re.I)
_PLAN = re.compile(
    r"^(?P<who>i|we)(?P<be>'m|'re| am| are|'ve| have)?(?P<adv>(?: (?:also|really|still|now|definitely|finally|currently|probably|just|already|actually|both|seriously|never|not|no longer)){0,6}) (?P<verb>going to|gonna|planning to|planning on|planning|plan to|plan on|intend to|intending to|hoping to|aiming to|aim to|decided to|decided not to|about to|set to|scheduled to|supposed to|determined to|looking to|preparing to|getting ready to|saving (?:up )?(?:for|to buy)|training for|preparing for|working towards?|studying for|signed up for|registered for|enrolled in|want to|wanna|booked|made (?:a|an) (?:appointment|reservation)|committed to|resolved to|promised to|started planning|made plans to|don't plan (?:to|on)|don't intend to|do not plan (?:to|on)|not planning (?:to|on)|no longer plan(?:ning)? (?:to|on)|have to|need to|got to|must|dream of|dreaming of) (?P<thing>\S.*)$",
    re.I,
)
_WILL = re.compile(
    r"^(?P<who>i|we)(?P<will>'ll| will| shall| won't| will not)(?: (?:also|probably|definitely|not|finally|never|no longer)){0,6} (?P<thing>\S.*)$",
    re.I,
)
_PROGRESSIVE = re.compile(
    r"^(?P<who>i|we)(?:'m| am|'re| are)(?P<not> not| no longer)?(?: (?:also|finally|definitely|both|now|probably|actually|still|just|officially)){0,6} (?P<thing>(?:going (?!to \w+ (?:it|that))|flying|travell?ing|moving|starting|visiting|meeting|getting|having|seeing|leaving|attending|taking|hosting|running|giving|coming|returning|driving|heading|joining|presenting|celebrating|throwing|buying|selling|adopting|renovating|speaking|launching|retiring|graduating|switching|staying|picking|doing|playing|competing|interviewing|performing|organi[sz]ing|spending|catching|teaching|working|skipping|sitting|off to|due)\b.*)$",
    re.I,
)
_APPOINTMENT = re.compile(
    r"^(?P<who>i|we)(?:'ve| have| got|'ve got| have got)?(?P<not> don't have| no longer have)?(?: got)? (?:(?:also|just) ){0,6}(?P<thing>(?:a|an|my|our|another|the|two|tickets|reservations|plans|no)\b.*?\b(?:appointment|meeting|interview|exam|flight|trip|call|reservation|booking|deadline|wedding|surgery|operation|checkup|check-up|concert|class|presentation|conference|test|date|party|tickets|plans|vacation|holiday|race|marathon|dinner|lunch|lesson|viewing|session|defen[cs]e|review|due|baby due|physio|course|shift)\b.*)$",
    re.I,
)
_MY_EVENT = re.compile(
    r"^(?P<who>my|our) (?P<thing>(?:[\w' -]{0,30}? )?(?:appointment|meeting|interview|exam|flight|trip|wedding|surgery|operation|checkup|check-up|presentation|conference|defen[cs]e|vacation|holiday|deadline|party|baby|final|train|move|race|lease|visa|course|lesson|thesis|graduation|first day|plan|goal|contract|marathon|test|reunion|honeymoon|anniversary trip|recital|hearing|viewing)\b ?(?:is|are|starts|begins|has been|got|was|'s|leaves|takes place|will be|due|ends|runs out|expires)(?P<not> not| no longer|n't)? .*)$",
    re.I,
)
_CANCELLED = re.compile(
    r"^(?P<who>i|we)(?:'ve| have| had to| just)?(?: (?:had to|just|also|finally)){0,6} (?:cancel(?:l?ed)?|called off|dropped out of|backed out of|gave up on|given up on|scrapped|pulled out of|decided against|dropped) (?P<thing>\S.*)$",
    re.I,
)
_VAGUE = re.compile(
    r"^(?:try|keep|check|see|look|think|ask|let|be (?:back|right|there|honest|happy|able|sure|glad|fine|okay|ok|late|careful)|do (?:that|it|this)|go (?:ahead|with (?:it|that)|now)|get back|give (?:it|that|you)|have a look|take a look|read (?:it|that|this)|send|tell|say|show|use|need|keep (?:it|that|you)|remember|know|know\b|hear|make sure|test|copy|paste|add|assume|wait|start with|follow|consider|update you|note|share|help|thank|stick|share|bear|skip it|leave it|pass|explain|understand|mention|clarify|make it clear|confirm|be clear|add that|share that|talk about|discuss|get (?:a|some|an|the|your|it|this|that)|improve (?:it|this|my (?:answer|code))|fix|debug|find out|figure|work on (?:it|that|this)|(?:\w+ )?(?:this|that|it)(?: \w+)?$)\b",
    re.I,
)
_GOALS = re.compile(
    r"^(?:learn|visit|travel|buy|become|move|start|run (?:a|the|my)|lose|quit|get (?:a|my|into|married|fit|in shape|better)|write (?:a|my)|finish|open|adopt|build|save|retire|study|apply|go (?:to|back|on|abroad|hiking|camping|skiing)|climb|marry|publish|improve my|pass|complete|launch|renovate|take (?:a (?:year|course|class|trip)|up|the)|have (?:kids|children|a (?:baby|family))|cook more|eat (?:less|more|healthier)|read more|exercise|stop|give up|switch (?:jobs|careers|to)|change (?:jobs|careers)|cycle|hike|see (?:the|my)|master|raise|repaint|found|swim|spend|join|sell)\b",
    re.I,
)

_MOVED = re.compile(
    r"^(?:i|we)(?:'ve| have)?(?: (?:had to|just|also|finally)){0,2} (?:postponed|rescheduled|pushed back|brought forward|moved) (?P<thing>(?:the|our|my) (?:\w+ ){1,4}(?:to|until|till|by) .+)$",
    re.I,
)
_PRESENT = re.compile(
    r"^(?:i|we) (?:also )?(?P<thing>(?:start|leave|fly|arrive|graduate|move|retire|return|depart|travel|land|head|check in)\b.*)$",
    re.I,
)


def found_plans(clause: str) -> Iterator[Found]:
    """What the speaker is going to do, or is not."""
    match = _CANCELLED.match(clause)
    if match and not re.match(
        r"(?:it|that|this|school|college|sugar|smoking|drinking|meat|coffee|alcohol)\b",
        match["thing"],
        re.I,
    ):
        yield _plan(bare(match["thing"]), clause, True)
        return
    match = _PLAN.match(clause)
    if match:
        verb, adverb = match["verb"].lower(), (match["adv"] or "").lower()
        thing = ended(match["thing"])
        negated = (
            "not" in adverb
            or "no longer" in adverb
            or "never" in adverb
            or verb.startswith(("don't", "do not", "not", "no longer"))
            or verb == "decided not to"
        )
        timed = bool(HAS_TIME.search(thing))
        if re.search(r"\b(?:right )?now$|\blast (?:week|month|year)|\bago\b", match["thing"], re.I):
            return
        if verb == "looking to" and not timed:
            return
        if _VAGUE.match(thing) and not timed:
            return
        if verb in (
            "want to",
            "wanna",
            "hoping to",
            "looking to",
            "dream of",
            "dreaming of",
        ) and not (_GOALS.match(re.sub(r"(\w+)ing\b", r"\1", thing, count=1)) or timed):
            return
        if verb in ("have to", "need to", "got to", "must", "booked", "supposed to") and not timed:
            return
        if verb in ("going to", "gonna") and match["be"] is None:
            return
        if (
            verb == "going to"
            and re.match(
                r"(?:bed|sleep|work|school|be (?:honest|late|sick)|need|have to|miss|die|cry|guess|assume)\b",
                thing,
                re.I,
            )
            and not timed
        ):
            return
        if verb in ("want to", "wanna", "have to", "need to", "must") and _VAGUE.match(thing):
            return
        yield _plan(thing, clause, negated)
        return
    match = _APPOINTMENT.match(clause)
    if (
        match
        and HAS_TIME.search(match["thing"])
        and not re.match(r"i (?:a|an|my|the)\b", clause, re.I)
        and not re.search(r"\blast (?:week|month|year|night)|yesterday|\bago\b", clause, re.I)
    ):
        yield _plan(bare(match["thing"]), clause, bool(match["not"]))
        return
    match = _PROGRESSIVE.match(clause)
    if (
        match
        and HAS_TIME.search(match["thing"])
        and not re.search(
            r"\b(?:right now|at the moment|these days|since|today i|lately|every)\b",
            match["thing"],
            re.I,
        )
    ):
        thing = ended(match["thing"])
        if not re.match(
            r"(?:getting (?:an error|tired|old|better|late|a)|having (?:trouble|issues|a hard|problems|fun)|working (?:at|as|for|in|from|on)|doing (?:well|fine|good|great)|going (?:crazy|well|through|on|insane)|coming from|running (?:late|into|out))\b",
            thing,
            re.I,
        ):
            yield _plan(
                re.sub(r"^going to (?=[a-z]+ )", "", thing) if not match["not"] else thing,
                clause,
                bool(match["not"]),
            )
        return
    match = _MOVED.match(clause) or _PRESENT.match(clause)
    if (
        match
        and HAS_TIME.search(match["thing"])
        and not re.search(
            r"\bevery\b|\b\w+days\b|\busually\b|\balways\b|\bago\b|\blast\b", clause, re.I
        )
    ):
        yield _plan(ended(match["thing"]), clause, False)
        return
    match = _WILL.match(clause)
    if match:
        thing = ended(match["thing"])
        negated = bool(
            re.search(r"n't|\bnot\b|\bnever\b|no longer", clause[: match.start("thing")], re.I)
        )
        if (HAS_TIME.search(thing) and not _VAGUE.match(thing)) or (
            _GOALS.match(thing) and not _VAGUE.match(thing) and len(thing.split()) >= 3 and negated
        ):
            yield _plan(thing, clause, negated)
        return
    match = _MY_EVENT.match(clause)
    if (
        match
        and HAS_TIME.search(match["thing"])
        and not re.search(
            r"\b(?:was|yesterday|ago)\b|\blast (?:week|month|year)", match["thing"], re.I
        )
    ):
        yield _plan(ended(match["thing"]), clause, bool(match["not"]))
        return
    match = re.match(
        r"^(?:got|have) (?P<thing>(?:a|an|my) [\w' -]*?(?:appointment|meeting|interview|exam|flight|deadline)\b.*)$",
        clause,
        re.I,
    )
    if match and HAS_TIME.search(match["thing"]):
        yield _plan(bare(match["thing"]), clause, False)


_WHEN_TAIL = re.compile(
    rf"\s+(?:(?:in|on|at|by|before|until|from|this|next|over|during|around|for)\s+)?{_TIME}\b.*$",
    re.I,
)


def _plan(thing: str, clause: str, negated: bool) -> Found:
    about = thing_key(_WHEN_TAIL.sub("", thing)) or thing_key(thing)
    about = re.sub(
        r"^(?:travel(?:l?ing)?|fly(?:ing)?|go(?:ing)?|trip|visit(?:ing)?) (?:to )?", "trip ", about
    )
    return Found("plan", f"plan:{about}"[:255], thing, clause, negated)
