"""Keys and values of facts: what they read like, and when two of them are the same but for their spelling."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

_SEPARATORS = re.compile(r"[\s_\-./]+")
# All full- and half-width forms that have a plain one.
_FORMS = re.compile("[\u3000\uff01-\uffee]")
_HAN = re.compile(r"[\u3400-\u9fff]")
# 市 alone: 北京市 is 北京. 省, 县 and 区 often tell two places apart (吉林省, 吉林市; 南京, 南京路).
_CITY = re.compile(r"(?<=[\u3400-\u9fff]{2})市$")
_COMPANY_ZH = re.compile(
    r"(?:股份有限公司|有限责任公司|(?:集团|科技|技术|网络|信息)?有限公司|集团公司|集团|公司)$"
)
_COMPANY_EN = re.compile(
    r"[\s,]+(?:inc|incorporated|ltd|limited|llc|plc|corp|corporation|gmbh|co|co\s+ltd|ag|s\.a)\.?$"
)
_EDGES = " \t\r\n.,;:!。，；：！、\"'“”‘’「」『』《》()（）"


def fact_text(key: str, value: Any) -> str:
    """A fact as one line: what is searched and embedded of it. SQL twin: sql/functions/fact_text.sql."""
    return f"{key}: {value_text(value)}"


def value_text(value: Any) -> str:
    """A value as text: of `{"text": …}` the text, a string as it is, anything else as JSON."""
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return str(value["text"])
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def folded(text: str) -> str:
    """`text` without differences of width, case and blanks; digits and signs keep their meaning."""
    wide = _FORMS.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return " ".join(unicodedata.normalize("NFC", wide).casefold().split())


def key_form(key: str) -> str:
    """A key without differences of case, width and separators: `Home City`, `home-city`, `home_city`.

    The colon stays: it parts a key from what it is about (`likes:coffee`).
    """
    parts = [_SEPARATORS.sub("_", folded(part)).strip("_") for part in folded(key).split(":")]
    return ":".join(parts)


def name_form(text: str) -> str:
    """A name without case, width, closing marks, 市 of a city and the legal form of a company.

    Rules that are safe alone: nothing is looked up, nothing is translated. Never shorter than two
    characters; the empty text for none.
    """
    name = folded(text).strip(_EDGES)
    for pattern in (_COMPANY_EN, _COMPANY_ZH, _CITY):
        shorter = pattern.sub("", name).strip(_EDGES)
        if len(shorter) >= 2:
            name = shorter
    if _HAN.search(name):
        name = re.sub(r"(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])", "", name)
    return name


def same_value(one: Any, other: Any) -> bool:
    """Whether two JSON values say the same but for the spelling of a name."""
    if one == other and isinstance(one, bool) == isinstance(other, bool):
        return True
    if isinstance(one, str) and isinstance(other, str):
        form = name_form(one)
        return form != "" and form == name_form(other)
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return all(same_value(one[key], other[key]) for key in one)
    return False
