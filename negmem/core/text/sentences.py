"""Sentences of English and Chinese talk, with what is not the speaker's own claim set apart.

Pure. Code, quoted lines and addresses go first; then sentences end at 。！？； . ! ? ; and line
ends, but not at the full stop of an abbreviation or a number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

MAX_SENTENCE_CHARS = 600
"""A longer stretch without an end is no sentence that patterns could read."""

_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.S)
_QUOTED_LINE = re.compile(r"(?m)^[ \t]*(?:>|\|).*$")
# A text to work on comes after such words: it is not what its bearer says.
_OTHERS_TEXT = re.compile(
    r"\b(?:translat\w+|proof-?read|correct|rephrase|paraphrase|rewrite|reword|summari[sz]e|polish|edit"
    r"|fix (?:the |my |this )?(?:grammar|spelling|sentence)|check (?:the |my )?(?:grammar|spelling))\b"
    r"[^:\n]{0,60}:.*|(?:翻译|翻成|译成|润色|改写|纠正|改病句|改错|造句|校对|续写|仿写|概括)[^：:\n]{0,20}[：:].*",
    re.I | re.S,
)
_ADDRESS = re.compile(r"\b(?:https?|ftp)://\S+")
_END = re.compile(r"[。！？!?；;\n]+[”’」』\"']*|…+|\.{3,}|\.(?=[\s”\"')]|$)[”’\"')]*")
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|e\.g|i\.e|inc|ltd|co|corp|no|dept|approx|mt|ft)"
    r"|\b[A-Za-z]|\b(?:[A-Za-z]\.)+[A-Za-z])$",
    re.I,
)
_HAN = re.compile(r"[\u4e00-\u9fff]")

_ENGLISH_QUESTION = re.compile(
    r"^(?:(?:so|and|but|hey|hi|hello|ok|okay|well|um|please|sorry|excuse me|by the way|also)[, ]+)*"
    r"(?:(?:do|does|did|is|are|was|were|am|can|could|should|would|will|have|has|had|may|might|shall"
    r"|don't|doesn't|didn't|isn't|aren't|wasn't|can't|couldn't|shouldn't|wouldn't|won't|haven't|hasn't)"
    r" (?:i|you|he|she|we|they|it|my|your|his|her|our|their|this|that|there|the|anyone|someone|people)\b"
    r"|(?:what|which|who|whom|whose|where|when|why|how)(?:'s|'re| is| are| was| were| do| does| did"
    r"| can| could| should| would| will| have| has| am| many| much| about| come| long| old| often)\b"
    r"|(?:can|could|would|will) you\b|what if\b|how come\b)",
    re.I,
)
_CHINESE_QUESTION = re.compile(
    r"(?:吗|么|呢|吧)[？?]|[？?]$|(?:吗|嘛呢)[。！!~～]*$"
    r"|是不是|能不能|可不可以|要不要|该不该|好不好|会不会|喜不喜欢|有没有可能|对不对|行不行"
    r"|^(?:请问|为什么|为啥|怎么|怎样|如何|哪|谁|什么时候|多少|几点)"
    r"|我(?:是谁|叫什么|住在?哪|喜欢什么|喜欢吃什么|在哪|多大|几岁)"
)

_SPEECH_BEFORE = re.compile(
    r"(?:\b(?:said|says|say|saying|told|tells|asked|asks|wrote|writes|replied|shouted|whispered|goes"
    r"|went|like|quote|lyrics?|line|song|singing|sings|sang|read|reads|called|titled)\b[^.!?]{0,40}$"
    r"|[:：,，]\s*$|(?:说|道|问|写|喊|回答|告诉|唱|念|表示|曰|台词|歌词|名言|文案|口号)[^。！？]{0,12}$)",
    re.I,
)
_SAID_BEFORE = re.compile(
    r"\b(?:said|says|told|asked|wrote|writes|replied|shouted|yelled|screamed|whispered|texted|tweeted|posted"
    r"|chanted|muttered|sign|poster|banner|mug|shirt|reads)\b[^.!?]{0,25}$"
    r"|(?:说|道|问|写着?|喊着?|吼|回答|唱着?|念|印着?|贴着|刻着|表示|曰)[^。！？]{0,4}[：:，,]?\s*$",
    re.I,
)
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|my|me|we)\b|我|咱", re.I)
_QUOTES = re.compile(
    r"“([^“”]*)”|「([^「」]*)」|『([^『』]*)』|\"([^\"\n]*)\"|‘([^‘’]*)’(?![a-z])"
    r"|(?<![\w])'([^'\n]{3,}?)'(?![\w])"
)


@dataclass(frozen=True)
class Sentence:
    """One sentence, trimmed. `text` has straight apostrophes and no quotation of others."""

    text: str
    said: str
    is_question: bool
    is_chinese: bool


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of what somebody said, in order, without code, quoted lines and addresses."""
    plain = _CODE.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))
    plain = _ADDRESS.sub(" ", _QUOTED_LINE.sub("\n", plain))
    plain = _OTHERS_TEXT.sub(" ", plain.translate(_STRAIGHT))
    for said, end in _pieces(_masked(plain)):
        stripped = said.lstrip(" \t-*•·#>、，,").rstrip(" \t-*•·#、，,")
        if not stripped or len(stripped) > MAX_SENTENCE_CHARS:
            continue
        is_chinese = _is_chinese(stripped)
        is_question = (
            "?" in end
            or "？" in end
            or bool((_CHINESE_QUESTION if is_chinese else _ENGLISH_QUESTION).search(stripped))
        )
        yield Sentence(stripped, (stripped + end).strip(), is_question, is_chinese)


_STRAIGHT = {ord("’"): "'", ord("＇"): "'", ord("\u00a0"): " ", ord("\u3000"): " "}
_GAP = "\ufffc"


def _masked(text: str) -> str:
    """The text without quotations of speech; other quotation marks go, what they hold stays."""

    def replace(match: re.Match[str]) -> str:
        inner = next(group for group in match.groups() if group is not None)
        before = text[max(0, match.start() - 60) : match.start()]
        words = len(inner.split())
        is_speech = (
            bool(_FIRST_PERSON.search(inner))
            or (words > 3 and bool(_SPEECH_BEFORE.search(before)))
            or ((words > 1 or bool(_HAN.search(inner))) and bool(_SAID_BEFORE.search(before)))
        )
        if is_speech or (_HAN.search(inner) and len(inner) > 8 and _SPEECH_BEFORE.search(before)):
            return _GAP
        return inner

    return _QUOTES.sub(replace, text)


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    start = 0
    for match in _END.finditer(text):
        if match.group().startswith(".") and _ABBREVIATION.search(text[start : match.start()]):
            continue
        yield text[start : match.start()], match.group()
        start = match.end()
    if start < len(text):
        yield text[start:], ""


def _is_chinese(text: str) -> bool:
    """Whether Chinese marks carry the sentence; a Latin name inside does not make it English."""
    han = len(_HAN.findall(text))
    latin = len(re.findall(r"[A-Za-z]+", text))
    return han > 0 and han >= latin


def folded(text: str) -> str:
    """Compatibility forms unified (full width, ligatures), case folded, blanks collapsed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
