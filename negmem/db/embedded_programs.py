"""The server programs of a wheel, where the account that runs the cluster can reach them."""

from __future__ import annotations

import re
import shutil
import stat
import tempfile
from pathlib import Path

from negmem.db.system_account import Account
from negmem.errors import NegmemError


def reachable_programs(home: Path, bundled: Path, account: Account) -> Path:
    """The folder of server programs where `account` can run them.

    Args: bundled, PACKAGE/pginstall/bin of a wheel; where a closed folder or a strict umask keeps
    the account out, a copy under `home` takes its place.
    """
    if account.can_read(bundled / "postgres"):
        return bundled
    root = bundled.parent
    package = root.parent
    files = sorted(package.parent.glob(f"{package.name}-*.dist-info"))
    copy = home / f"{files[-1].stem if files else package.name}.copy"
    if not copy.exists():
        unfinished = Path(tempfile.mkdtemp(prefix="unfinished.", dir=home))
        for name in (f"{package.name}/{root.name}", f"{package.name}.libs"):
            if (package.parent / name).exists():
                shutil.copytree(
                    package.parent / name,
                    unfinished / name,
                    symlinks=True,
                    ignore=shutil.ignore_patterns("include", "*.a", "doc", "pgxs"),
                )
        for path in (unfinished, *unfinished.rglob("*")):
            if not path.is_symlink():
                runs = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
                path.chmod(0o755 if runs else 0o644)
        for outdated in home.glob(f"{package.name}-*.copy"):
            shutil.rmtree(outdated, ignore_errors=True)
        unfinished.rename(copy)
    return copy / package.name / root.name / bundled.name


def version_of(programs: Path, account: Account) -> str:
    """The version of the server there, such as "18.6".

    Raises: NegmemError `embedded_start_failed` where it can't run.
    """
    done = account.run([programs / "postgres", "--version"])
    found = re.search(r"\d+(\.\d+)*", done.stdout)
    if done.returncode != 0 or found is None:
        raise NegmemError(
            "embedded_start_failed",
            "the embedded server can't run on this machine",
            why=(done.stderr or done.stdout).strip() or f"exit code {done.returncode}",
            hint="negmem --dsn ...     names another server",
        )
    return found.group(0)
