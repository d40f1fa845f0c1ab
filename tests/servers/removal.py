"""Takes test servers off the machine: this checkout's, those of checkouts that are gone, all."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.servers.cluster import stop_cluster
from tests.servers.debian import remove_tree
from tests.servers.places import cache, checkout_digest, memory_folder
from tests.servers.pooled import stop_pooler


def remove_checkout(digest: str | None = None) -> None:
    """Stop the servers of a checkout (this one by default) and delete what they kept."""
    name = digest or checkout_digest()
    places = [
        cache() / "checkouts" / name,
        memory_folder(name),
        *(cache() / "roots").glob(f"*/srv/negmem/{name}"),
    ]
    for place in places:
        _stop_all_in(place)
    for place in places:
        shutil.rmtree(place, ignore_errors=True)


def remove_gone() -> list[str]:
    """Remove what belongs to checkouts whose folder no longer exists; returns those folders."""
    gone = []
    for note in (cache() / "checkouts").glob("*/checkout"):
        folder = note.read_text(encoding="utf-8").rstrip("\n")
        if not Path(folder).is_dir():
            remove_checkout(note.parent.name)
            gone.append(folder)
    return gone


def remove_all() -> None:
    """Remove everything that test servers keep on this machine, the Debian roots included."""
    for note in (cache() / "checkouts").glob("*/checkout"):
        remove_checkout(note.parent.name)
    for root in (cache() / "roots").glob("*/"):
        remove_tree(root)
    shutil.rmtree(cache(), ignore_errors=True)


def _stop_all_in(folder: Path) -> None:
    for pid_file in folder.rglob("pgbouncer.pid"):
        stop_pooler(pid_file.parent)
    for pid_file in folder.rglob("postmaster.pid"):
        stop_cluster(pid_file.parent)
