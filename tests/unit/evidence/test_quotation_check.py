"""The quotations of a statement: which must be verbatim, and what the text has instead."""

from dataclasses import replace

import pytest

from lrwr.core.attribution.quotations import find_quotation
from lrwr.core.evidence.quotation_check import (
    find_nearest_wording,
    find_other_speaker,
    find_probable_speaker,
    find_wrong_quotations,
    list_checked_quotations,
    strip_speaker_tag,
)
from lrwr.core.evidence.results import CheckedStory, KnownQuotation
from lrwr.core.model.choices import Pipeline
from lrwr.core.retrieval.story import StoryOrder
from tests.unit.evidence.test_statements import read

TEXT = (
    "The fog came up. “I keep everything,” said Nell, and shut the ledger.\n\n“You will"
    " not cross tonight,” Mr. Lusk told her."
)
CAST = (("Nell", "Nell Tallow"), ("Mr. Lusk", "Lusk"), ("Jack",))
STORY = CheckedStory(
    StoryOrder({}, (), {}),
    Pipeline.AGENTIC,
    CAST,
    quotations=(
        KnownQuotation(CAST[0], "The tide is late, and so are you.", True),
        KnownQuotation(CAST[1], "The mill is older than the sea wall.", False),
    ),
)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Nell said, “I keep nothing.”", ["I keep nothing."]),
        ("“Nothing,” says old Nell Tallow.", ["Nothing,"]),
        ("“Nothing,” Nell replied.", ["Nothing,"]),
        ("Her “art” fills the house.", []),
        ("Nell read “The Tide” twice.", []),
        ("Her “art of keeping a light” fills it.", ["art of keeping a light"]),
        ("Her ‘art of keeping a light’ fills it.", ["art of keeping a light"]),
        ("‘Nothing,’ Nell replied.", ["Nothing,"]),
        ("Nell said, 'I keep nothing.'", ["I keep nothing."]),
        ("‘The boys’ hats aren’t lost,’ said Nell.", ["The boys’ hats aren’t lost,"]),
        ("The boys' hats and the girls' books aren't Nell's.", []),
        ("'Tis the singin' of the boys' rock 'n' roll.", []),
        ("She read ‘The Tide of the Old North’ twice.", []),
    ],
)
def test_short_quotations_must_be_verbatim_beside_a_verb_of_saying(
    sentence: str, expected: list[str]
) -> None:
    (statement,) = read(sentence)
    quotations = list_checked_quotations(statement)
    assert [quotation.text for quotation in quotations] == expected


@pytest.mark.parametrize(
    ("quotation", "wording"),
    [
        ("I keep nothing.", "I keep everything"),
        ("You will not cross today", "You will not cross tonight"),
        ("The sea is a bell.", ""),
        ("", ""),
    ],
)
def test_the_text_shows_its_own_wording(quotation: str, wording: str) -> None:
    assert find_nearest_wording(quotation, [TEXT]) == wording


def test_a_quotation_with_one_wrong_word_is_shown_with_both_wordings() -> None:
    (statement,) = read("Nell said, “I keep nothing.”")
    quotations = list_checked_quotations(statement)
    (wrong,) = find_wrong_quotations(quotations, [TEXT], [TEXT])
    assert (wrong.stated, wrong.found) == ("I keep nothing.", "I keep everything")
    (right,) = read("Nell said, “I keep everything.”")
    assert not list(
        find_wrong_quotations(list_checked_quotations(right), [TEXT], [TEXT])
    )


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("“I keep everything,” says Jack.", "said Nell"),
        ("“You will not cross tonight,” says Nell.", "Mr. Lusk told her"),
        ("“I keep everything,” says Nell Tallow.", None),
        ("“I keep everything,” she says.", None),
        ("“The fog came up,” says Jack.", None),
        ("‘I keep everything,’ says Jack.", "said Nell"),
        ("'I keep everything,' says Nell.", None),
    ],
)
def test_another_speaker_than_that_of_the_text_is_a_difference(
    sentence: str, found: str | None
) -> None:
    (statement,) = read(sentence)
    single = TEXT.replace("“", "‘").replace("”", "’")
    for text in (TEXT, single):
        difference = find_other_speaker(statement, [text], STORY)
        assert (difference.found if difference else None) == found


@pytest.mark.parametrize(
    ("narrators", "found"),
    [((CAST[0],), "I shouted"), ((CAST[2],), None), ((), None), (CAST[:2], None)],
)
def test_the_only_narrator_is_who_says_i(
    narrators: tuple[tuple[str, ...], ...], found: str | None
) -> None:
    (statement,) = read("“The mule is in the boat,” says Jack.")
    text = "“The mule is in the boat,” I shouted, and ran."
    story = replace(STORY, narrators=narrators)
    difference = find_other_speaker(statement, [text], story)
    assert (difference.found if difference else None) == found


@pytest.mark.parametrize(
    ("after", "found"),
    [
        (
            "were the first words that came, at a run, from Mr. Lusk.",
            None,
        ),
        (
            "were the first words that came from Mr. Lusk.",
            "were the first words that came from Mr. Lusk",
        ),
        ("was the only answer of Jack.", None),
        ("were lights on the boat of Mr. Lusk.", None),
    ],
)
def test_the_speaker_may_be_named_after_words_about_the_words(
    after: str, found: str | None
) -> None:
    (statement,) = read("“Is nobody here to row?” said Jack.")
    difference = find_other_speaker(
        statement, [f"“Is nobody here to row?” {after}"], STORY
    )
    assert (difference.found if difference else None) == found


def test_the_speaker_is_found_whichever_apostrophes_the_text_has() -> None:
    (statement,) = read("“I'd thought the mule was a ghost,” remarked Jack.")
    text = "‘Good heavens!—I’d thought the mule was a ghost,’ remarked Nell, while mending nets."
    difference = find_other_speaker(statement, [text], STORY)
    assert difference is not None
    assert difference.found == "remarked Nell"


@pytest.mark.parametrize(
    ("text", "quotation", "words"),
    [
        ("He said, “No; never!” twice.", "said no never", "said, “No; never"),
        ("He said 'no never' twice.", "no never", "no never"),
        ("He _said no_ twice.", "Said no", "said no"),
        ("It is Nell’s lamp.", "Nell's lamp", "Nell’s lamp"),
        ("He said no.", "no he", None),
        ("He said no.", "", None),
    ],
)
def test_words_are_found_however_they_are_punctuated(
    text: str, quotation: str, words: str | None
) -> None:
    place = find_quotation(text, quotation)
    assert (place and text[place.start : place.end]) == words


def test_who_speaks_and_in_which_chapter_is_no_claim_of_its_own() -> None:
    names = ["nell", "tallow"]
    (tag,) = read("In chapter 5, Nell Tallow writes: “I keep everything.”")
    assert strip_speaker_tag(tag, names) == ""
    (more,) = read("“I keep everything,” says Nell, and shuts the grey ledger.")
    assert strip_speaker_tag(more, names) == "and shuts the grey ledger."


@pytest.mark.parametrize(
    ("sentence", "found", "probable"),
    [
        ("“The tide is late,” says Jack. “So are you.”", "Nell", "Nell"),
        ("“The tide is late, and so are you,” says Nell Tallow.", None, ""),
        ("“The mill is older than the sea wall,” says Jack.", None, "Mr. Lusk"),
        ("“The mill is older than the sea wall,” says Lusk.", None, ""),
        ("Jack says, “The tide is late, and so are you,” and Nell nods.", None, ""),
    ],
)
def test_a_known_speaker_is_a_difference_and_a_probable_one_a_note(
    sentence: str, found: str | None, probable: str
) -> None:
    statement = read(sentence)[0]
    difference = find_other_speaker(statement, [], STORY)
    assert (difference.found if difference else None) == found
    assert find_probable_speaker(statement, STORY) == probable
