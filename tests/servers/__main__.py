"""Brings the test servers up and down, and the browser that pages are looked at with.

up, down, status: all of them or those named. clean: stop this checkout's and delete what they kept;
with --roots, everybody's, and the Debian roots.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from tests.servers import browser
from tests.servers.model import ServerUnavailable
from tests.servers.registry import NAMES, down, ensure, status
from tests.servers.removal import remove_all, remove_checkout, remove_gone


def main() -> int:
    """Run one command; 1 when a server can't be had or, for status, does not run."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.servers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("verb", choices=["up", "down", "status", "clean"])
    all_names = (*NAMES, browser.NAME)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(all_names)}")
    parser.add_argument("--roots", action="store_true", help="clean: the Debian roots too")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(all_names))
    if unknown:
        parser.error(f"unknown server {', '.join(unknown)}; there are {', '.join(all_names)}")
    if arguments.verb == "clean":
        remove_all() if arguments.roots else remove_checkout()
        return 0
    if arguments.verb == "up":
        for folder in remove_gone():
            print(f"removed the servers of {folder}, which is gone", flush=True)
    names = arguments.names or list(all_names)
    act = {"up": _up, "down": _down, "status": _status}[arguments.verb]
    with ThreadPoolExecutor(len(names)) as pool:
        return max(pool.map(act, names))


def _up(name: str) -> int:
    began = time.monotonic()
    try:
        label = str(browser.ensure()) if name == browser.NAME else ensure(name).label
    except ServerUnavailable as reason:
        print(f"{name}: can't be had: {reason}", file=sys.stderr, flush=True)
        return 1
    print(f"{label} ({time.monotonic() - began:.1f} s)", flush=True)
    return 0


def _down(name: str) -> int:
    if name == browser.NAME:
        return 0  # nothing of it runs between tests
    down(name)
    print(f"{name}: stopped", flush=True)
    return 0


def _status(name: str) -> int:
    if name == browser.NAME:
        found = browser.find()
        print(found or f"{name}: not installed", flush=True)
        return 0 if found else 1
    server = status(name)
    print(f"{server.label}, {server.admin_dsn}" if server else f"{name}: not running", flush=True)
    return 0 if server else 1


if __name__ == "__main__":
    sys.exit(main())
