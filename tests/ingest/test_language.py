import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.ingest.language import guess_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("파드를 생성하고 kubectl get pods 로 Kubernetes cluster 상태를 확인한다", "ko"),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", "ko"),
        ("これは日本語の文章です", "ja"),
        ("カタカナ", "ja"),
        ("这是一个中文句子", "zh"),
        ("The café serves plain English to everyone who asks for it, all day long and every day of the year", "en"),
        ("Les élèves étaient déjà là", "und"),
        ("Это русский текст", "und"),
        ("An English page that once says 안녕", "en"),
        ("1234 --- 👩", "und"),
        ("", "und"),
    ],
)
def test_scripts_tell_the_language(text: str, language: str) -> None:
    assert guess_language(text) == language


@given(st.text())
def test_any_text_has_one_of_the_known_answers(text: str) -> None:
    assert guess_language(text) in {"ko", "ja", "zh", "en", "und"}
