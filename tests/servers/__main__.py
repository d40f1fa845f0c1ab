"""Brings the test servers up and down.

up, down, status: all servers or those named. clean: stop this checkout's and delete what they kept;
with --roots, everybody's, and the Debian roots.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor

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
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--roots", action="store_true", help="clean: the Debian roots too")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(NAMES))
    if unknown:
        parser.error(f"unknown server {', '.join(unknown)}; there are {', '.join(NAMES)}")
    if arguments.verb == "clean":
        remove_all() if arguments.roots else remove_checkout()
        return 0
    if arguments.verb == "up":
        for folder in remove_gone():
            print(f"removed the servers of {folder}, which is gone", flush=True)
    names = arguments.names or list(NAMES)
    act = {"up": _up, "down": _down, "status": _status}[arguments.verb]
    with ThreadPoolExecutor(len(names)) as pool:
        return max(pool.map(act, names))


def _up(name: str) -> int:
    began = time.monotonic()
    try:
        server = ensure(name)
    except ServerUnavailable as reason:
        print(f"{name}: can't be had: {reason}", file=sys.stderr, flush=True)
        return 1
    print(f"{server.label} ({time.monotonic() - began:.1f} s)", flush=True)
    return 0


def _down(name: str) -> int:
    down(name)
    print(f"{name}: stopped", flush=True)
    return 0


def _status(name: str) -> int:
    server = status(name)
    print(f"{server.label}, {server.admin_dsn}" if server else f"{name}: not running", flush=True)
    return 0 if server else 1


if __name__ == "__main__":
    sys.exit(main())
