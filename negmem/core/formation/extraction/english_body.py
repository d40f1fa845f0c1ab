"""Health, diet, age, languages and status in an English clause."""

from __future__ import annotations

import re
from collections.abc import Iterator

from negmem.core.formation.extraction.english_said import ADVERBS, is_negative, profile_fact
from negmem.core.formation.extraction.english_things import bare, ended, listed
from negmem.core.formation.extraction.found import Found
from negmem.core.formation.extraction.keys import thing_key

_AGE = re.compile(
    r"^(?:i(?:'m| am|'ve| have)?|) ?(?:(?:just|now|only|already|recently|currently|about|almost|nearly|turned|finally|officially) ){0,6}(?P<age>\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?|eighteen|nineteen|seventeen|sixteen|fifteen|fourteen|thirteen)"
    r"(?P<unit>(?:[- ]?years?[- ]old|[- ]?yo| years of age)?)(?: (?:now|today|yesterday|this (?:week|month|year)|last (?:week|month|year|\w+day)|next \w+|already|on \w+.*|in \w+)){0,6}$",
    re.I,
)
_TURNED = re.compile(r"^(?:i(?:'ve)? )?(?:just |recently |finally )?turned\b|^i(?:'m| am)\b", re.I)
_IN_MY = re.compile(
    r"^i(?:'m| am) (?:in|approaching) my (?P<thing>(?:early |mid[- ]?|late )?(?:teens|twenties|thirties|forties|fifties|sixties|seventies|eighties|\d0s))",
    re.I,
)
_BORN = re.compile(r"^i was born (?:on|in|at)(?: the)? (?P<thing>\S.*)$", re.I)
_ALLERGY = re.compile(
    rf"^i(?:'m|'ve| am| have|'ve got| suffer from| have got| was diagnosed with| developed| get)? ?{ADVERBS}(?:(?:severely|highly|very|mildly|deathly|extremely|slightly|terribly|badly|quite|also|a bit) ){{0,6}}(?P<not>not |don't have )?(?:allergic to|(?:a |an )?(?:severe |serious |bad |mild |strong |terrible |life-threatening |slight |known |nasty ){{0,6}}(?:allergy|allergies|allergic reaction|intolerance|sensitivity) to) (?P<thing>\S.*)$",
    re.I,
)
_HAS_ALLERGY = re.compile(
    r"^i(?:'ve| have)?(?: got)? (?:a |an )?(?:severe |serious |bad |mild |strong |terrible |life-threatening |slight |nasty ){0,6}(?P<thing>[\w' -]{2,40}?)[ -](?P<kind>allergy|allergies|intolerance|sensitivity)\b",
    re.I,
)
_HEALTH_WORD = (
    r"asthma|diabetes|diabetic|adhd|add|autism|autistic|celiac(?: disease)?|coeliac(?: disease)?|epilepsy|epileptic|migraines?|arthritis|hypertension|high blood pressure|low blood pressure|anemia|anaemia|insomnia|depression|anxiety|dyslexia|dyslexic|eczema|psoriasis|hay fever|tinnitus|vertigo|gout|ibs"
    r"|sleep apnea|gerd|acid reflux|a heart condition|heart disease|heart problems?|a bad (?:back|knee|hip|shoulder)|a pacemaker|chronic \w+(?: \w+)?|type [12] diabetes|scoliosis|color[- ]?blind(?:ness)?|colour[- ]?blind(?:ness)?|lactose[- ]intoleran(?:t|ce)|gluten[- ]intoleran(?:t|ce)|nearsighted|short-sighted|far-sighted|deaf(?: in .*)?|blind(?: in .*)?|hard of hearing|hearing loss|cancer|lupus|crohn's(?: disease)?|multiple sclerosis|ptsd|ocd|bipolar(?: disorder)?|a thyroid \w+|hypothyroidism|high cholesterol|a nut allergy|left[- ]handed|right[- ]handed|pregnant|wheelchair user|anemic|a stutter|a peanut allergy|tendinitis|sciatica|carpal tunnel(?: syndrome)?|endometriosis|pcos|glaucoma|astigmatism|a slipped disc|a herniated disc"
)
_HEALTH = re.compile(
    rf"^i(?:'m|'ve| am| have|'ve got| have got|'ve had| have had| suffer from|'ve been diagnosed with| have been diagnosed with| was (?:recently |just )?diagnosed with| live with| struggle with| deal with| take medication for| have always been|'ve always been)? ?{ADVERBS}(?P<not>don't (?:have|suffer from) |do not have )?(?:(?:severe|mild|bad|slight|a mild case of|a touch of|really|completely|partially|red-green|seasonal|severely|slightly) ){{0,6}}(?P<thing>(?:(?:severe|mild|bad|slight|seasonal|red-green) )?(?:{_HEALTH_WORD}))\b",
    re.I,
)
_DIET = re.compile(
    rf"^i(?:'m|'ve| am| have|'ve been| have been|'ve become| have become|'ve gone| have gone| became| went| turned| follow| eat| keep)? (?P<adv>{ADVERBS})(?:(?:a|an|strictly|mostly|fully|completely|on a|on the|lifelong|strict|committed|following a) ){{0,6}}(?P<thing>vegetarian|vegan|pescatarian|flexitarian|gluten[- ]free|dairy[- ]free|sugar[- ]free|keto(?:genic)?|paleo|low[- ]carb|halal|kosher|plant[- ]based|teetotal(?:ler|er)?|raw food|mediterranean|non-?smoker|smoker|intermittent fasting)(?: diet| food)?\b(?! (?:restaurant|recipe|option|food|meal|friend|co))",
    re.I,
)
_STATUS = re.compile(
    rf"^i(?:'m| am| got| just got|'ve been| have been|'ve gotten)? (?P<adv>{ADVERBS})(?:(?:a|happily|newly|recently) ){{0,6}}(?P<thing>single|married|divorced|engaged|widowed|a widower|a widow|separated|retired|unemployed|self-employed|laid off|between jobs|on parental leave|on maternity leave|on paternity leave|pregnant|bisexual|gay|lesbian|transgender|trans|non-?binary|straight|christian|muslim|jewish|hindu|buddhist|catholic|an atheist|atheist|agnostic|left-handed|right-handed|bilingual|trilingual|freelance|an introvert|an extrovert|introverted|extroverted)"
    r"(?: now| again| since .*| for .*| last .*| in .*| to (?P<to>\S.*)| with .*| from .*)?$",
    re.I,
)
_LANGUAGE = r"(?:english|chinese|mandarin|cantonese|french|german|spanish|italian|portuguese|russian|japanese|korean|arabic|hindi|urdu|bengali|punjabi|tamil|turkish|dutch|polish|swedish|norwegian|danish|finnish|greek|hebrew|czech|hungarian|romanian|ukrainian|thai|vietnamese|indonesian|malay|tagalog|swahili|farsi|persian|catalan|welsh|irish|icelandic|serbian|croatian|bulgarian|slovak|latin|esperanto|sign language)"
_SPEAKS = re.compile(
    rf"^i(?:'m| am|'ve been| have been)? (?P<adv>{ADVERBS})(?P<not>(?:don't|do not|can't|cannot|never) (?:really |actually |yet )?)?(?:can )?(?:(?P<verb>speak|read|understand|write|learning|studying|teaching myself|know|grew up speaking|fluent in|conversational in|a native speaker of|learn|study)) (?:(?:some|a little|a bit of|basic|fluent|conversational|broken|native|both|good|decent|only|any|passable|rusty) ){{0,6}}(?P<thing>{_LANGUAGE}\b.*)$",
    re.I,
)

_UNABLE = re.compile(
    r"^i (?:still )?(?:can't|cannot|don't know how to|never learned (?:how )?to) (?:really )?(?P<thing>swim|drive|cook|dance|sing|whistle|ski|ride a bike|ride a bicycle|read music|type)$",
    re.I,
)


def read_health(clause: str) -> Iterator[Found]:
    """Allergies and conditions."""
    none = re.match(
        r"^i (?:don't have|do not have|have|haven't got) (?:any|no) (?:known |food )?(?P<thing>allergies|intolerances)\b",
        clause,
        re.I,
    )
    if none:
        yield from profile_fact("allergy", none["thing"], True)
        return
    match = _ALLERGY.match(clause) or _HAS_ALLERGY.match(clause)
    if match:
        negated = is_negative(match.groupdict().get("not")) or bool(
            re.match(r"i(?:'m| am) (?:not|no longer)\b|i don't|i have no|i no longer", clause, re.I)
        )
        thing = re.sub(r"^(?:any|no)\s+", "", match["thing"], flags=re.I)
        if re.match(r"(?:work|mornings|mondays|anything|you|nonsense|bs|stupidity)\b", thing, re.I):
            return
        for one in listed(bare(thing)):
            yield from profile_fact(f"allergy:{thing_key(one)}", bare(one), negated)
        return
    match = _HEALTH.match(clause)
    if match:
        negated = bool(match["not"]) or bool(
            re.match(r"i(?:'m| am) (?:not|no longer)\b|i don't|i no longer", clause, re.I)
        )
        yield from profile_fact(f"health:{thing_key(match['thing'])}", match["thing"], negated)


def read_diet(clause: str) -> Iterator[Found]:
    """Diets and smoking."""
    match = _DIET.match(clause)
    if match and not re.search(r"thinking|considering|trying", clause[: match.end()], re.I):
        thing = match["thing"]
        negated = is_negative(match["adv"])
        key = "smoking" if "smoker" in thing.lower() else "diet"
        yield from profile_fact(key, thing, negated)


def read_age(clause: str) -> Iterator[Found]:
    """Age, and date or place of birth."""
    match = _AGE.match(clause)
    if match and (match["unit"].strip() or _TURNED.match(clause)):
        age = match["age"]
        if age.isdigit() and not 3 <= int(age) <= 120:
            return
        yield from profile_fact("age", age + match["unit"])
        return
    match = _IN_MY.match(clause)
    if match:
        yield from profile_fact("age", match["thing"])
        return
    match = _BORN.match(clause)
    if match:
        thing = ended(match["thing"])
        parts = re.match(r"(?P<date>.*\d.*?)(?:,? in (?P<place>[A-Z].*))?$", thing)
        if parts and re.search(r"\d", thing):
            yield from profile_fact("birthday", parts["date"])
            if parts["place"]:
                yield from profile_fact("hometown", parts["place"])
        else:
            yield from profile_fact("hometown", re.sub(r" (?:and|but) .*", "", thing))


def read_language(clause: str) -> Iterator[Found]:
    """Languages spoken or learned, and what the speaker can't do."""
    unable = _UNABLE.match(clause)
    if unable:
        yield from profile_fact(f"able:{thing_key(unable['thing'])}", unable["thing"], True)
        return
    match = _SPEAKS.match(clause)
    if match is None:
        return
    negated = is_negative(match["not"]) or is_negative(match["adv"])
    learning = match["verb"].lower() in (
        "learning",
        "studying",
        "teaching myself",
        "learn",
        "study",
    )
    for one in re.findall(rf"{_LANGUAGE}", match["thing"], re.I):
        key = f"{'learning' if learning else 'speaks'}:{one.lower()}"
        yield from profile_fact(key, one, negated)


def read_status(clause: str) -> Iterator[Found]:
    """Marital, working and similar status."""
    match = _STATUS.match(clause)
    if match is None:
        return
    thing, negated = match["thing"], is_negative(match["adv"])
    low = thing.lower()
    if low in (
        "single",
        "married",
        "divorced",
        "engaged",
        "widowed",
        "a widower",
        "a widow",
        "separated",
    ):
        key = "marital status"
    elif (
        low in ("retired", "unemployed", "self-employed", "laid off", "between jobs", "freelance")
        or "leave" in low
    ):
        key = "employment status"
    elif low in (
        "christian",
        "muslim",
        "jewish",
        "hindu",
        "buddhist",
        "catholic",
        "an atheist",
        "atheist",
        "agnostic",
    ):
        key = "religion"
    else:
        key = f"is:{thing_key(thing)}"
    yield from profile_fact(key, thing, negated)
