"""Where a test server's programs run: here as a system account, or inside a Debian root."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from negmem.db.system_account import Account
from tests.servers.model import ServerUnavailable

_BACKGROUND = 'umask 077; log=$1; shift; "$@" </dev/null >>"$log" 2>&1 & echo $!'


class Enclosure(Protocol):
    """Runs programs as an unprivileged user; paths are as those programs see them."""

    def run(self, command: Sequence[str | Path], stdin: str = "") -> str:
        """What the command printed; raises ServerUnavailable when it fails."""

    def host(self, path: Path) -> Path:
        """Where `path` is for this process."""

    def make_folder(self, path: Path) -> None:
        """Make a folder that belongs to the unprivileged user."""


def start_in_background(enclosure: Enclosure, command: Sequence[str | Path], log: Path) -> int:
    """Start a server that outlives this process; its process id. `log` as the program sees it."""
    return int(enclosure.run(["/bin/sh", "-c", _BACKGROUND, "sh", log, *command]))


@dataclass(frozen=True)
class Here:
    """On this machine itself, as the product's system account (or as oneself without root)."""

    account: Account

    def run(self, command: Sequence[str | Path], stdin: str = "") -> str:
        """See Enclosure."""
        done = self.account.run(command, stdin=stdin, timeout_s=300)
        return _output(done, command)

    def host(self, path: Path) -> Path:
        """See Enclosure."""
        return path

    def make_folder(self, path: Path) -> None:
        """See Enclosure."""
        path.mkdir(parents=True, exist_ok=True)
        self.account.own(path)
        self.account.open_way_to(path)


@dataclass(frozen=True)
class Inside:
    """Inside the root folder `root`, as its user `user`."""

    root: Path
    user: str

    def run(self, command: Sequence[str | Path], stdin: str = "") -> str:
        """See Enclosure."""
        uid, gid = self._ids()
        done = subprocess.run(
            ["chroot", f"--userspec={uid}:{gid}", "--groups=", self.root, *map(str, command)],
            input=stdin,
            capture_output=True,
            text=True,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"},
            start_new_session=True,
            timeout=300,
            check=False,
        )
        return _output(done, command)

    def host(self, path: Path) -> Path:
        """See Enclosure."""
        return self.root / path.relative_to("/")

    def make_folder(self, path: Path) -> None:
        """See Enclosure."""
        place = self.host(path)
        place.mkdir(parents=True, exist_ok=True)
        os.chown(place, *self._ids())

    def _ids(self) -> tuple[int, int]:
        for line in (self.root / "etc/passwd").read_text(encoding="utf-8").splitlines():
            name, _, uid, gid, *_ = line.split(":")
            if name == self.user:
                return int(uid), int(gid)
        raise ServerUnavailable(f"{self.root} has no user {self.user}")


def _output(done: subprocess.CompletedProcess[str], command: Sequence[str | Path]) -> str:
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise ServerUnavailable(f"{' '.join(map(str, command[:4]))} failed: {said}")
    return done.stdout
