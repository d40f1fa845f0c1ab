"""Profiles: a schema that the YAML extends, values checked, set by hand, taken away."""

from __future__ import annotations

import pytest

from negmem.core.fact_writing import FactWrite, write_facts
from negmem.core.learning import profile
from negmem.errors import NegmemError, UsageError
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.ingesting import session_on


@pytest.mark.parametrize(
    ("kind", "said", "value"),
    [
        ("text", " 王芳 ", "王芳"),
        ("integer", "42", 42),
        ("number", "1.75", 1.75),
        ("boolean", "no", False),
        ("date", "1990-03-01", "1990-03-01"),
        ("list", "茶, coffee", ["茶", "coffee"]),
        ("list", '["a,b"]', ["a,b"]),
    ],
)
def test_a_value_is_read_by_its_type(kind: str, said: str, value: object) -> None:
    assert profile.checked_value("x", kind, said) == value


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("text", "  "),
        ("integer", "4.5"),
        ("integer", True),
        ("number", "nan"),
        ("boolean", "maybe"),
        ("date", "1990-02-30"),
        ("list", ""),
        ("list", "a,,b"),
    ],
)
def test_what_is_not_of_the_type_is_refused(kind: str, said: object) -> None:
    with pytest.raises(UsageError) as raised:
        profile.checked_value("x", kind, said)
    assert raised.value.code == "profile_value_invalid"


def test_a_profile_by_hand_and_by_extraction(database: TestDatabase) -> None:
    with session_on(database, **{"learning.profile.fields": "team:text,languages:list"}) as session:
        assert profile.set_field(session, "王芳", "languages", "中文,English").value == [
            "中文",
            "English",
        ]
        assert profile.set_field(session, "王芳", "name", "王芳").action == "added"
        assert profile.set_field(session, "王芳", "name", "王芳").action == "unchanged"
        assert profile.set_field(session, "王芳", "name", "王小芳").previous == "王芳"
        write_facts(
            session,
            "王芳",
            [FactWrite("profile", one, "x") for one in ("name", "allergy:nuts")],
        )
        shown = profile.show(session, "王芳")
        assert [(one.field, one.value, one.declared) for one in shown.fields] == [
            ("name", "王小芳", "text"),
            ("languages", ["中文", "English"], "list"),
            ("allergy:nuts", "x", None),
        ]
        assert "team" in shown.missing and "name" not in shown.missing
        assert profile.show(session, "bob").fields == []
        assert profile.unset_field(session, "王芳", "name").previous == "王小芳"
        with pytest.raises(NegmemError) as raised:
            profile.unset_field(session, "王芳", "name")
        assert raised.value.code == "profile_field_unset"
    with session_on(database) as session, pytest.raises(UsageError) as unknown:
        profile.set_field(session, "王芳", "team", "x")
    assert unknown.value.code == "profile_field_unknown"


def test_as_typed(negmem: CliRunner, database: TestDatabase) -> None:
    who = ("--user", "ada")
    assert (
        "would be added" in negmem("profile", "set", "city", "杭州", *who, "--dry-run").ok().stdout
    )
    made = negmem("profile", "set", "city", "杭州", *who, "--json").ok().json
    assert (made["schema"], made["action"], made["value"]) == (
        "negmem.profile.set/1",
        "added",
        "杭州",
    )
    assert "杭州  (manual)" in negmem("profile", "show", *who).ok().stdout
    assert negmem("profile", "set", "age", "old", *who).code == 2
    negmem("profile", "unset", "city", *who).ok()
    assert negmem("profile", "show", *who, "--json").ok().json["fields"] == []
    yaml = {"NEGMEM_LEARNING__PROFILE__FIELDS": "team:colour"}
    assert negmem("profile", "show", *who, env=yaml).code == 2


def test_a_change_of_a_field_is_taken_back(negmem: CliRunner) -> None:
    who = ("--user", "王芳")

    def city() -> str:
        return negmem("profile", "show", *who).ok().stdout

    assert negmem("profile", "undo", "city", *who).code == 1
    for value in ("杭州", "北京"):
        negmem("profile", "set", "city", value, *who).ok()
    assert negmem("profile", "undo", "city", *who, "--json").ok().json["value"] == "杭州"
    assert "杭州" in city()
    negmem("profile", "undo", "city", *who).ok()
    assert "北京" in city()
    negmem("profile", "unset", "city", *who).ok()
    negmem("profile", "undo", "city", *who).ok()
    assert "北京" in city()
    negmem("profile", "set", "job", "QA", *who).ok()
    negmem("profile", "undo", "job", *who).ok()
    assert "QA" not in city()
