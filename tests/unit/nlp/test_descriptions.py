"""Ages in words, features and trades, as fiction describes people."""

import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.nlp.facts.attributes import find_attribute_facts
from lrwr.core.nlp.text.prose import annotate_prose

KNOWN = ("Nell Tallow", "Mags", "Hob", "Mr. Vale", "Mrs. Gannet", "George", "Anna")


def claims(text: str) -> set[tuple[str, str, str]]:
    prose = annotate_prose(text, find_sentence_spans, KNOWN)
    return {
        (f.subject, f.detail("attribute"), f.value) for f in find_attribute_facts(prose)
    }


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("There lived Hob, forty years of age.", ("Hob", "age", "forty")),
        (
            "If anybody saw Hob, about five-and-forty years old, he ran.",
            ("Hob", "age", "about five-and-forty"),
        ),
        ("Nell was fifteen or sixteen.", ("Nell", "age", "fifteen or sixteen")),
        (
            "Mr. Vale, a stout man of seven or eight and forty, sat.",
            ("Mr. Vale", "age", "seven or eight and forty"),
        ),
        ("Mr. Vale was a man of about fifty.", ("Mr. Vale", "age", "about fifty")),
        (
            "Mr. Vale, a sensible man about thirty-eight, sat.",
            ("Mr. Vale", "age", "about thirty-eight"),
        ),
        ("Nell, aged nine, sat.", ("Nell", "age", "nine")),
        (
            "Nell, her sister, now ten or twelve years old, sat.",
            ("Nell", "age", "now ten or twelve"),
        ),
        (
            "Hob came in. He was a tall man of about fifty.",
            ("Hob", "age", "about fifty"),
        ),
        (
            "Mrs. Gannet was in her fortieth year.",
            ("Mrs. Gannet", "age", "thirty-nine"),
        ),
    ],
)
def test_ages_in_words_are_read(text: str, claim: tuple[str, str, str]) -> None:
    assert claim in claims(text)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (
            "Nell lifted her shining black hair.",
            ("Nell", "hair", "shining black"),
        ),
        ("Nell had hair like straw.", ("Nell", "hair", "like straw")),
        ("Hob's keen grey eyes were on the sea.", ("Hob", "eyes", "grey")),
        ("Nell's eyes were grey that morning.", ("Nell", "eyes", "grey")),
        (
            "Hob was a thin man with a Roman nose and cold light eyes.",
            ("Hob", "eyes", "cold light"),
        ),
        (
            "Hob was a thin man with a Roman nose and cold light eyes.",
            ("Hob", "nose", "Roman"),
        ),
        ("Hob had a sallow complexion.", ("Hob", "complexion", "sallow")),
        ("Hob stroked his long white beard.", ("Hob", "beard", "long white")),
        ("Hob was of the middle height.", ("Hob", "build", "of the middle height")),
        ("Hob was a carpenter by trade.", ("Hob", "occupation", "carpenter")),
        (
            "With her dark eyes open, Mrs. Gannet went on.",
            ("Mrs. Gannet", "eyes", "dark"),
        ),
        (
            "George looked at Anna, and her grey eyes shone.",
            ("Anna", "eyes", "grey"),
        ),
        (
            "Mrs. Gannet went in. The room was cold. Her dark eyes were dull.",
            ("Mrs. Gannet", "eyes", "dark"),
        ),
    ],
)
def test_features_and_trades_are_read(text: str, claim: tuple[str, str, str]) -> None:
    assert claim in claims(text)


@pytest.mark.parametrize(
    "text",
    [
        "Hob met an old man with his red nose.",
        "Hob spoke to a man who shook his long hair.",
        "Hob stared at the newcomer. He was of the middle height.",
        "Hob gave him good day. He was a tall man with prominent eyes.",
        "Hob looked at Mags, and her grey eyes shone on Nell and her red hair.",
        "Nell, aged eighteen months, slept.",
        "It was a face that Nell admired. She was short, with red hair.",
        "The room was cold. Her dark eyes were dull.",
        "With her dark eyes on Nell, she went on.",
    ],
)
def test_a_description_that_may_be_another_persons_is_left_out(text: str) -> None:
    owners = {(subject, value) for subject, _, value in claims(text)}
    assert not owners - {("Mags", "grey")}
