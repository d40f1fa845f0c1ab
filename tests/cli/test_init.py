"""`init`, `uninstall` and `db` as a person types them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase


@pytest.fixture
def target(run_cli: CliRunner, empty_database: TestDatabase) -> CliRunner:
    return CliRunner(env={**run_cli.env, "NEGMEM_DSN": empty_database.dsn}, cwd=run_cli.cwd)


def test_init_makes_everything_and_repeats_to_nothing(target: CliRunner) -> None:
    first = target("init", "--embedder", "none", "--json").ok().json
    assert first["schema"] == "negmem.init/1"
    assert first["config_written"] is True
    assert len(first["migrations"]) >= 6
    assert first["status"] == "healthy"
    written = (target.cwd / "negmem.yaml").read_text(encoding="utf-8")
    assert "\nautomation:" not in written and "# automation:" in written
    assert "provider: none" in written
    again = target("init", "--json").ok().json
    assert (again["config_written"], again["migrations"], again["app_added"]) == (False, [], False)


def test_each_preset_is_read_offers_its_tools_and_is_no_drift(target: CliRunner) -> None:
    assert target("init", "--preset", "huge").code == 2
    assert target("init", "--preset", "huge", "--dry-run", "--json").json["error"]["code"] == (
        "preset_unknown"
    )
    offered = {}
    for preset in ("minimal", "standard", "complete"):
        place = ("--config", f"{preset}.yaml")
        words = ("init", "--embedder", "none", "--preset", preset, *place)
        assert target(*words, "--json").ok().json["config_written"] is True
        assert target("config", "validate", *place).ok()
        assert target("diff", *place, "--json").ok().json["drift"] is False
        assert target("sync", *place, "--json").ok().json["applied"] == []
        tools = target("tools", "list", *place, "--json").ok().json["tools"]
        offered[preset] = {one["store"] for one in tools if one["offered"]}
    assert offered["minimal"] == {"profile"}
    assert offered["standard"] == {"profile", "memory", "entity"}
    assert offered["complete"] == {"profile", "memory", "entity", "knowledge", "decision_log"}
    again = target("init", "--preset", "minimal", "--config", "complete.yaml", "--json").ok().json
    assert [one["code"] for one in again["warnings"]] == ["preset_not_in_config"]
    assert again["config_written"] is False


def test_init_names_its_target_on_stderr(target: CliRunner) -> None:
    result = target("init", "--embedder", "none").ok()
    assert result.stderr.startswith("target: ")
    assert "NEGMEM_DSN" in result.stderr


def test_dry_run_prints_the_sql_and_touches_nothing(
    target: CliRunner, empty_database: TestDatabase
) -> None:
    result = target("init", "--dry-run").ok()
    assert 'CREATE TABLE "negentropy".memories' in result.stdout
    assert "CREATE OR REPLACE FUNCTION" in result.stdout
    assert not (target.cwd / "negmem.yaml").exists()
    assert empty_database.rows("SELECT 1 FROM pg_namespace WHERE nspname = 'negentropy'") == []


def test_what_dry_run_prints_is_what_runs(target: CliRunner, empty_database: TestDatabase) -> None:
    planned = target("init", "--dry-run", "--json").ok().json["statements"]
    connection = empty_database.connect()
    connection.execute("SET check_function_bodies = off")
    for statement in planned:
        connection.execute(statement.encode())
    tables = empty_database.value("SELECT count(*) FROM pg_tables WHERE schemaname = 'negentropy'")
    assert tables > 40


def test_eight_inits_at_once(target: CliRunner) -> None:
    def init(_: int) -> int:
        return target("init", "--embedder", "none", "--json", subprocess=True).code

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(init, range(8))) == [0] * 8
    assert target("doctor", "--json").ok().json["status"] == "healthy"


def test_a_second_app_is_not_the_main_one(target: CliRunner, empty_database: TestDatabase) -> None:
    target("init", "--embedder", "none").ok()
    target("init", "--embedder", "none", "--app", "crm").ok()
    rows = empty_database.rows(
        "SELECT app_name, is_main FROM negentropy.memory_automation_configs ORDER BY 1"
    )
    assert rows == [("crm", False), ("negmem", True)]


@pytest.mark.servers("bare")
def test_a_bare_server_is_refused_and_nothing_made(target: CliRunner) -> None:
    result = target("init", "--embedder", "none", "--json")
    assert result.code == 1
    assert result.json["error"]["code"] == "server_too_old"
    assert not (target.cwd / "negmem.yaml").exists()


@pytest.mark.parametrize(
    ("dsn", "code", "exit_code"),
    [
        ("postgresql://u:p@ss@localhost/db", "dsn_malformed", 2),
        ("postgresql://u:p#ss@localhost/db", "dsn_malformed", 2),
        ("postgresql://u:s3cr3t%zz@localhost/db", "dsn_malformed", 2),
        ("postgresql://u:s3cr3t/x@localhost/db", "dsn_malformed", 2),
        ("postgresql:/u:s3cr3t@h/db", "dsn_malformed", 2),
        ("s3cr3t", "dsn_malformed", 2),
        ("postgresql://u:s3cr3t@127.0.0.1:1/db", "server_unreachable", 1),
        ("postgresql+psycopg://u:s3cr3t@127.0.0.1:1/db", "server_unreachable", 1),
        ("host=/nowhere user=u password=s3cr3t", "server_unreachable", 1),
    ],
)
@pytest.mark.parametrize("json_flag", [(), ("--json",)])
@pytest.mark.parametrize("debug", [(), ("-vv",)])
def test_bad_targets_say_so_and_keep_the_secret(
    run_cli: CliRunner,
    dsn: str,
    code: str,
    exit_code: int,
    json_flag: tuple[str, ...],
    debug: tuple[str, ...],
) -> None:
    result = run_cli("memory", "list", "--user", "u", "--dsn", dsn, *json_flag, *debug)
    assert result.code == exit_code
    shown = result.stdout + result.stderr
    assert "s3cr3t" not in shown and "ss@localhost" not in shown and "p@ss" not in shown
    if json_flag:
        assert result.json["error"]["code"] == code
    else:
        assert f"error[{code}]: " in result.stderr
        assert "  why: " in result.stderr and "  fix: " in result.stderr


def test_wrong_password_and_wrong_database(
    run_cli: CliRunner, empty_database: TestDatabase
) -> None:
    missing = empty_database.dsn.replace(empty_database.name, "no_such_database")
    result = run_cli("memory", "list", "--user", "u", "--dsn", missing, "--json")
    assert (result.code, result.json["error"]["code"]) == (1, "database_not_found")


def test_without_init_every_command_says_init(target: CliRunner) -> None:
    result = target("memory", "add", "x", "--user", "u", "--json")
    assert (result.code, result.json["error"]["code"]) == (1, "schema_missing")
    assert result.json["error"]["hint"] == "negmem init"


def test_uninstall_asks_and_removes_only_what_is_ours(
    target: CliRunner, empty_database: TestDatabase
) -> None:
    target("init", "--embedder", "none").ok()
    empty_database.rows("CREATE TABLE public.theirs (id integer)")
    refused = target("uninstall", "--json", stdin="")
    assert (refused.code, refused.json["error"]["code"]) == (2, "confirmation_needed")
    shown = target("uninstall", "--dry-run", "--json").ok().json
    assert shown["removed"] is False and "memories" in shown["tables"]
    assert target("uninstall", "--yes", "--json").ok().json["removed"] is True
    assert empty_database.rows("SELECT 1 FROM pg_namespace WHERE nspname = 'negentropy'") == []
    assert empty_database.value("SELECT count(*) FROM public.theirs") == 0
    assert target("uninstall", "--yes", "--json").json["error"]["code"] == "schema_missing"


def test_uninstall_stops_before_others_objects(
    target: CliRunner, empty_database: TestDatabase
) -> None:
    target("init", "--embedder", "none").ok()
    empty_database.rows("CREATE VIEW public.report AS SELECT content FROM negentropy.memories")
    result = target("uninstall", "--yes", "--json")
    assert (result.code, result.json["error"]["code"]) == (1, "uninstall_dependents")
    assert "report" in result.json["error"]["why"]
    assert empty_database.value("SELECT count(*) FROM negentropy.memories") == 0


def test_migrate_says_where_it_stands(target: CliRunner) -> None:
    assert target("db", "migrate", "--json").json["error"]["code"] == "schema_missing"
    target("init", "--embedder", "none").ok()
    document = target("db", "migrate", "--json").ok().json
    assert document["pending"] == [] and len(document["applied"]) >= 6
