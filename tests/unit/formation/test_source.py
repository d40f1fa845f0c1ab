"""The input as bytes."""

import gzip
import io
from pathlib import Path

import pytest

from negmem.core.formation.readers import source as module
from negmem.core.formation.readers.source import (
    CutShortError,
    LineTooLongError,
    Source,
    open_source,
)
from negmem.errors import NegmemError
from tests.support.conversations import source_of

LINE = '{"thread": "t", "turns": [{"role": "user", "text": "你好 😀"}]}\n'.encode()


def lines_of(source: Source) -> list[tuple[int, bytes]]:
    return [(number, line) for number, line in source.lines() if isinstance(line, bytes)]


def code_of(path: str) -> str:
    with pytest.raises(NegmemError) as refused:
        open_source(path, io.BytesIO(b""))
    assert refused.value.message and refused.value.why and refused.value.hint
    return refused.value.code


def test_a_file_gzip_or_pipe_gives_the_same_lines(tmp_path: Path) -> None:
    data = LINE * 3
    plain, packed, misnamed = tmp_path / "a.jsonl", tmp_path / "a.jsonl.gz", tmp_path / "b.txt"
    plain.write_bytes(data)
    packed.write_bytes(gzip.compress(data))
    misnamed.write_bytes(gzip.compress(data))
    expected = [(1, LINE[:-1]), (2, LINE[:-1]), (3, LINE[:-1])]
    for source in (open_source(str(plain)), open_source(str(packed)), open_source(str(misnamed))):
        assert lines_of(source) == expected
        assert source.bytes_read == source.size
        source.close()
    assert lines_of(source_of(data)) == expected
    assert lines_of(source_of(gzip.compress(data))) == expected


def test_a_byte_order_mark_and_a_missing_last_line_end_do_not_matter() -> None:
    assert lines_of(source_of(b"\xef\xbb\xbf" + LINE + LINE[:-1])) == [
        (1, LINE[:-1]),
        (2, LINE[:-1]),
    ]


@pytest.mark.parametrize("sizes", [[1], [2, 3], [7, 1, 1, 100]])
def test_lines_are_whole_however_the_pipe_cuts_them(sizes: list[int]) -> None:
    class Trickle(io.BytesIO):
        step = 0

        def read1(self, size: int | None = -1) -> bytes:
            self.step += 1
            return super().read(sizes[self.step % len(sizes)])

    source = open_source("-", Trickle(LINE * 2 + b"\n\nlast"))
    assert lines_of(source) == [(1, LINE[:-1]), (2, LINE[:-1]), (3, b""), (4, b""), (5, b"last")]


def test_a_line_above_the_limit_is_skipped_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HEAD_BYTES", 64)
    monkeypatch.setattr(module, "MAX_LINE_BYTES", 256)
    for data, expected in [
        (b"a\n" + b"x" * 5000 + b"\nb\n", ["a", 2, "b"]),
        (b"x" * 5000, [1]),
        (b"y" * 256 + b"\nz", ["y" * 256, "z"]),
    ]:
        found = [
            line.number if isinstance(line, LineTooLongError) else line.decode()
            for _, line in source_of(data).lines()
        ]
        assert found == expected


def test_gzip_that_ends_early_gives_what_stood_before(tmp_path: Path) -> None:
    packed = gzip.compress(b"".join(b'{"n": %d}\n' % n for n in range(200_000)))
    source = source_of(packed[: len(packed) // 2])
    seen = 0
    with pytest.raises(CutShortError):
        for _ in source.lines():
            seen += 1
    assert seen > 10_000
    assert code_of_bytes(packed[:30]) == "input_unreadable"


def code_of_bytes(data: bytes) -> str:
    with pytest.raises(NegmemError) as refused:
        source_of(data)
    return refused.value.code


def test_what_is_no_text_is_refused_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "blank").write_bytes(b"\n \n\t\n")
    assert code_of(str(tmp_path / "absent.jsonl")) == "input_missing"
    assert code_of("") == "input_missing"
    assert code_of(str(tmp_path)) == "input_is_directory"
    assert code_of(str(tmp_path / "empty")) == "input_empty"
    assert code_of(str(tmp_path / "blank")) == "input_empty"
    assert code_of("-") == "input_empty"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"PK\x03\x04" + b"\0" * 40, "input_binary"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "input_binary"),
        (b"\x7fELF\x02\x01\x01" + b"\0" * 60, "input_binary"),
        (bytes(range(256)) * 8, "input_binary"),
        (b"\0" * 4096, "input_binary"),
        (LINE.decode().encode("utf-16"), "input_not_utf8"),
        (LINE.decode().encode("utf-16-le"), "input_not_utf8"),
        (LINE.decode().encode("utf-16-be"), "input_not_utf8"),
    ],
)
def test_binary_and_utf16_are_told_apart_from_text(data: bytes, code: str) -> None:
    assert code_of_bytes(data) == code


@pytest.mark.parametrize(
    "data",
    [
        LINE,
        '{"text": "全部都是中文，没有一个英文字母"}'.encode() * 50,
        b'{"text": "raw \0 nul"}\n',
        b'{"text": "\xff\xfe bad bytes in one line"}\n' + LINE * 20,
        b"# Notes\n\n\x1b[1mcolour\x1b[0m\n",
    ],
)
def test_text_with_a_few_odd_bytes_is_still_text(data: bytes) -> None:
    assert source_of(data).head == data
