"""Standing instructions and plans in English, and what is said of people around the speaker."""

from __future__ import annotations

import re
from collections.abc import Iterator

from negmem.core.formation.extraction.english_things import ended
from negmem.core.formation.extraction.found import Found
from negmem.core.formation.extraction.keys import rule_key

_FROM_NOW = (
    r"(?:from now on(?:wards?)?|from today(?: on(?:wards?)?)?|from here on(?: out)?|going forward|moving forward|in (?:the )?future|starting (?:now|today|tomorrow)|henceforth|from this point (?:on|forward)"
    r"|as a (?:general )?rule|as a default|by default|in general|for (?:all )?future (?:\w+)|at all times|in all (?:your|future) \w+|in this (?:chat|conversation|thread|project)|with me|(?:in|for) (?:all |every |any )?(?:of )?(?:your|our|my) (?:future )?(?:answers|replies|responses|messages|chats?|conversations?|emails|code)|for the rest of .*?|unless i (?:say|ask|tell)[^,]*|unless (?:told|asked|stated)[^,]*|until further notice|every time|each time|next time)"
)
_LEADIN = re.compile(
    rf"^(?:(?:please|pls|plz|kindly|so|and|also|ok|okay|hey|remember(?: to| that)?|note(?: that)?|important|rule|new rule|instruction|{_FROM_NOW}|could you|can you|would you|i(?:'d| would) (?:like|prefer|appreciate|love)(?: it if| for)? you (?:to |would |could |always |never )?"
    r"|i(?:'d| would) appreciate it if you(?: would| could)?|i would prefer (?:it )?(?:if|that) you|i prefer (?:it when|that|if) you|i like it when you|i want you to|i need you to|i expect you to|i ask you to|i'm asking you to|you (?:should|must|have to|need to|can|may|are to|ought to|shall)|you're to|make sure (?:to|that you|you)|be sure to|remember to|try to|feel free to|it's important (?:that you|to)|it is important (?:that you|to)|ensure (?:that )?(?:you )?|just)\b[,:]?\s*){1,6}",
    re.I,
)
_STANDING = re.compile(
    rf"\b(?:always|never|{_FROM_NOW}|any ?more|ever again|every (?:time|answer|reply|response|message|email)|whenever|each (?:answer|reply|response|message))\b|\b(?:no longer)\b",
    re.I,
)
_WISH = re.compile(
    r"^i(?:'d| would)? (?:(?:really|always|also|strongly|only|still) ){0,6}(?:want|need|expect|like|love|prefer|appreciate)(?: it (?:if|when)| for)? you(?:r)?\b|^i prefer (?:it when|that|if) you|^you (?:should|must|have to|need to|are to|ought to|shall|can|may)\b|^make sure\b|^be sure\b|^remember to\b|^ensure\b",
    re.I,
)
_NEGATIVE = re.compile(
    r"^(?:(?:you )?(?:don't|do not|dont|never(?: ever)?|must not|mustn't|should not|shouldn't|should never|must never)(?! (?:need|have) to)|you (?:may not|cannot|can't)|no (?:more )?|avoid|stop|quit|refrain from|skip|leave out|omit|without|no need to|cut out)\b\s*(?:(?:ever|ever again|again|to|the|any|always|you|using(?= any)) ){0,6}",
    re.I,
)
_MANNER = re.compile(
    r"^(?:be|keep|used?|answer(?:ed)?|repl(?:y|ied)|respond(?:ed)?|write|wrote|speak|spoke|talk|call|address|refer|format|give|send|explain|show|include|add|put|start|begin|end|sign|ask|check|confirm|cite|mention|tell|remind|warn|quote|provide|list|limit|stick|treat|assume|translate|convert|default|round|wrap|indent|comment|double-check|notify|switch|stay|go|let|run|test|suggest|recommend|schedule|book|bring|spell|summari[sz]e|number|bullet|highlight|leave|prefer|save|store|output|return|print|name|prefix|log|commit|make|do|think|consider|offer|read|review|verify|wait|get|follow|focus|greet|challenge|correct|point|pick|choose|take|keep|hold|work|say|repeat|express|measure|state|attach|copy|back up|sort|group|delete|create|generate|split|type|type out|reference|link|round)\b",
    re.I,
)
_REPLY = re.compile(
    r"\b(?:answers?|repl(?:y|ies)|respon(?:d|ses?)|messages?|tone|formal|informal|concise|brief|short|emojis?|bullet|markdown|units?|metric|imperial|celsius|fahrenheit|24-hour|format|to me|with me|for me|when (?:you|talking|writing|replying|i)|speak|talk to me|call me|calling me|address me|honest|blunt|direct|step[- ]by[- ]step|sources?|citations?|jargon|simple|plain|english|chinese|french|german|spanish|japanese|currency|dollars|euros|time ?zone|pronouns?|in your|your|spelling|spaces|tabs|gender[- ]neutral|oxford comma|exclamation marks?|small talk|preamble|all caps|apologi[sz]\w+|footnotes?|hashtags?|abbreviations|disclaimers?|fluff)\b",
    re.I,
)
_ONCE = re.compile(
    r"\b(?:this|that|these|those|it|today|tonight|tomorrow|now|right now|the (?:attached|above|below|following|email|file|text|paragraph|code|error|function|script|table|bug|first|second|last|previous|next|meeting|list|document|report|article|sentence|title)|here|another|once|one|me know|on (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)|a (?:timer|table|reminder|poem|story|joke|list|summary|letter|function|script|test|haiku))\b",
    re.I,
)
_CALL_ME = re.compile(
    r"^(?:you can |you may |feel free to |just |please ){0,6}(?P<thing>(?:call|address|refer to) me (?:as |by )?(?P<name>[\w'.-]+(?: [A-Z][\w'.-]*){0,2}))",
    re.I,
)
_CONDITIONAL = re.compile(
    r"^(?P<when>(?:when|whenever|every time|each time|any ?time|before|after|if|once|as soon as|while|unless|until|for any|for every|for all|for|in case) (?:i|you|we|my|your|there|something|the|it|a|an|writing|replying|answering|talking|giving|in doubt|unsure|possible|code|emails?|recipes?|summaries|dates|python|\w+ (?:questions|code|files|answers))\b[^,]*),\s*(?:then |please |just |you (?:should|must|can) ){0,6}(?P<do>\S.*)$",
    re.I,
)
_CONDITIONAL_AFTER = re.compile(
    r"^(?P<do>(?:please )?(?:ask|check|confirm|tell|warn|remind|use|add|show|give|include|explain|answer|reply|respond|speak|write|keep|always|never|don't|do not)\b.*?) (?P<when>(?:whenever|every time|each time|when|before|unless|if) (?:i|you|we|my)(?:'re|'m)? .*)$",
    re.I,
)
_EXCLUDED = re.compile(
    r"^(?:(?:please )?don't (?:worry|you|know|get me wrong|think|mention|be (?:sorry|silly|afraid|shy)|bother|mind|hesitate|stress|go\b|panic|forget\b|tell me you|let|give up|care|have|i\b|we\b|they\b|see|understand|believe|remember|leave me|make me laugh)|do not (?:worry|know|mind|think|get me wrong)|never mind|never (?:again|been|had|heard|thought|knew|seen|tried|liked|say never)\b|nevermind|not (?:sure|yet|really|bad|that|only|at all|again|now|today|so|too|a|much|my|the|going|i|to mention)\b|no (?:problem|worries|thanks|thank|one|way|idea|need\b(?! to)|doubt|matter|wonder|offen[cs]e|longer|more than|it|i|we|he|she|they|you|that|this)\b\b|always (?:a|the|been|had|wanted|happy|nice|great|loved|liked|hated|thought|was|be)\b|stop (?:it|that|this)?$|keep (?:going|it up|up|in mind|me posted|in touch|calm|trying)|make sense|let (?:me|us)|let's|thank|be (?:right|back|there|happy)|get (?:back|well|it)|take care|have a|say (?:hi|hello)|go on|go ahead|tell me (?:about|more|a|what|how|why|if|the)|give me (?:a|the|some|an|more)\b(?! (?:short|brief|concise))|show me|help|wait\b|remember me|call me (?:back|later|when|if|tomorrow|tonight|at|on|crazy|old))",
    re.I,
)


def found_rules(sentence: str, clause: str, lead: str, only: bool = False) -> Iterator[Found]:
    """Standing instructions to the assistant. A request for this once is none."""
    text = clause.strip(" ,")
    whole = f"{lead}{text}".strip(" ,")
    match = (
        _CONDITIONAL.match(whole)
        or (None if only else _CONDITIONAL.match(text))
        or _CONDITIONAL_AFTER.match(_LEADIN.sub("", whole))
    )
    if match:
        action = _LEADIN.sub("", match["do"]).strip()
        if len(action.split()) < 2 or re.match(r"(?:please )?feel free", match["do"], re.I):
            return
        if (
            (re.match(r"(?:always|never|don't|do not)\b", action, re.I) or _MANNER.match(action))
            and not re.match(
                r"(?:when|if|once|before|after|until) (?:i (?:was|were|had|did|went|got|lived)|we (?:were|had|went)|the (?:kids|meeting|train|rain)|it )",
                match["when"],
                re.I,
            )
            and not (_EXCLUDED.match(action) and not action.lower().startswith("give me"))
            and not re.match(
                r"(?:if|once) (?:i|we|you) (?:were|was|had|could)\b", match["when"], re.I
            )
        ):
            negative = _NEGATIVE.match(action)
            bare_action = (
                action[negative.end() :]
                if negative
                else re.sub(r"^always\s+", "", action, flags=re.I)
            )
            yield _rule(
                f"{match['when']}, {action}"
                if match.re is _CONDITIONAL
                else f"{action} {match['when']}",
                bare_action,
                bool(negative),
                whole,
            )
        return
    if only:
        return
    brief = re.match(
        r"^(?:please )?(?:always )?(?P<do>keep (?:it|this|things|everything) (?:short|brief|simple|concise|formal|casual|light))\b",
        whole,
        re.I,
    )
    if brief:
        yield _rule(ended(whole), brief["do"], False, whole)
        return
    called = _CALL_ME.match(_LEADIN.sub("", whole))
    if (
        called
        and not _EXCLUDED.match(called["thing"])
        and not re.match(
            r"(?:a|an|the|if|when|back|at|on|in|for|later|crazy|to|before|after|by|as|anytime|whatever|tomorrow|tonight|today|maybe)\b",
            called["name"],
            re.I,
        )
    ):
        yield _rule(called["thing"], called["thing"], False, whole)
        return
    stripped = _LEADIN.sub("", whole) if _LEADIN.match(whole) else whole
    polite = re.sub(r"^(?:please|pls|kindly|just|and|so|ok|okay)[, ]+", "", whole, flags=re.I)
    standing = bool(_STANDING.search(whole)) or bool(
        re.match(rf"^(?:{_FROM_NOW})\b", sentence, re.I)
    )
    wished = bool(_WISH.match(whole))
    body = re.sub(rf"^(?:{_FROM_NOW})[, ]+", "", stripped, flags=re.I)
    body = re.sub(r"^(?:always|please|also|just|only)\s+", "", body, flags=re.I)
    if (
        len(body.split()) < 2
        or (
            _EXCLUDED.match(body)
            and not re.match(r"(?:please )?always (?:show|give|tell|let|help|wait)", stripped, re.I)
        )
        or _EXCLUDED.match(polite)
        or re.match(
            r"(?:i|i'm|i've|i'd|i'll|we|he|she|they|it|it's|that's|this|there|the|my|his|her)\b",
            body,
            re.I,
        )
    ):
        return
    negative = _NEGATIVE.match(body)
    if negative:
        act = body[negative.end() :].strip()
        gerund = re.match(r"(?:avoid|stop|quit|refrain|skip|no|leave|omit|without|cut)", body, re.I)
        if not act or re.match(r"(?:i|we|he|she|they|it|that|this)\b", act, re.I):
            return
        if gerund and not standing and not _REPLY.search(whole):
            return
        if _ONCE.search(act) and not standing:
            return
        if re.match(r"no\b", body, re.I) and not re.search(
            r"emoji|bullet|jargon|please|markdown|list|small talk|exclamation|fluff|disclaimer|apolog",
            body,
            re.I,
        ):
            return
        if not gerund and not re.match(r"[a-z]+", act):
            return
        yield _rule(ended(whole), act, True, whole)
        return
    is_always = bool(re.match(r"^always\b", stripped, re.I)) or bool(
        re.search(r"\balways\b", stripped[:30], re.I)
    )
    if not _MANNER.match(body):
        return
    if is_always or standing or wished:
        if _ONCE.search(body) and not standing and not is_always:
            return
        if (
            wished
            and not standing
            and re.match(
                r"(?:you (?:can|may|need|have)|remember to|be sure|i (?:want|need) you to (?:be|act|write|help|create|make|generate|give))\b",
                whole,
                re.I,
            )
        ):
            return
        yield _rule(ended(whole), re.sub(r"^(?:you |to )", "", body), False, whole)
    elif (
        re.match(
            r"^(?:keep|be|answer|reply|respond|speak|talk|use|address|write|limit|stick)\b",
            body,
            re.I,
        )
        and _REPLY.search(body)
        and not _ONCE.search(body)
    ) and (
        re.match(r"(?:keep|limit|stick|be|answer|reply|respond|speak|talk|address)\b", body, re.I)
        or re.search(r"\b(?:with me|to me|units|for me|in your|your)\b", body, re.I)
    ):
        yield _rule(ended(whole), body, False, whole)


def _rule(statement: str, act: str, negated: bool, whole: str) -> Found:
    act = re.sub(
        rf"[, ]+(?:please|{_FROM_NOW}|any ?more|ever again|ever|again|thanks|ok|okay)$",
        "",
        act.strip(" ,.!"),
        flags=re.I,
    )
    return Found(
        "rule",
        rule_key(
            act if not re.search(r"\b(?:when|whenever|before|every time)\b", whole, re.I) else whole
        ),
        act,
        statement.strip(" ,"),
        negated,
    )


_NAMED_KIN = re.compile(r"\b(?:called|named)\b")
