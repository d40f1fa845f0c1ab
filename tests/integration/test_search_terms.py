"""The rule that turns text into search terms, on every server and in a database of locale C."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from psycopg import sql

from negmem.core import installation
from negmem.core.session import open_session
from negmem.providers.embedding import EmbedderAbsent
from tests import servers
from tests.support import databases
from tests.support.databases import TestDatabase

SERVERS = ("embedded", "sixteen", "full")

# text, terms that must be there, terms that must not
RULES = [
    ("I don't like running; it's raining", {"like", "run", "rain"}, {"i", "don", "t", "s", "it"}),
    ("Caroline’s self-care", {"carolin", "self", "care"}, {"self-care", "s"}),
    ("user_id is set", {"user_id", "user", "id", "set"}, {"is"}),
    (r"open C:\tmp now", {r"c:\tmp", "tmp"}, {"now"}),
    ("v1.10 at 14:30", {"v1.10", "v1", "10", "14:30", "14", "30"}, {"at"}),
    ("order-1234 costs 3.5k", {"order-1234", "order", "1234", "3.5k", "cost"}, set()),
    ("mail a.b@example.org", {"a.b@example.org", "exampl", "org"}, set()),
    ("C++ and C#", {"c++", "c#", "c"}, {"and"}),
    ("1,000 and 1000", {"1000"}, {"1,000"}),
    ("see /usr/local/bin std::vector", {"usr/local/bin", "std::vector", "local"}, set()),
    ("用户喜欢喝咖啡", {"咖啡", "喜欢", "咖", "啡"}, {"欢喝咖"}),
    ("go 部署 deployment", {"go", "部署", "deploy"}, set()),
    ("我在5月8号去了北京", {"5月", "8日", "北京"}, {"我", "了"}),
    ("커피를 마셨어요", {"커피", "피를"}, {"커피를"}),
    ("コーヒーを飲む", {"コー", "飲む", "飲"}, set()),
    ("ＡＢＣ１２３ ﾃｽﾄ", {"abc123", "テス", "スト"}, set()),
    ("Café NAÏVE Übung", {"cafe", "naiv", "ubung"}, {"café"}),
    ("Привет МИР Ёлка", {"привет", "мир", "елка"}, set()),
    ("Ὀδυσσεύς ΣΊΣΥΦΟΣ", {"οδυσσευσ", "σισυφοσ"}, set()),
    ("好的 👍🏽 🇨🇳 ❤️", {"👍", "🇨🇳", "❤"}, {"🏽"}),
    ("to be or not to be", {"to", "be", "or", "not"}, set()),
    ("who am i", {"who", "am", "i"}, set()),
    ("你是谁", {"你是", "是谁", "谁"}, set()),
    ("'; DROP TABLE x; --", {"drop", "tabl", "x"}, set()),
]


def terms(database: TestDatabase, text: str) -> dict[str, int]:
    return dict(database.rows("SELECT term, tf FROM negentropy.search_terms(%s)", (text,)))


@pytest.mark.servers(*SERVERS)
def test_the_rule(database: TestDatabase) -> None:
    for text, wanted, unwanted in RULES:
        found = set(terms(database, text))
        assert wanted <= found, text
        assert not unwanted & found, text


@pytest.fixture(params=SERVERS)
def locale_c(request: pytest.FixtureRequest) -> Iterator[TestDatabase]:
    """A database whose locale knows no letter beyond ASCII."""
    server = servers.ensure(request.param)
    made = databases.create(server, template="template0")
    databases.drop(made)
    with databases.admin(server) as connection:
        connection.execute(
            sql.SQL(
                "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"
            ).format(sql.Identifier(made.name))
        )
    with open_session(dsn=made.dsn, env={}) as session:
        session.use_embedder(EmbedderAbsent("embedder_none", "none in this test"))
        installation.install(session)
    yield made
    databases.drop(made)


def test_the_rule_does_not_depend_on_the_locale(locale_c: TestDatabase) -> None:
    for text, wanted, unwanted in RULES:
        found = set(terms(locale_c, text))
        assert wanted <= found, text
        assert not unwanted & found, text


def test_counts_and_lengths(database: TestDatabase) -> None:
    assert terms(database, "cat cats CAT dog") == {"cat": 3, "dog": 1}
    rows = database.rows(
        "SELECT term, tf, len FROM negentropy.index_terms('小明', 'cat cats', '2023-05-08T23:30+00')"
    )
    assert {row[2] for row in rows} == {len(rows) + 1}
    found = {row[0]: row[1] for row in rows}
    assert found == {
        "cat": 2, "小明": 1, "小": 1, "明": 1, "8": 1, "may": 1, "2023": 1, "5月": 1, "8日": 1
    }  # fmt: skip


@pytest.mark.parametrize("speaker", [None, "", "user", "Assistant", "system"])
def test_a_role_is_no_name(database: TestDatabase, speaker: str | None) -> None:
    rows = database.rows(
        "SELECT term FROM negentropy.index_terms(%s, 'likes tea', NULL)", (speaker,)
    )
    assert {row[0] for row in rows} == {"like", "tea"}


@pytest.mark.parametrize("text", ["", "   ", "…—！？", "\t\n", "​"])
def test_text_without_words_has_no_terms(database: TestDatabase, text: str) -> None:
    assert terms(database, text) == {}


def test_month_names_are_stemmed_as_the_dictionary_does(database: TestDatabase) -> None:
    months = database.value(
        "SELECT array_agg(lower(to_char(make_date(2023, m, 1), 'FMMonth')) ORDER BY m)"
        " FROM generate_series(1, 12) AS m"
    )
    for number, month in enumerate(months, start=1):
        stem = database.value("SELECT (ts_lexize('english_stem', %s))[1]", (month,))
        day = f"2023-{number:02d}-08T00:00+00"
        rows = database.rows("SELECT term FROM negentropy.index_terms(NULL, '', %s)", (day,))
        assert stem in {row[0] for row in rows}


def test_two_megabytes_of_distinct_words_are_cut_and_do_not_fail(database: TestDatabase) -> None:
    count = database.value(
        "SELECT count(*) FROM negentropy.search_terms((SELECT string_agg(md5(i::text), ' ')"
        " FROM generate_series(1, 64000) AS i))"
    )
    assert 30_000 < count < 33_000


def test_long_terms_fit_an_index_entry(database: TestDatabase) -> None:
    found = terms(database, "x" * 5000 + " " + "a_" * 3000 + " " + "я" * 4000)
    assert max(len(term) for term in found) == 64


def test_a_run_of_a_hundred_thousand_characters_is_linear(database: TestDatabase) -> None:
    found = terms(database, "春夏秋冬" * 25_000)
    assert found["春夏"] > 24_000 and set(found) == {
        "春夏", "夏秋", "秋冬", "冬春", "春", "夏", "秋", "冬"
    }  # fmt: skip
