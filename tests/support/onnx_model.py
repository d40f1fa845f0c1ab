"""A tiny sentence model in a folder: an embedding table whose rows say which word it was."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "query", "passage", ":", "coffee", "tea", "咖啡", "猫")
DIMS = 6


def make_model_folder(
    folder: Path, *, pooling: str | None = None, max_tokens: int | None = None, rank: int = 3
) -> NDArray[np.float32]:
    """Write the folder; returns the table (words, DIMS) that the model looks words up in."""
    folder.mkdir(parents=True, exist_ok=True)
    table = np.random.default_rng(7).normal(size=(len(WORDS), DIMS)).astype(np.float32)
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["looked_up"])]
    shape: list[str | int] = ["texts", "tokens", DIMS]
    if rank == 2:
        nodes.append(helper.make_node("ReduceMax", ["looked_up"], ["output"], axes=[1], keepdims=0))
        shape = ["texts", DIMS]
    else:
        nodes.append(helper.make_node("Identity", ["looked_up"], ["output"]))
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("output", TensorProto.FLOAT, shape)
    graph = helper.make_graph(
        nodes, "words", inputs, [output], [numpy_helper.from_array(table, "table")]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, str(folder / "model.onnx"))

    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    # As published files often do: padding to a fixed length, which a caller must switch off.
    tokenizer.enable_padding(length=64)
    tokenizer.save(str(folder / "tokenizer.json"))
    if pooling is not None:
        (folder / "1_Pooling").mkdir(exist_ok=True)
        document = {"pooling_mode_cls_token": pooling == "first"}
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(document), "utf-8")
    if max_tokens is not None:
        limits = {"max_seq_length": max_tokens}
        (folder / "sentence_bert_config.json").write_text(json.dumps(limits), "utf-8")
    return table
