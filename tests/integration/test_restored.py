"""A dump, restored beside the original and on another server: what is said is true, and jobs stay whose they are."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from negmem.db import embedded
from tests.servers import Server
from tests.support import databases
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.jobs import CronDesk, cron_desk
from tests.support.memories import add_memory

pytestmark = pytest.mark.needs_cron

C = "cleanup_memories"


@pytest.fixture
def desk(database: TestDatabase) -> Iterator[CronDesk]:
    with cron_desk(database, on=(C,)) as made:
        yield made


@pytest.fixture
def restored(tmp_path: Path, database: TestDatabase) -> Iterator[Callable[[Server], TestDatabase]]:
    """Restores a dump of `database` into a new database of a server."""
    made: list[TestDatabase] = []
    file = tmp_path / "dump.sql"

    def restore(server: Server) -> TestDatabase:
        program = embedded.client_program("pg_dump")
        words = [program, "--dbname", database.dsn, "--file", file]
        subprocess.run(words, check=True, capture_output=True)
        made.append(databases.create(server))
        # Settings that an older server does not know are in the dump: it goes on over them.
        psql = [embedded.client_program("psql"), "-X", "-q", "-f", file, made[-1].dsn]
        subprocess.run(psql, check=True, capture_output=True)
        return made[-1]

    yield restore
    for each in made:
        databases.drop(each)


def test_beside_the_original_its_jobs_stay_its_own(
    negmem: CliRunner,
    database: TestDatabase,
    desk: CronDesk,
    restored: Callable[[Server], TestDatabase],
) -> None:
    add_memory(database, "她喜欢喝茶")
    negmem("sync").ok()
    before = desk.jobs()
    copy = restored(database.server)
    env = {"NEGMEM_DSN": copy.dsn}
    # Nothing but the job differs: a restored index is the same, however the server prints it.
    found = negmem("diff", "--json", env=env)
    assert found.code == 3
    assert [(c["kind"], c["state"]) for c in found.json["changes"]] == [("job", "missing")]
    (told,) = found.json["warnings"]
    assert told["code"] == "jobs_of_another_database"
    assert database.name in told["message"] and copy.name in told["message"]
    done = negmem("sync", "--json", env=env)
    assert (done.code, done.json["applied"]) == (3, [])
    (skipped,) = done.json["skipped"]
    assert "this is a copy" in skipped["why"]
    assert "jobs.prefix" in negmem("doctor", "--json", env=env).json["findings"][0]["remedy"]
    assert desk.jobs() == before
    try:
        negmem("config", "set", "automation.jobs.prefix", f"{copy.name}.", env=env).ok()
        negmem("sync", env=env).ok()
        assert negmem("diff", "--json", env=env).ok().json["warnings"] == []
        assert desk.jobs() == before
    finally:
        negmem("automation", "disable", C, env=env)
    assert negmem("diff").code == 0


def test_on_another_server_nothing_of_the_old_one_is_claimed(
    negmem: CliRunner,
    database: TestDatabase,
    desk: CronDesk,
    restored: Callable[[Server], TestDatabase],
    server_named: Callable[[str], Server],
) -> None:
    memory = negmem("memory", "add", "她喜欢喝茶", "--user", "ann", "--json").ok().json["memory"]
    negmem("sync").ok()
    there = restored(server_named("sixteen"))
    env = {"NEGMEM_DSN": there.dsn}
    assert negmem("diff", "--json", env=env).ok().json["changes"] == []
    shown = negmem("automation", "show", "--json", env=env).ok().json
    states = {job["job_key"]: (job["status"], job["job_id"]) for job in shown["jobs"]}
    assert states[C] == ("degraded", None)
    assert shown["degraded_reasons"] == ["pg_cron_not_installed"]
    assert negmem("doctor", "--json", env=env).json["degraded_reasons"] == ["pg_cron_not_installed"]
    said = negmem("uninstall", "--dry-run", "--json", env=env).ok().json
    assert (said["jobs"], said["kept_jobs"]) == ([], {})
    found = negmem("search", "喝茶", "--user", "ann", "--json", env=env).ok().json
    assert [each["id"] for each in found["results"]] == [memory["id"]]
    assert [row["jobname"] for row in desk.jobs()] == [desk.name(C)]
