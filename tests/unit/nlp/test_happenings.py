import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.facts import Certainty
from lrwr.core.nlp.facts.participants import (
    find_reported_speech_facts,
)
from lrwr.core.nlp.text.prose import annotate_prose


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
