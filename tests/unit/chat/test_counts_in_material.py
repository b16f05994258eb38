"""Counts that differ between the texts of an answer's material are pointed out."""

from lrwr.core.chat.context.conflicts import find_count_conflicts


def test_texts_with_different_counts_are_named() -> None:
    texts = [
        (2, "There were nineteen rungs in the ladder."),
        (3, "She went down all twenty-one rungs of the ladder."),
        (5, "He counted 19 rungs in the ladder."),
    ]
    (conflict,) = find_count_conflicts(texts)
    assert conflict == ("rungs of the ladder", ((2, "nineteen"), (3, "twenty-one")))


def test_words_that_are_no_numbers_are_no_counts() -> None:
    texts = [
        (1, "The rungs of the ladder."),
        (2, "Wet rungs of the ladder. I steps of the mix."),
    ]
    assert find_count_conflicts(texts) == []


def test_a_part_of_the_whole_is_no_other_count() -> None:
    texts = [
        (1, "The nineteen rungs of the ladder were wet."),
        (2, "She had climbed three rungs of the ladder when it slipped."),
        (3, "The ladder had 19 rungs."),
    ]
    assert find_count_conflicts(texts) == []
    assert find_count_conflicts([*texts, (4, "The ladder has twenty rungs.")]) == [
        ("rungs of the ladder", ((1, "nineteen"), (4, "twenty")))
    ]
