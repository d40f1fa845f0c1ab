"""One way to say it where grammar offers several: contractions, spelling, voice, relations, before and after.

Every rewriting keeps who does what to whom. The texts are folded (lower case, narrow) already, and the
English one may hold the marks of core/text/likeness_amounts.py.
"""

from __future__ import annotations

import re

from negmem.core.text.likeness_rewriting import Rules, rewritten, rules

_CONTRACTED = (
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\b(?:can't|cannot)\b"), "can not"),
    (re.compile(r"\bshan't\b"), "shall not"),
    (re.compile(r"\bno one\b"), "nobody"),
    (re.compile(r"\b(?:really|actually|basically|simply|truly) (?=\w)"), ""),
    (
        re.compile(
            r"(?<=[.?!,]) (?:many thanks|thanks|thank you)(?: so much| a lot| very much)?[.!]*$"
        ),
        "",
    ),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\bi'm\b"), "i am"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"\b(i|you|he|she|we|they|user)'d\b"), r"\1 would"),
    (re.compile(r"\b(it|he|she|that|there|here|what|who|where)'s\b"), r"\1 is"),
    (re.compile(r"\b(user|\w+)'s(?= (?:a|an|the|not|been|no|\w{2,}ing) )"), r"\1 is"),
    (re.compile(r"\b(?:mr|mrs|ms|dr)\.? (?=\w)"), ""),
    (re.compile(r"\b(\w+?)s'(?=\s)"), r"\1s"),
)

# form → base: the irregular ones that talk of daily life and work uses
_VERBS = (
    "be was were been|use using|become became|begin began begun|bring brought|build built|buy bought|catch caught"
    "|choose chose chosen|come came|cost|cut|do did done|draw drew drawn|drink drank drunk|drive drove driven"
    "|eat ate eaten|fall fell fallen|feel felt|find found|fly flew flown|forget forgot forgotten|get got gotten"
    "|give gave given|go went gone|grow grew grown|hear heard|hide hid hidden|hold held|keep kept|know knew known"
    "|lead led|learn learnt|leave left|lend lent|lose lost|make made|mean meant|meet met|pay paid|put"
    "|read|ride rode ridden|rise rose risen|run ran|say said|see saw seen|sell sold|send sent|set"
    "|show showed shown|sing sang sung|sit sat|sleep slept|speak spoke spoken|spend spent|stand stood"
    "|swim swam swum|take took taken|teach taught|tell told|think thought|throw threw thrown"
    "|understand understood|wake woke woken|wear wore worn|win won|write wrote written|break broke broken"
    "|bite bit bitten|freeze froze frozen|steal stole stolen|bear born|person people|child children|man men|woman women"
    "|foot feet|tooth teeth|mouse mice|half halves|shelf shelves|knife knives|life lives|wife wives"
)
_IRREGULAR = {form: line.split()[0] for line in _VERBS.split("|") for form in line.split()[1:]}
_NO_BASE = frozenset(
    ("was", "were", "been", "did", "done", "got", "gotten", "lives", "born", "left")
)
IRREGULAR = {form: base for form, base in _IRREGULAR.items() if form not in _NO_BASE}
IRREGULAR_PAST = frozenset(
    form
    for form in IRREGULAR
    if IRREGULAR[form] not in ("person", "child", "man", "woman", "foot", "tooth", "mouse")
)

PARTICIPLE = (
    rf"(?:\w{{2,}}ed|{'|'.join(form for form in IRREGULAR_PAST)}|done|set|put|read|run|cut)"
)
_PASSIVE = re.compile(
    r"^(?P<object>[^,;.]+?) (?P<modal>(?:must|should|can|will|may|has to|have to)(?: not)? )?"
    rf"(?P<be>is|are|was|were|be|has been|have been|gets|get)(?P<not> not)? (?P<adverb>\w+ly |always )?"
    rf"(?P<verb>{PARTICIPLE}(?: (?:down|up|off|out|over|away))?)(?P<much> by §[^§]*§)? by (?P<agent>(?!§)(?!(?:default|hand|then|now|mistake|accident|e?mail|phone|post|bike|bicycle|car|bus|train|plane|tomorrow)\b"
    r"|§(?:time|date|day|weekday|month|year)).+?)"
    r"(?P<rest>(?: (?:in|on|at|from|to|every|before|after|for|with|until|during|when|if|per_\w+|§(?:time|date|day|weekday|month)).*)?[.!]?)$"
)

# who does it, by the noun of who does it
_DOER = {
    "mentor": "mentor",
    "manager": "manage",
    "lead": "lead",
    "leader": "lead",
    "head": "lead",
    "owner": "own",
    "maintainer": "maintain",
    "author": "write",
    "writer": "write",
    "founder": "found",
    "teacher": "teach",
    "tutor": "teach",
    "coach": "coach",
    "organiser": "organise",
    "organizer": "organise",
    "supervisor": "manage",
    "editor": "edit",
    "designer": "design",
    "landlord": "landlord",
    "boss": "manage",
}
_DOERS = "|".join(_DOER)
_IS_DOER = re.compile(
    rf"^(?:the )?(?P<who>[^,;'§]{{1,40}}?) is (?:the )?(?P<what>[^,;]{{1,40}}?)(?:'s)? (?P<doer>{_DOERS})[.!]?$"
)
_IS_DOER_OF = re.compile(
    rf"^(?:the )?(?P<who>[^,;'§]{{1,40}}?) is the (?P<doer>{_DOERS}) (?:of|for) (?P<what>[^,;]{{1,40}}?)[.!]?$"
)
_DOER_IS = re.compile(
    rf"^(?:the )?(?P<what>[^,;]{{1,40}}?)(?:'s)? (?P<doer>{_DOERS}) is (?P<who>[^,;'§]{{1,40}}?)[.!]?$"
)
_DOER_OF_IS = re.compile(
    rf"^the (?P<doer>{_DOERS}) (?:of|for) (?P<what>[^,;]{{1,40}}?) is (?P<who>[^,;'§]{{1,40}}?)[.!]?$"
)
_IS_RELATION = re.compile(
    r"^(?P<who>[\w. -]{1,30}?) is (?:(?P<whose>(?:the |my )?(?!the\b)[\w.-]+)'s (?P<what>[\w-]+(?: [\w-]+)?)"
    r"|the (?P<what2>[\w-]+(?: [\w-]+)?) of (?P<whose2>[\w. -]{1,30}?))[.!]?$"
)
_AFTER = re.compile(
    r"^(?P<later>[^,;]+?) (?:comes |come |happens |happen |starts |start |is |are )?(?:only )?after (?P<first>(?!§)[^,;]+?)[.!]?$"
)
_ONE = re.compile(
    r"(?<!\bis)(?<!\bare)(?<!\bwith)(?<!\bonly) (?:ones?|§n:1§)(?= (?:is|are|was|were|than)\b| ?[.!]?$)"
)
_ANYMORE = re.compile(
    r"\b(?:does |do |did |is |are |am )?not ([^,;.]{1,60}?) (?:any ?more|any longer)\b"
)
_BY_VEHICLE = re.compile(
    r"\b(?:takes?|rides?|catche?s?) (?:the|a|an|his|her|their|my) (train|bus|metro|subway|tram|ferry|tube)\b"
)
_SUPPORT_VERB = re.compile(
    r"\b(?:takes?|has|have|goes for|go for) an? (nap|walk|shower|bath|run|swim|rest|ride|stroll|jog|look|chat)\b"
    r"|\b(?:goes|go) (?=(?:swimm|runn|climb|cycl|hik|danc|fish|shopp|jogg|sail|ski|bowl|camp)\w*ing\b)"
)
_FRONTED = re.compile(
    r"^(before|after) (?!§)(\w+(?: \w+)?),? ((?:the )?(?:user|team|i|we|they|he|she) .+?)[.!]?$"
)
# "you find the X on", "keeps forgetting", "the number of X is 3", "the band the user likes most is"
_FOUND = re.compile(
    r"^(?:you|one)(?: can| will)? finds? ([^,;.]{1,40}?) (on|in|at|under|behind|beside|next)\b ?"
)
_KEEPS = re.compile(r"\bkeeps? (?:on )?(?=\w{3,}ing\b)(\w+)")
_NUMBER_OF = re.compile(
    r"\bthe ((?:maximum|minimum|most|least) )?number of (\w+(?: \w+)?) is (§n:[^§]*§)"
)
_LIKED_MOST = re.compile(
    r"^the (\w+) (?:that |which )?(?:the )?(user|i) (?:likes?|loves?|enjoys?) (?:the )?(?:most|best) is\b"
)
_CONVERSES = {
    "bought": "sold",
    "buys": "sells",
    "borrowed": "lent",
    "borrows": "lends",
    "received": "gave",
    "receives": "gives",
    "inherited": "bequeathed",
}
_CONVERSE = re.compile(
    rf"^([^,;]{{1,40}}?) ({'|'.join(_CONVERSES)}) ([^,;]{{1,40}}?) from ([^,;.]{{1,40}}?)(?=[.!]?$| (?:in|on|for|last|yesterday|§))"
)
_LESSER = {
    "lighter": "heavier",
    "smaller": "bigger",
    "slower": "faster",
    "younger": "older",
    "cheaper": "dearer",
    "worse": "better",
    "lower": "higher",
    "weaker": "stronger",
    "colder": "warmer",
    "narrower": "wider",
    "shorter": "longer",
    "darker": "brighter",
    "quieter": "louder",
    "earlier": "later",
    "easier": "harder",
}
_LEVELLED = (
    (re.compile(r"\bmore expensive\b|\bpricier\b|\bcostlier\b"), "dearer"),
    (re.compile(r"\blarger\b"), "bigger"),
    (re.compile(r"\btaller\b"), "longer"),
    (re.compile(r"\bquicker\b"), "faster"),
    (re.compile(r"\bcooler\b"), "colder"),
    (re.compile(r"\b(?:simpler|less difficult|less hard)\b"), "easier"),
    (re.compile(r"\b(?:more difficult|tougher|trickier)\b"), "harder"),
)
_FOUND_MORE = re.compile(
    rf"\b(finds?|found|considers?|thinks?|feels?) ([^,;]{{1,40}}?) (?:is |are |to be )?({'|'.join(_LESSER)}) ((?:to \w+ )?)than ([^,;.]{{1,40}}?)(?=[.!]?$)"
)
_EASIER_TO = re.compile(
    r"^([^,;]{1,40}?) (?:comes?|is|are|feels?|seems?) (easier|harder) (?:to|for) (user|me|i|him|her|them) than ([^,;.]{1,40}?)(?: (?:does|do|is|are))?(?=[.!]?$)"
)
_COMPARED = re.compile(
    rf"^(?P<less>[^,;]+?) (?P<is>is|are|was|were) (?P<much>(?:about |almost |nearly |roughly )?(?:\w+ |§[^§]*§ )?)(?P<how>{'|'.join(_LESSER)}) than (?P<more>[^,;]+?)[.!]?$"
)


def spelled_out(text: str) -> str:
    """English without contractions and titles: i'm → i am, can't → can not."""
    return rewritten(text, _CONTRACTED)


# Endings of two stems that are one word in two parts of speech: severe, severely; intolerant, intolerance.
_ENDINGS = frozenset(
    frozenset(pair.split("/"))
    for line in (
        "/ly /ely /al /y /ion /ation /lation /ition /ment /ness /ity /ist /ur",
        "ant/anc ent/ens t/s t/c at/ation y/ication y/ily",
    )
    for pair in line.split()
)
_NO_FORMS = frozenset(
    word
    for line in (
        "hard late near short present high large scarce bare depart apart author univers commun",
        "person nation inform port miss pass sect station account cap origin gener form critic",
        "music magic department",
    )
    for word in line.split()
)


def derived(one: str, other: str) -> bool:
    """Whether two stems differ in an ending that makes another part of speech of the same word."""
    if not (one.isascii() and other.isascii() and one.isalpha() and other.isalpha()):
        return False
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    shared = one[:length]
    if length < 4 or shared in _NO_FORMS or one in _NO_FORMS or other in _NO_FORMS:
        return False
    return any(
        frozenset((one[start:], other[start:])) in _ENDINGS for start in (length, length - 1)
    )


_LETTERS = re.compile(r"[^\W\d_]+")


def joined_as(one: str, other: str) -> str:
    """`one` with two words as one where `other` has them so: stand-up, stand up → standup."""
    words = set(_LETTERS.findall(other.casefold()))
    if "-" not in one and words <= set(_LETTERS.findall(one.casefold())):
        return one

    def join(match: re.Match[str]) -> str:
        both = match[1] + match[2]
        return match[1] if len(both) > 4 and both.casefold() in words else match[0]

    def part(match: re.Match[str]) -> str:
        parted = match[0].replace("-", " ")
        return parted if parted.casefold() in other.casefold() else match[0]

    one = re.sub(r"(?<![\w-])[A-Za-z]+(?:-[A-Za-z]+)+(?![\w-])", part, one)
    return re.sub(r"(?<![\w-])([A-Za-z]+)[- ](?=([A-Za-z]+)(?![\w-]))", join, one)


def _put_in_order(match: re.Match[str]) -> str:
    first, later = (match[2], match[3]) if match[1] == "after" else (match[3], match[2])
    return f"{first} before {later}"


# In this order: what a rule makes may be met by a later one.
_REWRITTEN: Rules = (
    (_ONE, ""),
    *rules(
        (r"^([^,;.]{1,40}?) is where ([^,;.]{1,60}?)(?=[.!]?$)", r"\2 in \1"),
        (r"\b(\w+)-based\b", r"in \1"),
        (
            r"\b(an?|one) ((?:(?!(?:is|are|was|were|be|been|has|have|had|user|who|that|and|not)\b)[\w-]+ |§[^§]*§ ){1,3})called (?=[a-z])",
            r"\1 \2named ",
        ),
        (r"\b(?:nobody|none) (?:but|except(?: for)?|other than|besides) ", "only "),
        (r"\b(?:ever )?since (?=§|last |yesterday|birth|childhood|then\b)", "since_then "),
        (r"\b(?:took place|was held)\b", "was"),
        (r"\b(?:takes place|is held)\b", "is"),
        (r"\bwill (?:take place|be held)\b", "will be"),
        (
            r"(?<!no )(?<!not )(?<!n't )\b(?:any )?(earlier|later) than (?=§)",
            lambda m: "before " if m[1] == "earlier" else "after ",
        ),
        (
            r"\bused to (.+?) but (?:no longer|not any ?more|not anymore) (?:do(?:es)?)\b",
            r"not_anymore \1",
        ),
        (
            r",? (?:though|although|but|even though) (?:user|i|he|she|they|we) (?:once did|used to)(?: do so)?(?=[.!]?$)",
            "",
        ),
        (r"^([^,;]{1,60}?) (?:belongs? to|is owned by) ([^,;.]{1,40}?)(?=[.!]?$)", r"\2 own \1"),
        (
            r"^([^,;]{1,40}?) (?:is|are|am) the (?:sole )?owners? of ([^,;.]{1,60}?)(?=[.!]?$)",
            r"\1 own \2",
        ),
    ),
    *rules((r"\b(?:is|are|am) from (?=[a-z])", "come_from ")),
    (_BY_VEHICLE, r"goes by \1"),
    *rules(
        (r"\b(?:go(?:es)?|gets?|travels?) by (\w+) to work\b", r"commute by \1"),
        (r"\b(?:has|have) become\b|\bbecame\b", "is now"),
        (r"\b(?:a|an) (?:big|huge|great|massive|avid|real) (?=fan\b|lover\b)", "a "),
    ),
    (_SUPPORT_VERB, lambda m: m[1] or ""),
    *rules(
        (r"\b(?:is|am|are) an? (\w+) lover\b", r"loves \1"),
        (
            r"^((?:the |my )?[\w'-]+(?: [\w'-]+)?)(?<! the)(?<! a)(?<! my)(?<! his) reports? to ([^,;.]{1,30}?)[.!]?$",
            r"\2 manage \1",
        ),
        (r"^(?:please )?call (?:me|user|the user) (?=[a-z]+[.!]?$)", "addressed_as "),
        (
            r"\b(?:every|all) members? of (?:the |our |user )?([a-z]+(?: team)?)\b"
            r"|\bevery(?:one|body) (?:on|in) (?:the |our )?([a-z]+(?: team)?)\b"
            r"|\b(?:the )?(?:whole|entire) ((?:[a-z]+ )?(?:team|staff|family|group|class|company|office|crew|department))\b"
            r"|\ball ([a-z]+) members\b",
            lambda m: f"all {m[1] or m[2] or m[3] or m[4]}",
        ),
        (
            r"\blikes? ((?:[\w-]+ ){1,3}?)(?:the )?(?:best|most|more than anything)\b",
            r"favourite is \1",
        ),
        (
            r"\b(translate|convert|switch|change|turn)(s|d|ed)? (?:from )?(\w+) (?:in)?to (?=\w)",
            r"\1\2 from \3 to ",
        ),
        (r"\b(\w+) size(?: is|:) (?= ?§n:)", r"\1 has "),
        (r"\bboth (?=\w+s\b|children|kids|people)(?!.* and )", "§n:2§ "),
        (
            r"\ban? ((?!morning|night|evening|dog|cat|people|contact|second|first|third|single)[a-z]+) person\b",
            r"\1",
        ),
        (r"\bnot (?:just|only|merely|simply)\b", "not_only"),
        (r"\btoo (?=[a-z])(?!much|many)", "overly "),
    ),
    (_FOUND, r"\1 \2 "),
    (_KEEPS, r"often \1"),
    (_NUMBER_OF, r"\1 \3 \2"),
    (_LIKED_MOST, r"\2 favourite \1 is"),
    (_FRONTED, _put_in_order),
    *rules(
        (
            r"^([^,;']{1,40}?) (?:bought|purchased) ([a-z]+)'s ([^,;.]{1,40}?)(?=[.!]?$)",
            r"\2 sold \3 to \1",
        )
    ),
    (_CONVERSE, lambda m: f"{m[4]} {_CONVERSES[m[2]]} {m[3]} to {m[1]}"),
    *rules(
        (
            r"\b(?:no|not) (?:more|larger|bigger|greater|longer|higher) than(?= ?§(?!time|date|day))",
            "at_most",
        ),
        (
            r"\b(?:no|not) (?:less|fewer|smaller|shorter|lower) than(?= ?§(?!time|date|day))",
            "at_least",
        ),
        (
            r"\b(?:(?:more|larger|bigger|greater|longer|higher) than|over|above|exceeding)(?= ?§(?!time|date|day))",
            "over",
        ),
        (
            r"\b(?:(?:less|smaller|fewer|shorter|lower) than|under|below)(?= ?§(?!time|date|day))",
            "under",
        ),
    ),
    (_ANYMORE, r"not_anymore \1"),
    *_LEVELLED,
    (_EASIER_TO, r"\3 finds \1 \2 than \4"),
    *rules(
        (
            rf"\b(?:considers?|deems?|thinks?|reckons?) (?=[^,;]{{1,40}}? (?:is |to be )?(?:{'|'.join(_LESSER.values())}) )",
            "finds ",
        )
    ),
    (_FOUND_MORE, lambda m: f"finds {m[5]} {_LESSER[m[3]]} {m[4]}than {m[2]}"),
)


def english_form(text: str) -> str:
    """English in the active voice, "Y's lead is X" and "X is the lead of Y" as "X lead Y", "B after A" as "A before B"."""
    text = rewritten(text.strip(), _REWRITTEN)
    compared = _COMPARED.match(text)
    if compared:
        return f"{compared['more']} {compared['is']} {compared['much'] or ''}{_LESSER[compared['how']]} than {compared['less']}"
    for pattern in (_DOER_OF_IS, _IS_DOER_OF, _DOER_IS, _IS_DOER):
        found = pattern.match(text)
        if found and found["what"] not in ("a", "an", "the", "user a"):
            what = re.sub(r"^(?:a|an) .*", "", found["what"])
            if what and not re.search(r"\bof(?: an?| the)?$", what):
                return f"{found['who']} {_DOER[found['doer']]} {what}"
    relation = _IS_RELATION.match(text)
    if relation and (relation["what"] or relation["what2"]) != "name":
        whose = relation["whose"] or relation["whose2"]
        return f"{whose}'s {relation['what'] or relation['what2']} is {relation['who']}"
    text = _PASSIVE.sub(_active, text)
    after = _AFTER.match(text)
    if after and not re.search(
        r"\b(?:look|looks|looking|named|goes|go|ask|asks) *$", after["later"]
    ):
        return f"{after['first']} before {after['later']}"
    return text


_UPON = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
_ACTS = {upon: acts for acts, upon in _UPON.items()}


def _active(match: re.Match[str]) -> str:
    verb = match["verb"]
    if match["be"] not in ("was", "were"):
        base = IRREGULAR.get(verb)
        # the present of the verb, as the stems of both voices are the same
        doubled = len(verb) > 5 and verb[-3] == verb[-4] and verb[-3] not in "lsz"
        stem = verb[:-3] if doubled else verb[:-2] + "e"
        verb = base or (stem + "s" if verb.endswith("ed") else verb)
    denied = " not" if match["not"] else ""
    acts, upon = (
        _ACTS.get(match["agent"], match["agent"]),
        _UPON.get(match["object"], match["object"]),
    )
    return f"{acts}{denied} {match['modal'] or ''}{match['adverb'] or ''}{verb} {upon}{match['much'] or ''}{match['rest']}"
