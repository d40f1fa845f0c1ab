"""Which tests run where, and that a run without any test of a kind is not a good run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.places import CHECKOUT


def run(folder: Path, source: str, *options: str) -> tuple[int, str]:
    """Run pytest in `folder` on one test file, with the harness's own marker rules."""
    (folder / "test_sample.py").write_text(source, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.support.marker_plugin", "-q", *options],
        cwd=folder,
        env={"PYTHONPATH": str(CHECKOUT), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


SKIPPED = """
import pytest

@pytest.mark.needs_cron
@pytest.mark.parametrize("number", [1, 2])
def test_of_cron(number):
    {body}

def test_of_nothing():
    pass
"""


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_marker_whose_tests_all_skipped_fails_the_run(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    code, said = run(tmp_path, SKIPPED.format(body="pytest.skip('no cron')"), *options)
    assert code == 1
    assert "no test of needs_cron ran: the run fails" in said


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_marker_of_which_one_test_ran_is_met(tmp_path: Path, options: tuple[str, ...]) -> None:
    body = "number == 1 and pytest.skip('once')"
    code, said = run(tmp_path, SKIPPED.format(body=body), *options)
    assert (code, "the run fails" in said) == (0, False)


def test_a_marker_that_was_not_asked_for_does_not_count(tmp_path: Path) -> None:
    source = SKIPPED.format(body="pytest.skip('no cron')")
    code, _ = run(tmp_path, source, "-k", "nothing")
    assert code == 0


def test_failures_are_not_covered_up(tmp_path: Path) -> None:
    code, said = run(tmp_path, SKIPPED.format(body="assert False"))
    assert (code, "2 failed" in said) == (1, True)
