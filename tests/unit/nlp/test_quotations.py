from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.quotations import find_quotations
from lrwr.core.nlp.text.prose import find_paragraphs


def whole(text: str) -> list[Span]:
    return [Span(0, len(text))]


def spoken(text: str) -> list[list[str]]:
    return [
        [text[span.start : span.end] for span in quotation.spans]
        for quotation in find_quotations(text, whole(text))
        if quotation.speech
    ]


@pytest.mark.parametrize(
    "text",
    [
        "“Come in,” said Nell Tallow.",
        '"Come in," said Nell Tallow.',
        "‘Come in,’ said Nell Tallow.",
        "'Come in,' said Nell Tallow.",
    ],
)
def test_every_kind_of_mark_is_read_and_left_out(text: str) -> None:
    assert spoken(text) == [["Come in,"]]


def test_a_quotation_broken_by_its_tag_is_one() -> None:
    text = "“Come in,” said Nell, “and shut the door.”"
    assert spoken(text) == [["Come in,", "and shut the door."]]


def test_a_sentence_of_narration_parts_two_quotations() -> None:
    text = "“Come in.” Nell put the lamp down. She sat. “Shut the door.”"
    assert spoken(text) == [["Come in."], ["Shut the door."]]


def test_speech_that_opens_again_at_each_paragraph_is_one() -> None:
    text = "“It rained.\n\n“It rained again.\n\n“Then it stopped.”\n\n“Oh,” said Hob."
    assert spoken(text) == [
        ["It rained.", "It rained again.", "Then it stopped."],
        ["Oh,"],
    ]


def test_a_quotation_never_closed_ends_with_its_paragraph() -> None:
    text = "“Come in, said Nell.\n\nCorin came in.\n\n“Sit,” said Nell."
    assert spoken(text) == [["Come in, said Nell."], ["Sit,"]]


def test_a_forgotten_closing_mark_ends_at_the_next_opening_one() -> None:
    text = '"Come in, said Nell, "and sit."'
    assert spoken(text) == [["Come in, said Nell,"], ["and sit."]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("“She said ‘never’ to me.”", "She said ‘never’ to me."),
        ("‘She said “never” to me.’", "She said “never” to me."),
        ("\"She said 'never' to me.\"", "She said 'never' to me."),
    ],
)
def test_a_quotation_inside_another_belongs_to_the_outer_one(
    text: str, said: str
) -> None:
    assert spoken(text) == [[said]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("‘I don’t know the boys’ names,’ said Nell.", "I don’t know the boys’ names,"),
        ("'I don't know the boys' names,' said Nell.", "I don't know the boys' names,"),
        ("‘He’s runnin’ away,’ said Hob.", "He’s runnin’ away,"),
        ("‘Give ’em here,’ said Hob.", "Give ’em here,"),
    ],
)
def test_apostrophes_are_no_marks(text: str, said: str) -> None:
    assert spoken(text) == [[said]]


def test_an_elision_opens_nothing() -> None:
    assert spoken("It was early. 'Twas cold, and Nell said 'tis no matter.") == []


def test_an_elision_may_stand_first_in_what_is_said() -> None:
    text = "'Twas cold,' said Nell.\n\n'Very cold,' said Hob."
    assert spoken(text) == [["Twas cold,"], ["Very cold,"]]


@pytest.mark.parametrize(
    "text",
    [
        "The so-called “palace” was a shed.",
        "They sang “The Reeve's Daughter” until dawn.",
        "A sign marked “Keep out” hung on the gate.",
        "He measured 5'10\" and she 6'1\" in boots.",
    ],
)
def test_titles_and_quoted_words_are_no_speech(text: str) -> None:
    assert spoken(text + "\n\n“Oh!” said Nell.") == [["Oh!"]]


def test_dialogue_may_begin_with_a_dash() -> None:
    text = "— Come in, said Nell, and shut the door.\n\nHob came.\n\n— Is it late?"
    assert spoken(text) == [["Come in,", "and shut the door."], ["Is it late?"]]


def test_the_marks_are_told_from_the_whole_document() -> None:
    text = "‘Oh,’ said Nell.\n\n‘Say “please”,’ said Hob.\n\n‘Please,’ said Nell."
    assert spoken(text) == [["Oh,"], ["Say “please”,"], ["Please,"]]


def test_only_the_given_parts_are_read() -> None:
    text = "“One,” said Nell.\n\n“Two,” said Nell."
    assert [q.spans for q in find_quotations(text, [Span(0, 17)])] == [(Span(1, 5),)]


def test_lines_are_paragraphs_where_no_empty_line_stands() -> None:
    line = "Nell went on and on and on. " * 6
    text = f"{line}\n{line}\n{line}"
    assert len(find_paragraphs(text, whole(text))) == 3


def test_wrapped_lines_are_one_paragraph() -> None:
    text = "Nell went down\nto the marsh\n\nand came back."
    assert len(find_paragraphs(text, whole(text))) == 2


PIECES = ["“", "”", '"', "‘", "’", "'", "—", "Nell", " said ", ", ", ". ", "\n\n", "oh"]


@example("—Nell said ")
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_stretches_come_in_order_and_never_overlap(text: str) -> None:
    spans = [span for q in find_quotations(text, whole(text)) for span in q.spans]
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(a.end <= b.start for a, b in pairwise(spans))


@given(st.lists(st.sampled_from(["Come in", "It is late", "Oh dear"]), min_size=1))
def test_every_marked_paragraph_is_found(words: list[str]) -> None:
    text = "\n\n".join(f"“{one}.”" for one in words)
    assert spoken(text) == [[f"{one}."] for one in words]


@pytest.mark.parametrize(
    "text",
    [
        "“I cannot go,” was Nell’s reasoning; and Vexa’s reply was, “Then stay.”",
        "Hob smiled, as much as to say, “Do you?” and she answered him, “Yes.”",
        "“Go on,” said Nell, and Corin answered, “I will.”",
    ],
)
def test_two_speakers_in_one_paragraph_are_never_one_utterance(text: str) -> None:
    assert all(len(spans) == 1 for spans in spoken(text))


def test_the_same_speaker_may_go_on_after_the_tag() -> None:
    text = "“Come in,” said Nell, and she added, “shut the door.”"
    assert spoken(text) == [["Come in,", "shut the door."]]


@pytest.mark.parametrize(
    "text",
    [
        "This was the page at which the book always opened:\n\n“TALLOW OF HALF HOUSE.”",
        "It ended with the arms and the motto: “Keep the light as it was kept.”",
        "“I have let my house to Hob” would sound extremely well.",
        "There was no word of all that “This paper shows.”",
    ],
)
def test_words_that_nobody_says_are_no_speech(text: str) -> None:
    assert spoken(text) == []


def test_words_after_a_verb_of_speech_are_speech_though_they_are_read_out() -> None:
    assert spoken("Nell read the page and said: “Keep the light.”")
