"""Counts tokens without the network.

tiktoken fetches its vocabularies at first use. litellm's wheel carries two of them in tiktoken's
cache format, so tiktoken is pointed at that folder; litellm itself is not imported. Where no
vocabulary can be had the count is a conservative estimate, which says so.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from negmem.core.text.token_estimate import estimate_tokens

if TYPE_CHECKING:
    from tiktoken import Encoding

DEFAULT_ENCODING = "o200k_base"
# A reason why no vocabulary was found may pass (a mount, a reinstallation): it is looked for again.
RETRY_AFTER_S = 60.0
# Splitting one very long word takes more than linear time. A piece ends before a blank or a
# Chinese mark between two letters, where every vocabulary splits anyway; only a run without any is
# cut bluntly, at the price of a token for each cut.
_PIECE_CHARS = 4096
_SAFE_CUT = re.compile(r"(?<=[^\W\d_])[ ，。！？；、：](?=[^\W\d_])")
# Where a labelled text ends and the next begins. Every vocabulary splits there, as a line end joins what is before
# it and a bracket what is after: a whole has as many tokens as its texts, which are known one by one.
_BLOCK_START = "\n["
# The estimate gives every character at least 0.3 tokens.
_MAX_CHARS_PER_ESTIMATED_TOKEN = 4
_LOADING = threading.Lock()
# Contexts show the same memories again and again: short texts are counted once.
_REMEMBERED_TEXTS = 4_096
_REMEMBERED_CHARS = 1_024


class _Vocabulary(NamedTuple):
    """A file in a cache of tiktoken: named by the SHA-1 of its address, checked by its SHA-256."""

    file_name: str
    sha256: str


_CL100K = _Vocabulary(
    "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
)
_O200K = _Vocabulary(
    "fb374d419588a4632f3f557e76b4b70aebbca790",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
)
_VOCABULARIES = {"cl100k_base": _CL100K, "o200k_base": _O200K, "o200k_harmony": _O200K}


class _NoVocabularyError(Exception):
    """Why no vocabulary could be loaded."""


def _cache_folders() -> Iterator[Path]:
    """Where tiktoken's files may lie: where the user says, in litellm's wheel, its own default."""
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if os.environ.get(name):
            yield Path(os.environ[name])
    spec = importlib.util.find_spec("litellm")
    for location in (spec.submodule_search_locations or []) if spec else []:
        yield Path(location) / "litellm_core_utils" / "tokenizers"
    yield Path(tempfile.gettempdir()) / "data-gym-cache"


def _folder_with(vocabulary: _Vocabulary) -> Path:
    """The first folder that has the file whole; tiktoken would delete and fetch a broken one."""
    looked: list[str] = []
    for folder in _cache_folders():
        path = folder / vocabulary.file_name
        try:
            if hashlib.sha256(path.read_bytes()).hexdigest() == vocabulary.sha256:
                return folder
            looked.append(f"{path} is damaged")
        except OSError as error:
            looked.append(f"{path}: {error.strerror}")
    raise _NoVocabularyError("; ".join(looked))


@contextmanager
def _tiktoken_reads(folder: Path) -> Iterator[None]:
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before


def _load(encoding: str) -> Encoding:
    try:
        import tiktoken
    except ImportError as error:
        raise _NoVocabularyError(f"tiktoken can't be imported: {error}") from error
    with _LOADING, _tiktoken_reads(_folder_with(_VOCABULARIES[encoding])):
        try:
            return tiktoken.get_encoding(encoding)
        except (ValueError, OSError) as error:
            raise _NoVocabularyError(f"tiktoken can't load {encoding}: {error}") from error


def encoding_for(model: str | None) -> tuple[str, bool]:
    """The vocabulary to count with, and whether it is the one that the model itself uses."""
    if model is None:
        return DEFAULT_ENCODING, False
    try:
        from tiktoken.model import encoding_name_for_model

        name = encoding_name_for_model(model.rsplit("/", 1)[-1])
    except (ImportError, KeyError):
        return DEFAULT_ENCODING, False
    return (name, True) if name in _VOCABULARIES else (DEFAULT_ENCODING, False)


def _pieces(text: str, piece_chars: int = _PIECE_CHARS) -> Iterator[str]:
    start = 0
    while len(text) - start > piece_chars:
        end = start + piece_chars
        for match in _SAFE_CUT.finditer(text, start + piece_chars // 2, end):
            end = match.start()
        yield text[start:end]
        start = end
    yield text[start:]


class TokenCounter:
    """Counts the tokens of texts for one model; loads its vocabulary at first use.

    `name` is the vocabulary, or `estimate`; `is_exact` says whether it is the model's own; `notice`
    is what a person should be told once, or None.
    """

    def __init__(
        self, model: str | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._model = model
        self._clock = clock
        self._wanted, self._is_models_own = encoding_for(model)
        self._encoding: Encoding | None = None
        self._failure: str | None = None
        self._retry_at = float("-inf")
        self._counts: dict[str, int] = {}

    def _loaded(self) -> Encoding | None:
        if self._encoding is None and self._clock() >= self._retry_at:
            try:
                self._encoding = _load(self._wanted)
                self._failure = None
            except _NoVocabularyError as error:
                self._failure = str(error)
                self._retry_at = self._clock() + RETRY_AFTER_S
        return self._encoding

    @property
    def name(self) -> str:
        return "estimate" if self._loaded() is None else self._wanted

    @property
    def is_exact(self) -> bool:
        return self._loaded() is not None and self._is_models_own

    @property
    def notice(self) -> str | None:
        if self._loaded() is None:
            return f"tokens are estimated, on the high side: {self._failure}"
        if self._model is not None and not self._is_models_own:
            return (
                f"tokens are counted with {self._wanted}: the tokenizer of {self._model} is unknown"
            )
        return None

    def count(self, text: str) -> int:
        """Tokens of a text; marks such as `<|endoftext|>` in it count as the text they are."""
        encoding = self._loaded()
        if encoding is None:
            return estimate_tokens(text)
        known = self._counts.get(text)
        if known is not None:
            return known
        first, *others = text.split(_BLOCK_START)
        if others:
            *middle, last = ("[" + other for other in others)
            return sum(self.count(block + "\n") for block in (first, *middle)) + self.count(last)
        clean = text.encode("utf-8", "replace").decode("utf-8")
        tokens = sum(len(encoding.encode_ordinary(piece)) for piece in _pieces(clean))
        if len(text) <= _REMEMBERED_CHARS:
            if len(self._counts) >= _REMEMBERED_TEXTS:
                self._counts.clear()
            self._counts[text] = tokens
        return tokens

    def fit(self, text: str, limit: int) -> tuple[str, int, bool]:
        """The longest beginning of at most `limit` tokens, its tokens, and whether it was cut.

        Longest to within a few tokens: a beginning may split differently than the whole.
        """
        encoding = self._loaded()
        if encoding is None:
            return _fit_estimate(text, limit)
        kept, used = "", 0
        for piece in _pieces(text.encode("utf-8", "replace").decode("utf-8")):
            tokens = encoding.encode_ordinary(piece)
            if used + len(tokens) <= limit:
                kept += piece
                used += len(tokens)
                continue
            room = limit - used
            while room > 0:
                # A token may end inside a character: what is left of it is dropped.
                head = encoding.decode_bytes(tokens[:room]).decode("utf-8", "ignore")
                count = len(encoding.encode_ordinary(head))
                if piece.startswith(head) and count <= limit - used:
                    return kept + head, used + count, True
                room -= 1
            return kept, used, True
        return text, used, False


@cache
def counter_for(model: str | None) -> TokenCounter:
    """The counter of a model that this process shares: its vocabulary is read and checked once."""
    return TokenCounter(model)


def _fit_estimate(text: str, limit: int) -> tuple[str, int, bool]:
    tokens = estimate_tokens(text[: _MAX_CHARS_PER_ESTIMATED_TOKEN * limit + 1])
    if tokens <= limit:
        return text, tokens, False
    low, high = 0, _MAX_CHARS_PER_ESTIMATED_TOKEN * limit
    while low < high:
        middle = (low + high + 1) // 2
        if estimate_tokens(text[:middle]) <= limit:
            low = middle
        else:
            high = middle - 1
    return text[:low], estimate_tokens(text[:low]), True
