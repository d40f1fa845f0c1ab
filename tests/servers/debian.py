"""Debian roots of our own, so that a test server needs no package on the machine but debootstrap.

A root is made once a machine from the mirror that apt is configured with, beside its place, and moved
there when it is complete; one that was cut off, or was made by another recipe, is made anew.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.servers.model import ServerUnavailable
from tests.servers.places import cache, locked

_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
_MIRROR = "NEGMEM_TEST_MIRROR"
_TAIL_LINES = 15
_APT = ("apt-get", "-q", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3")


@dataclass(frozen=True)
class Root:
    """A recipe: `packages` of one release of Debian, in a root folder of their own."""

    name: str
    suite: str
    packages: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """Where it is, or will be."""
        return cache() / "roots" / self.name

    def ensure(self) -> Path:
        """The folder of the complete root; made if it is missing, half made or outdated.

        Raises: ServerUnavailable with the reason.
        """
        if os.geteuid() != 0:
            raise ServerUnavailable("it runs in a Debian root of its own, which only root can make")
        with locked(f"root-{self.name}", cache() / "roots"):
            if self._mark.exists() and self._mark.read_text(encoding="utf-8") == self._recipe:
                return self.folder
            _install_tools()
            draft = self.folder.with_name(f"{self.name}.unfinished")
            remove_tree(draft)
            remove_tree(self.folder)
            self._bootstrap(draft)
            (draft / "complete").write_text(self._recipe, encoding="utf-8")
            draft.rename(self.folder)
        return self.folder

    @property
    def _mark(self) -> Path:
        return self.folder / "complete"

    @property
    def _recipe(self) -> str:
        words = " ".join((self.suite, *self.packages, machine()))
        return f"{hashlib.sha256(words.encode()).hexdigest()[:12]} {words}\n"

    def _bootstrap(self, draft: Path) -> None:
        mirror = apt_mirror()
        log = draft.with_suffix(".log")
        command = [
            *("debootstrap", "--variant=minbase", f"--keyring={_KEYRING}"),
            *(f"--include={','.join(self.packages)}", self.suite, str(draft), mirror),
        ]
        with log.open("wb") as output:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **_proxies(), "DEBIAN_FRONTEND": "noninteractive"},
                check=False,
            )
        if done.returncode != 0:
            raise ServerUnavailable(f"debootstrap of {self.suite} failed:\n{tail(log)}")
        for needless in ("var/cache/apt/archives", "var/lib/apt/lists", "var/lib/postgresql"):
            shutil.rmtree(draft / needless, ignore_errors=True)
        (draft / "dev/shm").chmod(0o1777)


def machine() -> str:
    """The architecture of this machine, as the kernel calls it."""
    return os.uname().machine


def apt_mirror() -> str:
    """The address of a Debian archive: NEGMEM_TEST_MIRROR, else the one that apt uses for `main`.

    Raises: ServerUnavailable where apt names none.
    """
    named = os.environ.get(_MIRROR)
    if named:
        return named
    own = _os_release().get("VERSION_CODENAME", "")
    found, complaint = _archive_of(own), ""
    if found is None:  # apt tells what it is configured with only once it has the lists
        complaint = _update()
        found = _archive_of(own)
    if found is None:
        raise ServerUnavailable(
            f"apt on this machine names no Debian archive for {own or 'its release'};"
            f" set {_MIRROR} to the address of one\n{complaint}".rstrip()
        )
    return found


def _update() -> str:
    """Refresh apt's lists; what it complains of, since a foreign archive may be out of reach."""
    try:
        _run([*_APT, "update"])
    except ServerUnavailable as failure:
        return str(failure)
    return ""


def _archive_of(codename: str) -> str | None:
    form = "$(REPO_URI) $(CODENAME) $(COMPONENT) $(ORIGIN)"
    listed = _run(["apt-get", "indextargets", "--format", form, "Created-By: Packages"])
    for line in listed.splitlines():
        address, *rest = line.split()
        if rest == [codename, "main", "Debian"]:
            return address
    return None


def remove_tree(folder: Path) -> None:
    """Delete a root folder; what is mounted inside is unmounted first, never deleted through."""
    if not folder.exists():
        return
    for place in reversed(_mounts_under(folder)):
        subprocess.run(["umount", "--lazy", str(place)], check=False, capture_output=True)
    left = _mounts_under(folder)
    if left:
        raise ServerUnavailable(f"{left[0]} is mounted inside {folder} and can't be unmounted")
    shutil.rmtree(folder)


def tail(log: Path) -> str:
    """The last lines of a log, for an error."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "no log was written"
    return "\n".join(lines[-_TAIL_LINES:])


def _install_tools() -> None:
    """debootstrap and Debian's keys, from apt."""
    if shutil.which("debootstrap") and Path(_KEYRING).exists():
        return
    with locked("apt", cache()):
        if not shutil.which("debootstrap"):
            apt_install("debootstrap", "debian-archive-keyring")


def apt_install(*packages: str) -> None:
    """Install Debian packages on this machine; hold the lock `apt` meanwhile. Raises: ServerUnavailable."""
    if not shutil.which("apt-get"):
        raise ServerUnavailable("it is made of Debian packages, and this machine has no apt-get")
    _update()
    _run([*_APT, "install", "-y", "--no-install-recommends", *packages])


def _mounts_under(folder: Path) -> list[Path]:
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    places = [Path(line.split()[4].encode().decode("unicode_escape")) for line in lines]
    root = folder.resolve()
    return sorted(place for place in places if place == root or root in place.parents)


def _proxies() -> dict[str, str]:
    """What apt reaches the archive through, for debootstrap's own downloads."""
    found = {}
    for scheme in ("http", "https"):
        value = _run(["apt-config", "shell", "VALUE", f"Acquire::{scheme}::Proxy"]).strip()
        if value:
            found[f"{scheme}_proxy"] = value.removeprefix("VALUE=").strip("'\"")
    return found


def _os_release() -> dict[str, str]:
    lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("=") for line in lines)
    return {key: value.strip('"') for key, _, value in pairs}


def _run(command: list[str]) -> str:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        check=False,
    )
    if done.returncode != 0:
        said = "\n".join((done.stdout + done.stderr).splitlines()[-_TAIL_LINES:])
        raise ServerUnavailable(f"{' '.join(command)} failed:\n{said}")
    return done.stdout
