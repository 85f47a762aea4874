import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.errors import InvalidInputError
from kebab_stream.ingest.read import content_hash, decode, split_lines


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_is_the_same_in_every_encoding_that_is_read(encoding: str) -> None:
    assert decode("a.md", "한글 ABC 👩\n".encode(encoding)) == "한글 ABC 👩\n"


def test_utf16_is_read_in_both_byte_orders() -> None:
    assert decode("a.md", b"\xff\xfe" + "가".encode("utf-16-le")) == "가"
    assert decode("a.md", b"\xfe\xff" + "가".encode("utf-16-be")) == "가"


def test_an_empty_file_is_an_empty_text() -> None:
    assert decode("a.md", b"") == decode("a.md", b"\xef\xbb\xbf") == ""


@pytest.mark.parametrize(
    ("data", "problem", "offset"),
    [
        (b"\xff", "not_text", 0),
        (b"abc\xff", "not_text", 3),
        ("한국어 문서 ".encode() * 5 + b"\xb0\xa1", "not_text", 85),
        ("été où ".encode() * 5 + b"\xe9", "not_text", 50),
        (bytes(range(128, 256)), "not_text", 0),
        (b"\x8f\x1b\x02abc\x03" * 9, "not_text", 0),
        (b"an English note, cut \xed\x95 in a syllable", "not_text", 21),
        (b"dashes \xe2\x80 and \xe2\x80 cut short", "not_text", 7),
        (b"cut at its end: \xf0\x9f\x98", "not_text", 16),
        (b"a surrogate \xed\xa0\x80 in a paragraph in English", "not_text", 12),
        (b"two of them \xed\xa0\xbd\xed\xb8\x80, apple", "not_text", 12),
        (b"overlong \xc0\x80 apple", "not_text", 9),
        (b"beyond Unicode \xf5\x80\x80\x80 apple", "not_text", 15),
        (b"\xef\xbb\xbfabc\xff", "not_text", 6),
        (b"\xff\xfea", "not_text", 2),
        ("가".encode() + b"\0", "binary", 3),
        ("가나 다라".encode("utf-16-le"), "binary", 0),
        (b"\xff\xfea\0\0\0", "binary", 4),
    ],
)
def test_what_is_no_text_is_refused_at_its_byte(data: bytes, problem: str, offset: int) -> None:
    with pytest.raises(InvalidInputError, match=f"byte {offset}") as caught:
        decode("a.md", data)

    assert caught.value.details == {"problem": problem, "offset": offset}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("a\r\nb\rc\n\rd", ["a", "b", "c", "", "d"]),
        ("a\u2028b\x0bc\x0cd\x85e", ["a\u2028b\x0bc\x0cd\x85e"]),
    ],
)
def test_only_newlines_and_carriage_returns_end_a_line(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@given(st.lists(st.text(st.characters(exclude_characters="\r\n")), min_size=1), st.sampled_from(["\n", "\r\n", "\r"]))
def test_lines_do_not_depend_on_the_kind_of_line_end(lines: list[str], end: str) -> None:
    assert split_lines("".join(line + end for line in lines)) == lines


def test_the_hash_is_of_the_raw_bytes() -> None:
    assert content_hash(b"") == "cae66941d9efbd404e4d88758ea67670"
    assert content_hash(b"a") != content_hash(b"\xef\xbb\xbfa")


# --- other encodings -------------------------------------------------------------------------------------

KOREAN = (
    "파드를 만들고 상태를 확인한다",
    "회의록: 다음 주 월요일까지 색인을 다시 만든다",
    "쿠버네티스(Kubernetes)는 컨테이너를 쉽게 배포하고 확장하며 관리해 준다.",
    "# 할 일\r\n- 장보기\r\n- 커피 원두 200g",
    "오늘은 비가 왔다. 그래서 집에서 책을 읽었다.",
    "API는 JSON 형식으로 응답한다",
    "“따옴표”와 ‘작은따옴표’, 그리고 …",
    "大韓民國의 수도는 서울(Seoul)이다",
)
WESTERN = (
    "Der Käse schmeckt größer als üblich.",
    "Änderungen an der Schnittstelle",
    "Le café est déjà prêt, où êtes-vous ?",
    "L’été dernier, nous étions à la plage — c’était bien",
    "La configuración está en el año 2024, señor.",
    "¿Cómo se instala? ¡Así!",
    "As opções são várias; não há limitação.",
    "È necessario, perché la città è più grande.",
    "Både från och till, så är det på svenska.",
    "Blåbærgrød på øen om sommeren",
    "Tämä on pitkä yö, ja työ jää kesken",
    "The résumé of the café owner says nothing about that",
    "It’s a “quoted” word – nothing else",
    "The café’s menu",
    "Une seule fois : «\xa0fiancé\xa0»",
    "café",
)
OTHERS = (
    ("cp932", "これは日本語の文章です。検索エンジンの使い方を説明します。"),
    ("euc_jp", "これは日本語の文章です。検索エンジンの使い方を説明します。"),
    ("gb18030", "这是一个中文句子，用来说明如何配置搜索引擎。"),
    ("big5", "這是一個中文句子，用來說明如何設定搜尋引擎。"),
    ("cp1251", "Это русский текст о том, как настроить поиск."),
    ("koi8-r", "Это русский текст о том, как настроить поиск."),
    ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy"),
    ("iso8859-2", "Zażółć gęślą jaźń, proszę bardzo, to jest śmieszne"),
    ("cp1253", "Αυτό είναι ένα ελληνικό κείμενο για την αναζήτηση"),
    ("cp1254", "Bu bir Türkçe metindir; değişiklikler için şuraya bakınız"),
    ("cp1255", "זה טקסט בעברית על מנוע חיפוש"),
    ("cp1256", "هذا نص عربي عن محرك البحث"),
)


@pytest.mark.parametrize("text", KOREAN)
def test_korean_notes_of_older_windows_are_read(text: str) -> None:
    assert decode("a.md", text.encode("cp949")) == text


@pytest.mark.parametrize("text", WESTERN)
def test_western_notes_of_older_windows_are_read(text: str) -> None:
    assert decode("a.md", text.encode("cp1252")) == text


@pytest.mark.parametrize(("encoding", "text"), OTHERS)
def test_notes_of_other_countries_are_read(encoding: str, text: str) -> None:
    assert decode("a.md", text.encode(encoding)) == text


def _in_ksx1001() -> list[str]:
    rows = (bytes((lead, trail)) for lead in range(0xB0, 0xC9) for trail in range(0xA1, 0xFF))
    return [row.decode("euc_kr") for row in rows]


_syllables = st.sampled_from(_in_ksx1001())
_korean_words = st.text(_syllables, min_size=2, max_size=6)
_few_others = st.sampled_from(["API", "2024", "똠방각하", "大", "·", "(k)"])


@given(
    st.lists(_korean_words, min_size=10, max_size=60), st.lists(_few_others, max_size=3), st.sampled_from([" ", "\n"])
)
def test_a_text_that_is_mostly_korean_comes_back_whatever_it_says(
    words: list[str], others: list[str], between: str
) -> None:
    text = between.join([*words[:5], *others, *words[5:]])

    assert decode("a.txt", text.encode("cp949")) == text


@given(st.lists(_korean_words, min_size=5, max_size=40).map(" ".join), st.binary(min_size=1, max_size=3), st.data())
def test_utf8_with_a_few_broken_bytes_never_comes_back_as_something_else(
    text: str, broken: bytes, data: st.DataObject
) -> None:
    whole = text.encode()
    place = data.draw(st.integers(0, len(whole)))
    damaged = whole[:place] + broken + whole[place:]

    problem = refused(damaged)

    assert problem or decode("a.md", damaged) == damaged.decode()


@given(st.binary(max_size=300))
def test_bytes_are_a_text_or_an_error(data: bytes) -> None:
    problem = refused(data)

    assert problem in ("not_text", "binary") if problem else "\0" not in decode("a.md", data)


def refused(data: bytes) -> object:
    """The problem with the bytes, if there is one."""
    try:
        decode("a.md", data)
    except InvalidInputError as error:
        return error.details["problem"]
    return None


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("<meta charset=euc-kr>", "cp949"),
        ("<meta charset='ks_c_5601-1987'>", "cp949"),
        ('<META http-equiv="Content-Type" content="text/html; charset=Shift_JIS">', "cp932"),
        ('<?xml version="1.0" encoding="iso-8859-1"?>', "cp1252"),
        ('<meta name="viewport" content="x"><meta charset="GBK">', "gb18030"),
        ('<meta charset="windows-1251">', "cp1251"),
    ],
)
def test_a_page_is_read_in_the_encoding_that_it_states(head: str, encoding: str) -> None:
    page = f"{head}<p>" + ("ä" if encoding == "cp1252" else "я")  # which alone could be anything

    assert decode("a.html", page.encode(encoding)) == page


@pytest.mark.parametrize("stated", ["utf-8", "latin1", "no-such-encoding", "hex", "unicode_escape", "utf-7", "x" * 99])
def test_a_page_that_states_a_wrong_encoding_is_read_all_the_same(stated: str) -> None:
    page = f"<meta charset={stated}><p>쿠버네티스는 컨테이너를 관리한다"

    assert decode("a.html", page.encode()) == page
    if stated != "latin1":  # in which any Korean bytes are a text
        assert decode("a.html", page.encode("cp949")) == page


def test_a_statement_counts_in_pages_only() -> None:
    text = "<meta charset=big5> 라고 쓰면 인코딩을 알 수 있다"

    assert decode("a.md", text.encode("cp949")) == text
