"""Personal data in text: where it stands, and the text without it.

Finds what has a shape and, where there is one, a check digit: e-mail, telephone, card, identity number,
bank account, IP address, passport, postal address. Names have no shape; the extra `pii` knows them.
Offsets count characters (code points), as PostgreSQL does. Every pattern takes time linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from negmem.core.text import pii_checks

Policy = Literal["none", "mark", "mask", "anonymize"]
POLICIES: tuple[Policy, ...] = ("none", "mark", "mask", "anonymize")
"""From the mildest to the strictest."""

KINDS = (
    "id_card", "credit_card", "iban", "passport", "ssn", "email", "phone", "ip_address", "address",
)  # fmt: skip
"""What the patterns find; of two findings at one place the earlier kind names it."""

MODEL_KINDS = ("person", "location", "date_time", "url")
"""What only a model finds (extra `pii`)."""

ENGINE = "regex"


@dataclass(frozen=True)
class Finding:
    """Personal data at characters [start, end) of a text; `score` in 0..1."""

    kind: str
    start: int
    end: int
    score: float = 0.99
    engine: str = ENGINE


@dataclass(frozen=True)
class _Rule:
    kind: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool]
    score: float = 0.99


def _always(text: str) -> bool:
    return True


def _is_phone(text: str) -> bool:
    return 7 <= len(pii_checks.digits_of(text)) <= 15


def _is_card(text: str) -> bool:
    return pii_checks.is_card_number(pii_checks.digits_of(text))


def _is_id_card(text: str) -> bool:
    return pii_checks.is_id_card(re.sub("[ -]", "", text))


def _has_digits(text: str) -> bool:
    return len(pii_checks.digits_of(text)) >= 5


_BEFORE = r"(?<![A-Za-z0-9])"
_AFTER = r"(?![A-Za-z0-9])"
_ROAD = r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Square|Sq|Terrace|Way|Place|Pl)"


def _rule(
    kind: str, pattern: str, check: Callable[[str], bool] = _always, score: float = 0.99
) -> _Rule:
    return _Rule(kind, re.compile(pattern), check, score)


_CHINESE_ADDRESS = 0.85

_RULES = (
    _rule("id_card", rf"{_BEFORE}[1-9]\d{{5}}[ -]?\d{{8}}[ -]?\d{{3}}[\dXx]{_AFTER}", _is_id_card),
    _rule("credit_card", rf"{_BEFORE}(?<!\d[.,])\d{{13,19}}{_AFTER}(?![.,]\d)", _is_card),
    _rule("credit_card", rf"{_BEFORE}\d{{4}}(?P<gap>[ -])\d{{4}}(?:(?P=gap)\d{{4}}){{2}}(?P=gap)\d{{3}}{_AFTER}", _is_card),
    _rule("credit_card", rf"{_BEFORE}\d{{4}}(?P<gap>[ -])\d{{4}}(?:(?P=gap)\d{{4}}){{2}}{_AFTER}", _is_card),
    _rule("credit_card", rf"{_BEFORE}\d{{4}}(?P<gap>[ -])\d{{6}}(?P=gap)\d{{4,5}}{_AFTER}", _is_card),
    _rule(
        "passport",
        r"(?:(?i:passport)(?: ?(?i:number|no\.?|nr\.?|#))?|护照(?:号码|号)?)[ :：是为（(]{0,3}(?:(?i:is) )?"
        rf"(?P<it>[A-Za-z]{{0,2}}\d{{6,9}}){_AFTER}",
        _has_digits,
    ),
    _rule("passport", rf"{_BEFORE}E[A-Z]\d{{7}}{_AFTER}", score=0.6),
    _rule("ssn", rf"{_BEFORE}(?<!\d-)(?!000|666|9\d\d)\d{{3}}-(?!00)\d\d-(?!0000)\d{{4}}{_AFTER}(?!-\d)"),
    _rule(
        "phone",
        rf"{_BEFORE}(?<![-.]\b)(?:\+?(?:00)?86[ -]?)?1[3-9]\d(?P<gap>[ -]?)\d{{4}}(?P=gap)\d{{4}}{_AFTER}(?![.,]\d)",
    ),
    _rule("phone", rf"(?:{_BEFORE}|(?<=\())0\d{{2,3}}(?:-|\) ?| )\d{{7,8}}{_AFTER}", score=0.9),
    _rule("phone", rf"(?<![A-Za-z0-9+])(?:\+|(?<!\d[ -])00)[1-9]\d{{0,2}}(?:[ .-]?\(?\d{{1,4}}\)?){{2,6}}{_AFTER}", _is_phone, 0.9),
    _rule(
        "phone",
        rf"(?<![A-Za-z0-9.-])(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d[ .-])[2-9]\d\d[ .-]\d{{4}}{_AFTER}(?![.-]\d)",
        score=0.9,
    ),
    _rule(
        "phone",
        r"(?:(?<![A-Za-z])(?i:phone|tel|telephone|mobile|cell|call (?:me|him|her|us) (?:at|on)|fax)(?: (?i:number|no\.?))?"
        r"|电话(?:号码)?|手机(?:号码|号)?|座机)[ :：.是为]{0,3}(?:(?i:is) )?"
        rf"(?P<it>\d{{3,5}}[ -]?\d{{3,8}}){_AFTER}(?!:\d)",
        _is_phone,
        0.8,
    ),
    _rule(
        "ip_address",
        r"(?<![A-Za-z0-9.])(?:\d{1,3}\.){3}\d{1,3}(?![A-Za-z0-9]|\.\d)",
        pii_checks.is_address_of_a_machine,
        0.9,
    ),
    _rule(
        "ip_address",
        r"(?<![A-Za-z0-9:.])[0-9A-Fa-f]{1,4}:[0-9A-Fa-f:]{1,34}[0-9A-Fa-f](?:\.\d{1,3}){0,3}(?![A-Za-z0-9:])",
        pii_checks.is_address_of_a_machine,
        0.9,
    ),
    _rule(
        "address",
        rf"{_BEFORE}\d{{1,5}}[A-Za-z]? (?:[A-Z][a-z]{{1,20}} ){{1,3}}{_ROAD}{_AFTER}"
        r"(?:\.?, [A-Z][a-z]{1,20}(?: [A-Z][a-z]{1,20})?)?(?:,? [A-Z]{2} \d{5}(?:-\d{4})?)?",
        score=0.8,
    ),
    _rule(
        "address",
        r"(?:住|位于|在|地址[是:：]?){0,2}(?P<it>(?:[\u4e00-\u9fff]{2,3}(?:省|市|自治区))?[\u4e00-\u9fff]{2,4}(?:市|区|县)[\u4e00-\u9fff]{2,8}?"
        r"(?:路|街|大道|巷|胡同|弄)[ ]?\d{1,5}(?:号|弄)(?:[ ]?[A-Za-z0-9\u4e00-\u9fff]{0,8}?(?:室|楼|单元|栋|座))?)",
        score=_CHINESE_ADDRESS,
    ),
)  # fmt: skip

# The local part is looked for backwards from each @: looked for forwards, a long run of letters is read again
# from each of its letters.
_LOCAL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._%+'-]{0,63})$")
_DOMAIN = re.compile(r"@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9-])")
_LONGEST_LOCAL = 64
_IBAN_START = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}")
_IBAN_CHARACTERS = re.compile(r"[A-Za-z0-9](?:[ -]?[A-Za-z0-9])*")
_DIGIT = re.compile(r"\d")
# Six digits close together: what all numbers of persons have, and most texts have not.
_NUMBER = re.compile(r"\d(?:[ .()-]{0,2}\d){5}")
_HOUSE = re.compile(r"[路街道巷同弄] ?\d{1,5}[号弄]")
_NUMBERS = frozenset(("id_card", "credit_card", "passport", "ssn", "phone"))

# Full-width forms stand one for one at their ASCII places; so do the digits of other scripts.
_NARROW = {0xFF01 + offset: 0x21 + offset for offset in range(0x5E)} | {0x3000: 0x20, 0xA0: 0x20}


def narrow(text: str) -> str:
    """The text with full-width characters and the digits of all scripts as ASCII, character by character."""
    if text.isascii():
        return text
    text = text.translate(_NARROW)
    return re.sub(r"[^\x00-\x7f]", _as_digit, text) if _OTHER_DIGITS.search(text) else text


_OTHER_DIGITS = re.compile(r"(?![0-9])\d")


def _as_digit(found: re.Match[str]) -> str:
    character = found.group()
    return str(int(character)) if character.isdecimal() else character


def find(text: str) -> list[Finding]:
    """What is personal in a text, by place. Overlapping findings of different kinds are all there."""
    plain = narrow(text)
    found: list[Finding] = []
    if "@" in plain:
        found += _emails(plain)
    if _DIGIT.search(plain):
        has_number = _NUMBER.search(plain) is not None
        has_house = _HOUSE.search(plain) is not None
        for rule in _RULES:
            if rule.kind in _NUMBERS and not has_number:
                continue
            if rule.score == _CHINESE_ADDRESS and not has_house:
                continue
            found += _matches(rule, plain)
        if has_number:
            found += _ibans(plain)
    return _settled(found)


def _emails(text: str) -> Iterator[Finding]:
    for domain in _DOMAIN.finditer(text):
        at = domain.start()
        local = _LOCAL.search(text[max(0, at - _LONGEST_LOCAL) : at])
        if local is None:
            continue
        start = at - len(local.group())
        before = re.search(r"[A-Za-z0-9._%+'-]*$", text[max(0, at - _LONGEST_LOCAL) : at])
        if before is not None:
            start = max(0, at - len(before.group().lstrip("._%+'-")))
        yield Finding("email", start, domain.end())


def _ibans(text: str) -> Iterator[Finding]:
    """Accounts written in one or in groups; the country says where the number ends."""
    for start in _IBAN_START.finditer(text):
        length = pii_checks.iban_length(text[start.start() : start.start() + 2])
        piece = _IBAN_CHARACTERS.match(text, start.start(), start.start() + 2 * length)
        if not length or piece is None:
            continue
        number, end = "", start.start()
        while len(number) < length and end < piece.end():
            number += text[end] if text[end] not in " -" else ""
            end += 1
        is_whole = end == len(text) or not (text[end].isascii() and text[end].isalnum())
        if is_whole and pii_checks.is_iban(number):
            yield Finding("iban", start.start(), end)


def _matches(rule: _Rule, text: str) -> Iterator[Finding]:
    group = "it" if "it" in rule.pattern.groupindex else 0
    for match in rule.pattern.finditer(text):
        if rule.check(match.group(group)):
            yield Finding(rule.kind, match.start(group), match.end(group), rule.score)


def _settled(found: Sequence[Finding]) -> list[Finding]:
    """By place, without those that lie within another of an earlier or the same kind."""
    ranked = sorted(found, key=lambda one: (_rank(one.kind), one.start, -one.end))
    kept: list[Finding] = []
    for one in ranked:
        if not any(other.start <= one.start and one.end <= other.end for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda one: (one.start, one.end, one.kind))


def _rank(kind: str) -> int:
    return KINDS.index(kind) if kind in KINDS else len(KINDS)


def rewritten(
    text: str, findings: Sequence[Finding], policy_of: Callable[[str], Policy]
) -> tuple[str, list[Finding]]:
    """The text as the policies leave it, and the findings that still stand in it, at their new places.

    Findings that overlap are one place: its kind is that of the longest of them, its policy the
    strictest, so that no tail stays readable.
    """
    parts: list[str] = []
    standing: list[Finding] = []
    done = moved = 0
    for group in _places(findings, policy_of):
        start, end = group[0].start, max(one.end for one in group)
        policy = max((policy_of(one.kind) for one in group), key=POLICIES.index)
        parts.append(text[done:start])
        if policy in ("mask", "anonymize"):
            kind = max(group, key=lambda one: (one.end - one.start, -_rank(one.kind))).kind
            new = masked(text[start:end]) if policy == "mask" else f"<{kind.upper()}>"
            moved += len(new) - (end - start)
            parts.append(new)
        else:
            parts.append(text[start:end])
            standing += [
                Finding(one.kind, one.start + moved, one.end + moved, one.score, one.engine)
                for one in group
                if policy_of(one.kind) == "mark"
            ]
        done = end
    parts.append(text[done:])
    return "".join(parts), standing


def _places(
    findings: Sequence[Finding], policy_of: Callable[[str], Policy]
) -> Iterator[list[Finding]]:
    """Findings that a policy concerns, those that overlap together, from left to right."""
    group: list[Finding] = []
    end = -1
    for one in sorted(findings, key=lambda one: (one.start, one.end)):
        if policy_of(one.kind) == "none":
            continue
        if group and one.start >= end:
            yield group
            group, end = [], -1
        group.append(one)
        end = max(end, one.end)
    if group:
        yield group


def masked(text: str) -> str:
    """The first and last two characters with stars between; nothing but stars up to eight characters.

    A shorter text would show half of itself or more.
    """
    if len(text) <= 8:
        return "*" * len(text)
    return text[:2] + "*" * (len(text) - 4) + text[-2:]


def counts_of(findings: Sequence[Finding]) -> dict[str, int]:
    """How many findings of each kind, by kind."""
    kinds = [one.kind for one in findings]
    return {kind: kinds.count(kind) for kind in sorted(set(kinds))}


def each_text(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with `change` applied to each of its strings, keys and long whole numbers.

    A number is replaced by text where the change touches it: 13800138000 is a telephone number too.
    """
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        members: dict[str, Any] = {}
        for key, member in value.items():
            name = new = change(str(key))
            number = 1
            while name in members:  # two keys that look the same by now
                number += 1
                name = f"{new} {number}"
            members[name] = each_text(member, change)
        return members
    if isinstance(value, (list, tuple)):
        return [each_text(member, change) for member in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10_000_000:
        said = str(value)
        new = change(said)
        return value if new == said else new
    return value
