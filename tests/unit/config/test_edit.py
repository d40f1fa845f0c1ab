"""Setting a key leaves every other character of the file as it was."""

from __future__ import annotations

import multiprocessing
import stat
from pathlib import Path

import pytest

from negmem.config.edit import plan_edit, set_in_file
from negmem.config.load import load_config
from negmem.errors import NegmemError, UsageError

COMMENTED = """\
# Ours, 我们的
connection:
  # which app
  app: crm    # the CRM
  schema: "mem"

retrieval: {limit: 5}  # flow

llm:
  # model: none yet

doctor:
  accept:
    - one   # known
    - two

# The end
"""


@pytest.mark.parametrize(
    ("key", "value", "before", "after"),
    [
        ("connection.app", "sales", "app: crm    # the CRM", "app: sales    # the CRM"),
        ("connection.app", "no", "app: crm", 'app: "no"'),
        ("connection.schema", "m2", 'schema: "mem"', "schema: m2"),
        (
            "connection.lock_timeout_ms",
            "900",
            '  schema: "mem"\n',
            '  schema: "mem"\n  lock_timeout_ms: 900\n',
        ),
        ("retrieval.limit", "50", "{limit: 5}", "{limit: 50}"),
        ("retrieval.keyword_weight", "0.25", "{limit: 5}", "{limit: 5, keyword_weight: 0.25}"),
        ("llm.model", "gpt-5", "llm:\n", "llm:\n  model: gpt-5\n"),
        ("doctor.accept", "three", "\n    - one   # known\n    - two\n", " [three]\n"),
        ("doctor.check_timeout_ms", "99", "    - two\n", "    - two\n  check_timeout_ms: 99\n"),
        (
            "learning.profile.mode",
            "hitl",
            "    - two\n",
            "    - two\nlearning:\n  profile:\n    mode: hitl\n",
        ),
    ],
)
def test_only_the_place_of_the_key_changes(key: str, value: str, before: str, after: str) -> None:
    edit = plan_edit(COMMENTED, "negmem.yaml", key, value, {})
    assert edit.text == COMMENTED.replace(before, after, 1)
    assert key.rpartition(".")[2] in edit.text.splitlines()[edit.line - 1]


@pytest.mark.parametrize(
    ("text", "key", "value", "after"),
    [
        ("", "connection.app", "crm", "connection:\n  app: crm\n"),
        ("# only a comment", "connection.app", "crm", "# only a comment\nconnection:\n  app: crm\n"),
        ("{}", "connection.app", "crm", "{connection: {app: crm}}"),
        ("{llm: {}}\n", "llm.model", "m", "{llm: {model: m}}\n"),
        ("llm: ~  # later\n", "llm.model", "m", "llm: \n  model: m  # later\n"),
        ("llm:", "llm.model", "m", "llm:\n  model: m"),
        ("connection:\n  app:\n  schema: s\n", "connection.app", "a", None),
        ("connection:\n    app: a", "connection.schema", "s", "connection:\n    app: a\n    schema: s"),
        ("connection:\r\n  app: a\r\n", "connection.schema", "s",
         "connection:\r\n  app: a\r\n  schema: s\r\n"),
        ("embedding:\n  query_prefix: |\n    two\n    lines\nllm:\n", "embedding.query_prefix", "q: ",
         'embedding:\n  query_prefix: "q: "\nllm:\n'),
        ("embedding:\n  query_prefix: |\n    two\n    lines\nllm:\n", "embedding.model", "m",
         "embedding:\n  query_prefix: |\n    two\n    lines\n  model: m\nllm:\n"),
        ("embedding: {model: m}\n", "embedding.model", "null", "embedding: {model: null}\n"),
        ("connection:\n  app: a\n...\n", "llm.model", "m", "connection:\n  app: a\nllm:\n  model: m\n...\n"),
    ],
)  # fmt: skip
def test_odd_layouts(text: str, key: str, value: str, after: str | None) -> None:
    edit = plan_edit(text, "negmem.yaml", key, value, {})
    if after is not None:
        assert edit.text == after
    assert plan_edit(edit.text, "negmem.yaml", key, value, {}).text == edit.text


def test_what_stands_behind_an_anchor_is_left_to_a_person() -> None:
    text = "connection:\n  connect_timeout_s: &n 7\nretrieval:\n  limit: *n\n"
    for key in ("connection.connect_timeout_s", "retrieval.limit"):
        with pytest.raises(UsageError) as caught:
            plan_edit(text, "negmem.yaml", key, "9", {})
        assert caught.value.code in ("config_edit_refused", "config_syntax")


@pytest.mark.parametrize(
    ("key", "value", "code", "said"),
    [
        ("retrieval.limit", "0", "config_invalid", "from 1 to 1000, got 0"),
        ("retrieval.limit", "many", "config_invalid", "got 'many'"),
        ("connection.dsn", "postgresql://u:s3cr3t@h/d", "config_secret_in_yaml", "in clear"),
        ("connection.dsn", "postgresql://u:${ABSENT}@h/d", "config_variable_unset", "ABSENT"),
        ("embedding.provider", "litellm", "config_invalid", "needs embedding.model"),
        ("learning.profile.mode", "alway", "config_invalid", "did you mean always?"),
    ],
)
def test_a_value_that_would_be_wrong_is_not_written(
    tmp_path: Path, key: str, value: str, code: str, said: str
) -> None:
    path = tmp_path / "negmem.yaml"
    path.write_text(COMMENTED)
    with pytest.raises(UsageError) as caught:
        set_in_file(path, key, value, {})
    assert caught.value.code == code
    assert said in caught.value.why
    assert "s3cr3t" not in caught.value.why
    assert path.read_text() == COMMENTED


def test_a_file_with_another_fault_can_still_be_mended() -> None:
    text = "retrieval: {limit: 0}\ncurator: {}\n"
    assert plan_edit(text, "f", "retrieval.limit", "5", {}).text == text.replace("0", "5")


def test_a_file_that_is_not_yaml_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "negmem.yaml"
    path.write_text("a: [1\n")
    with pytest.raises(UsageError) as caught:
        set_in_file(path, "connection.app", "crm", {})
    assert caught.value.code == "config_syntax"


def test_mode_symlink_and_byte_order_mark_survive(tmp_path: Path) -> None:
    real = tmp_path / "real.yaml"
    real.write_bytes(b"\xef\xbb\xbfconnection:\n  app: a\n")
    real.chmod(0o640)
    link = tmp_path / "negmem.yaml"
    link.symlink_to(real)
    set_in_file(link, "connection.app", "b", {})
    assert link.is_symlink()
    assert real.read_bytes() == b"\xef\xbb\xbfconnection:\n  app: b\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "negmem.yaml"
    path.write_text(COMMENTED)
    edit = set_in_file(path, "retrieval.limit", "9", {}, dry_run=True)
    assert (edit.before, edit.after, edit.is_change) == (5, 9, True)
    assert path.read_text() == COMMENTED


def test_a_missing_file_and_a_missing_folder_are_told(tmp_path: Path) -> None:
    with pytest.raises(NegmemError) as caught:
        set_in_file(tmp_path / "absent.yaml", "retrieval.limit", "9", {})
    assert caught.value.code == "config_not_found"


def _write(path: Path, start: int) -> None:
    names = ["limit", "repeat_window_s"] if start % 2 else ["connect_timeout_s", "lock_timeout_ms"]
    section = "retrieval" if start % 2 else "connection"
    for number in range(start, start + 20):
        for name in names:
            set_in_file(path, f"{section}.{name}", str(number + 10), {})


def test_writers_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "negmem.yaml"
    path.write_text(COMMENTED)
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write, args=(path, start)) for start in (0, 1)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    config = load_config(path, {}).config
    assert (config.connection.connect_timeout_s, config.connection.lock_timeout_ms) == (29, 29)
    assert (config.retrieval.limit, config.retrieval.repeat_window_s) == (30, 30)
    assert "# the CRM" in path.read_text()
    assert list(tmp_path.iterdir()) == [path]
