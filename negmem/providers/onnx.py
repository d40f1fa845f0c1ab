"""A sentence model from a folder: `model.onnx` and `tokenizer.json`, run by onnxruntime.

The folder may also hold what sentence-transformers writes beside a model: `1_Pooling/config.json`
(mean or first token) and `sentence_bert_config.json` (how many tokens it was trained on).
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
import threading
from array import array
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from negmem.errors import NegmemError
from negmem.providers.calibration import Calibration, calibration_for
from negmem.providers.embedding import EmbeddingBatch, EmbeddingUsage
from negmem.providers.local import fingerprint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatRows = NDArray[np.float32]

DEFAULT_MAX_TOKENS = 512
# No tokenizer makes fewer tokens of so many characters; it spares tokenizing a megabyte.
_MAX_CHARS_PER_TOKEN = 32
_TEXTS_PER_RUN = 32
_MAX_MODEL_TOKENS = 1_000_000


def missing_packages() -> tuple[str, ...]:
    """Which of the two optional packages are not installed."""
    return tuple(
        name for name in ("onnxruntime", "tokenizers") if importlib.util.find_spec(name) is None
    )


def _model_folder_error(why: str) -> NegmemError:
    return NegmemError(
        "embedder_model_unusable",
        "the folder of the ONNX model can't be used",
        why=why,
        hint="negmem config set embedding.path FOLDER",
    )


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _model_folder_error(f"{path}: {error}") from error
    return document if isinstance(document, dict) else {}


class _Session:
    """The loaded model and tokenizer."""

    def __init__(self, folder: Path, max_tokens: int) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        try:
            self.session = onnxruntime.InferenceSession(
                str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
            )
            self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        # Both libraries raise bare Exception subclasses of their own for a broken file.
        except Exception as error:
            raise _model_folder_error(f"{folder}: {error}") from error
        # The file may ask for padding to a fixed length, which costs time and changes nothing.
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(max_tokens)
        self.inputs = [entry.name for entry in self.session.get_inputs()]
        if "input_ids" not in self.inputs:
            raise _model_folder_error(f"the model takes {self.inputs}, not input_ids")

    def run(self, encodings: Sequence[Any]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The first output for some encodings, and the attention mask (n, tokens)."""
        import numpy as np

        longest = max(len(encoding.ids) for encoding in encodings)
        ids = np.zeros((len(encodings), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        types = np.zeros_like(ids)
        for row, encoding in enumerate(encodings):
            length = len(encoding.ids)
            ids[row, :length] = encoding.ids
            mask[row, :length] = encoding.attention_mask
            types[row, :length] = encoding.type_ids
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        unknown = [name for name in self.inputs if name not in known]
        if unknown:
            raise _model_folder_error(f"the model also asks for {', '.join(unknown)}")
        output = self.session.run(None, {name: known[name] for name in self.inputs})[0]
        return output, mask.astype(np.float32)


class OnnxEmbedder:
    """An ONNX sentence model; loads at first use. Longer texts are cut at `max_tokens`, reported.

    Cutting and not averaging: most sentence models were trained on short texts, and unlike the
    local engine they pay for each padded window. Safe to share between threads.
    """

    name = "onnx"

    def __init__(
        self,
        folder: Path,
        *,
        model: str | None = None,
        query_prefix: str = "",
        document_prefix: str = "",
        expected_dims: int | None = None,
        calibration: Calibration | None = None,
    ) -> None:
        lacking = missing_packages()
        if lacking:
            raise NegmemError(
                "embedder_not_installed",
                "the packages that run an ONNX model are not installed",
                why=f"no module {' and no module '.join(lacking)} in {sys.prefix}",
                hint="pip install 'negmem[onnx]'",
            )
        for name in ("model.onnx", "tokenizer.json"):
            if not (folder / name).is_file():
                raise _model_folder_error(f"{folder / name} does not exist")
        self._folder = folder
        self.model = model or folder.resolve().name
        self._query_prefix = query_prefix
        self._document_prefix = document_prefix
        self._expected_dims = expected_dims
        self._calibration = calibration
        self._load_lock = threading.Lock()
        self._loaded: _Session | None = None
        pooling = _read_json(folder / "1_Pooling" / "config.json")
        self._pooling: Literal["mean", "first"] = (
            "first" if pooling.get("pooling_mode_cls_token") is True else "mean"
        )

    @cached_property
    def max_tokens(self) -> int:
        """What the folder says, at most what the model's position table holds; else 512."""
        stated = _read_json(self._folder / "sentence_bert_config.json").get("max_seq_length")
        table = _read_json(self._folder / "config.json").get("max_position_embeddings")
        limits = [n for n in (stated, table) if isinstance(n, int) and 0 < n < _MAX_MODEL_TOKENS]
        return min(limits, default=DEFAULT_MAX_TOKENS)

    @cached_property
    def version(self) -> str:
        """Changes with the weights, the tokenizer, the pooling and the prefixes."""
        digest = hashlib.sha256()
        for part in (
            fingerprint(self._folder / "model.onnx"),
            fingerprint(self._folder / "tokenizer.json"),
            self._pooling,
            self._query_prefix,
            self._document_prefix,
        ):
            digest.update(part.encode() + b"\x00")
        return digest.hexdigest()[:12]

    @cached_property
    def dims(self) -> int:
        """Measured on one word, since the model file need not state it."""
        dims = int(self._embed(["dimension"])[0].shape[1])
        if self._expected_dims not in (None, dims):
            raise NegmemError(
                "embedding_dims_mismatch",
                f"the ONNX model gives {dims} dimensions, the config says {self._expected_dims}",
                why=str(self._folder),
                hint=f"negmem config set embedding.dims {dims}",
            )
        return dims

    @cached_property
    def calibration(self) -> Calibration:
        """The one given, else the one that ships for a model of this name, else the identity."""
        return self._calibration or calibration_for(self.model, self.dims)

    def _session(self) -> _Session:
        with self._load_lock:
            if self._loaded is None:
                self._loaded = _Session(self._folder, self.max_tokens)
            return self._loaded

    def _embed(self, texts: Sequence[str]) -> tuple[FloatRows, list[int], int]:
        """Unit rows, the indices of the texts that were cut, and the tokens seen."""
        import numpy as np

        session = self._session()
        limit = self.max_tokens * _MAX_CHARS_PER_TOKEN
        clean = [text[:limit].encode("utf-8", "replace").decode("utf-8") for text in texts]
        encodings = session.tokenizer.encode_batch(clean)
        truncated = [
            index
            for index, encoding in enumerate(encodings)
            if encoding.overflowing or len(texts[index]) > limit
        ]
        rows: FloatRows | None = None
        # Neighbours of like length need little padding.
        order = sorted(range(len(texts)), key=lambda index: len(encodings[index].ids))
        for start in range(0, len(order), _TEXTS_PER_RUN):
            chosen = order[start : start + _TEXTS_PER_RUN]
            output, mask = session.run([encodings[index] for index in chosen])
            pooled = self._pool(output, mask)
            if rows is None:
                rows = np.empty((len(texts), pooled.shape[1]), dtype=np.float32)
            rows[chosen] = pooled
        if rows is None:
            rows = np.empty((0, self.dims), dtype=np.float32)
        return rows, truncated, sum(len(encoding.ids) for encoding in encodings)

    def _pool(self, output: FloatRows, mask: FloatRows) -> FloatRows:
        """(n, dims) of unit length from (n, tokens, dims), or from rows that are pooled already."""
        import numpy as np

        if output.ndim == 2:
            pooled = output
        elif output.ndim == 3 and self._pooling == "first":
            pooled = output[:, 0, :]
        elif output.ndim == 3:
            weights = mask[:, :, None]
            pooled = (output * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
        else:
            raise _model_folder_error(f"the model's first output has the shape {output.shape}")
        norms = np.linalg.norm(pooled, axis=1, keepdims=True)
        return np.asarray(pooled / np.maximum(norms, 1e-12), dtype=np.float32)

    def embed_batch(self, texts: Sequence[str]) -> EmbeddingBatch:
        """Vectors of documents; never parks."""
        rows, truncated, tokens = self._embed([self._document_prefix + text for text in texts])
        return EmbeddingBatch(
            rows, truncated=tuple(truncated), usage=EmbeddingUsage(tokens=tokens, cost_usd=0.0)
        )

    def embed_documents(self, texts: Sequence[str]) -> FloatRows:
        """(n, dims) float32, rows of unit length."""
        return self.embed_batch(texts).complete()

    def embed_query(self, text: str) -> array[float]:
        """(dims,) float32 of unit length."""
        rows, _, _ = self._embed([self._query_prefix + text])
        return array("f", rows[0].tobytes())
