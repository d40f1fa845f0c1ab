"""embedded: the product's own cluster, as `negmem` brings it up."""

from __future__ import annotations

import psycopg

from negmem.db import embedded
from negmem.errors import NegmemError
from tests.servers.model import Server, ServerUnavailable
from tests.servers.places import clusters_folder
from tests.servers.probe import describe


def up() -> Server:
    """Start it; durability is off, since what it holds is made anew."""
    try:
        cluster = embedded.start(clusters_folder() / "home", timeout_s=120)
    except NegmemError as error:
        raise ServerUnavailable(f"{error.message}: {error.why}") from error
    dsn = cluster.dsn.replace(f"/{embedded.DATABASE}?", "/postgres?")
    with psycopg.connect(dsn, autocommit=True) as connection:
        settings = {"fsync": "off", "full_page_writes": "off", "max_wal_size": "1GB"}
        for name, value in settings.items():
            connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        connection.execute("SELECT pg_reload_conf()")
    return describe(Server("embedded", dsn, "", ()))


def down() -> None:
    """Stop it, by force if it must be."""
    embedded.stop(clusters_folder() / "home")
