"""bare: PostgreSQL 15 with pg_cron and without pgvector, from Debian bookworm."""

from __future__ import annotations

from pathlib import Path

import psycopg

from tests.servers.cluster import Cluster
from tests.servers.debian import Root
from tests.servers.enclosure import Inside
from tests.servers.model import Server
from tests.servers.places import checkout_digest
from tests.servers.probe import describe

CRON_DATABASE = "negmem_cron"
ROOT = Root("bookworm", "bookworm", ("postgresql-15", "postgresql-15-cron"))


def cluster() -> Cluster:
    """The cluster, in the Debian root."""
    folder = Path("/srv/negmem") / checkout_digest() / "bare"
    return Cluster(
        name="bare",
        enclosure=Inside(ROOT.folder, "postgres"),
        programs=Path("/usr/lib/postgresql/15/bin"),
        folder=folder,
        initdb=("--locale=C.UTF-8",),
        settings={
            "shared_preload_libraries": "pg_cron",
            "cron.database_name": CRON_DATABASE,
            "cron.host": str(folder),
        },
    )


def up() -> Server:
    """Start it, with the database of pg_cron."""
    ROOT.ensure()
    made = cluster()
    made.up()
    with psycopg.connect(made.dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {CRON_DATABASE}")
    with psycopg.connect(made.dsn, dbname=CRON_DATABASE, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION pg_cron")
    return describe(Server("bare", made.dsn, "", ()))


def down() -> None:
    """Stop it."""
    cluster().down()
