"""Whose processes and files a cluster's are.

PostgreSQL refuses to run as root. Everybody else runs the cluster as themselves; root runs it as a
system account of its own, which may enter the folders above the cluster and nothing else in them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from negmem.errors import NegmemError

ACCOUNT_NAME = "negmem"

_ACL = "system.posix_acl_access"
_ACL_VERSION = struct.pack("<I", 2)
_ACL_ENTRY = struct.Struct("<HHI")
_OWNER, _USER, _OWNING_GROUP, _GROUP, _MASK, _OTHER = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
_NO_ID = 0xFFFFFFFF
_EXECUTE = 1


@dataclass(frozen=True)
class Account:
    """The user that owns a cluster; `switch` when processes must be started as it."""

    name: str
    uid: int
    gid: int
    switch: bool

    def run(
        self, command: Sequence[str | Path], *, timeout_s: float = 60, stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run `command` to its end as this account, in a clean environment, output captured.

        What can't be run, or takes longer than `timeout_s`, ends with code 127 and says why.
        """
        words = [str(part) for part in command]
        try:
            return subprocess.run(
                words,
                input=stdin,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout_s,
                cwd="/",
                env=_environment(),
                start_new_session=True,
                user=self.uid if self.switch else None,
                group=self.gid if self.switch else None,
                extra_groups=[] if self.switch else None,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return subprocess.CompletedProcess(words, 127, "", str(error))

    def own(self, path: Path) -> None:
        """Give `path` to this account."""
        if self.switch:
            os.chown(path, self.uid, self.gid)

    def write(self, path: Path, text: str) -> None:
        """Write a file as this account, so that no link it could have planted leads root astray."""
        done = self.run(["/bin/sh", "-c", 'cat >"$1"', "sh", path], stdin=text)
        if done.returncode != 0:
            raise OSError(done.stderr.strip())

    def make_private_folder(self, path: Path) -> None:
        """Make a folder that only this account may enter; one that exists is left as it is."""
        done = self.run(["/bin/sh", "-c", '[ -d "$1" ] || mkdir -m 700 "$1"', "sh", path])
        if done.returncode != 0:
            raise OSError(done.stderr.strip())

    def can_read(self, *paths: Path) -> bool:
        """Whether this account itself can read all `paths`."""
        if not self.switch:
            return all(os.access(path, os.R_OK) for path in paths)
        script = 'for path do [ -r "$path" ] || exit 1; done'
        return self.run(["/bin/sh", "-c", script, "sh", *paths]).returncode == 0

    def open_way_to(self, folder: Path) -> None:
        """Let this account enter `folder`, which lies in folders closed to others.

        Each closed folder on the way gets one entry in its access list that lets this account pass
        through; it can neither list nor read there, and nobody else gains anything.

        Raises: NegmemError `embedded_folder_closed` where access lists can't be written.
        """
        if self._can_enter(folder):
            return
        for place in reversed([folder, *folder.parents]):
            if not self._can_enter(place):
                self._open(place)

    def _can_enter(self, folder: Path) -> bool:
        return (
            not self.switch or self.run(["/bin/sh", "-c", 'cd "$1"', "sh", folder]).returncode == 0
        )

    def _open(self, place: Path) -> None:
        reason = ""
        try:
            try:
                current = os.getxattr(place, _ACL)
            except OSError:
                current = None
            os.setxattr(place, _ACL, with_traversal(current, place.stat().st_mode, self.uid))
        except (OSError, AttributeError) as error:
            reason = str(error)
        if reason or not self._can_enter(place):
            raise NegmemError(
                "embedded_folder_closed",
                f"the account {self.name} can't enter {place}",
                why=f"root can't run PostgreSQL, so {self.name} does; no access list could be"
                f" written there: {reason or 'it had no effect'}",
                hint=f"chmod o+x {place}     or another place: export NEGMEM_HOME=/var/lib/negmem",
            )


def with_traversal(current: bytes | None, mode: int, uid: int) -> bytes:
    """The POSIX access list `current` (or that of `mode`) with passage for the user `uid`.

    Args: current, the extended attribute as the kernel gives it; mode, the permission bits.
    """
    if current is None:
        entries = {
            (_OWNER, _NO_ID): mode >> 6 & 7,
            (_OWNING_GROUP, _NO_ID): mode >> 3 & 7,
            (_OTHER, _NO_ID): mode & 7,
        }
    else:
        entries = {
            (tag, who): rights
            for tag, rights, who in _ACL_ENTRY.iter_unpack(current[len(_ACL_VERSION) :])
        }
    mask = entries.get((_MASK, _NO_ID), 7)
    for key in entries:
        if key[0] in (_USER, _OWNING_GROUP, _GROUP):
            entries[key] &= mask  # what the mask kept from them stays away when it widens
    entries[(_USER, uid)] = entries.get((_USER, uid), 0) | _EXECUTE
    limited = (
        rights for (tag, _), rights in entries.items() if tag in (_USER, _OWNING_GROUP, _GROUP)
    )
    widened = 0
    for rights in limited:
        widened |= rights
    entries[(_MASK, _NO_ID)] = widened
    packed = (_ACL_ENTRY.pack(tag, rights, who) for (tag, who), rights in sorted(entries.items()))
    return _ACL_VERSION + b"".join(packed)


def refuse_foreign(data_dir: Path) -> None:
    """Whoever is neither root nor the owner of the cluster in `data_dir` has no business there.

    Raises: NegmemError `embedded_not_owner`.
    """
    uid = os.geteuid()
    if uid == 0:
        return
    owner = None
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        try:
            owner = data_dir.parent.stat().st_uid
            owner = data_dir.stat().st_uid
        except PermissionError:
            owner = -1 if owner is None else owner
    if owner is not None and owner != uid:
        raise NegmemError(
            "embedded_not_owner",
            "the embedded cluster belongs to somebody else",
            why=f"{data_dir} is owned by {_name_of(owner)}, this is {_name_of(uid)}",
            hint="run as its owner, or use another place: export NEGMEM_HOME=DIR",
        )


def account_for(data_dir: Path) -> Account:
    """The account that runs the cluster in `data_dir`: its owner, or for a new one of root's the
    system account, which is made when it is missing.

    Raises: NegmemError `embedded_not_owner`, `embedded_account_missing`.
    """
    refuse_foreign(data_dir)
    uid = os.geteuid()
    if uid != 0:
        return Account(_name_of(uid), uid, os.getegid(), switch=False)
    for place in (data_dir, data_dir.parent):
        with contextlib.suppress(FileNotFoundError):
            owner = place.stat()
            if owner.st_uid != 0:
                return Account(_name_of(owner.st_uid), owner.st_uid, owner.st_gid, switch=True)
    return system_account()


def system_account() -> Account:
    """The account that root's clusters run as; made when it is missing."""
    found = _look_up()
    if found is not None:
        return found
    with _making_accounts():
        return _look_up() or _make()


def _make() -> Account:
    output = ""
    for command in (
        f"useradd --system --user-group --no-create-home --home-dir /nonexistent"
        f" --shell /usr/sbin/nologin {ACCOUNT_NAME}",
        f"adduser -S -D -H -h /nonexistent -s /sbin/nologin {ACCOUNT_NAME}",
    ):
        words = command.split()
        program = shutil.which(words[0], path=_environment()["PATH"])
        if program is None:
            continue
        done = subprocess.run(
            [program, *words[1:]], capture_output=True, text=True, check=False, cwd="/"
        )
        output = done.stderr.strip() or output
        found = _look_up()
        if found is not None:
            return found
    raise NegmemError(
        "embedded_account_missing",
        f"there is no system account {ACCOUNT_NAME} to run PostgreSQL",
        why=f"PostgreSQL refuses to run as root, and making the account failed: {output}",
        hint=f"useradd --system --no-create-home {ACCOUNT_NAME}     or run negmem as a normal user",
    )


@contextlib.contextmanager
def _making_accounts() -> Iterator[None]:
    """One process at a time: of two `useradd` for one name the second replaces the number."""
    import fcntl

    handle = os.open("/run" if Path("/run").is_dir() else "/etc", os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _look_up() -> Account | None:
    import pwd

    try:
        entry = pwd.getpwnam(ACCOUNT_NAME)
    except KeyError:
        return None
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, switch=True)


def _name_of(uid: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except (KeyError, OverflowError):
        return "somebody else" if uid < 0 else f"uid {uid}"


def _environment() -> Mapping[str, str]:
    """No PG* variable, no locale and no library path of the caller reaches the server."""
    return {"PATH": f"/usr/sbin:/sbin:{os.defpath}", "LC_ALL": "C", "TZ": "UTC"}
