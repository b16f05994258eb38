import pytest

from lrwr.core.adapters.source.parser import parse_document
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import Certainty
from lrwr.core.nlp.text.prose import find_marked_gaps, find_note_gaps


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("She had TK guns.", "TK guns"),
        ("TODO: describe the house", "TODO: describe the house"),
        ("It was ??? o'clock.", "???"),
        ("He met [name?] there.", "name?"),
        ("[describe the mill here]", "describe the mill here"),
        ("Fog. XXX fix this", "XXX fix this"),
        ("Fog. <!-- which day is it? --> More.", "which day is it?"),
        ("Fog. %%not sure about this%% More.", "not sure about this"),
    ],
)
def test_what_the_writer_marked_is_a_gap_in_the_writers_words(
    text: str, value: str
) -> None:
    (fact,) = find_marked_gaps(text)
    assert (fact.value, fact.certainty) == (value, Certainty.VERIFIED)
    assert value in text[fact.spans[0].start : fact.spans[0].end]


@pytest.mark.parametrize(
    "text",
    [
        "He had a todo list.",
        "# XXX",
        "# Chapter 30: XXX",
        "Chapter XXX",
        "What?? Really?!",
        "I [am] sure, see [1] and [[Thole]].",
        "[x] done [ ] not done",
        "[a name, indecipherable]",
        "A [link?](https://example.org).",
        "<!-- She hears it. Leave it so. -->",
        "TKs and TODOs",
    ],
)
def test_what_only_looks_like_a_mark_is_none(text: str) -> None:
    assert list(find_marked_gaps(text)) == []


def test_the_gap_is_about_the_nearest_known_name_on_its_line() -> None:
    text = "Corin Vale came.\nNell had TK eyes, said Mags.\nTODO"
    facts = find_marked_gaps(text, ("Corin Vale", "Nell", "Mags"))
    assert [fact.subject for fact in facts] == ["Nell", ""]


def test_open_comments_of_a_document_are_the_writers_gaps() -> None:
    page = b"Fog. <!-- who saw it? --> Rain. %%Leave it so.%% Wind.\n"
    document = parse_document(DocumentId("a.md"), page)
    (fact,) = find_note_gaps(document)
    assert (fact.value, fact.certainty) == ("who saw it?", Certainty.CONFIRMED)
