"""Where a text names its characters."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.cast import Alias, Cast, Character, Gender
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.mentions import find_mentions


def character(name: str, *aliases: str) -> Character:
    return Character(
        name,
        tuple(Alias(one, 1, Certainty.VERIFIED) for one in (name, *aliases)),
        Gender.UNKNOWN,
        Certainty.NOT_EVALUATED,
        Certainty.VERIFIED,
    )


CAST = Cast(
    (
        character("Orla Gannet", "Orla", "Miss Orla Gannet"),
        character("Isa Gannet", "Isa"),
        character("Mr. Vale", "Corin", "the bellman", "D’Arden"),
        character("Will"),
    ),
    {"Miss Gannet": ("Orla Gannet", "Isa Gannet")},
)


def found(text: str) -> list[tuple[str, str]]:
    mentions = find_mentions(text, [Span(0, len(text))], CAST)
    return [(one.who, text[one.span.start : one.span.end]) for one in mentions]


def test_the_longest_name_is_one_mention() -> None:
    assert found("There stood Miss Orla Gannet.") == [
        ("Orla Gannet", "Miss Orla Gannet")
    ]


def test_a_possessive_is_cut() -> None:
    assert found("It was Isa’s hat.") == [("Isa Gannet", "Isa")]


def test_a_name_across_two_lines_is_found() -> None:
    assert found("with Orla\nGannet.") == [("Orla Gannet", "Orla\nGannet")]


def test_a_title_needs_no_full_stop_and_either_apostrophe_will_do() -> None:
    assert found("Mr Vale, or D'Arden") == [
        ("Mr. Vale", "Mr Vale"),
        ("Mr. Vale", "D'Arden"),
    ]


def test_a_description_in_small_letters_needs_its_article() -> None:
    assert found("He saw the bellman, not a bellman.") == [("Mr. Vale", "the bellman")]


def test_a_shared_name_means_the_one_who_was_named_last() -> None:
    assert found("Isa sat. “Miss Gannet!”")[-1] == ("Isa Gannet", "Miss Gannet")
    assert found("“Miss Gannet!”") == []


def test_part_of_somebody_elses_name_is_no_mention() -> None:
    assert found("He met Mrs. Corin and Bram Corin.") == []


def test_a_name_that_is_a_word_is_not_found_where_a_question_begins() -> None:
    assert found("Will you come? Will nodded. I saw Will.") == [("Will", "Will")] * 2


@given(
    st.lists(
        st.sampled_from(["Orla", "Gannet", "Miss", "Isa", "Will", "x.", "“", "\n"])
    )
)
def test_mentions_are_in_order_and_never_overlap(words: list[str]) -> None:
    text = " ".join(words)
    spans = [one.span for one in find_mentions(text, [Span(0, len(text))], CAST)]

    assert all(one.end <= other.start for one, other in pairwise(spans))


def test_only_the_parts_are_searched() -> None:
    text = "Orla %% Isa %% Will"

    assert [one.who for one in find_mentions(text, [Span(0, 5)], CAST)] == [
        "Orla Gannet"
    ]


def test_an_oath_mentions_nobody() -> None:
    cast = Cast((character("George"),))

    def count(text: str) -> int:
        return len(find_mentions(text, [Span(0, len(text))], cast))

    assert count("“By George! It rains,” said Hob.") == 0
    assert count("“Well, by George, it rains,” said Hob.") == 0
    assert count("The letter was written by George, not by Hob.") == 1
