import pytest

from lrwr.core.bible.scenes import find_scene_place, find_time_phrase
from lrwr.core.model.text import Span


def whole(text: str) -> Span:
    return Span(0, len(text))


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("The next morning it rained.", "The next morning"),
        ("It rained. Three weeks later Nell woke.", "Three weeks later"),
        ("Nell woke on\nMonday.", "on Monday"),
        ("At midnight the bell rang.", "At midnight"),
        ("Nell woke.", ""),
        ("“Come tomorrow,” said Nell.", ""),
    ],
)
def test_the_time_is_a_phrase_of_the_narration(text: str, phrase: str) -> None:
    assert find_time_phrase(text, whole(text)) == phrase


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Nell sat in the kitchen.", "the kitchen"),
        ("They walked to Gull Street.", "Gull Street"),
        ("Nell sat.", ""),
        ("It was in the school register.", ""),
        ("She looked in the school register in the study.", "the study"),
        ("So in the hall Nell waited.", "the hall"),
        ("There in the kitchen sat Nell.", "the kitchen"),
        ("“He is in the kitchen,” said Nell.", ""),
    ],
)
def test_the_place_is_a_place_of_the_narration(text: str, place: str) -> None:
    assert find_scene_place(text, whole(text)) == place


@pytest.mark.parametrize(
    "text",
    [
        "Hob was to return in November.",
        "Nell hoped to see him on that very day.",
        "The marsh was as grey as if it had been seen in the autumn.",
        "Corin had come home the same evening.",
    ],
)
def test_a_time_of_something_else_is_not_that_of_the_scene(text: str) -> None:
    assert find_time_phrase(text, whole(text)) == ""
    both = f"{text} The next morning Nell rose."
    assert find_time_phrase(both, whole(both)) == "The next morning"
