"""Targets that can't be reached: the reason in words, and no password anywhere."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from tests.servers import Server
from tests.support.cli import CliRunner

pytestmark = pytest.mark.servers("full")


def tcp(server: Server) -> tuple[str, int]:
    """Host and port at which the server asks for a password."""
    parts = urlsplit(server.password_dsn or "")
    assert parts.hostname is not None and parts.port is not None
    return parts.hostname, parts.port


@pytest.mark.parametrize(
    ("tail", "code", "why"),
    [
        ("", "authentication_failed", "password authentication failed"),
        ("?sslmode=require", "connection_failed", "server does not support SSL"),
        ("?sslmode=s3cr3t", "connection_failed", "invalid sslmode value"),
        ("?service=s3cr3t", "connection_failed", "not found"),
    ],
)
def test_the_reason_is_told_and_the_password_is_not(
    run_cli: CliRunner, server: Server, tail: str, code: str, why: str
) -> None:
    host, port = tcp(server)
    dsn = f"postgresql://nobody:hunter2pw@{host}:{port}/postgres{tail}"
    for words in (("search", "猫", "--user", "ada"), ("init", "--yes"), ("doctor",)):
        for flags in ((), ("--json",), ("-vv",)):
            done = run_cli(*words, *flags, env={"NEGMEM_DSN": dsn})
            assert done.code == 1
            assert "hunter2pw" not in done.stdout + done.stderr
            if words[0] == "search" and flags == ("--json",):
                error = done.json["error"]
                assert error["code"] == code
                assert why in error["why"]


def test_no_password_is_said_so(run_cli: CliRunner, server: Server) -> None:
    host, port = tcp(server)
    dsn = f"postgresql://nobody@{host}:{port}/postgres"
    error = run_cli("memory", "list", "--user", "ada", "--dsn", dsn, "--json").json["error"]
    assert error["code"] == "authentication_failed"
    assert error["why"].startswith("no password supplied")


def test_the_target_of_the_variables_is_told_before_anything_is_done(
    run_cli: CliRunner, server: Server
) -> None:
    host, port = tcp(server)
    env = {"PGHOST": host, "PGPORT": str(port), "PGUSER": "nobody", "PGPASSWORD": "hunter2pw"}
    done = run_cli("uninstall", env=env)
    assert done.code == 1
    assert done.stderr.startswith(f"target: default database@{host}:{port} as nobody (from PGHOST)")
    assert "hunter2pw" not in done.stdout + done.stderr
