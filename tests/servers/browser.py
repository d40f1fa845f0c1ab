"""The browser that pages are looked at with: what NEGMEM_TEST_BROWSER names, one that is here, or Debian's."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.servers.debian import apt_install
from tests.servers.model import ServerUnavailable
from tests.servers.places import cache, locked

NAME = "browser"
_OWN = "NEGMEM_TEST_BROWSER"
_PACKAGE = "chromium-headless-shell"
_COMMANDS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find() -> Path | None:
    """The browser if it is here; installs nothing."""
    named = os.environ.get(_OWN)
    if named:
        return Path(named)
    found = next(filter(None, map(shutil.which, _COMMANDS)), None)
    return Path(found) if found else None


def ensure() -> Path:
    """The browser, installed from Debian where none is here. Raises: ServerUnavailable."""
    found = find()
    if found is not None:
        return found
    if os.geteuid() != 0:
        raise ServerUnavailable(
            f"no Chromium is here, and only root can install it; {_OWN} may name one"
        )
    with locked("apt", cache()):
        if find() is None:
            apt_install(_PACKAGE)
    found = find()
    if found is None:
        raise ServerUnavailable(f"{_PACKAGE} is installed and has no command of that name")
    return found
