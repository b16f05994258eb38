import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.facts import Certainty
from lrwr.core.nlp.facts.attributes import find_attribute_facts
from lrwr.core.nlp.text.prose import annotate_prose

VERIFIED, PROBABLE = Certainty.VERIFIED, Certainty.PROBABLE


def claims(
    text: str, known: tuple[str, ...] = ()
) -> list[tuple[str, str, str, Certainty]]:
    prose = annotate_prose(text, find_sentence_spans, known)
    return [
        (f.subject, f.detail("attribute"), f.value, f.certainty)
        for f in find_attribute_facts(prose)
    ]


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("Then Nell’s eyes were grey.", "eyes", "grey"),
        ("Nell’s pale blue eyes were wide.", "eyes", "pale blue"),
        ("Then Nell had red hair.", "hair", "red"),
        ("Nell's hair was long and black.", "hair", "long and black"),
        ("Nell was eleven years old.", "age", "eleven"),
        ("Nell, a girl of eleven, came in.", "age", "eleven"),
        ("Nell was fifty-four and looked it.", "age", "fifty-four"),
        ("Then Nell, the bell-ringer, came in.", "occupation", "bell-ringer"),
        ("Nell was a carpenter.", "occupation", "carpenter"),
        ("Nell had died in the spring.", "life", "dead"),
        ("Nell was a very tall woman.", "build", "very tall"),
    ],
)
def test_what_one_clause_says_of_a_name_is_verified(
    text: str, attribute: str, value: str
) -> None:
    expected = [("Nell", attribute, value, VERIFIED)] if value else []
    assert claims(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Nell’s eyes were not grey.",
        "Nell’s eyes were like grey stones.",
        "Nell’s eyes were red with weeping.",
        "Was Nell a carpenter?",
        "If Nell was a carpenter, nobody knew.",
        "Everyone thought Nell had died.",
        "Nell was dead tired.",
        "Nell was ten minutes late.",
        "Nell was one of them.",
        "The girl beside Nell was eleven years old.",
        "She walked with Hob, the carpenter, and Nell.",
        "Nell saw Mags shut her grey eyes.",
        "“Ask the landlord, Nell,” he said.",
    ],
)
def test_doubts_pictures_lists_and_other_people_are_left_out(text: str) -> None:
    assert claims(text) == []


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Nell shut her grey eyes.", ("Nell", "eyes", "grey", PROBABLE)),
        (
            "He wore the late Mr. Tallow’s hat.",
            ("Mr. Tallow", "life", "dead", PROBABLE),
        ),
        ("“Nell was eleven years old,” he said.", ("Nell", "age", "eleven", PROBABLE)),
        (
            "Hob sat down. He was seventy, and tired.",
            ("Hob", "age", "seventy", PROBABLE),
        ),
    ],
)
def test_pronouns_speakers_and_names_of_fathers_make_it_only_probable(
    text: str, claim: tuple[str, str, str, Certainty]
) -> None:
    assert claims(text) == [claim]


def test_a_pronoun_across_a_paragraph_is_nobodys() -> None:
    assert claims("Hob sat down.\n\nHe was seventy, and tired.") == []


def test_the_late_mr_is_not_one_of_the_same_name_who_speaks() -> None:
    text = "The late Mr. Vale built the mill.\n\n“It is old,” said {}."
    assert values(text.format("Mr. Vale"), "life") == []
    assert values(text.format("Nell"), "life") == ["dead"]


@pytest.mark.parametrize("word", ["since", "until", "before"])
def test_an_age_of_the_past_is_not_the_age(word: str) -> None:
    text = f"The room had been hers {word} Nell was twelve."
    assert values(text, "age") == []
    assert values("Nell was twelve.", "age") == ["twelve"]


def values(text: str, attribute: str) -> list[str]:
    prose = annotate_prose(text, find_sentence_spans, ("Nell", "Mr. Vale"))
    return [
        fact.value
        for fact in find_attribute_facts(prose)
        if fact.detail("attribute") == attribute
    ]
