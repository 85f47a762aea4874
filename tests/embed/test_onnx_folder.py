"""What a folder with an ONNX model must hold."""

import os
from pathlib import Path

import pytest

from kebab_stream.embed.onnx_folder import MODEL_FILES, SETTINGS_FILES, model_file_in
from tests.embed.onnx_folder import write_folder


def test_the_first_model_that_is_there_is_taken(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").touch()
    assert model_file_in(folder) == "model.onnx"

    (folder / "model.onnx").unlink()
    assert model_file_in(folder) == "onnx/model.onnx"
    assert model_file_in(folder, ["mine.onnx", *MODEL_FILES]) == "onnx/model.onnx"


@pytest.mark.parametrize("name", SETTINGS_FILES)
@pytest.mark.parametrize(
    ("content", "problem"), [("[1]", "no JSON object"), ('"x"', "no JSON object"), ("{", "JSON"), (None, "no file")]
)
def test_settings_that_are_no_json_object_are_refused(
    tmp_path: Path, name: str, content: str | None, problem: str
) -> None:
    folder = write_folder(tmp_path / "model")
    (folder / name).unlink(missing_ok=True)
    if content is None:
        os.mkfifo(folder / name)  # reading it would wait for ever
    else:
        (folder / name).write_text(content)

    with pytest.raises(ValueError, match=f"{name} .*{problem}"):
        model_file_in(folder)


def test_a_tokenizer_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model")
    (folder / "tokenizer.json").unlink()
    os.mkfifo(folder / "tokenizer.json")

    with pytest.raises(ValueError, match=r"tokenizer\.json is no file"):
        model_file_in(folder)
