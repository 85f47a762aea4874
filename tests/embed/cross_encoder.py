"""A small real cross-encoder, as ONNX: it counts how often words of the query stand in the passage.

Run as a program, `python cross_encoder.py FOLDER WORD…`, in a process of its own: what it imports is not for a process
that tests anything else. It writes the files that a cross-encoder has, for the words it is to know.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
MAX_TOKENS = 512


def write_tokenizer(folder: Path, words: Sequence[str]) -> None:
    """Whole words in lower case; a pair is `[CLS] query [SEP] passage [SEP]`, with types 0 and 1."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    ids = {word: number for number, word in enumerate((*SPECIAL, *words))}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(special, ids[special]) for special in ("[CLS]", "[SEP]")],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": MAX_TOKENS, "pad_token": "[PAD]"}))


def write_model(file: Path) -> None:
    """score = number of pairs of a token of type 0 and one of type 1 that are the same known word."""
    import numpy as np
    from onnx import NodeProto, TensorProto, checker, helper, numpy_helper, save

    def node(kind: str, inputs: str, output: str, **options: Any) -> NodeProto:
        return helper.make_node(kind, inputs.split(), [output], **options)

    nodes = [
        node("Greater", "input_ids last_special", "known"),
        node("Cast", "known", "is_known", to=TensorProto.INT64),
        node("Mul", "is_known token_type_ids", "in_passage"),
        node("Sub", "is_known in_passage", "in_query"),
        node("Unsqueeze", "input_ids axis_1", "row"),
        node("Unsqueeze", "input_ids axis_2", "column"),
        node("Equal", "row column", "same"),
        node("Cast", "same", "is_same", to=TensorProto.INT64),
        node("Unsqueeze", "in_passage axis_1", "passage_row"),
        node("Unsqueeze", "in_query axis_2", "query_column"),
        node("Mul", "is_same passage_row", "half"),
        node("Mul", "half query_column", "matches"),
        node("ReduceSum", "matches axis_2", "of_each_token", keepdims=0),
        node("ReduceSum", "of_each_token axis_1", "count", keepdims=1),
        node("Cast", "count", "logits", to=TensorProto.FLOAT),
    ]
    constants = {"last_special": [len(SPECIAL) - 1], "axis_1": [1], "axis_2": [2]}
    graph = helper.make_graph(
        nodes,
        "overlap",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "token_type_ids")
        ],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])],
        [numpy_helper.from_array(np.array(value, dtype=np.int64), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    checker.check_model(model)
    file.parent.mkdir(parents=True, exist_ok=True)
    save(model, file)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    write_tokenizer(target, sys.argv[2:])
    write_model(target / "model.onnx")
