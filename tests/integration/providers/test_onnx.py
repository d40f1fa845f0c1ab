"""ONNX models from a folder, run by the real onnxruntime."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from negmem.errors import NegmemError
from negmem.providers.onnx import DEFAULT_MAX_TOKENS, OnnxEmbedder
from tests.support.onnx_model import DIMS, WORDS, make_model_folder


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    pooled = rows.mean(axis=0)
    return np.asarray(pooled / np.linalg.norm(pooled), dtype=np.float32)


def ids(*words: str) -> list[int]:
    return [WORDS.index(word) for word in ("[CLS]", *words, "[SEP]")]


def test_the_mean_is_taken_over_the_tokens_and_not_over_the_padding(tmp_path: Path) -> None:
    table = make_model_folder(tmp_path / "words")
    embedder = OnnxEmbedder(tmp_path / "words")
    rows = embedder.embed_documents(["coffee", "tea coffee 咖啡 猫", ""])
    assert rows.shape == (3, DIMS)
    assert rows.dtype == np.float32
    assert np.allclose(rows[0], unit(table[ids("coffee")]), atol=1e-6)
    assert np.allclose(rows[1], unit(table[ids("tea", "coffee", "咖啡", "猫")]), atol=1e-6)
    assert np.allclose(rows[2], unit(table[ids()]), atol=1e-6)


def test_rows_keep_their_order_over_many_batches(tmp_path: Path) -> None:
    make_model_folder(tmp_path)
    embedder = OnnxEmbedder(tmp_path)
    texts = ["coffee " * (n % 7 + 1) + "tea" for n in range(100)]
    rows = embedder.embed_documents(texts)
    for n in (0, 6, 50, 99):
        assert np.allclose(rows[n], embedder.embed_documents([texts[n]])[0], atol=1e-6)
    assert embedder.embed_documents([]).shape == (0, DIMS)


def test_the_first_token_is_taken_where_the_folder_says_so(tmp_path: Path) -> None:
    table = make_model_folder(tmp_path, pooling="first")
    row = OnnxEmbedder(tmp_path).embed_documents(["coffee tea"])[0]
    assert np.allclose(row, unit(table[[2]]), atol=1e-6)


def test_rows_that_are_pooled_already_are_taken_as_they_are(tmp_path: Path) -> None:
    table = make_model_folder(tmp_path, rank=2)
    row = OnnxEmbedder(tmp_path).embed_documents(["coffee"])[0]
    pooled = table[ids("coffee")].max(axis=0)
    assert np.allclose(row, pooled / np.linalg.norm(pooled), atol=1e-6)


def test_prefixes_go_before_queries_and_documents(tmp_path: Path) -> None:
    table = make_model_folder(tmp_path)
    embedder = OnnxEmbedder(tmp_path, query_prefix="query: ", document_prefix="passage: ")
    query = np.asarray(embedder.embed_query("coffee"))
    assert np.allclose(query, unit(table[ids("query", ":", "coffee")]), atol=1e-6)
    document = embedder.embed_documents(["coffee"])[0]
    assert np.allclose(document, unit(table[ids("passage", ":", "coffee")]), atol=1e-6)
    assert embedder.version != OnnxEmbedder(tmp_path).version


def test_long_texts_are_cut_at_what_the_folder_says_and_reported(tmp_path: Path) -> None:
    table = make_model_folder(tmp_path, max_tokens=6)
    embedder = OnnxEmbedder(tmp_path)
    assert embedder.max_tokens == 6
    batch = embedder.embed_batch(["coffee " * 4, "tea " * 5, "猫 " * 100_000])
    assert batch.truncated == (1, 2)
    assert batch.usage.tokens == 18
    assert np.allclose(batch.vectors[1], unit(table[ids(*["tea"] * 4)]), atol=1e-6)


def test_name_size_and_limit_come_from_the_folder(tmp_path: Path) -> None:
    make_model_folder(tmp_path / "my-words")
    embedder = OnnxEmbedder(tmp_path / "my-words")
    assert (embedder.name, embedder.model, embedder.dims) == ("onnx", "my-words", DIMS)
    assert embedder.max_tokens == DEFAULT_MAX_TOKENS
    assert embedder.calibration.is_identity
    assert embedder.version == OnnxEmbedder(tmp_path / "my-words", model="alias").version


def test_other_weights_are_another_version(tmp_path: Path) -> None:
    make_model_folder(tmp_path / "a")
    make_model_folder(tmp_path / "b", rank=2)
    assert OnnxEmbedder(tmp_path / "a").version != OnnxEmbedder(tmp_path / "b").version


def test_a_size_that_the_config_does_not_expect_is_refused(tmp_path: Path) -> None:
    make_model_folder(tmp_path)
    with pytest.raises(NegmemError) as caught:
        assert OnnxEmbedder(tmp_path, expected_dims=384).dims
    assert caught.value.code == "embedding_dims_mismatch"
    assert caught.value.hint == f"negmem config set embedding.dims {DIMS}"


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_folder_that_lacks_a_file_is_refused(tmp_path: Path, missing: str) -> None:
    make_model_folder(tmp_path)
    (tmp_path / missing).unlink()
    with pytest.raises(NegmemError) as caught:
        OnnxEmbedder(tmp_path)
    assert caught.value.code == "embedder_model_unusable"
    assert missing in caught.value.why


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json"])
def test_a_broken_file_is_told_at_first_use(tmp_path: Path, broken: str) -> None:
    make_model_folder(tmp_path)
    (tmp_path / broken).write_bytes(b"not a model")
    with pytest.raises(NegmemError) as caught:
        OnnxEmbedder(tmp_path).embed_query("coffee")
    assert caught.value.code == "embedder_model_unusable"
