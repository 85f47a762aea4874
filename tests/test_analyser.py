"""What text becomes which search terms."""

import base64
import subprocess
import sys
import unicodedata
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kebab_stream.analyser import MAX_PARTS, MAX_TERM_CHARS, Script, query_terms, script_of, terms, without_asking

ANY_TEXT = st.text(st.characters(exclude_categories=()))  # lone surrogates and NUL too
ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyzéüßñåøłæœđþ",
    "абвгдежзийклмнопрстуфхцчшщъыьэюяёіїґ",
    "αβγδεζηθικλμνξοπρστυφχψωάέήίόύώϊΐ",
]
PLAIN_WORD = st.sampled_from(ALPHABETS).flatmap(lambda alphabet: st.text(alphabet, min_size=1, max_size=20))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("searching searched searches", ["search", "search", "search"]),
        ("café CAFÉ cafe\u0301 cafe", ["cafe"] * 4),
        ("Straße STRASSE", ["strass", "strass"]),
        ("the user's API, don’t DON'T", ["the", "user", "api", "don", "don"]),
        ("3.11 1,000", ["3", "11", "1", "000"]),
        ("1\ufe0f\u20e3 x² ½", ["1", "x2", "x", "2", "1", "2"]),
        ("exam\u00adple zero\u200dwidth", ["exampl", "zerowidth"]),
        ("ΣΊΣΥΦΟΣ σίσυφος", ["σίσυφοσ", "σίσυφοσ"]),
        ("Ёлка ЁЛКА", ["ёлка", "ёлка"]),
        ("हिन्दी שָׁלוֹם", ["हिन्दी", "שָׁלוֹם"]),
    ],
)
def test_a_plain_word_gives_one_term(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserName", ["getusernam", "get", "user", "name"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("snake_case", ["snake_cas", "snake", "case"]),
        ("MAX_RETRY_COUNT", ["max_retry_count", "max", "retri", "count"]),
        ("utf8", ["utf8", "utf", "8"]),
        ("getUser2Names", ["getuser2nam", "get", "user", "2", "name"]),
        ("ÉcoleNormale", ["ecolenormal", "ecol", "normal"]),
        ("listURLs", ["listurl", "list", "url"]),
    ],
)
def test_an_identifier_gives_itself_whole_and_then_its_parts(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("APIs", ["api"]), ("__init__", ["init"]), ("_private_name", ["private_nam", "privat", "name"])],
)
def test_plurals_of_capitals_and_outer_underscores_are_no_borders(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize("query", ["getusername", "GetUserName", "get user name", "USER.name"])
def test_an_identifier_is_found_by_its_parts_and_in_any_case(query: str) -> None:
    assert set(terms(query)) <= set(terms("getUserName"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("e-mail", ["email", "e", "mail"]),
        ("kube-apiserver --dry-run", ["kubeapiserv", "kube", "apiserv", "dryrun", "dri", "run"]),
        ("state-of-the-art's", ["stateoftheart", "state", "of", "the", "art"]),
        ("utf-8 UTF‐8 UTF\u20118", ["utf8", "utf", "8"] * 3),
        ("Get-ChildItem", ["getchilditem", "get", "childitem", "child", "item"]),
        ("naïve-Bayes", ["naivebay", "naiv", "bay"]),
        ("2026-03-12", ["2026", "03", "12"]),
        ("a--b c- -d e–f", ["a", "b", "c", "d", "e", "f"]),
        ("docker-로 한-미", ["docker", "로", "한", "미"]),
        ("x-" * 70 + "x", ["x"] * 71),
    ],
)
def test_words_with_hyphens_give_themselves_together_and_apart(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("e-mail", "email"),
        ("dry-run", "--dry-run"),
        ("utf-8", "UTF8"),
        ("v-model", "vmodel"),
        ("rate limit", "rateLimit"),
        ("rate-limit", "rate_limit"),
        ("apiserver", "kube-apiserver"),
        ("Ｆｕｌｌ－Ｗｉｄｔｈ", "full-width"),
        ("resume", "résumés"),
        ("replicas", "replica"),
        ("하이브리드검색", "하이브리드 검색"),
        ("데이터베이스", "데이터베이스에서는"),
        ("검색기", "검색"),
    ],
)
def test_what_people_write_in_two_ways_shares_terms(one: str, other: str) -> None:
    assert set(terms(one)) & set(terms(other))
    assert len(set(terms(one)) & set(terms(other))) * 2 >= min(len(set(terms(one))), len(set(terms(other))))


@pytest.mark.parametrize(
    ("query", "same"),
    [
        ("What is the largest city of Iceland?", "largest city Iceland"),
        ("how's the weather in a mountain valley", "weather mountain valley"),
        ("A way to be certain that it is not lost", "way certain that not lost"),
        ("대한민국의 수도는 어디인가요?", "대한민국의 수도는"),
        ("세종대왕은 언제 태어났나", "세종대왕은 태어났나"),
        ("왜 파드가 무엇 때문에 죽나", "파드가 때문에 죽나"),
    ],
)
def test_a_query_does_not_look_for_the_words_that_ask(query: str, same: str) -> None:
    assert query_terms(query) == terms(same)


@pytest.mark.parametrize(
    "query",
    [
        "what",
        "무엇입니까",
        "where clause",
        "어디 가",
        "SELECT name FROM birds WHERE colour IS red",
        "somewhat anywhere showing",
        "that how-to page about whatever",
        "to be or not to be",
        "the capital of Iceland",
        "git commit IN SUM",
        "왜곡된 몇몇 사진 크기",
        "",
    ],
)
def test_a_query_keeps_words_that_name_things(query: str) -> None:
    assert query_terms(query) == terms(query)


@given(ANY_TEXT)
def test_a_query_looks_for_some_of_its_terms_and_for_any_if_there_are_any(text: str) -> None:
    assert Counter(query_terms(text)) <= Counter(terms(text))
    assert bool(query_terms(text)) == bool(terms(text))


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("", Script.LATIN),
        ("1 + 1", Script.LATIN),
        ("déjà vu ＡＢＣ", Script.LATIN),
        ("소유권", Script.HANGUL),
        (unicodedata.normalize("NFD", "소유권"), Script.HANGUL),
        ("kubectl을 설치", Script.HANGUL),
        ("a long English text with one word of Korean, 김치", Script.LATIN),
        ("東京タワー", Script.HAN),
        ("ひらがな", Script.HAN),
        ("Ёлка", Script.OTHER),
        ("ภาษาไทย", Script.OTHER),
        ("שלום", Script.OTHER),
        ("大韓民國은", Script.HAN),
    ],
)
def test_a_text_is_in_the_script_of_its_sentences(text: str, script: Script) -> None:
    assert script_of(text) is script


@given(ANY_TEXT)
def test_any_string_is_in_a_script(text: str) -> None:
    assert script_of(text) in Script
    assert script_of(f"{text} 1, 2!") is script_of(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("한국어 검색", ["한국", "국어", "^한국", "검색", "^검색"]),
        ("물 속", ["물", "속"]),
        ("kubectl을 설치", ["kubectl", "을", "설치", "^설치"]),
        ("파이썬3에서", ["파이", "이썬", "^파이", "3", "에서", "^에서"]),
        ("API서버", ["api", "서버", "^서버"]),
        ("大韓民國은", ["大韓", "韓民", "民國", "은"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("食べる。", ["食べ", "べる"]),
        ("ภาษาไทย", ["ภา", "าษ", "ษา", "าไ", "ไท", "ทย"]),
    ],
)
def test_scripts_without_spaces_give_bigrams_and_hangul_its_beginning(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_a_compound_and_its_parts_find_each_other() -> None:
    apart, together = set(terms("하이브리드 검색")), set(terms("하이브리드검색"))

    assert apart - together == {"^검색"}
    assert together - apart == {"드검"}


def test_the_beginning_of_a_word_is_told_from_its_middle() -> None:
    assert "^쟁에" not in terms("전쟁에서")
    assert "^전쟁" in terms("전쟁에서")


def test_full_width_half_width_and_decomposed_forms_are_the_same_text() -> None:
    assert terms("ＫＵＢＥ ｶﾞｲﾄﾞ ①") == terms("kube ガイド 1")
    assert terms(unicodedata.normalize("NFD", "한국어")) == ["한국", "국어", "^한국"]


@pytest.mark.parametrize(
    ("query", "rest"),
    [
        ("임진왜란은 언제 일어났나요?", "임진왜란은   일어났나요?"),
        ("누가 전화기를 발명했습니까", "  전화기를 발명했습니까"),
        ("what is the 수도", "what is the 수도"),
        ("어디", "어디"),  # nothing would remain
        ("where", "where"),
        ("어디서나 무엇이든", "어디서나 무엇이든"),
    ],
)
def test_a_query_for_its_meaning_is_without_the_korean_words_that_only_ask(query: str, rest: str) -> None:
    assert without_asking(query) == rest


@pytest.mark.parametrize("text", ["", " \n", "?!… — “”", "___", "👩‍💻🍢", "\x00\x1b", "\ud800", "\u0301\u0301"])
def test_text_without_letters_and_digits_gives_no_terms(text: str) -> None:
    assert terms(text) == []


def test_a_long_word_is_bounded_but_its_parts_are_found() -> None:
    name = "_".join(["many"] * 20 + ["long", "nameOfSomething"])

    assert len(terms(name)[0]) == MAX_TERM_CHARS
    assert {"long", "name", "someth"} <= set(terms(name))


def test_encoded_data_gives_few_terms() -> None:
    encoded = base64.b64encode(bytes(i * i % 251 for i in range(75_000))).decode().replace("+", "a").replace("/", "b")

    assert len(terms(encoded)) == MAX_PARTS + 1


@pytest.mark.timeout(20)  # each of these took minutes, or more, if the time were quadratic
@pytest.mark.parametrize(
    "text",
    [
        "a" + "\u0300\u0316" * 300_000,
        "a\u093e" * 300_000,
        "A" * 600_000,
        "aB" * 300_000,
        "_" * 600_000,
        "가" * 600_000,
        "漢" * 600_000,
        "\u1112\u1161\u11ab" * 200_000,
        "\ufdfa" * 100_000,
        "a'" * 300_000,
    ],
)
def test_the_time_is_linear_in_the_text(text: str) -> None:
    assert all(len(term) <= MAX_TERM_CHARS for term in terms(text))


@given(ANY_TEXT)
def test_any_string_is_analysed_and_every_term_is_short_and_printable(text: str) -> None:
    for term in terms(text):
        assert 1 <= len(term) <= MAX_TERM_CHARS
        assert term.encode()
        assert term.isprintable() or not text.isprintable()


@given(st.text())
@example("ǆ Ǆ ﬃ ㅎㅏㄴ ｶﾞ")
def test_canonically_equivalent_texts_give_the_same_terms(text: str) -> None:
    assert terms(unicodedata.normalize("NFC", text)) == terms(unicodedata.normalize("NFD", text)) == terms(text)


@given(PLAIN_WORD)
def test_the_case_of_a_plain_word_does_not_matter(word: str) -> None:
    assert len(terms(word)) == 1
    assert terms(word) == terms(word.upper()) == terms(word.capitalize())


@given(ANY_TEXT, ANY_TEXT)
def test_lines_are_analysed_independently(first: str, second: str) -> None:
    assert terms(f"{first}\n{second}") == terms(first) + terms(second)


def test_the_analyser_imports_nothing_heavy() -> None:
    code = "import sys, kebab_stream.analyser; print(*sorted({'regex', 'numpy', 'pydantic'} & set(sys.modules)))"

    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "\n"
