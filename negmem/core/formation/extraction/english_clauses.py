"""English sentences cut into clauses that can be read from their beginning, with their subject."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HYPOTHETICAL = re.compile(
    r"\b(?:if|wish|suppose|supposing|imagine|imagining|pretend|pretending|hypothetically|let's say|let us say|say i"
    r"|what would|as though|as if|in case|unless|assuming|even if|in another life|in a parallel|role[- ]?play"
    r"|if only|would rather not say)\b",
    re.I,
)
_HYPOTHETICAL_START = re.compile(r"^(?:had i|were i|should i)\b", re.I)
_CONDITIONAL_RULE = re.compile(
    r"\b(?:if|whenever|when|every time|each time) (?:i|you|we|my|there|something|the)\b.*?,?\s"
    r"(?:always|never|don't|do not|please|then|you (?:must|should)|ask|say|tell|use|give|keep|add|show|answer|reply)\b",
    re.I,
)
# Somebody else's words or thoughts: "my boss says", "she thinks that", "according to", "rumor has it".
_REPORTED = re.compile(
    r"\b(?:(?:he|she|they|you|everyone|everybody|people|someone|somebody|nobody|who|it|the \w+(?: \w+)?"
    r"|(?:my|his|her|their|our|your|a|an|some|one)(?: [\w'-]+){1,3}|(?-i:[A-Z][\w'-]+(?: [A-Z][\w'-]+)?))"
    r"(?: (?:always|often|just|once|also|still|jokingly|never|recently|keeps?|kept|had|has|have|once|would)){0,6}"
    r" (?:said|says|say|saying|thinks?|thought|thinking|believes?|believed|tells?|telling|told|claims?|claimed|asks?|asked|insists?"
    r"|insisted|swears?|swore|assumes?|assumed|mentions?|mentioned|wrote|writes|heard|knows?|knew|guess(?:es|ed)"
    r"|jokes?|joked|feels?|hopes?|hoped|wants?|wanted|wishes|suggests?|suggested|recommends?|recommended"
    r"|complains?|complained|argues?|argued|predicts?|predicted|calls (?:me|him|her|us)|called (?:me|him|her|us)|accused|pretends?|reckons?|figured|convinced)"
    r"\b(?! me (?:[A-Z]|by))|according to (?!my)|rumou?r has it|i(?:'ve)? (?:heard|read) (?:that|somewhere)|apparently,? (?:he|she|they))",
    re.I,
)
_SELF_REPORT = re.compile(
    r"^(?:(?:i|i've|i have|i had|i also|i just) (?:already |just |also )?(?:think|guess|believe|mean|said|told you|mentioned|must say|must admit"
    r"|have to say|have to admit|admit|have told you|should (?:mention|add|say|tell you)|forgot to (?:mention|say)|want you to know|realized|realised|discovered"
    r"|noticed|decided|confess|suppose|feel like|find|feel|know|remember)(?: (?:before|earlier))?"
    r"|let me (?:tell|remind) you|just so you know|for (?:your|the) (?:information|record)|you should know|you know"
    r"|keep in mind|bear in mind|(?:please )?(?:remember|note|don't forget|do not forget|never forget)"
    r"|it turns out|turns out|fun fact|as you know|fyi|btw|by the way|one (?:more )?thing|the (?:thing|fact|truth) is|truth is"
    r"|fact is|to be (?:honest|fair|clear)|honestly|actually|in fact|i'm telling you|as i said|like i said|as (?:i )?mentioned"
    r"|a bit about me|about me|quick update|update|correction|reminder)(?:,|:| -)?\s+(?:that |about me: ?)?"
    r"(?=(?:i|i'm|i've|i'd|i'll|my|we|me|never|always|don't)\b)",
    re.I,
)
_LEAD = re.compile(
    r"^(?:(?:since (?:last )?(?:january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|fall|autumn|winter|\d{4}|then|week|month|year|\w+day)|and|but|because|so|since|that|though|although|while|whereas|yet|plus|also|well|now|then|oh|ah|um|uh|hmm"
    r"|yes|yeah|yep|no|nope|ok|okay|hi|hello|hey|hey there|hi there|hello there|sure|thanks|thank you|sorry|anyway|besides|however|therefore|currently|nowadays|these days"
    r"|lately|recently|right now|at the moment|today|personally|honestly|actually|frankly|seriously|basically|generally"
    r"|in general|usually|normally|naturally|unfortunately|sadly|luckily|fortunately|ugh|wow|haha|lol|good morning|good evening"
    r"|as of (?:now|today|this \w+)|as for me|for me|like|still|in my free time|in my spare time|on weekends|most days|great|perfect|cool|nice to meet you|my friend"
    r"|after (?:all|years of \w+|much thought)|to be honest|to be fair|in fact|of course|by the way|btw|fyi|for the record|just so you know|since (?:last )?\w+|these past \w+"
    r"|a (?:few|couple of) (?:weeks|months|years|days) ago|last (?:week|month|year|spring|summer|fall|autumn|winter|\w+day)|this (?:week|month|year|morning|spring|summer|fall|winter)"
    r"|yesterday|in (?:january|february|march|april|may|june|july|august|september|october|november|december|\d{4})|all my life|ever since(?: \w+){1,3})\b(?:[,:!.]|\s-)?\s+){1,6}",
    re.I,
)
_SUBJECTS = (
    r"i|i'm|i've|i'd|i'll|my|we|we're|we've|he|he's|she|she's|they|they're|it|it's|you|you're|this|there|there's|please|don't"
    r"|do not|always|never|not"
)
_SPLIT = re.compile(
    rf"\s*(?:;|—|–| - |:\s)\s*(?=\S)"
    rf"|\s*,\s*(?:(?:and|but|so|because|since|though|although|while|whereas|yet|plus|or|which is why)\s+)?(?=(?:{_SUBJECTS})\b)"
    rf"|\s*,\s*(?:and|but|so|because|since|though|although|while|whereas|yet|which is why)\s+(?=(?:now|these days|nowadays|currently|today|lately|recently|actually|honestly)\b)"
    rf"|\s+(?:and|but|so|because|since|though|although|while|whereas|yet|plus|cause|cuz)\s+(?=(?:also |now |then |actually |honestly )?(?:{_SUBJECTS})\b)"
    rf"|\s*,?\s+but\s+(?=\S)|\s*,\s*(?=(?:so|because|though|although|now|these days|nowadays|since|which)\b)|\s+(?:because|although|whereas|even though|so that|except)\s+",
    re.I,
)
_ELIDED = re.compile(
    r",?\s+(?:and|but|then|so)\s+(?:also |now |really |currently |absolutely |still |just ){0,6}(?=(?:live|lives|work|love|like|hate|prefer|enjoy|am|have|study|speak|own|run|teach"
    r"|dislike|can't|cannot|don't|do not|never|moved|got|adopted|started|play|use|drive|avoid|eat|drink|moved|no longer|detest|loathe|adore|will|plan|want|graduated|studied|worked|currently)\b)",
    re.I,
)
_IS_I = re.compile(r"^(?:i|i'm|i've|i'd|i'll)\b", re.I)


@dataclass(frozen=True)
class Clause:
    """`text` without lead-ins; `lead` is what was taken off; `is_rule_only`: only a rule may be read."""

    text: str
    lead: str
    is_rule_only: bool = False


def clauses(sentence: str) -> Iterator[Clause]:
    """The clauses that the speaker claims as their own; none for what is supposed or reported."""
    if _HYPOTHETICAL.search(sentence) or _HYPOTHETICAL_START.search(sentence):
        if _CONDITIONAL_RULE.search(sentence) and not re.search(
            r"\b(?:wish|imagine|were)\b", sentence, re.I
        ):
            yield Clause(sentence, "", True)
        return
    pieces = [piece for piece in _SPLIT.split(sentence) if piece and piece.strip()]
    is_reported = False
    for piece in pieces:
        lead, text = _stripped(piece)
        reported = _REPORTED.search(text)
        if reported or is_reported:
            head = text[: reported.start()] if reported else ""
            if is_reported or not _IS_I.match(head):
                # What follows in the sentence may still be that person's view.
                is_reported = True
                continue
            text = head.rstrip(" ,")
        subject_is_i = bool(_IS_I.match(text))
        parts = _split_elided(text) if subject_is_i else [text]
        for part in parts:
            yield Clause(part, lead)


def _split_elided(text: str) -> list[str]:
    parts: list[str] = []
    start = 0
    for match in _ELIDED.finditer(text):
        before = text[start : match.start()]
        # After "to stay here" the next bare verb is likely its twin, not the speaker's.
        if re.search(r"\bto [a-z]+", before) and not re.match(
            r"(?:am|moved|got|adopted|started|graduated|studied|worked|don't|can't|no longer)\b",
            text[match.end() :],
            re.I,
        ):
            continue
        if re.search(r"\b(?:how|what|where|who|people|friends) \w*$", text[start : match.start()]):
            continue
        parts.append(text[start : match.start()])
        start = match.end()
    parts.append(text[start:])
    return [parts[0], *(f"I {part}" for part in parts[1:])]


def _stripped(piece: str) -> tuple[str, str]:
    """(lead-in, rest): "by the way, I think that I" loses all before the claim."""
    text = piece.strip(" ,")
    lead = ""
    while True:
        match = _SELF_REPORT.match(text) or _LEAD.match(text)
        if match is None or match.end() == 0 or match.end() >= len(text):
            return lead, text
        lead += text[: match.end()]
        text = text[match.end() :].lstrip(" ,")
