"""Connection strings: what a message may say of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from negmem.db.dsn import from_environment, parse_dsn, said_by
from negmem.errors import UsageError

FULL = {"PGHOST": "db.example.org", "PGPORT": "6000", "PGUSER": "mei", "PGDATABASE": "记忆"}


@pytest.mark.parametrize(
    ("env", "label"),
    [
        (FULL, "记忆@db.example.org:6000 as mei"),
        ({"PGHOST": "/run/pg", "PGPORT": "6000"}, "default database@/run/pg"),
        ({"PGHOSTADDR": "127.0.0.1", "PGUSER": "mei"}, "default database@127.0.0.1 as mei"),
        ({"PGDATABASE": "agents"}, "agents@local socket"),
        ({"PGSERVICE": "agents", "PGHOST": "elsewhere"}, "default database@service agents"),
    ],
    ids=str,
)
def test_what_the_variables_name_is_told(env: dict[str, str], label: str) -> None:
    target = from_environment({**env, "PGPASSWORD": "s3cr3t"})
    assert target is not None
    assert target.label == label
    assert "s3cr3t" not in repr(target)


def test_variables_complete_what_a_string_leaves_out() -> None:
    target = replace(parse_dsn("dbname=other", "--dsn"), defaults=said_by(FULL))
    assert target.label == "other@db.example.org:6000 as mei"
    assert dict(target.params) == {"dbname": "other"}


def test_nothing_named_is_no_target() -> None:
    assert from_environment({"PGUSER": "mei", "PGPORT": "6000", "PGHOST": ""}) is None


@pytest.mark.parametrize("port", ["abc", "0", "99999", "-1", "5432,abc", "５４３２x"])
def test_a_port_that_is_none(port: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_dsn(f"host=a,b port='{port}' password=s3cr3t", "--dsn")
    assert raised.value.code == "dsn_malformed"
    assert "s3cr3t" not in str(vars(raised.value))


@pytest.mark.parametrize("port", ["", "5432", "5432,", "5432,6000"])
def test_a_port_that_is_one(port: str) -> None:
    assert parse_dsn(f"host=a,b port='{port}'", "--dsn").label.startswith("default database@a,b")
