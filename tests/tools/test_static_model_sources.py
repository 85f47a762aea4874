"""What the recipe of the bundled model reads out of its sources."""

import json
import random
import struct
import zlib
from pathlib import Path

import pytest

from tools.static_model import sources
from tools.static_model.functions import documented
from tools.static_model.markup import Section, sections
from tools.static_model.pairs import Collector
from tools.static_model.sword import verses
from tools.static_model.teacher import lessons


def test_a_page_becomes_sections_without_marks_and_code(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        '---\ntitle: "위키 복원"\n---\n\nUse the [guide](http://x.y) **now**.\n\n```sh\n# no heading\n```\n\n'
        "## Steps {#steps}\n\n- stop `wiki`\n- copy it\n"
    )

    assert sections(page) == [
        Section(1, "위키 복원", ("Use the guide now .",)),
        Section(2, "Steps", ("stop wiki", "copy it")),
    ]


def test_pages_are_paired_section_by_section_and_paragraph_by_paragraph(tmp_path: Path) -> None:
    for language, text in (("en", "# Backup\n\nCopy the server."), ("ko", "# 백업\n\n서버를 복사한다.")):
        (tmp_path / language).mkdir()
        (tmp_path / language / "a.md").write_text(text)
    collector = Collector(random.Random(0))

    collector.add_translated_pages(tmp_path / "en", tmp_path / "ko", "toy")

    pairs, _ = collector.shuffled()
    assert sorted(pairs) == [
        ("Backup", "백업", "parallel", "toy"),
        ("Copy the server.", "서버를 복사한다.", "parallel", "toy"),
    ]


def test_a_folder_without_pages_stops_the_run(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no pages in"):
        Collector(random.Random(0)).pages(tmp_path)


def test_a_docstring_is_paired_with_the_rest_of_its_function() -> None:
    code = 'def area(radius):\n    """Area of a circle.\n\n    More.\n    """\n    return 3.14159 * radius * radius\n'

    assert list(documented(code)) == [
        ("Area of a circle.", "def area(radius):\n    \n    return 3.14159 * radius * radius")
    ]
    assert list(documented("def broken(")) == []


def test_verses_are_read_from_their_blocks(tmp_path: Path) -> None:
    plain = "<w>태초에</w> 말씀".encode()
    block = zlib.compress(plain)
    (tmp_path / "ot.bzz").write_bytes(b"??" + block)
    (tmp_path / "ot.bzs").write_bytes(struct.pack("<III", 2, len(block), len(plain)))
    (tmp_path / "ot.bzv").write_bytes(struct.pack("<IIH", 0, 0, 0) + struct.pack("<IIH", 0, 0, len(plain)))

    assert verses(tmp_path, "ot") == ["", "태초에 말씀"]


def test_the_teacher_sees_of_a_source_as_many_pairs_as_the_limit_says() -> None:
    collector = Collector(random.Random(0))
    for number in range(1_500):
        collector.add(f"backup {number}", f"백업 {number}", "parallel", "ud-pud")
        collector.add_text(f"a text nobody asked for {number}", "unnamed")

    assert len(lessons(*collector.shuffled())) == 1_000


def test_of_the_similar_sentences_only_the_parts_with_a_free_licence_are_taken(tmp_path: Path) -> None:
    parts = [("images", "5.0"), ("MSRpar", "5.0"), ("answers-forums", "2.0")]
    for name in ("train", "dev", "test"):
        korean = [f"g\t{part}\t2012\t0\t{similarity}\t{part} 하나\t{part} 둘" for part, similarity in parts]
        english = [f"{part} one,{part} two,{similarity}" for part, similarity in parts]
        files = {f"kornlu/KorSTS/sts-{name}.tsv": ["header", *korean], f"stsb/data/stsb-en-{name}.csv": english}
        for path, lines in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    collector = Collector(random.Random(0))

    sources._similar_sentences(collector, tmp_path)

    assert sorted(pair[:2] for pair in collector.shuffled()[0]) == [
        ("answers-forums one", "answers-forums 하나"),
        ("answers-forums two", "answers-forums 둘"),
        ("images one", "images two"),
        ("images one", "images 둘"),
        ("images one", "images 하나"),
        ("images two", "images 둘"),
        ("images 하나", "images 둘"),
    ]


def test_verbs_of_the_dictionary_end_as_headwords_do_and_particles_are_left_out(tmp_path: Path) -> None:
    example = {"example": "달린다.", "translation": "Runs."}
    entries = [
        {"word": "달리", "pos": "v", "defs": [{"def": "run (fast)", "examples": [example]}]},
        {"word": "에서", "pos": "part", "defs": [{"def": "at a place"}]},
        {"word": "정원", "pos": "n", "defs": [{"def": ": garden"}, {"def": "Indicates a number"}]},
    ]
    (tmp_path / "kedict").mkdir()
    (tmp_path / "kedict" / "kedict.yml").write_text(json.dumps(entries, ensure_ascii=False), encoding="utf-8")
    collector = Collector(random.Random(0))

    sources._dictionary(collector, tmp_path)

    assert sorted(pair[:3] for pair in collector.shuffled()[0]) == [
        ("Runs.", "달린다.", "parallel"),
        ("garden", "정원", "dictionary"),
        ("run", "달리다", "dictionary"),
    ]


def test_all_missing_sources_are_named_in_one_message(tmp_path: Path) -> None:
    (tmp_path / "raw" / "kedict").mkdir(parents=True)
    (tmp_path / "raw" / "kedict" / "kedict.yml").touch()
    folders = sources.SourceFolders(*(tmp_path / name for name in ("raw", "corpora", "tydi")))
    absent = [name.removeprefix(f"{tmp_path}/") for name in sources.missing(folders)]

    wanted = {"raw/tldr/pages.ko", "raw/ud/ko_[gk]*.txt", "corpora/k8s-en", "corpora/mdn-ko", "tydi/qrels.tsv"}
    assert wanted <= set(absent)
    assert "raw/kedict/kedict.yml" not in absent
