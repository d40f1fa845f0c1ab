"""`negmem doctor` as people, cron, CI and monitors call it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.servers import Server
from tests.support.cli import CliResult, CliRunner
from tests.support.databases import TestDatabase
from tests.support.snapshots import Snapshots

S = "negentropy"


@pytest.fixture(autouse=True)
def keyword_only(run_cli: CliRunner) -> None:
    """No embedder, whatever this machine has."""
    (run_cli.cwd / "negmem.yaml").write_text("embedding:\n  provider: none\n", encoding="utf-8")


def configure(runner: CliRunner, text: str) -> None:
    (runner.cwd / "negmem.yaml").write_text(
        f"embedding:\n  provider: none\n{text}", encoding="utf-8"
    )


def enable_cleanup(database: TestDatabase) -> None:
    database.rows(
        f"UPDATE {S}.memory_automation_configs SET config ="
        " jsonb_set(config, '{retention,auto_cleanup_enabled}', 'true')"
    )


def hide(database: TestDatabase) -> dict[str, str]:
    """What differs from run to run in the head of a screen."""
    return {
        database.dsn.partition("host=")[2].partition("&")[0].replace("%2F", "/"): "<socket>",
        database.name: "<database>",
    }


def plain(result: CliResult) -> CliResult:
    """Without the numbers that grow with the program."""
    stdout = re.sub(r"\d+ (of \d+ )?(present|migrations|indexes|checks)", r"<n> \2", result.stdout)
    return replace(result, stdout=re.sub(r"\d+\.\d s\b", "<n> s", stdout))


def test_a_healthy_screen(negmem: CliRunner, database: TestDatabase, snapshots: Snapshots) -> None:
    results = [plain(negmem("doctor")), plain(negmem("doctor", "-q"))]
    snapshots.check("doctor_healthy", *results, hide=hide(database))


def test_a_degraded_screen(negmem: CliRunner, database: TestDatabase, snapshots: Snapshots) -> None:
    enable_cleanup(database)
    database.rows(f"DROP FUNCTION {S}.rrf_score")
    database.rows(f"ALTER TABLE {S}.threads ADD COLUMN imported_at timestamp")
    calls = (["doctor"], ["doctor", "-q"], ["doctor", "--fix", "--dry-run"])
    results = [plain(negmem(*words)) for words in calls]
    snapshots.check("doctor_degraded", *results, hide=hide(database))


def test_json_as_promised(negmem: CliRunner, database: TestDatabase) -> None:
    document = negmem("doctor", "--json").ok().json
    assert list(document)[:5] == [
        "schema",
        "status",
        "capabilities",
        "degraded_reasons",
        "findings",
    ]
    assert document["schema"] == "negmem.doctor/1"
    assert (document["status"], document["degraded_reasons"]) == ("healthy", [])
    seen = document["capabilities"]
    assert seen["vector_installed"] is True
    assert isinstance(seen["vector_version"], str)
    for flag in ("pg_cron_installed", "pg_cron_available", "pg_cron_logs_accessible"):
        assert seen[flag] is False
    for finding in document["findings"]:
        assert list(finding)[:5] == ["code", "severity", "title", "evidence", "remedy"]
    assert document["warnings"] == []
    enable_cleanup(database)
    result = negmem("doctor", "--json")
    assert (result.code, result.json["status"]) == (3, "degraded")
    assert result.json["degraded_reasons"] == ["pg_cron_not_installed"]
    assert result.stderr == ""


def test_exit_codes(negmem: CliRunner, database: TestDatabase) -> None:
    enable_cleanup(database)
    assert negmem("doctor").code == 3
    assert negmem("doctor", "--exit-zero").code == 0
    assert negmem("doctor", "--fail-on", "fail").code == 0
    configure(negmem, "doctor:\n  accept: [pg_cron_not_installed]\n")
    accepted = negmem("doctor", "-v").ok()
    assert "accepted: nothing runs on schedule" in accepted.stdout
    assert "healthy" in accepted.stdout
    database.rows(f"DROP FUNCTION {S}.rrf_score")
    assert negmem("doctor", "--fail-on", "fail").code == 3
    database.rows(f"DELETE FROM {S}.schema_migrations WHERE version = 6")
    assert negmem("doctor").code == 1
    assert negmem("doctor", "--exit-zero").code == 1


def test_an_accepted_code_that_no_check_has(negmem: CliRunner) -> None:
    configure(negmem, "doctor:\n  accept: [pg_cron_missing, check_timed_out]\n")
    result = negmem("doctor", "--json").ok()
    assert [(w["code"], "pg_cron_missing" in w["message"]) for w in result.json["warnings"]] == [
        ("check_unknown", True)
    ]


def test_yaml_that_declares_otherwise_is_told(negmem: CliRunner) -> None:
    configure(negmem, "automation:\n  retention:\n    min_age_days: 30\n")
    document = negmem("doctor", "--json").ok().json
    told = next(f for f in document["findings"] if f["code"] == "config_drifted")
    assert told["severity"] == "info"
    assert "automation.retention.min_age_days" in told["evidence"]


def test_a_living_scheduler_is_enough(negmem: CliRunner, database: TestDatabase) -> None:
    enable_cleanup(database)
    database.rows(
        f"INSERT INTO {S}.scheduler_leader (instance, host, process_id, lease_until)"
        " VALUES (gen_random_uuid(), 'box', 7, now() + interval '1 minute')"
    )
    negmem("doctor").ok()
    database.rows(f"UPDATE {S}.scheduler_leader SET lease_until = now() - interval '1 minute'")
    assert negmem("doctor").code == 3


def test_what_blocks_can_not_be_accepted(negmem: CliRunner, database: TestDatabase) -> None:
    database.rows(f"DELETE FROM {S}.schema_migrations WHERE version = 6")
    configure(negmem, "doctor:\n  accept: [schema_outdated]\n")
    assert negmem("doctor").code == 1


@pytest.mark.servers("bare")
def test_bare_says_both_reasons(run_cli: CliRunner, empty_database: TestDatabase) -> None:
    result = run_cli("doctor", "--dsn", empty_database.dsn)
    assert result.code == 1
    assert "FAIL server_too_old" in result.stdout
    assert "FAIL vector_not_available" in result.stdout
    assert "unusable:" in result.stdout.splitlines()[-1]
    assert run_cli("doctor", "--dsn", empty_database.dsn, "--json").json["degraded_reasons"] == [
        "server_too_old",
        "vector_not_available",
    ]


def test_no_server(run_cli: CliRunner) -> None:
    dsn = "postgresql://me@127.0.0.1:1/nowhere"
    result = run_cli("doctor", "--dsn", dsn)
    assert result.code == 1
    assert "FAIL server_unreachable" in result.stdout
    assert "skip  schema" in result.stdout
    told = run_cli("doctor", "--dsn", dsn, "--json")
    assert (told.code, told.json["status"]) == (1, "unusable")
    assert told.json["degraded_reasons"] == ["server_unreachable"]
    assert told.json["capabilities"]["pg_cron_installed"] is None


def test_no_database_named_and_none_embedded(run_cli: CliRunner) -> None:
    result = run_cli("doctor", "--json")
    assert (result.code, result.json["status"]) == (1, "unusable")
    assert result.json["findings"][0]["code"] == "home_unusable"


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql:/u:s3cr3t@h/db",
        "postgresql+psycopg:/u:s3cr3t@h/db",
        "postgresql://u:s3cr3t%zz@localhost/db",
        "postgresql://u:s3cr3t@ss@localhost:1/db",
        "postgresql://u:s3cr3t#1@localhost:1/db",
        "postgresql://u:s3cr3t/1@localhost:1/db",
        "postgresql+psycopg://u:s3cr3t@localhost:1/db",
        "host=localhost port=1 password=s3cr3t user=u",
        "host=localhost port=1 password=s3cr3t user",
    ],
)
def test_a_password_is_never_printed(run_cli: CliRunner, dsn: str) -> None:
    for more in ([], ["--json"], ["-vv"], ["--json", "-vv"], ["--format", "junit"], ["-q"]):
        for where in (["--dsn", dsn], [f"--dsn={dsn}"]):
            result = run_cli("doctor", *where, *more)
            assert result.code in (1, 2)
            assert "s3cr3t" not in result.stdout + result.stderr
        result = run_cli("doctor", *more, env={"NEGMEM_DSN": dsn})
        assert result.code in (1, 2)
        assert "s3cr3t" not in result.stdout + result.stderr


@pytest.mark.servers("full")
def test_a_wrong_password_is_told_and_not_printed(run_cli: CliRunner, server: Server) -> None:
    assert server.password_dsn is not None
    right = conninfo_to_dict(server.password_dsn)
    dsn = make_conninfo("", **{**right, "password": "s3cr3t ü'\\"})
    for more in ([], ["--json", "-vv"], ["--format", "nagios"]):
        result = run_cli("doctor", "--dsn", dsn, *more)
        assert result.code in (1, 2)
        assert "authentication_failed" in result.stdout
        assert "s3cr3t" not in result.stdout + result.stderr
        fine = run_cli("doctor", "--dsn", server.password_dsn, *more)
        assert str(right["password"]) not in (fine.stdout + fine.stderr).replace(
            str(right["user"]), ""
        )


def test_the_list_of_checks(negmem: CliRunner) -> None:
    listed = negmem("doctor", "--list", "--json").ok().json
    assert listed["schema"] == "negmem.doctor.list/1"
    codes = [item["code"] for item in listed["checks"]]
    assert len(codes) == len(set(codes)) > 40
    slow = [item["slow"] for item in listed["checks"]]
    assert slow == sorted(slow), "slow ones last"
    text = negmem("doctor", "--list").ok().stdout
    assert all(code in text for code in codes)
    assert len(text.splitlines()) == len(codes)


def test_one_check(negmem: CliRunner, database: TestDatabase) -> None:
    document = negmem("doctor", "--only", "vector_too_old", "--json").ok().json
    assert [check["code"] for check in document["checks"]] == [
        "pooler_in_statement_mode",
        "vector_not_available",
        "vector_not_created",
        "vector_not_usable",
        "vector_too_old",
    ]
    area = negmem("doctor", "--only", "indexes", "--only", "data", "--json").ok().json
    assert {"indexes", "data"} <= {a["name"] for a in area["areas"]}
    unknown = negmem("doctor", "--only", "vector_to_old")
    assert unknown.code == 2
    assert "error[check_unknown]" in unknown.stderr
    assert "nearest: vector_too_old" in unknown.stderr


def test_wrong_words(negmem: CliRunner) -> None:
    for words in (["--format", "html"], ["--fail-on", "info"], ["--nonsense"]):
        assert negmem("doctor", *words).code == 2


def test_fix(negmem: CliRunner, database: TestDatabase) -> None:
    database.rows(f"DROP FUNCTION {S}.rrf_score")
    planned = negmem("doctor", "--fix", "--dry-run", "--json")
    assert planned.code == 3
    assert [(r["code"], r["done"]) for r in planned.json["repairs"]] == [
        ("function_missing", False)
    ]
    mended = negmem("doctor", "--fix").ok()
    assert "mended  function_missing" in mended.stdout
    assert mended.stderr.startswith("mending function_missing")
    assert negmem("doctor", "--fix", "--json").ok().json["repairs"] == []


def test_github_annotations(negmem: CliRunner, database: TestDatabase) -> None:
    database.rows(f"DROP FUNCTION {S}.rrf_score")
    result = negmem("doctor", "--format", "github")
    assert result.code == 3
    lines = result.stdout.splitlines()
    assert lines[0].startswith("::error title=negmem doctor function_missing::rrf_score")
    assert any(line.startswith("::notice title=negmem doctor pg_cron") for line in lines)
    assert lines[-1] == "negmem doctor: degraded"


def test_junit(negmem: CliRunner, database: TestDatabase) -> None:
    enable_cleanup(database)
    result = negmem("doctor", "--format", "junit")
    assert result.code == 3
    suite = ElementTree.fromstring(result.stdout)
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert int(suite.get("tests", "0")) == len(cases)
    assert suite.get("failures") == "1"
    failure = cases["pg_cron_not_installed"].find("failure")
    assert failure is not None and "remedy" in failure.get("message", "")
    assert cases["function_drifted"].find("failure") is None
    unreachable = negmem("doctor", "--format", "junit", "--dsn", "host=127.0.0.1 port=1")
    suite = ElementTree.fromstring(unreachable.stdout)
    assert (unreachable.code, suite.get("failures")) == (1, "1")


def test_nagios_speaks_its_own_exit_codes(negmem: CliRunner, database: TestDatabase) -> None:
    fine = negmem("doctor", "--format", "nagios")
    assert fine.code == 0
    assert fine.stdout.startswith("NEGMEM OK - healthy: ")
    assert "| time=" in fine.stdout
    enable_cleanup(database)
    worse = negmem("doctor", "--format", "nagios")
    assert worse.code == 1
    assert worse.stdout.startswith("NEGMEM WARNING - degraded: pg_cron_not_installed | ")
    gone = negmem("doctor", "--format", "nagios", "--dsn", "host=127.0.0.1 port=1")
    assert gone.code == 2
    assert gone.stdout.startswith("NEGMEM CRITICAL - unusable: server_unreachable | ")


def test_piped_output_is_whole(negmem: CliRunner, database: TestDatabase) -> None:
    enable_cleanup(database)
    result = negmem("doctor", "--json", env={"COLUMNS": "40"}, subprocess=True)
    assert json.loads(result.stdout)["status"] == "degraded"
    assert "\x1b" not in result.stdout
    text = negmem("doctor", env={"COLUMNS": "40"}, subprocess=True)
    assert "…" not in text.stdout
    assert "\x1b" not in text.stdout


def test_it_loads_no_heavy_library(negmem: CliRunner) -> None:
    program = (
        "import sys; from negmem.cli.main import main; code = main(['doctor', '-q']);"
        "print(code, sorted({'litellm', 'tiktoken', 'sqlglot', 'numpy', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=dict(negmem.env),
        cwd=negmem.cwd,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "0 []"


def test_a_server_that_starts_is_waited_for(run_cli: CliRunner) -> None:
    result = run_cli("doctor", "--dsn", "postgresql://me@127.0.0.1:1/x", "--wait", "0.3", "--json")
    assert (result.code, result.json["status"]) == (1, "unusable")
