import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.suite import examples
from tests.unit.source.pages import check_promises, parse

WORDS = st.lists(
    st.sampled_from(
        ["The", "fog", "rose.", "cafe\u0301", "“No,”", "she", "[[Ada|her]]", "*ran*",
         "100%", "a_b", "—", "I.", "&nbsp;", "\u00a0", "1987", "C:\\x"]
    ),
    min_size=1,
    max_size=12,
).map(" ".join)  # fmt: skip
HEADINGS = st.builds(
    "{} {}".format, st.sampled_from(["#", "##", "###", "####"]), WORDS
) | st.sampled_from(
    ["# Chapter One", "## CHAPTER II. The Fog", "Prologue\n===", "Part 2\n---",
     "# Volume I", "Chapter 3", "IV", "# %%todo%%", "CHAPTER V\n***"]
)  # fmt: skip
BREAKS = st.sampled_from(
    [
        "***",
        "* * *",
        "---",
        "___",
        "#",
        "##",
        "⁂",
        "~",
        "~~~",
        "•",
        "<hr />",
        "\\*\\*\\*",
    ]
)
COMMENTS = st.sampled_from(
    ["%%later%%", "%%\n# no\n\n***\n%%", "<!-- x -->", "<!--\n\n## no\n-->", "%%open",
     "<!-- open", "before %%in%% after", "*** %%why%%", "%%a%%%%b%%", "%%%%"]
)  # fmt: skip
OTHERS = st.sampled_from(
    ["```\n# code\n***\n```", "~~~\nx", "> # said\n> ***", "- one\n- two\n\n  ***",
     "    * * *", "| a | b |\n|---|---|", "text.\n---", "text\n-", "...", "\f", "\x0b"]
)  # fmt: skip
BLOCKS = st.lists(WORDS | HEADINGS | BREAKS | COMMENTS | OTHERS, max_size=12)
FRONTS = st.sampled_from(["", "---\ntitle: Fog\n---\n", "---\n: [bad\ntype: x\n---\n"])


@settings(max_examples=examples(300))
@given(
    BLOCKS,
    st.sampled_from(["\n", "\n\n", "\n \n\n"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([".md", ".txt"]),
    st.booleans(),
)
def test_every_word_is_in_one_place(
    blocks: list[str], gap: str, newline: str, ending: str, marked: bool
) -> None:
    text = gap.join(blocks)
    content = text.replace("\n", newline).encode("utf-8-sig" if marked else "utf-8")
    document = parse(content, f"draft{ending}")
    assert document.text == unicodedata.normalize("NFC", text)
    if not document.text.startswith("---"):
        check_promises(document)


@settings(max_examples=examples(100))
@given(FRONTS, BLOCKS)
def test_front_matter_is_no_prose_and_what_follows_is(
    front: str, blocks: list[str]
) -> None:
    is_front = front.startswith("---\ntitle")
    text = front + "\n\n".join(["Once.", *blocks])
    check_promises(parse(text), front=len(front) if is_front else 0)


@settings(max_examples=examples(300))
@given(st.text(alphabet="#*-_~%<!>`=\n\n \tabI.1\\", max_size=80))
def test_any_marks_whatever_keep_the_promises(text: str) -> None:
    document = parse("x\n" + text)
    assert document.text == "x\n" + text
    check_promises(document)


@settings(max_examples=examples(100))
@given(BLOCKS, st.sampled_from(["characters/ada.md", "world/fog.txt"]))
def test_notes_of_the_writer_keep_the_promises_too(
    blocks: list[str], name: str
) -> None:
    document = parse("\n\n".join(["Ada", *blocks]), name)
    check_promises(document)
    assert len(document.chapters) == 1
