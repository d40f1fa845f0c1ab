"""Work, and what somebody says they are, in an English clause."""

from __future__ import annotations

import re
from collections.abc import Iterator

from negmem.core.formation.extraction.english_said import (
    ADVERBS,
    NATIONALITY,
    is_negative,
    profile_fact,
)
from negmem.core.formation.extraction.english_things import bare, ended, is_named
from negmem.core.formation.extraction.found import Found
from negmem.core.formation.extraction.keys import thing_key

_WORKS = re.compile(
    rf"^i(?:'m|'ve been| am| have been|'ve| have)? {ADVERBS}(?P<verb>work|working|employed|started (?:working|a (?:new )?job|a (?:new )?position|a (?:new )?role|work)|started|joined|intern|interning|volunteer|volunteering|freelance|freelancing|got (?:a|hired|a (?:new )?job)(?: job| position)?|accepted a (?:job|position|role)|took a (?:new )?job|landed a job|do (?:some )?(?:consulting|freelance work)|switched (?:jobs )?to|consult|serve|serving|teach|teaching|study|studying|go to (?:school|college|university)|changed jobs and (?:now )?work|changed careers and (?:now )?work|transferred)"
    r"(?: (?P<mid>remotely|full[- ]time|part[- ]time|nights|from home|there|freelance|[a-z]+ [a-z]+ shifts|the night shift))? (?:(?P<prep>at|for|with|as|in|on|by|to|from)\b ?)?(?P<thing>\S.*)$",
    re.I,
)
_AS = re.compile(
    r"^(?P<place>.*?)[, ]+as (?P<job>(?:a|an|the|their|one of|head|chief|senior|lead|vice)\b.*)$|^(?P<job2>(?:a|an|the)\b.*?)\s+(?:at|for|with)\s+(?P<place2>[A-Z0-9].*|(?:a|an|the)\b.*)$",
    re.I,
)
_IM_A = re.compile(
    rf"^i(?:'m| am|'ve become| have become|'ve been| have been| became| used to be) (?P<adv>{ADVERBS})(?:(?P<art>a|an|the|one of the) )(?P<thing>\S.*)$",
    re.I,
)
_NOT_A_JOB = re.compile(
    r"^(?:bit|little|lot|few|couple|fan|huge fan|big fan|person|good|great|bad|terrible|nice|idiot|mess|total mess|failure|stranger|beginner at this|firm believer|believer|sucker|person who|kind of|sort of|type of|big|huge|massive|quick|hard|long way|hurry|rush|loss"
    r"|tad|touch|way|same|only|one|first|last|best|worst|position to|bad mood|good mood|minute|second|week|day|month|year|fool|burden|work in progress|member of the audience|victim|witness|part of|oldest|youngest|eldest|middle|only child|step|genius|busy|weird|tough|lucky|happy|sad|wreck|disappointment|natural|perfectionist about|loser|guest|new|different|hot|cold|verge|edge|phone|way to|middle|process|bus|train|road|point|fence|mood|lookout|market|right|left|wrong|same page|opposite)\b",
    re.I,
)
_CHILDREN = re.compile(
    r"^i(?:'m| am) (?:also )?(?:a |the )?(?:proud |single |new |expecting ){0,6}(?:mother|father|mom|mum|dad|parent|grandmother|grandfather|grandma|grandpa) (?:of|to) (?P<thing>\S.*)$",
    re.I,
)


def read_work(clause: str) -> Iterator[Found]:
    """Occupation, employer and field."""
    match = _WORKS.match(clause)
    if match is None:
        return
    verb, prep, thing = match["verb"].lower(), (match["prep"] or "").lower(), ended(match["thing"])
    negated = bool(
        re.search(r"\b(?:not|never|no longer|don't)\b|n't", clause[: match.start("verb")], re.I)
    )
    if (
        verb
        in (
            "started",
            "joined",
            "teach",
            "teaching",
            "study",
            "studying",
            "serve",
            "serving",
            "transferred",
        )
        and prep not in ("at", "as", "for", "with")
        and verb not in ("joined",)
    ):
        if verb in ("teach", "teaching"):
            yield from profile_fact("occupation", f"teach {thing}", negated)
        return
    if verb == "joined" and not re.match(
        r"[A-Z]|(?:a|an) (?:\w+ )?(?:startup|company|firm|bank|team)", thing
    ):
        return
    if verb.startswith(("work", "employed")) and prep in ("on", "by", "to", "from", ""):
        if prep == "from" and re.match(r"home", thing, re.I):
            yield from profile_fact("work place", "from home", negated)
        elif (
            prep == ""
            and match["mid"] is None
            and re.match(
                r"(?:night|day|evening|morning)s?(?: shifts?)?$|(?:remotely|part[- ]time|full[- ]time|freelance)",
                thing,
                re.I,
            )
        ):
            yield from profile_fact("work hours", thing, negated)
        return
    if prep == "" and not verb.startswith(("joined",)):
        return
    if prep == "as":
        job = re.match(r"(?P<job>.*?)\s+(?:at|for|with|in)\s+(?P<place>\S.*)$", thing, re.I)
        if job and not re.match(r"(?:charge|training)\b", job["place"], re.I):
            yield from profile_fact("occupation", bare(job["job"]), negated)
            at = re.search(r"\s(at|for|with|in)\s+" + re.escape(job["place"]), thing, re.I)
            if at and at[1].lower() != "in":
                yield from profile_fact("employer", bare(job["place"]), negated)
            elif at and job["place"][:1].isupper():
                yield from profile_fact("location", job["place"], negated)
        else:
            yield from profile_fact("occupation", bare(thing), negated)
        return
    if re.match(
        r"(?:it|this|that|you|him|her|them|the (?:same|night|weekend|evening|morning|afternoon)|night|all|hours|about|over|\d+ (?:hours|years)|a (?:living|while|long)|free|my (?:boss|own|mind|dad|father)|years|months)\b",
        thing,
        re.I,
    ) and not re.match(r"my (?:father|dad)'s|my own (?:company|business)", thing, re.I):
        return
    if prep == "with" and not re.match(
        r"[A-Z]|(?:a|an|the) (?:[\w-]+ ){0,2}(?:company|startup|firm|team|agency|bank|ngo|charity)\b",
        thing,
    ):
        return
    split = _AS.match(thing)
    place, job_title = thing, None
    if split:
        place = split["place"] or split["place2"] or thing
        job_title = split["job"] or split["job2"]
    if prep == "in" and verb.startswith(
        ("work", "employed", "intern", "volunteer", "consult", "freelanc")
    ):
        key = (
            "location"
            if re.match(r"[A-Z]", place) and not re.match(r"(?:IT|HR|PR|AI|QA|UX|R&D)\b", place)
            else "industry"
        )
        key = "work location" if key == "location" else key
        yield from profile_fact(key, place, negated)
    elif verb.startswith(("volunteer", "intern")):
        yield from profile_fact(f"{verb.split('ing')[0]}s at", bare(place), negated)
    elif verb.startswith("go to"):
        yield from profile_fact("school", place, negated)
    elif verb in ("study", "studying"):
        yield from profile_fact("school", bare(place), negated)
    elif re.match(r"a (?:living|bit|while)", place):
        return
    else:
        yield from profile_fact(
            "employer",
            bare(
                re.sub(
                    r"\s+in\s+(?:the\s+)?(?:\w+\s+)?(?:department|team|division|office)\b.*$",
                    "",
                    place,
                )
            ),
            negated,
        )
    if job_title:
        yield from profile_fact("occupation", bare(job_title), negated)


def read_identity(clause: str) -> Iterator[Found]:
    """What the speaker says they are."""
    match = _CHILDREN.match(clause)
    if match:
        name = bare(match["thing"])
        yield Found("relation", "children", name, f"parent of {name}")
        return
    match = re.match(
        r"^i(?:'m| am) (?P<not>not )?(?:originally |half |part |actually )?(?P<thing>\S+(?: \S+)?)$",
        clause,
        re.I,
    )
    if (
        match
        and NATIONALITY.match(match["thing"])
        and match["thing"][0].isupper()
        and not re.match(r"(?:Finish|Selfish|Foolish|Bullish)", match["thing"], re.I)
    ):
        yield from profile_fact("nationality", match["thing"], bool(match["not"]))
        return
    match = _IM_A.match(clause)
    if match and "used to be" not in clause[:16].lower() and not _NOT_A_JOB.match(match["thing"]):
        thing = ended(match["thing"])
        if re.search(r"\b(?:fan|lover|addict|enthusiast|fanatic)\b", thing, re.I):
            return
        negated = is_negative(match["adv"])
        split = re.match(r"(?P<job>.*?)\s+(?:at|with|for)\s+(?P<place>\S.*)$", thing, re.I)
        job = re.split(
            r"\s+(?:in|from|with|and|who|that|by|living|working|based|on)\s+",
            split["job"] if split else thing,
        )[0]
        if re.search(r"\b(?:citizen|resident|national|native|immigrant|refugee)\b", job, re.I):
            yield from profile_fact(
                "nationality" if "citizen" in job.lower() else f"is:{thing_key(job)}", job, negated
            )
        elif re.search(
            r"\b(?:person|owl|bird|introvert|extrovert|perfectionist|insomniac|sleeper|runner|cyclist|smoker|drinker|gamer|reader|eater|vegetarian|vegan|believer|learner|procrastinator|morning|widow|widower|only child|twin|mother|father|mom|mum|dad|parent|grandparent)\b",
            job,
            re.I,
        ):
            yield from profile_fact(f"is:{thing_key(job)}", job, negated)
        elif len(job.split()) <= 6:
            yield from profile_fact("occupation", job, negated)
        if (
            split
            and is_named(split["place"])
            and not negated
            and re.match(r"[A-Z]|(?:a|an|the)\b", split["place"])
        ):
            key = "school" if re.search(r"student|candidate", job, re.I) else "employer"
            yield from profile_fact(key, bare(split["place"]))
