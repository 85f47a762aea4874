import pytest

from kebab_stream.ingest.media import has_extension, media_of, size_limit


@pytest.mark.parametrize(
    ("path", "media"),
    [
        ("a/b.md", ("markdown", None)),
        ("UPPER.MD", ("markdown", None)),
        ("x.MarkDown", ("markdown", None)),
        ("x.mdx", ("markdown", None)),
        ("노트.txt", ("text", None)),
        ("LICENSE", ("text", None)),
        ("a.b/README", ("text", None)),
        ("x.rst", ("rst", None)),
        ("x.html", ("html", None)),
        ("x.xhtml", ("html", None)),
        ("보고서.PDF", ("pdf", None)),
        ("x.py", ("code", "python")),
        ("x.d.ts", ("code", "typescript")),
        ("X.YAML", ("code", "yaml")),
        ("deploy/Dockerfile", ("code", "dockerfile")),
        ("Makefile", ("code", "make")),
        ("CMakeLists.txt", ("code", "cmake")),
        ("x.png", None),
        ("x.md.bak", None),
        ("x.log", None),
    ],
)
def test_the_name_tells_the_kind_of_file(path: str, media: tuple[str, str | None] | None) -> None:
    assert media_of(path) == media


def test_only_names_without_a_meaning_need_a_look_inside() -> None:
    assert [has_extension(name) for name in ("x.md", "Makefile", "README", "a.b/notes")] == [True, True, False, False]


def test_a_pdf_may_be_ten_times_as_large_as_a_text() -> None:
    assert [size_limit(name, 1000) for name in ("a.md", "a.PDF", "a.py", "README")] == [1000, 10_000, 1000, 1000]
