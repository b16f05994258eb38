import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.facts import Certainty
from lrwr.core.nlp.facts.events import (
    find_event_facts,
    find_reported_speech_facts,
)
from lrwr.core.nlp.text.prose import annotate_prose


def events(text: str, known: tuple[str, ...] = ()) -> list[str]:
    prose = annotate_prose(text, find_sentence_spans, known)
    return [fact.value for fact in find_event_facts(prose)]


@pytest.mark.parametrize(
    "text",
    [
        "Nell fell from the ladder.",
        "At noon Mrs. Gannet arrived.",
        "Then Corin Vale was killed at the gate.",
        "Nell and Hob married in June.",
    ],
)
def test_a_deed_of_somebody_by_name_is_an_event_verbatim(text: str) -> None:
    assert events(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Nell never fell from the ladder.",
        "Nell always fell from the ladder.",
        "If Nell fell, nobody saw it.",
        "She dreamt that Nell fell.",
        "Was it true that Nell fell?",
        "“Nell fell,” he said.",
        "The man beside Nell fell.",
        "Nell was kind.",
        "The ladder fell.",
    ],
)
def test_what_is_denied_doubted_usual_or_only_said_is_none(text: str) -> None:
    assert events(text) == []


def test_a_long_sentence_gives_the_part_that_tells_it() -> None:
    text = "It was a grey day, " + "and the mud lay still, " * 8 + "as ever; Nell fell."
    assert events(text) == ["Nell fell."]


def test_where_people_are_known_only_they_do_deeds() -> None:
    assert events("Then Thole fell. Then Nell fell.", ("Nell Tallow",)) == [
        "Then Nell fell."
    ]


def test_those_who_are_in_it_are_named() -> None:
    prose = annotate_prose("Then Nell met Mrs. Gannet in Thole.", find_sentence_spans)
    (fact,) = find_event_facts(prose)
    assert list(fact.all_details("involved")) == ["Nell", "Mrs. Gannet"]


def test_reported_speech_between_two_names_is_told() -> None:
    text = "Later Nell told Corin that the tide was out. He nodded."
    (fact,) = find_reported_speech_facts(annotate_prose(text, find_sentence_spans))
    assert (fact.subject, fact.detail("hearer")) == ("Nell", "Corin")
    assert fact.value == "that the tide was out"
    assert fact.certainty is Certainty.VERIFIED
    assert text[fact.spans[0].start : fact.spans[0].end] == (
        "Nell told Corin that the tide was out"
    )


@pytest.mark.parametrize(
    "text",
    [
        "She told Corin that the tide was out.",
        "Nell told him that the tide was out.",
        "Nell would have told Corin that the tide was out.",
        "Perhaps Nell told Corin that the tide was out.",
        "Nell told Corin to go home.",
        "“Nell told Corin that the tide was out,” he said.",
    ],
)
def test_other_speech_is_not(text: str) -> None:
    assert (
        list(find_reported_speech_facts(annotate_prose(text, find_sentence_spans)))
        == []
    )
