"""The input as bytes: a file, a gzip file or standard input, checked first, read in bounded steps."""

from __future__ import annotations

import gzip
import io
import shlex
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from negmem.errors import NegmemError, UsageError

MAX_LINE_BYTES = 64 * 1024 * 1024
HEAD_BYTES = 256 * 1024

_GZIP = b"\x1f\x8b"
_KNOWN_BINARY = (
    (b"PK\x03\x04", "a zip archive"),
    (b"%PDF", "a PDF file"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"PAR1", "a Parquet file"),
    (b"\x7fELF", "a program"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
)
_TEXT_CONTROLS = frozenset(b"\t\n\r\x0c\x1b\x00\x08")


class LineTooLongError(Exception):
    """A line above MAX_LINE_BYTES was skipped; `number` is its number from 1."""

    def __init__(self, number: int, head: bytes) -> None:
        super().__init__(number)
        self.number = number
        self.head = head


class CutShortError(Exception):
    """A gzip stream that ends early or is damaged; what stood before it was read."""


class Source:
    """An opened input. `name` is for messages; `size` is in bytes on disk, None for a pipe.

    `path` is what names it on a command line, `-` for standard input.
    """

    def __init__(self, name: str, raw: BinaryIO, size: int | None) -> None:
        self.name = name
        self.path = "-" if size is None else name
        self.size = size
        self._raw = _Counted(raw)
        buffered = io.BufferedReader(self._raw, HEAD_BYTES)
        if buffered.peek(2)[:2] == _GZIP:
            stream: BinaryIO = cast(BinaryIO, gzip.GzipFile(fileobj=buffered, mode="rb"))
        else:
            stream = cast(BinaryIO, buffered)
        self._stream = stream
        self.head = self._read(HEAD_BYTES)
        self._refuse_what_is_no_text()
        if self.head.startswith(b"\xef\xbb\xbf"):
            self.head = self.head[3:]
        self._pending = self.head
        self._taken = 0

    @property
    def bytes_read(self) -> int:
        """How many bytes of the file on disk were read; comparable with size."""
        return self._raw.count

    def look_ahead(self, size: int) -> None:
        """Makes `head` reach to the first line end, as far as that is within size bytes.

        Only before anything was read; `forget_head` gives the memory back.
        """
        parts = [self.head]
        held = len(self.head)
        while held < size and b"\n" not in parts[-1] and (piece := self._read(HEAD_BYTES)):
            parts.append(piece)
            held += len(piece)
        self.head = self._pending = b"".join(parts)

    def forget_head(self) -> None:
        """Cuts `head` to its first HEAD_BYTES; what is to be read stays."""
        self.head = self.head[:HEAD_BYTES]

    def close(self) -> None:
        """Closes the file; standard input stays open."""
        self._raw.close()

    def read(self, size: int) -> bytes:
        """The next bytes, at most size and not empty before the end.

        Raises: CutShortError.
        """
        if self._taken < len(self._pending):
            piece = self._pending[self._taken : self._taken + size]
            self._taken += len(piece)
            return piece
        self._pending, self._taken = b"", 0
        return self._read(size)

    def lines(self) -> Iterator[tuple[int, bytes | LineTooLongError]]:
        """Each line with its number from 1, without its end; one above MAX_LINE_BYTES as the error.

        Raises: CutShortError.
        """
        number, waiting = 0, 0
        rest: list[bytes] = []
        skipped: bytes | None = None
        while piece := self.read(HEAD_BYTES):
            first, *others = piece.split(b"\n")
            rest.append(first)
            waiting += len(first)
            if others:
                number += 1
                yield number, _line(number, rest, skipped)
                for line in others[:-1]:
                    number += 1
                    yield number, line
                rest, waiting, skipped = [others[-1]], len(others[-1]), None
            elif waiting > MAX_LINE_BYTES:
                skipped = skipped or b"".join(rest)[:HEAD_BYTES]
                rest, waiting = [], 0
        if waiting or skipped:
            yield number + 1, _line(number + 1, rest, skipped)

    def _read(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise CutShortError(str(error)) from None
        except OSError as error:
            raise NegmemError(
                "input_unreadable",
                f"cannot read {self.name}",
                why=error.strerror or str(error),
                hint="copy the file to a local disk and run the command again",
            ) from error

    def _refuse_what_is_no_text(self) -> None:
        head = self.head
        if not head.strip():
            raise NegmemError(
                "input_empty",
                f"{self.name} is empty",
                why=f"{len(head)} bytes, all blank" if head else "0 bytes",
                hint="negmem ingest --help shows the formats",
            )
        for magic, what in _KNOWN_BINARY:
            if head.startswith(magic):
                raise _binary(self.name, what, head)
        if head.startswith((b"\xff\xfe", b"\xfe\xff")) or _is_utf16(head):
            raise NegmemError(
                "input_not_utf8",
                f"{self.name} is UTF-16, not UTF-8",
                why=f"it begins with the bytes {head[:4].hex(' ')}",
                hint=f"iconv -f UTF-16 -t UTF-8 {shlex.quote(self.path)} | negmem ingest -",
            )
        sample = head[:8192]
        odd = sum(1 for byte in sample if byte < 32 and byte not in _TEXT_CONTROLS)
        odd += sample.count(0) if not head.lstrip().startswith((b"{", b"[", b"#")) else 0
        odd += sample.decode("utf-8", "replace").count("\ufffd") - sample.count(b"\xef\xbf\xbd")
        if odd > 8 and odd * 10 > len(sample):
            raise _binary(self.name, "a binary file", head)


def open_source(path: str, stdin: BinaryIO | None = None) -> Source:
    """The input at a path, `-` for standard input. Gzip is recognised by its content, not its name.

    Raises: NegmemError `input_missing`, `input_is_directory`, `input_unreadable`, `input_empty`,
    `input_binary`, `input_not_utf8`.
    """
    if path == "":
        raise UsageError(
            "input_missing",
            "no input named",
            why="the path is an empty string",
            hint="negmem ingest PATH, or negmem ingest - to read standard input",
        )
    try:
        if path == "-":
            if stdin is None:
                raise ValueError("standard input was not handed over")
            return Source("standard input", stdin, None)
        place = Path(path)
        if place.is_dir():
            raise NegmemError(
                "input_is_directory",
                f"{path} is a directory",
                why="ingest reads one file at a time",
                hint=f"negmem ingest {shlex.quote(path.rstrip('/') + '/FILE')}",
            )
        raw = place.open("rb", buffering=0)
        try:
            return Source(path, cast(BinaryIO, raw), place.stat().st_size)
        except BaseException:
            raw.close()
            raise
    except CutShortError as error:
        raise NegmemError(
            "input_unreadable",
            f"cannot read {path}",
            why=f"the gzip data is damaged from its start: {error}",
            hint=f"gzip -t {shlex.quote(path)}",
        ) from None
    except FileNotFoundError:
        raise NegmemError(
            "input_missing",
            f"no file {path}",
            why=f"looked in {Path(path).absolute().parent}",
            hint="negmem ingest - reads standard input",
        ) from None
    except OSError as error:
        raise NegmemError(
            "input_unreadable",
            f"cannot read {path}",
            why=error.strerror or str(error),
            hint=f"ls -l {shlex.quote(path)}",
        ) from error


def _line(number: int, parts: list[bytes], skipped: bytes | None) -> bytes | LineTooLongError:
    if skipped is not None:
        return LineTooLongError(number, skipped)
    return b"".join(parts)


class _Counted(io.RawIOBase):
    """Counts the bytes that are read from the file below."""

    def __init__(self, raw: BinaryIO) -> None:
        self._below = raw
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast(bytearray, buffer))
        # read1 hands over what a pipe has, where read would wait for the whole size
        read = getattr(self._below, "read1", self._below.read)
        piece = read(len(view))
        view[: len(piece)] = piece
        self.count += len(piece)
        return len(piece)

    def close(self) -> None:
        if not self.closed and getattr(self._below, "name", "") != "<stdin>":
            self._below.close()
        super().close()


def _is_utf16(head: bytes) -> bool:
    sample = head[:2048]
    if len(sample) < 8:
        return False
    half = len(sample) // 2
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    return max(even, odd) > half * 0.9 and min(even, odd) < half * 0.1


def _binary(name: str, what: str, head: bytes) -> NegmemError:
    return NegmemError(
        "input_binary",
        f"{name} is {what}, not a text of conversations",
        why=f"it begins with the bytes {head[:8].hex(' ')}",
        hint="negmem ingest --help shows the formats; gzip files are read as they are",
    )
