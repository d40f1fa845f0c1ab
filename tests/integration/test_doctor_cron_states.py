"""pg_cron in each of its four states, each with its own remedy, and Apache AGE in its way."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from negmem.db.sqlfiles import quote_identifier
from tests import servers
from tests.servers import full
from tests.servers.cluster import Cluster
from tests.support.doctor import area, codes, examine, finding, outcome
from tests.support.product import install
from tests.support.roles import as_role

S = "negentropy"


class CronCluster(Cluster):
    """A cluster on which negmem stands, and whose preloaded libraries change from test to test."""

    def with_settings(self, settings: Mapping[str, str]) -> None:
        """Start again with these settings."""
        self.down()
        replace(self, settings=settings)._write_settings()
        assert self._start()


@pytest.fixture(scope="module")
def cluster(server_named: Callable[[str], servers.Server]) -> Iterator[CronCluster]:
    server_named("full")
    folder = full.cluster().folder.parent / f"states_{os.getpid()}"
    model = full.cluster()
    made = CronCluster(
        "states", model.enclosure, model.programs, Path(folder), model.initdb, settings={}
    )
    made.up()
    install(made.dsn)
    with psycopg.connect(made.dsn, autocommit=True) as connection:
        connection.execute("CREATE ROLE limited LOGIN")
        connection.execute(f"GRANT USAGE ON SCHEMA {S} TO limited".encode())
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {S} TO limited".encode())
        connection.execute(
            f"UPDATE {S}.memory_automation_configs SET config ="
            " jsonb_set(config, '{retention,auto_cleanup_enabled}', 'true')".encode()
        )
    yield made
    made.down()
    shutil.rmtree(made.data.parent, ignore_errors=True)


def test_available_and_not_preloaded(cluster: CronCluster) -> None:
    cluster.with_settings({"shared_preload_libraries": "pg_stat_statements"})
    for dsn, seen, kept in (
        (cluster.dsn, "shared_preload_libraries holds pg_stat_statements", "pg_stat_statements,"),
        (as_role(cluster.dsn, "limited"), "can't be read by this role", ""),
    ):
        found = examine(dsn)
        assert found.capabilities.pg_cron_state == "not_preloaded"
        assert found.capabilities.pg_cron_installed is False
        assert found.degraded_reasons == ["pg_cron_not_installed"]
        told = finding(found, "pg_cron_not_installed")
        assert seen in told.evidence
        assert told.remedy.startswith(f"ALTER SYSTEM SET shared_preload_libraries = {kept}pg_cron;")


def test_preloaded_and_not_created_here(cluster: CronCluster) -> None:
    cluster.with_settings({"shared_preload_libraries": "pg_cron"})
    found = examine(cluster.dsn)
    assert found.capabilities.pg_cron_state == "not_created"
    told = finding(found, "pg_cron_not_installed")
    assert told.evidence == 'loaded, but not created; cron.database_name is "postgres"'
    assert told.remedy.startswith("CREATE EXTENSION pg_cron;   or from any other scheduler")
    # The limited role may not read the setting, yet that it is hidden says that it exists.
    limited = examine(as_role(cluster.dsn, "limited"))
    assert limited.capabilities.pg_cron_state == "not_created"


def test_preloaded_for_another_database(cluster: CronCluster) -> None:
    cluster.with_settings(
        {"shared_preload_libraries": "pg_cron", "cron.database_name": "template1"}
    )
    found = examine(cluster.dsn)
    told = finding(found, "pg_cron_not_installed")
    assert told.evidence == 'loaded, but not created; cron.database_name is "template1"'
    assert told.remedy.startswith("psql -d template1 -c 'CREATE EXTENSION pg_cron;'")


def test_a_list_of_databases_is_one_name(cluster: CronCluster) -> None:
    cluster.with_settings(
        {"shared_preload_libraries": "pg_cron", "cron.database_name": "postgres,template1"}
    )
    found = examine(cluster.dsn)
    assert found.capabilities.pg_cron_installed is None
    assert outcome(found, "pg_cron_not_installed") == "unknown"
    reason = next(c.reason for c in found.checks if c.code == "pg_cron_not_installed")
    assert "there is no such database" in reason
    assert reason.endswith("one name, not a list")


def test_age_is_in_the_way_until_it_is_created(cluster: CronCluster) -> None:
    cluster.with_settings({"shared_preload_libraries": "pg_cron,age"})
    found = examine(cluster.dsn)
    assert found.degraded_reasons == ["pg_cron_not_installed", "age_not_created"]
    assert "ag_catalog" in finding(found, "age_not_created").evidence
    remedy = finding(found, "pg_cron_not_installed").remedy.partition(";   ")[0]
    assert remedy == "CREATE EXTENSION IF NOT EXISTS age; CREATE EXTENSION pg_cron"
    with psycopg.connect(cluster.dsn, autocommit=True) as connection:
        with pytest.raises(psycopg.Error, match="ag_catalog"):
            connection.execute("CREATE EXTENSION pg_cron")
        connection.execute(remedy.encode())
    found = examine(cluster.dsn)
    assert found.capabilities.pg_cron_state == "created"
    assert found.capabilities.pg_cron_database == "postgres"
    assert found.degraded_reasons == ["job_missing"]
    assert f"pg_cron 1.6 in {quote_identifier('postgres')}" in area(found, "extensions")
    with psycopg.connect(cluster.dsn, autocommit=True) as connection:
        connection.execute("DROP EXTENSION pg_cron")
        connection.execute("DROP EXTENSION age CASCADE")
    assert "age_not_created" in codes(examine(cluster.dsn))
