"""What a look at everything finds, and that it leaves no trace."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kebab_stream.config import Config, Embedding, Models, load_config
from kebab_stream.doctor import NAMES, diagnose
from kebab_stream.embed.static import BUNDLED_FOLDER, SUMS_FILE
from kebab_stream.errors import IndexCorruptError
from kebab_stream.extras import extras
from kebab_stream.index.lock import LOCK_FILE, PID_FILE
from kebab_stream.ingest.ingestion import Ingestion
from kebab_stream.render import to_json
from kebab_stream.reports.housekeeping import Check
from tests.corpora import config_of, ingest_files
from tests.index.stored import changed_store, listing
from tests.index.test_lock import held_elsewhere
from tests.limits import public_folder, restricted
from tests.wire import checked


@pytest.fixture
def data_dir(fixture_data: Path, tmp_path: Path) -> Path:
    """A copy of the index that a test may damage."""
    return Path(shutil.copytree(fixture_data, tmp_path / "data"))


def checks(config: Config) -> dict[str, Check]:
    """The checks by name, after the schema accepted the report."""
    report = diagnose(lambda: config)
    checked(to_json(report))
    assert report.healthy == all(check.status != "fail" for check in report.checks)
    return {check.name: check for check in report.checks}


def statuses(config: Config) -> dict[str, str]:
    return {name: check.status for name, check in checks(config).items()}


def with_model(config: Config, **embedding: Any) -> Config:
    return replace(config, models=Models(embedding=Embedding(**embedding)))


def test_all_is_well_after_an_ingest(fixture_data: Path) -> None:
    before = listing(fixture_data)

    found = checks(config_of(fixture_data))

    assert {name: check.status for name, check in found.items()} == dict.fromkeys(NAMES, "ok")
    assert found["store"].details["chunks"] == found["index"].details["chunks"]
    assert listing(fixture_data) == before


def test_nothing_ingested_yet_is_no_failure_and_makes_nothing(tmp_path: Path) -> None:
    found = checks(config_of(tmp_path / "data"))

    expected = {"data_folder": "warn", "store": "warn", "index": "skipped", "vectors": "skipped"}
    assert {name: found[name].status for name in expected} == expected
    assert found["store"].hint == "run `kebab ingest PATH` first"
    assert list(tmp_path.iterdir()) == []


def test_settings_that_cannot_be_used_fail_and_the_rest_is_not_claimed(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("[search]\ndefault_q = 5\n")

    report = diagnose(lambda: load_config(tmp_path / "c.toml", environ={"HOME": "/home/ada"}))

    found = {check.name: check for check in report.checks}
    assert not report.healthy
    assert found["config"].details["code"] == "config_invalid"
    assert found["config"].hint == "the closest known key is search.default_k"
    assert {found[name].status for name in NAMES[1:-1]} == {"skipped"}


def test_a_setting_under_its_old_name_is_a_warning_only(data_dir: Path, tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text(f'[search]\nhybrid_fusion = "rrf"\n[storage]\ndata_dir = "{data_dir}"\n')

    report = diagnose(lambda: load_config(file, environ={"HOME": "/home/ada"}))

    assert report.healthy
    assert (report.checks[0].status, "kebab config migrate" in str(report.checks[0].hint)) == ("warn", True)


def test_a_file_that_was_spoiled_after_it_was_read_is_a_failed_check_among_the_others(data_dir: Path) -> None:
    file = data_dir.parent / "c.toml"
    file.write_text(f'[storage]\ndata_dir = "{data_dir}"\n')
    config = load_config(file, environ={"HOME": "/home/ada"})
    file.write_text("[storage\n")

    found = checks(config)

    assert {name: check.status for name, check in found.items()} == {**dict.fromkeys(NAMES, "ok"), "config": "fail"}
    assert found["config"].details["code"] == "config_invalid"
    assert "line 1" in found["config"].message


def test_a_read_only_folder_is_fully_checked_and_a_warning(fixture_data: Path) -> None:
    with public_folder() as folder:
        shutil.copytree(fixture_data, folder / "data")
        before = listing(folder)
        with restricted(folder / "data", 0o555):
            found = statuses(config_of(folder / "data"))

        assert found == {**dict.fromkeys(NAMES, "ok"), "data_folder": "warn"}
        assert listing(folder) == before


def test_a_folder_that_may_not_be_read_fails(fixture_data: Path) -> None:
    with public_folder() as folder:
        shutil.copytree(fixture_data, folder / "data")
        with restricted(folder / "data", 0o000):
            found = statuses(config_of(folder / "data"))

    assert (found["data_folder"], found["store"]) == ("fail", "fail")


def test_a_file_in_the_place_of_the_data_folder_fails(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("mine")

    assert statuses(config_of(tmp_path / "data"))["data_folder"] == "fail"


def _overwrite_a_page(data_dir: Path) -> None:
    with (data_dir / "kebab.sqlite").open("r+b") as file:
        file.seek(3 * 4096 + 8)
        file.write(b"\xff" * 2000)


def _sql(statement: str) -> Callable[[Path], None]:
    def run(data_dir: Path) -> None:
        with changed_store(data_dir) as connection:
            connection.execute("PRAGMA journal_mode = MEMORY")
            connection.execute(statement)

    return run


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_overwrite_a_page, ""),
        (_sql("UPDATE chunks SET ordinal = 99 WHERE ordinal = 0 AND doc_no = 3"), "not numbered in a row"),
        (_sql("DELETE FROM texts WHERE doc_no = 3"), "without their text"),
        (_sql("INSERT INTO tags VALUES (999, 'lost')"), "belong to no document"),
        (_sql("DELETE FROM meta"), "names no index files"),
        (_sql("PRAGMA user_version = 77"), "format 77"),
    ],
)
def test_a_damaged_store_fails_and_says_how_to_go_on(data_dir: Path, damage: Callable[[Path], None], said: str) -> None:
    damage(data_dir)

    found = checks(config_of(data_dir))

    store = found["store"]
    assert (store.status, store.details["code"]) == ("fail", "index_corrupt")
    assert said in store.message
    assert "kebab ingest" in str(store.hint)
    assert found["index"].status == found["leftovers"].status == "skipped"


@pytest.mark.parametrize("name", ["chunk_ids.bin", "vectors.rows", "texts.folded", "manifest.json"])
def test_one_wrong_byte_in_the_index_files_fails(data_dir: Path, name: str) -> None:
    (file,) = data_dir.glob(f"index/*/{name}")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)

    found = checks(config_of(data_dir))

    assert (found["store"].status, found["index"].status, found["vectors"].status) == ("ok", "fail", "skipped")
    assert found["index"].details["code"] == "index_corrupt"
    assert "--rebuild-index" in str(found["index"].hint)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("DELETE FROM chunks WHERE chunk_no = (SELECT max(chunk_no) FROM chunks)", "not those of the store"),
        ("UPDATE documents SET doc_id = zeroblob(16) WHERE doc_no = 3", "other documents"),
    ],
)
def test_index_files_of_other_chunks_than_the_store_has_fail(data_dir: Path, change: str, said: str) -> None:
    _sql(change)(data_dir)

    found = checks(config_of(data_dir))

    assert (found["store"].status, found["index"].status) == ("ok", "fail")
    assert said in found["index"].message


def test_a_damaged_model_fails_and_the_vectors_are_not_judged(fixture_data: Path, tmp_path: Path) -> None:
    model = shutil.copytree(BUNDLED_FOLDER, tmp_path / "model")
    with (model / "model.safetensors").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\x00")

    found = checks(with_model(config_of(fixture_data), model_path=model))

    assert (found["model"].status, found["vectors"].status) == ("fail", "skipped")
    assert found["model"].details["code"] == "model_unavailable"
    assert found["model"].hint


def test_vectors_of_another_model_fail_with_the_way_out(fixture_data: Path, tmp_path: Path) -> None:
    model = shutil.copytree(BUNDLED_FOLDER, tmp_path / "model", ignore=shutil.ignore_patterns(SUMS_FILE))

    found = checks(with_model(config_of(fixture_data), model_path=model, model="mine"))

    assert (found["model"].status, found["vectors"].status) == ("ok", "fail")
    assert "checksums" not in found["model"].message
    assert "run `kebab ingest`" in str(found["vectors"].hint)


def test_vectors_that_nobody_uses_and_vectors_that_are_wanted_are_warnings(fixture_data: Path, tmp_path: Path) -> None:
    lexical = config_of(tmp_path / "data", provider="none")
    ingest_files(lexical, tmp_path / "notes", {"a.md": "# Alpha\n"})

    unused = statuses(config_of(fixture_data, provider="none"))
    wanted = statuses(config_of(tmp_path / "data"))
    neither = statuses(lexical)

    assert (unused["model"], unused["vectors"]) == ("skipped", "warn")
    assert (wanted["model"], wanted["vectors"]) == ("ok", "warn")
    assert (neither["model"], neither["vectors"]) == ("skipped", "ok")


def test_an_empty_index_is_in_order(tmp_path: Path) -> None:
    config = config_of(tmp_path / "data", provider="none")
    ingest_files(config, tmp_path / "notes", {"a.md": "# Alpha\n"})
    (tmp_path / "notes" / "a.md").unlink()
    ingest_files(config, tmp_path / "notes", {".keep": ""})

    assert statuses(config)["index"] == "ok"


def test_a_writer_is_named_and_not_disturbed(data_dir: Path) -> None:
    with held_elsewhere(data_dir) as writer:
        found = checks(config_of(data_dir))

        assert (found["write_lock"].status, found["write_lock"].details) == ("warn", {"pid": writer.pid})
        assert found["leftovers"].status == "skipped"
        assert (data_dir / PID_FILE).read_text() == str(writer.pid)


def test_a_writer_whose_number_is_not_known_is_seen_all_the_same(data_dir: Path) -> None:
    with held_elsewhere(data_dir):
        (data_dir / PID_FILE).unlink()
        found = checks(config_of(data_dir))

    assert (found["write_lock"].status, found["write_lock"].message) == ("warn", "a process is writing")
    assert found["leftovers"].status == "skipped"


@pytest.mark.parametrize(("name", "mode", "check"), [("index", 0o555, "data_folder"), (LOCK_FILE, 0, "write_lock")])
def test_what_an_ingest_may_not_write_is_a_warning(fixture_data: Path, name: str, mode: int, check: str) -> None:
    with public_folder() as folder:
        path = shutil.copytree(fixture_data, folder / "data") / name
        path.touch()
        (folder / "data").chmod(0o777)
        with restricted(path, mode):
            found = checks(config_of(folder / "data"))

    assert found[check].status == "warn"
    assert name in found[check].message


def test_index_files_without_their_store_are_told(data_dir: Path) -> None:
    (data_dir / "kebab.sqlite").unlink()

    found = checks(config_of(data_dir))["store"]

    assert (found.status, "index files are" in found.message) == ("warn", True)
    assert "put it back" in str(found.hint)


def test_the_number_of_a_writer_that_is_gone_is_nothing(data_dir: Path) -> None:
    with held_elsewhere(data_dir):
        pass
    assert (data_dir / PID_FILE).exists()
    assert (data_dir / LOCK_FILE).exists()

    assert statuses(config_of(data_dir))["write_lock"] == "ok"


def test_a_folder_in_the_place_of_the_lock_is_a_warning(data_dir: Path) -> None:
    (data_dir / LOCK_FILE).unlink(missing_ok=True)
    (data_dir / LOCK_FILE).mkdir()

    found = checks(config_of(data_dir))["write_lock"]

    assert (found.status, "no file" in found.message) == ("warn", True)
    assert "move it away" in str(found.hint)


def test_a_file_in_the_place_of_the_index_folder_fails_with_what_helps(data_dir: Path) -> None:
    shutil.rmtree(data_dir / "index")
    (data_dir / "index").touch()
    config = config_of(data_dir)

    found = checks(config)["data_folder"]
    assert (found.status, "index is no folder" in found.message) == ("fail", True)
    with pytest.raises(IndexCorruptError, match="no folder") as caught:
        Ingestion.begin(config)
    assert caught.value.hint == f"move {data_dir / 'index'} away, then run `kebab ingest --rebuild-index`"

    (data_dir / "index").unlink()
    Ingestion.begin(config).close()


def test_what_a_killed_run_left_is_a_warning(data_dir: Path) -> None:
    (data_dir / ".kebab.sqlite.partial").write_bytes(b"x" * 2048)
    (data_dir / "index" / "holiday").mkdir()

    found = checks(config_of(data_dir))["leftovers"]

    assert (found.status, found.details) == ("warn", {"names": [".kebab.sqlite.partial"], "bytes": 2048})
    assert "2 KiB" in found.message


def test_each_optional_part_is_told(fixture_data: Path) -> None:
    assert checks(config_of(fixture_data))["extras"].details == extras()
