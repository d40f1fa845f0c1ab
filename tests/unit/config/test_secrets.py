"""No password leaves a connection string, whatever its form."""

from __future__ import annotations

import pytest

from negmem.config.secrets import has_clear_password, mask_dsn


@pytest.mark.parametrize(
    ("dsn", "shown"),
    [
        ("postgresql://u:s3cr3t@h/db", "postgresql://u:***@h/db"),
        ("postgresql://u:s3@cr3t@localhost/db", "postgresql://u:***@localhost/db"),
        ("postgresql:/u:s3cr3t@h/db", "postgresql:/u:***@h/db"),
        ("postgresql+psycopg://u:s3cr3t%zz@h/db", "postgresql+psycopg://u:***@h/db"),
        ("u:s3cr3t@h/db", "u:***@h/db"),
        ("postgresql://u:s3cr3t?x@h/db", "postgresql://u:***@h/db"),
        (
            "postgresql://h/db?user=u&password=s3cr3t&x=1",
            "postgresql://h/db?user=u&password=***&x=1",
        ),
        ("host=h password=s3cr3t user=u", "host=h password=*** user=u"),
        ("host=h password = 's3 cr3\\'t' user=u", "host=h password = *** user=u"),
        ("password=s3&cr3t", "password=***"),
        ("host=h sslpassword=s3cr3t", "host=h sslpassword=***"),
        ("host=h PASSWORD=s3cr3t", "host=h PASSWORD=***"),
    ],
)
def test_a_password_is_masked_and_noticed(dsn: str, shown: str) -> None:
    assert mask_dsn(dsn) == shown
    assert has_clear_password(dsn)


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://u@h:5432/db",
        "postgresql://h,h2:5433/db?target_session_attrs=any",
        "host=/run/postgresql dbname=agents",
        "service=agents",
        "postgresql://u:${PGPASSWORD}@h/db",
        "postgresql://u:${A}${B:-}@h/db",
        "host=h password=${PGPASSWORD}",
        "host=h password='${PGPASSWORD}'",
        "${NEGMEM_DSN}",
        "postgresql://${WHO:-me}@h:5432/db",
    ],
)
def test_a_string_without_a_clear_password_passes(dsn: str) -> None:
    assert not has_clear_password(dsn)


def test_a_default_after_a_variable_is_a_clear_password() -> None:
    assert has_clear_password("postgresql://u:${PGPASSWORD:-s3cr3t}@h/db")
