"""Profiles: a schema that the YAML extends, values checked, set by hand, taken away."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from negmem.core import fact_names, facts
from negmem.core.fact_writing import FactWrite, write_facts
from negmem.core.learning import machine, profile
from negmem.core.retrieval import context
from negmem.core.session import Session
from negmem.core.text.profile_names import profile_names
from negmem.core.text.profile_values import plain_value
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


@pytest.mark.parametrize(
    ("declared", "key", "field"),
    [
        ((), "location", "city"),
        ((), "Time Zone", "timezone"),
        ((), "time-zone", "timezone"),
        ((), "雇主", "company"),
        ((), "城市", "city"),
        ((), "母语", "language"),
        ((), "昵称", "preferred_name"),
        ((), "location:rome", "city:rome"),
        ((), "allergy:nuts", "allergy:nuts"),
        (("team:text:部门|department",), "部门", "team"),
        (("team:text:部门|department",), "department", "team"),
        (("location:text",), "city", "location"),
        (("location:text",), "现居地", "location"),
        (("team:text",), "department", "department"),
    ],
)
def test_a_field_goes_by_many_names(declared: tuple[str, ...], key: str, field: str) -> None:
    assert profile_names(declared).field_of(key) == field


@pytest.mark.parametrize(
    ("kind", "said", "value"),
    [
        ("integer", "34 years old", 34),
        ("integer", "三十四岁", 34),
        ("integer", "in my thirties", "in my thirties"),
        ("date", "May 3, 1990", "1990-05-03"),
        ("date", "1990年5月3日", "1990-05-03"),
        ("date", "5月3日", "5月3日"),
        ("list", "茶和咖啡", ["茶", "咖啡"]),
        (None, "Berlin", "Berlin"),
    ],
)
def test_what_was_extracted_is_one_plain_value(kind: str | None, said: str, value: object) -> None:
    assert plain_value({"text": said, "object": said, "negated": False}, kind) == value


def test_a_negation_stays_and_what_is_set_is_as_it_is() -> None:
    assert plain_value({"text": "not Berlin", "object": "Berlin", "negated": True}) == "not Berlin"
    assert plain_value(["a"], "list") == ["a"]


SAID = datetime(2026, 3, 2, 9, tzinfo=timezone.utc)


def _extracted(key: str, said: str, day: int = 0) -> FactWrite:
    value = {"text": said, "object": said, "negated": False}
    return FactWrite("profile", key, value, occurred_at=SAID + timedelta(days=day))


def _shown(session: Session, user: str) -> dict[str, object]:
    return {one.field: one.value for one in profile.show(session, user).fields}


def test_one_thing_has_one_value_whoever_wrote_it(database: TestDatabase) -> None:
    with session_on(database) as session:
        found = [
            _extracted("location", "Oslo"),
            _extracted("employer", "北极科技"),
            _extracted("occupation", "护士"),
            _extracted("time zone", "东八区"),
            _extracted("native language", "中文"),
            _extracted("age", "三十四岁"),
        ]
        write_facts(session, "王芳", found)
        assert _shown(session, "王芳") == {
            "age": 34,
            "city": "Oslo",
            "language": "中文",
            "timezone": "东八区",
            "company": "北极科技",
            "job": "护士",
        }
        # The same said by hand makes it manual, the same extracted again changes nothing.
        assert profile.set_field(session, "王芳", "城市", "oslo").action == "unchanged"
        assert write_facts(session, "王芳", [_extracted("location", "Oslo", 400)])[0].action in (
            "unchanged",
            "kept_manual",
        )
        # By hand it stands against what is extracted, and one undo brings back what stood before.
        assert profile.set_field(session, "王芳", "Location", "卑尔根").previous == "Oslo"
        kept = write_facts(session, "王芳", [_extracted("location", "Rome", 500)])[0]
        assert kept.action == "kept_manual" and _shown(session, "王芳")["city"] == "卑尔根"
        assert profile.undo(session, "王芳", "location").value == "Oslo"
        assert _shown(session, "王芳")["city"] == "Oslo"
        history = facts.history(session, "王芳", facts.find_key(session, "王芳", "location"))
        assert {one.key for one in history.versions} == {"city"}
        built = machine.build_context(session, "王芳", "我住在哪里？", record=False)
        assert "Age: 三十四岁" in built.text and "City: Oslo" in built.text
        assert profile.unset_field(session, "王芳", "现居地").previous == "Oslo"
        assert "city" not in _shown(session, "王芳")


def test_rows_of_before_are_read_as_the_field_and_moved(database: TestDatabase) -> None:
    def old(user: str, key: str, value: str, origin: str, day: int) -> None:
        fact = FactWrite("profile", "x", "x", occurred_at=SAID)
        with session_on(database) as session:
            write_facts(session, user, [fact])
        database.rows(
            "UPDATE negentropy.facts SET key = %s, value = to_jsonb(%s::text), origin = %s,"
            " valid_from = %s WHERE user_id = %s AND key = 'x'",
            [key, value, origin, SAID + timedelta(days=day), user],
        )

    old("ada", "city", "杭州", "manual", 0)
    old("ada", "location", "Rome", "extracted", 9)
    old("bo", "location", "Rome", "extracted", 0)
    old("bo", "employer", "Acme", "extracted", 0)
    with session_on(database, **{"learning.profile.fields": "team:text:部门"}) as session:
        assert _shown(session, "ada") == {"city": "杭州"}
        assert _shown(session, "bo") == {"city": "Rome", "company": "Acme"}
        text = context.assemble(session, "ada", "where?", blocks=["profile"], record=False).text
        assert "city: 杭州" in text and "Rome" not in text
        # A write moves what stands under another name; the first value stays a version that undo finds.
        assert profile.set_field(session, "bo", "city", "Bergen").previous == "Rome"
        assert profile.set_field(session, "bo", "部门", "研发").field == "team"
        assert profile.undo(session, "bo", "city").value == "Rome"
        moved = fact_names.unify(session, "bo").keys, fact_names.unify(session, "ada").keys
        assert moved == (1, 1) and fact_names.unify(session, "bo").keys == 0
        assert _shown(session, "bo") == {"city": "Rome", "company": "Acme", "team": "研发"}
        assert _shown(session, "ada") == {"city": "杭州"}
        assert {one.key for one in facts.list_facts(session, "bo").facts} == {
            "city",
            "company",
            "team",
        }
        company = profile.undo(session, "bo", "company")
        assert (company.value, company.previous) == (None, "Acme")


def test_an_alias_names_one_field(negmem: CliRunner) -> None:
    fields = {"NEGMEM_LEARNING__PROFILE__FIELDS": "team:text:部门,unit:text:部门"}
    refused = negmem("profile", "show", "--user", "ada", env=fields)
    assert refused.code == 2 and "names two fields" in refused.stderr
