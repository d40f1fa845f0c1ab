"""full: PostgreSQL 17 with pgvector, pg_cron and Apache AGE, from Debian trixie.

`age` is preloaded, and is therefore part of template1: without it in a database, every DROP fails there.
A database made from template0 shows that.
"""

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
LOGIN = "negmem_login"
ROOT = Root(
    "trixie",
    "trixie",
    (
        "postgresql-17",
        "postgresql-17-pgvector",
        "postgresql-17-cron",
        "postgresql-17-age",
        "pgbouncer",
    ),
)


def cluster() -> Cluster:
    """The cluster, in the Debian root."""
    folder = Path("/srv/negmem") / checkout_digest() / "full"
    return Cluster(
        name="full",
        enclosure=Inside(ROOT.folder, "postgres"),
        programs=Path("/usr/lib/postgresql/17/bin"),
        folder=folder,
        initdb=("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C.UTF-8"),
        settings={
            "shared_preload_libraries": "pg_cron,age",
            "cron.database_name": CRON_DATABASE,
            "cron.host": str(folder),
        },
        tcp=True,
    )


def up() -> Server:
    """Start it, with the database of pg_cron and a role that logs in by password."""
    ROOT.ensure()
    made = cluster()
    made.up()
    with psycopg.connect(made.dsn, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {LOGIN} LOGIN SUPERUSER PASSWORD '{LOGIN}'")
    with psycopg.connect(made.dsn, dbname="template1", autocommit=True) as connection:
        connection.execute("CREATE EXTENSION age")
    with psycopg.connect(made.dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {CRON_DATABASE}")
    with psycopg.connect(made.dsn, dbname=CRON_DATABASE, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION pg_cron")
    return describe(
        Server(
            "full",
            made.dsn,
            "",
            (),
            password_dsn=f"postgresql://{LOGIN}:{LOGIN}@127.0.0.1:{made.port}/postgres",
        )
    )


def down() -> None:
    """Stop it."""
    cluster().down()
