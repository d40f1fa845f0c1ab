"""Login roles of a server, for one test."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.conninfo import make_conninfo

from tests.servers import Server

_numbers = itertools.count(1)


@contextmanager
def login_role(server: Server, *databases: str, attributes: str = "") -> Iterator[str]:
    """A new role that may log in and nothing else; gone afterwards, from all `databases` too."""
    name = f"negmem_t_role_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(server.admin_dsn, autocommit=True) as admin:
        admin.execute(f'CREATE ROLE "{name}" LOGIN {attributes}'.encode())
    try:
        yield name
    finally:
        for database in databases:
            with psycopg.connect(server.dsn(database), autocommit=True) as owner:
                owner.execute(f'DROP OWNED BY "{name}" CASCADE'.encode())
        with psycopg.connect(server.admin_dsn, autocommit=True) as admin:
            admin.execute(f'DROP ROLE "{name}"'.encode())


def as_role(dsn: str, role: str) -> str:
    """The DSN with another user."""
    return make_conninfo(dsn, user=role)
