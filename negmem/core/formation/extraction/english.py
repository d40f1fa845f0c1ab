"""What an English sentence says of its speaker."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from negmem.core.formation.extraction.english_clauses import Clause, clauses
from negmem.core.formation.extraction.english_plans import found_plans
from negmem.core.formation.extraction.english_preferences import found_preferences
from negmem.core.formation.extraction.english_profile import found_profile
from negmem.core.formation.extraction.english_relations import OF_KIN, found_relations
from negmem.core.formation.extraction.english_rules import found_rules
from negmem.core.formation.extraction.found import Found
from negmem.core.text.sentences import Sentence

# "Did I mention that I play the cello?" tells; "Do I like spicy food?" asks.
_TOLD = re.compile(
    r"^(?:.*?\b)?(?:did|have|haven't|didn't) i (?:ever |already |not )?(?:mention(?:ed)?|tell you|told you|say|said)(?: to you)?(?: before| already| yet)?,? (?:that )?(?=(?:i|i'm|i've|my|we)\b)",
    re.I,
)
_ASKING_TAIL = re.compile(
    r",?\s*(?:,|;| - | so | and | but )\s*(?:so |and |but |then |now )?(?:can|could|would|will|should|do|does|did|is|are|what|which|who|where|when|why|how|any|have|has|may|shall|isn't|doesn't|right|ok|okay|got any|does anyone|am)\b.*$",
    re.I,
)
_PRONOUN_OBJECT = re.compile(
    r"^(?P<head>(?:i|i'm|i've) .*?\b)(?P<pronoun>them|it|those|that|these)(?P<tail>(?:\s+(?:now|too|anymore|any more|so much|a lot|very much|at all|either|these days|again|all)){0,6})$",
    re.I,
)
_VERB_OF_THEIRS = (
    r"(?:lives|works|likes|loves|hates|dislikes|prefers|enjoys|plays|speaks|studies|teaches|has|is|doesn't|can't|never"
    r"|moved|owns|drives|collects|runs|wants|goes|retired)\b"
)
_THEIR_VERB = re.compile(rf"^(?:now |also |still |really )?{_VERB_OF_THEIRS}", re.I)
_THEY_ALSO = re.compile(
    rf"(?:\s*,\s*(?:and |but )?|\s+(?:and|but)\s+)(?:now |also |still )?(?={_VERB_OF_THEIRS})", re.I
)
_FRAGMENT = re.compile(r"^(?:the |a |an )?(?P<thing>[\w' -]{2,40})$")
_WE = re.compile(r"^(?:we|we're|we've|we'll)\b", re.I)
_WHEN = re.compile(
    r"^(?:please )?(?:when|whenever|every time|each time|any ?time|before|after|unless|until) ",
    re.I,
)
_ELIDED_SUBJECT = re.compile(
    r"^(?=(?:(?:really|absolutely|just|also|still|currently|now|always|actually|only|definitely|totally|recently|finally|honestly) ){0,6}(?:love|hate|like|prefer|enjoy|dislike|adore|can't stand|cannot stand|can't bear|don't like|do not like|don't eat|don't drink|live in|living in|work at|work as|work for|working at|working as|moved to|allergic to|based in|born in|grew up in|turned \d+|planning to|going to|flying to|moving to|not a fan of|not a big fan of|hoping to|got a|big fan of|huge fan of|from [A-Z]|vegetarian|vegan|booked|started (?:a new job|working)|used to)\b)",
    re.I,
)


def read_english(sentence: Sentence, previous: str = "") -> Iterator[Found]:
    """Facts in a sentence; `previous` is the sentence before it in the same turn."""
    text = sentence.text
    if sentence.is_question:
        told = _TOLD.match(text)
        if told:
            text = text[told.end() :]
        else:
            tail = _ASKING_TAIL.search(text)
            if (
                tail is None
                or tail.start() < 6
                or re.match(
                    r"(?:do|does|did|is|are|am|can|could|would|will|should|what|which|who|where|when|why|how|have|has|may)\b",
                    text,
                    re.I,
                )
            ):
                return
            text = text[: tail.start()]
    last_thing = _topic(previous)
    conditional = list(found_rules(text, text, "", only=True)) if _WHEN.match(text) else []
    if conditional:
        yield from conditional
        return
    for clause in _of_kin(clauses(text)):
        found = list(_read(clause, text, last_thing))
        yield from found
        named = [one.object for one in found if one.type == "preference"]
        last_thing = named[-1] if named else _object_of(clause.text) or last_thing


def _of_kin(said: Iterable[Clause]) -> Iterator[Clause]:
    """The clauses, those that go on about somebody around the speaker with that person as their subject."""
    kin, is_theirs = "", False
    for clause in said:
        of_kin = OF_KIN.match(clause.text)
        spoken_of = re.match(r"^(?:he|she)(?P<rest>(?:'s)?\b.*)$", clause.text, re.I)
        if of_kin:
            kin = of_kin["kin"]
        elif spoken_of and kin:
            clause = replace(clause, text=f"my {kin}{spoken_of['rest']}")
        elif is_theirs and _THEIR_VERB.match(clause.text):
            clause = replace(clause, text=f"my {kin} {clause.text}")
        is_theirs = bool(OF_KIN.match(clause.text))
        first, *more = _THEY_ALSO.split(clause.text) if is_theirs else [clause.text]
        yield replace(clause, text=first)
        for part in more:
            yield replace(clause, text=f"my {kin} {part}")


def _topic(previous: str) -> str | None:
    match = _FRAGMENT.match(previous.strip(" ?.!,"))
    return match["thing"] if match and len(match["thing"].split()) <= 5 else None


def _object_of(clause: str) -> str | None:
    match = re.match(
        r"^i (?:used to |didn't |never |once |always ){0,6}(?:like|love|hate|enjoy|hated|loved|liked|drink|eat|play)d?\s+(?P<thing>[\w' -]{2,40})$",
        clause,
        re.I,
    )
    return match["thing"].strip() if match else None


def _read(clause: Clause, sentence: str, last_thing: str | None) -> Iterator[Found]:
    text = clause.text
    if clause.is_rule_only:
        yield from found_rules(sentence, text, clause.lead, only=True)
        return
    # A person's own rule of life ("I always answer my mail") is told of the speaker, not to the reader.
    is_own = bool(re.match(r"(?:i|i'm|i've|i'd|i'll|my|we|we're|our)\b", text, re.I))
    if is_own:
        text = _with_thing(text, last_thing)
        if _WE.match(text):
            yield from list(found_plans(text)) or _ours(text)
            return
        for read in (found_relations, _own_plans, found_preferences, found_profile):
            results = list(read(text))
            if results:
                yield from results
                break
        else:
            yield from found_rules(sentence, text, clause.lead)
        return
    rules = list(found_rules(sentence, text, clause.lead))
    if rules:
        yield from rules
        return
    results = list(found_relations(text)) or list(found_preferences(text))
    if results:
        yield from results
        return
    fragment = re.match(
        r"^(?:for|in|on|at|as|during|after|before|with|when) [^,]{2,60}?,? (?=(?:i|i'm|i'd|i've) )",
        text,
        re.I,
    )
    if fragment:
        yield from _read(Clause(text[fragment.end() :], clause.lead), sentence, last_thing)
        return
    if _ELIDED_SUBJECT.match(text):
        verb_first = re.match(
            r"(?:living|working|allergic|based|born|planning|going|flying|moving|not a|hoping|big fan|huge fan|from|vegetarian|vegan)",
            text,
            re.I,
        )
        subject = (
            "I'm a "
            if re.match(r"(?:big|huge) fan", text, re.I)
            else "I'm "
            if verb_first
            else "I "
        )
        lowered = text[0].lower() + text[1:]
        yield from (
            replace(one, confidence=0.6)
            for one in _read(Clause(subject + lowered, clause.lead), sentence, last_thing)
        )


def _ours(text: str) -> Iterator[Found]:
    """Homes, animals and children that "we" have are the speaker's as well."""
    alone = re.sub(r"^we're\b", "I'm", re.sub(r"^we've\b", "I've", text, flags=re.I), flags=re.I)
    alone = re.sub(r"^we are\b", "I am", re.sub(r"^we\b", "I", alone, flags=re.I), flags=re.I)
    for one in found_profile(alone):
        if one.key.startswith(("has:", "location")) or one.type == "relation":
            yield one


def _own_plans(clause: str) -> Iterator[Found]:
    yield from found_plans(clause)


def _with_thing(clause: str, last_thing: str | None) -> str:
    """The clause with "them" or "it" named, where the thing is known."""
    match = _PRONOUN_OBJECT.match(clause)
    if match is None or last_thing is None:
        return clause
    return f"{match['head']}{last_thing}{match['tail']}"
