"""The fields of a profile and every name that each goes by: one table for extraction, hands, tools and old rows.

A name is known whatever its case, width and separators are: `Time Zone`, `time-zone`, `time_zone`. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from negmem.core.text.fact_words import key_form

PROFILE = "profile"
"""The type of a fact that is a field of the profile."""


class BaseField(NamedTuple):
    """A field that every profile has: its type; names that people say; names that are only typed.

    A typed one is too common in talk to tell what a sentence is about.
    """

    kind: str
    said: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()


BASE: dict[str, BaseField] = {
    "name": BaseField("text", ("full name", "real name", "名字", "姓名", "全名", "真名", "本名")),
    "preferred_name": BaseField("text", ("nickname", "昵称"), ("preferred name", "称呼")),
    "pronouns": BaseField("text", ("preferred pronouns",), ("人称代词",)),
    "birthday": BaseField(
        "date", ("date of birth", "birth date", "birthdate", "生日", "出生日期", "生辰")
    ),
    "age": BaseField("integer", ("年龄", "岁数", "年纪")),
    "city": BaseField(
        "text",
        ("location", "current city", "现居地", "居住地", "所在地"),
        ("城市", "所在城市", "居住城市"),
    ),
    "language": BaseField(
        "text", ("native language", "mother tongue", "first language", "母语"), ("语言",)
    ),
    "timezone": BaseField("text", ("time zone", "时区")),
    "company": BaseField("text", ("employer", "workplace", "公司", "单位", "工作单位", "雇主")),
    "job": BaseField(
        "text", ("occupation", "profession", "job title", "职业", "工作", "职位", "本职工作")
    ),
}
"""The built-in fields, as profiles show them."""


@dataclass(frozen=True)
class ProfileNames:
    """The fields of one schema: `kinds`, each with its type, and `known`, each name in plain form with its field."""

    kinds: Mapping[str, str]
    known: Mapping[str, str]

    def field_of(self, key: str) -> str:
        """The field that a key names, else the key as it is; what follows a colon stays: `location:rome`."""
        head, mark, rest = key.partition(":")
        found = self.known.get(key_form(head))
        return key if found is None else f"{found}{mark}{rest}"

    def keys_of(self, key: str) -> list[str]:
        """The field of a key first, then what facts written under its other names may be called."""
        field = self.field_of(key)
        others = {name for name, of in self.known.items() if of == field}
        spaced = {name.replace("_", " ") for name in others}
        return [field, *sorted((others | spaced | {key}) - {field})]


@lru_cache(maxsize=64)
def profile_names(declared: tuple[str, ...] = ()) -> ProfileNames:
    """The built-in fields with those that a config declares, as `name:type` or `name:type:alias|alias`.

    A declared name or alias that is a name of another built-in field takes that field's place, and all
    its names: of one thing there is one field.
    """
    kinds = {name: field.kind for name, field in BASE.items()}
    known: dict[str, str] = {}
    for name, field in BASE.items():
        known.update((key_form(one), name) for one in (name, *field.said, *field.typed))
    for entry in declared:
        name, kind, *rest = entry.split(":", 2)
        for alias in (name, *(rest[0].split("|") if rest else ())):
            form = key_form(alias)
            replaced = known.get(form, name)
            if replaced in BASE and replaced != name:
                kinds.pop(replaced, None)
                known = {one: name if of == replaced else of for one, of in known.items()}
            known[form] = name
        kinds[name] = kind
    return ProfileNames(kinds, known)
