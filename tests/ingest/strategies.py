"""Documents to draw: Markdown as people write it, and Markdown as nobody would."""

from hypothesis import settings
from hypothesis import strategies as st

few = settings(max_examples=40, deadline=None)
"""For laws on whole documents, which take long to draw; on a busy machine one takes very long now and then."""

_KOREAN = (
    "검색",
    "색인은",
    "문서를",
    "조각으로",
    "나눈다",
    "한국어",
    "가나다라마바사아자차카타파하",
    "日本語",
    "👩‍👩‍👧",
)
_ENGLISH = ("kubectl", "apply", "the", "index", "of", "a", "vector", "2024", "café", "a_b_c", "*bold*", "`code`")
_WORDS = st.sampled_from((*_KOREAN, *_ENGLISH, "[링크](./a.md)", "https://example.org/x?y=1"))
_ENDS = st.sampled_from([".", "다.", "요?", "!", "。", "…", ""])


def _sentence(words: list[str], end: str) -> str:
    return " ".join(words) + end


sentences = st.builds(_sentence, st.lists(_WORDS, min_size=1, max_size=12), _ENDS)
one_line = st.lists(sentences, min_size=1, max_size=4).map(" ".join)
paragraphs = st.lists(one_line, min_size=1, max_size=5).map("\n".join)
long_lines = st.lists(sentences, min_size=20, max_size=60).map(" ".join)
headings = st.builds(lambda level, text: "#" * level + " " + text, st.integers(1, 6), one_line)
setext_headings = st.builds(lambda text, mark: f"{text}\n{mark * 3}", one_line, st.sampled_from("=-"))
fences = st.builds(
    lambda lines, mark: f"{mark}py\n" + "\n".join(lines) + f"\n{mark}",
    st.lists(st.sampled_from(["# not a heading", "x = 1", "", "    return x", "| a | b |"]), max_size=30),
    st.sampled_from(["```", "~~~~"]),
)
tables = st.builds(
    lambda rows: "\n".join(["| a | b |", "|---|:-:|", *(f"| {row} | 값 |" for row in rows)]),
    st.lists(_WORDS.filter(lambda word: "|" not in word), max_size=30),
)
lists = st.builds(
    lambda items, mark: "\n".join(f"{mark} {item}" for item in items),
    st.lists(one_line, min_size=1),
    st.sampled_from(["-", "*", "1."]),
)
quotes = paragraphs.map(lambda text: "\n".join("> " + line for line in text.split("\n")))
item_with_fence = fences.map(lambda text: "- item\n\n" + "\n".join("  " + line for line in text.split("\n")))
odds = st.sampled_from(
    [
        "---",
        "<!-- 주석 -->",
        "[ref]: https://example.org 'title'",
        "<div>\n\n글\n\n</div>",
        "    indented code",
        "#",
        "- # 목록",
        "> # 인용",
    ]
)
blocks = st.one_of(
    headings, headings, setext_headings, paragraphs, long_lines, fences, tables, lists, quotes, item_with_fence, odds
)
front_matters = st.sampled_from(["", "", "---\ntitle: 제목\ntags: [a, b]\n---\n", '+++\ntitle = "T"\n+++\n'])

markdown_documents = st.builds(
    lambda front_matter, parts, gap: front_matter + gap.join(parts) + "\n",
    front_matters,
    st.lists(blocks, max_size=14),
    st.sampled_from(["\n\n", "\n\n", "\n", "\n\n\n \t\n"]),
)
"""Well-formed documents of up to about 10,000 characters."""

markdown_noise = st.text(
    st.sampled_from("#-=`~>|*_[]()<>!\\:{}+.1 \t\n\r\"'a가\u00a0\u2028\x0b\x0c\x85\ufeff\u200d\u0301👩"), max_size=200
)
"""What may stand in a file all the same."""
