"""Arrays as files: what is written is mapped again, and damage is told from a file that cannot be read."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from kebab_stream.errors import IndexCorruptError, StorageError
from kebab_stream.index.arrays import mapped, write_array

DTYPES = st.sampled_from(["<u1", "|i1", "<u2", "<i4", "<i8"])


@given(DTYPES.flatmap(lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=1, max_dims=2, min_side=0))))
def test_what_was_written_is_mapped_again(array: NDArray[np.integer]) -> None:
    with TemporaryDirectory() as folder:
        write_array(Path(folder, "a"), array)

        np.testing.assert_array_equal(mapped(Path(folder, "a"), array.dtype), array.ravel(), strict=True)


def test_an_array_that_is_a_view_of_another_is_written_in_its_own_order(tmp_path: Path) -> None:
    write_array(tmp_path / "a", np.arange(6, dtype="<i4").reshape(2, 3).T)

    assert mapped(tmp_path / "a", np.dtype("<i4")).tolist() == [0, 3, 1, 4, 2, 5]


def test_a_mapped_file_cannot_be_changed_and_outlives_its_name(tmp_path: Path) -> None:
    write_array(tmp_path / "a", np.arange(3, dtype="<i8"))
    array = mapped(tmp_path / "a", np.dtype("<i8"))
    (tmp_path / "a").unlink()

    assert array.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def test_a_file_that_others_may_have_mapped_is_never_written_over(tmp_path: Path) -> None:
    write_array(tmp_path / "a", np.arange(3, dtype="<i8"))

    with pytest.raises(FileExistsError):
        write_array(tmp_path / "a", np.zeros(3, dtype="<i8"))
    assert mapped(tmp_path / "a", np.dtype("<i8")).tolist() == [0, 1, 2]


def test_a_missing_or_short_file_is_a_corrupt_index(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1234567")

    for path, problem in [
        (tmp_path / "b", "missing"),
        (tmp_path / "a" / "b", "missing"),
        (tmp_path / "a", "cut short"),
    ]:
        with pytest.raises(IndexCorruptError, match=f"{path}: {problem}"):
            mapped(path, np.dtype("<i4"))


def test_a_file_that_cannot_be_read_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"cannot read .*: Is a directory"):
        mapped(tmp_path, np.dtype("<i4"))
