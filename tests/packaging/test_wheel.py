"""The wheel, built from the source archive and run outside the checkout, finds all that ships with it."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.databases import TestDatabase

ROOT = Path(__file__).parents[2]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source archive and the wheel that was made from it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="session")
def wheel(built: Path) -> Path:
    [found] = built.glob("negmem-*.whl")
    return found


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a program of a clean environment that holds the wheel; what it needs comes from ours."""
    folder = tmp_path_factory.mktemp("elsewhere")
    venv = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    python = venv / "bin" / "python"
    install = ["-m", "pip", "--python", str(python), "install", "-q", "--no-deps", str(wheel)]
    subprocess.run([sys.executable, *install], check=True, capture_output=True)
    [site] = (venv / "lib").glob("python*/site-packages")
    # a line of a .pth file adds a folder without reading the .pth files in it: not our own checkout
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def run(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        command = [str(venv / "bin" / arguments[0]), *arguments[1:]]
        home = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "NEGMEM_HOME": "/dev/null/none"}
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=folder, env={**home, **env}
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run


def shipped(folder: str) -> set[str]:
    """The files of a folder of the checkout that belong into the wheel."""
    return {
        f"{folder}/{path.relative_to(ROOT / folder).as_posix()}"
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_holds_all_data_and_the_licence(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("sql", "configs", "completions"):
        files = shipped(folder)
        assert files
        assert {f"negmem/_data/{name}" for name in files} <= names
    words = shipped("negmem/core/text/lexicon")
    assert {
        "negmem/core/text/lexicon/english.txt",
        "negmem/core/text/lexicon/LICENSE.wordnet",
    } < words
    assert words <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert "negmem/py.typed" in names
    assert not [name for name in names if name.startswith(("tests/", "tools/", "docs/"))]
    assert not [name for name in names if "__pycache__" in name]


def test_the_source_archive_holds_what_the_wheel_is_made_of(built: Path) -> None:
    [archive] = built.glob("negmem-*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    for folder in ("sql", "configs", "completions", "negmem/core/text/lexicon"):
        assert shipped(folder) <= names
    assert {"README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml"} <= names


def test_the_program_runs_outside_the_checkout(installed: Run) -> None:
    where = installed("python", "-c", "import negmem; print(negmem.__file__)").stdout
    assert "elsewhere" in where
    assert installed("negmem", "--version").stdout.startswith("negmem ")
    shown = installed("negmem", "--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "doctor" in shown.stdout
    values = installed("negmem", "config", "show", "retrieval")
    assert values.returncode == 0
    assert values.stdout.startswith("retrieval.limit ")


def test_configs_and_completions_are_found(installed: Run) -> None:
    script = (ROOT / "completions" / "negmem.bash").read_text(encoding="utf-8")
    assert installed("negmem", "completions", "show", "bash").stdout == script
    code = "from negmem.config.render import preset_text; print(preset_text('complete'), end='')"
    preset = (ROOT / "configs" / "presets" / "complete.yaml").read_text(encoding="utf-8")
    assert installed("python", "-c", code).stdout == preset


def test_the_sql_is_found_and_makes_a_database(
    installed: Run, empty_database: TestDatabase
) -> None:
    code = "from negmem.db.sqlfiles import migrations; print(*(m.name for m in migrations()))"
    names = installed("python", "-c", code).stdout.split()
    assert len(names) == len(list((ROOT / "sql" / "migrations").glob("*.sql")))
    dsn = {"NEGMEM_DSN": empty_database.dsn}
    planned = installed("negmem", "init", "--dry-run", **dsn)
    assert planned.returncode == 0
    assert all(name in planned.stdout for name in names)
    made = installed("negmem", "init", "--embedder", "none", **dsn)
    assert made.returncode == 0, made.stderr
    assert empty_database.value("SELECT count(*) FROM negentropy.memories") == 0
    added = installed("negmem", "memory", "add", "喜欢咖啡", "--user", "王芳", **dsn)
    assert added.returncode == 0, added.stderr
