"""What one document says about names, and what is kept of it."""

from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.text import Span
from lrwr.core.nlp.names.evidence import NameEvidence, gather_name_evidence


def read(text: str) -> NameEvidence:
    return gather_name_evidence(text, [Span(0, len(text))])


def test_cues_beside_a_name_are_counted() -> None:
    text = "“Come in, Corin,” said Nell. Corin Vale nodded. She shut Nell’s door."
    forms = read(text).forms

    assert forms["Nell"]["tag"] == 1
    assert forms["Nell"]["possessive"] == 1
    assert forms["Corin"]["vocative"] == 1
    assert forms["^ Corin Vale"]["act"] == 1


def test_a_title_and_a_particle_belong_to_the_name() -> None:
    forms = read("Then Mrs. Gannet met Lady Orla de Vane and Dr. J. T. Pell.").forms

    assert {"Mrs. Gannet", "Lady Orla de Vane", "Dr. J. T. Pell"} <= set(forms)


def test_a_title_begins_the_next_name() -> None:
    assert {"Nell", "Mrs. Gannet"} <= set(
        read("It was for Nell Mrs. Gannet came.").forms
    )


def test_a_couple_is_two_people() -> None:
    forms = read("They asked Mr. and Mrs. Gannet to dinner.").forms

    assert {"Mr. Gannet", "Mrs. Gannet"} <= set(forms)


def test_names_joined_by_and_are_apart() -> None:
    assert read("They saw Nell and Corin.").apart == {"Nell|Corin": 1}


def test_another_name_for_the_same_person_is_kept() -> None:
    assert read("He met Nell, called Wren by her father.").alike == {"Nell|Wren": 1}


def test_headings_are_not_read() -> None:
    text = "# Chapter One: The Wreck\n\nTHE LAST OF THOLE\n\nIt rained."

    assert read(text).forms == {}


def test_a_word_that_only_begins_sentences_is_no_name() -> None:
    text = "Fog came up. The fog stayed. Nobody saw it, and Fog horns blew. A fog."

    assert "Fog" not in read("Fog came up. The fog stayed.").forms
    assert read(text).words["Fog"][2] == 2


def test_the_narrators_i_is_counted_outside_of_speech() -> None:
    assert read("I went in. “I am here,” said Nell. I sat.").first_person == 2


def test_only_the_parts_are_read_and_places_are_those_of_the_text() -> None:
    text = "%% Corin waits %% And Nell waits."
    evidence = gather_name_evidence(text, [Span(17, len(text))])

    assert set(evidence.forms) == {"Nell"}
    assert text[evidence.forms["Nell"]["first"] :].startswith("Nell")


@given(st.text(alphabet="aN el.,\n“”\"'’#TBM", max_size=120))
def test_evidence_of_any_text_is_written_and_read_back(text: str) -> None:
    evidence = read(text)

    assert NameEvidence.from_json(evidence.to_json()) == evidence
