"""pg_cron whose clock is not GMT: a server of this test's own, since the zone is set at start."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import psycopg
import pytest

from negmem.core.automation import jobs
from negmem.core.automation.snapshot import snapshot
from negmem.core.automation.sync import diff
from negmem.core.formulas.due_times import due_before
from negmem.core.models.schedule import parse_cron
from negmem.core.session import open_session
from tests.servers import Server, full
from tests.servers.places import checkout_digest
from tests.support import product
from tests.support.doctor import codes, examine, finding

ZONE = ZoneInfo("America/New_York")
DAILY = "0 2 * * *"


@pytest.fixture
def zoned(server: Server) -> Iterator[str]:
    """A DSN of a server like `full` whose pg_cron lives in `postgres` and counts in New York's time."""
    folder = Path("/srv/negmem") / checkout_digest() / f"zoned-{os.getpid()}"
    settings = {
        "shared_preload_libraries": "pg_cron",
        "cron.database_name": "postgres",
        "cron.host": str(folder),
        "cron.timezone": ZONE.key,
        "cron.launch_active_jobs": "off",
        "timezone": "Asia/Shanghai",
    }
    cluster = replace(full.cluster(), name="zoned", folder=folder, settings=settings, tcp=False)
    try:
        cluster.up()
        product.install(cluster.dsn)
        yield cluster.dsn
    finally:
        cluster.down()
        shutil.rmtree(cluster.enclosure.host(folder))


@pytest.mark.servers("full")
def test_a_job_is_counted_in_the_zone_of_pg_cron(zoned: str) -> None:
    with psycopg.connect(zoned, autocommit=True) as owner:
        owner.execute("CREATE EXTENSION pg_cron")
        with open_session(dsn=zoned, env={}) as session:
            assert jobs.switch(session, "cleanup_memories", True).scheduled
            job = next(j for j in snapshot(session).jobs if j.job_key == "cleanup_memories")
            assert diff(session).changes == []
        assert {run.cron_zone[10:] for run in job.next_runs} == {" 02:00 America/New_York"}
        assert [run.at.astimezone(ZONE).hour for run in job.next_runs] == [2, 2, 2]
        due = next(due_before(parse_cron(DAILY), datetime.now(timezone.utc), ZONE))
        owner.execute(
            "INSERT INTO cron.job_run_details (jobid, status, start_time, end_time)"
            " SELECT jobid, 'succeeded', %s, now() FROM cron.job",
            (due,),
        )
        owner.execute("UPDATE negentropy.managed_objects SET installed_at = '2026-01-01'")
        assert codes(examine(zoned)) == []
        owner.execute(
            "UPDATE cron.job_run_details SET start_time = start_time - interval '5 hours'"
        )
        assert "0 2 * * * in America/New_York was due" in (
            finding(examine(zoned), "job_off_schedule").evidence
        )
