import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.nlp.text.prose import (
    MASK_CHARACTER,
    annotate_prose,
    find_quoted_spans,
    split_scene_spans,
)

WORDS = st.sampled_from([*"aN “”‘’\"'.?!\n->#*%", "Nell ", "\n\n", "don’t "])


def quoted(text: str) -> list[str]:
    return [text[span.start : span.end] for span in find_quoted_spans(text)]


@pytest.mark.parametrize(
    ("text", "stretches"),
    [
        ("“Nine,” said Hob. “Ten.”", ["“Nine,”", "“Ten.”"]),
        ('"Nine," said Hob. "Ten."', ['"Nine,"', '"Ten."']),
        ("‘It isn’t,’ said Hob.", ["‘It isn’t,’"]),
        ("'It isn't,' said Hob's wife.", ["'It isn't,'"]),
        ("“He said ‘no’,” said Nell’s aunt.", ["“He said ‘no’,”"]),
        ("“Nine\n\nIt rained.", ["“Nine"]),
        ("and ten,” said Hob. “Yes.”", ["and ten,”", "“Yes.”"]),
        ("It came.\n> Eight cans.\nShe read.", ["> Eight cans."]),
        ("NELL: (reading) Eight cans.", ["NELL: (reading) Eight cans."]),
        ("Hob's hat and Nell's tin.", []),
    ],
)
def test_what_is_quoted_is_told_from_what_is_not(
    text: str, stretches: list[str]
) -> None:
    assert quoted(text) == stretches


@given(st.lists(WORDS, max_size=40).map("".join))
def test_told_and_spoken_words_together_are_the_sentence(text: str) -> None:
    prose = annotate_prose(text, find_sentence_spans)
    for sentence in prose.sentences:
        assert len(sentence.narration) == len(sentence.span)
        assert len(sentence.speech) in (0, len(sentence.span))
        for told, spoken in zip(sentence.narration, sentence.speech, strict=False):
            assert MASK_CHARACTER in (told, spoken)
        assert all(sentence.narration[at].isalpha() for at in sentence.starts)


@given(st.lists(WORDS, max_size=40).map("".join))
def test_quoted_stretches_and_scenes_are_in_order_and_apart(text: str) -> None:
    for spans in (list(find_quoted_spans(text)), split_scene_spans(text)):
        edges = [edge for span in spans for edge in (span.start, span.end)]
        assert edges == sorted(edges)
        assert not edges or 0 <= edges[0] <= edges[-1] <= len(text)


def test_scenes_are_cut_at_breaks_and_headings() -> None:
    text = "# One\n\nFog.\n\n* * *\n\nRain.\n\n#\n\nWind - and sea.\n"
    assert [text[s.start : s.end].strip() for s in split_scene_spans(text)] == [
        "Fog.",
        "Rain.",
        "Wind - and sea.",
    ]
