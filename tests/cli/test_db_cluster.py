"""`negmem db` on an embedded cluster of its own: started on demand, and left running."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.support.cli import CliRunner


@pytest.fixture
def at_home(run_cli: CliRunner, negmem_home: Path) -> CliRunner:
    """The command line with a home of its own and no database named."""
    return CliRunner({**run_cli.env, "NEGMEM_HOME": str(negmem_home)}, run_cli.cwd)


def test_status_of_a_cluster_that_was_never_made(at_home: CliRunner, negmem_home: Path) -> None:
    result = at_home("db", "status", "--json")
    assert (result.code, result.stderr) == (3, "")
    assert result.json["running"] is False
    assert result.json["server_version"] is None
    assert list(negmem_home.iterdir()) == []


def test_start_status_url_and_stop_agree(at_home: CliRunner, negmem_home: Path) -> None:
    started = at_home("db", "start", "--json").ok().json
    assert started["running"] is True
    assert started["data_dir"] == str(negmem_home / "embedded" / "data")
    looked = at_home("db", "status", "--json").ok().json
    assert {**looked, "schema": ""} == {**started, "schema": ""}
    url = at_home("db", "url").ok().stdout.strip()
    assert url == started["url"]
    with psycopg.connect(url) as connection:
        assert connection.info.dbname == "negmem"
    assert at_home("db", "stop", "--json").ok().json["running"] is False
    assert at_home("db", "status").code == 3
    assert at_home("db", "stop").code == 0


def test_url_starts_the_cluster(at_home: CliRunner) -> None:
    url = at_home("db", "url").ok().stdout.strip()
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_dry_run_makes_nothing(at_home: CliRunner, negmem_home: Path) -> None:
    at_home("db", "start", "--dry-run").ok()
    assert list(negmem_home.iterdir()) == []


def test_psql_runs_on_the_embedded_database(at_home: CliRunner) -> None:
    words = ("db", "psql", "--", "-X", "-A", "-t", "-c", "SELECT '你好', current_database()")
    result = at_home(*words, subprocess=True)
    assert (result.code, result.stdout) == (0, "你好|negmem\n")


def test_eight_commands_that_find_no_server_share_one(at_home: CliRunner) -> None:
    command = [sys.executable, "-m", "negmem.cli", "db", "start", "--json"]
    running = [
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=at_home.cwd,
            env=at_home.environment(),
        )
        for _ in range(8)
    ]
    answers = [process.communicate() for process in running]
    assert [process.returncode for process in running] == [0] * 8, answers
    assert len({json.loads(out)["pid"] for out, _ in answers}) == 1
