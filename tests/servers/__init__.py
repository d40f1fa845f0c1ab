"""The databases that the tests meet, brought up by script: `python -m tests.servers up`.

embedded  PostgreSQL 18 + pgvector, the product's own cluster
full      PostgreSQL 17 + pgvector + pg_cron + Apache AGE, in a Debian root of its own
sixteen   PostgreSQL 16 + pgvector, no contrib modules
bare      PostgreSQL 15 + pg_cron, no pgvector, in a Debian root of its own
pooled    `full` behind PgBouncer in transaction mode
"""

from tests.servers.model import Server, ServerUnavailable
from tests.servers.registry import NAMES, down, ensure, own, status

__all__ = ["NAMES", "Server", "ServerUnavailable", "down", "ensure", "own", "status"]
