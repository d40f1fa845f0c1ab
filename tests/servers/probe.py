"""Asks a running server what it is."""

from __future__ import annotations

from dataclasses import replace

import psycopg

from tests.servers.model import Server

_TOLD = ("vector", "pg_cron", "age")


def describe(server: Server) -> Server:
    """`server` with its version and the extensions of interest that it offers, as found."""
    with psycopg.connect(server.admin_dsn, autocommit=True, prepare_threshold=None) as connection:
        version = connection.execute("SHOW server_version").fetchone()
        offered = connection.execute(
            "SELECT name, default_version FROM pg_available_extensions WHERE name = ANY(%s)",
            (list(_TOLD),),
        ).fetchall()
        cron = connection.execute("SELECT current_setting('cron.database_name', true)").fetchone()
    assert version is not None
    assert cron is not None
    known: dict[str, str] = dict(offered)
    found = tuple(f"{name} {known[name]}" for name in _TOLD if name in known)
    return replace(
        server,
        version=f"PostgreSQL {version[0].split()[0]}",
        extensions=found,
        cron_database=cron[0] if "pg_cron" in known else None,
    )


def answers(server: Server) -> bool:
    """Whether a superuser can connect."""
    try:
        with psycopg.connect(server.admin_dsn, autocommit=True, connect_timeout=5):
            return True
    except psycopg.Error:
        return False
