"""Whom a word means that a writer types."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.cast import Alias, Cast, Character, Gender
from lrwr.core.model.facts import Certainty
from lrwr.core.nlp.names.lexicon import fold_name
from lrwr.core.nlp.names.lookup import (
    bounded_edit_distance,
    find_names_in_question,
    is_character_name,
    resolve_name,
    suggest_misspelled_names,
)


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
        character("Nell Tallow", "Nell", "Wren"),
        character("PurpleFrog", "Frog"),
        character("Corin Vale", "Mr. Vale"),
        character("the Reeve", "Reeve"),
        character("Orla Gannet"),
        character("Isa Gannet"),
        character("Will"),
    ),
    {"Miss Gannet": ("Orla Gannet", "Isa Gannet")},
)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("nell", ("Nell Tallow",)),
        ("NELL TALLOW", ("Nell Tallow",)),
        ("mr vale", ("Corin Vale",)),
        ("reeve", ("the Reeve",)),
        ("The Reeve", ("the Reeve",)),
        ("Nell’s", ("Nell Tallow",)),
        ("miss gannet", ("Orla Gannet", "Isa Gannet")),
        ("gannet", ("Orla Gannet", "Isa Gannet")),
        ("corin", ("Corin Vale",)),
        ("purplefrg", ("PurpleFrog",)),
        ("Purple Frog", ("PurpleFrog",)),
        ("Nobody", ()),
        ("", ()),
    ],
)
def test_a_typed_name_means_somebody(typed: str, meant: tuple[str, ...]) -> None:
    assert resolve_name(typed, CAST) == meant


def asked(question: str) -> list[tuple[str, tuple[str, ...]]]:
    found = find_names_in_question(question, CAST)
    return [(question[span.start : span.end], who) for span, who in found]


def test_names_are_found_in_a_question_in_small_letters() -> None:
    assert asked("what does nell say to corin vale?") == [
        ("nell", ("Nell Tallow",)),
        ("corin vale", ("Corin Vale",)),
    ]


def test_possessives_and_slips_are_understood() -> None:
    assert asked("Where is Nell's pole, and PurpleFrg?") == [
        ("Nell", ("Nell Tallow",)),
        ("PurpleFrg", ("PurpleFrog",)),
    ]


def test_a_common_word_is_nobody() -> None:
    assert asked("will it rain?") == []
    assert asked("Will it rain on the frog?") == [("the frog", ("PurpleFrog",))]


def test_a_shared_name_means_each_of_its_bearers() -> None:
    assert asked("did Miss Gannet leave?") == [
        ("Miss Gannet", ("Orla Gannet", "Isa Gannet"))
    ]


@pytest.mark.parametrize(
    "question",
    [
        "Who saw Nell. Tallow is a family.",
        "Tell me about Nell; Tallow is gone.",
        "Where is Nell? Tallow is a family.",
        "Do ask Nell… Tallow is gone.",
        "Was it Nell\n\nTallow is a family.",
    ],
)
def test_a_name_ends_where_a_sentence_does(question: str) -> None:
    assert asked(question) == [
        ("Nell", ("Nell Tallow",)),
        ("Tallow", ("Nell Tallow",)),
    ]


def test_words_of_two_sentences_are_no_longer_name() -> None:
    assert asked("Did you see Orla? Gannet knew.") == [
        ("Orla", ("Orla Gannet",)),
        ("Gannet", ("Orla Gannet", "Isa Gannet")),
    ]
    assert asked("They asked Corin. Vale is empty.") == [
        ("Corin", ("Corin Vale",)),
        ("Vale", ("Corin Vale",)),
    ]


def test_a_title_and_an_initial_end_no_name() -> None:
    assert asked("What did Mr. Vale say?") == [("Mr. Vale", ("Corin Vale",))]
    assert asked("Where is Orla M. Gannet?") == [("Orla M. Gannet", ("Orla Gannet",))]
    assert asked("Where is Nell\nTallow?") == [("Nell\nTallow", ("Nell Tallow",))]


FAMILIES = Cast(
    (
        character("the King", "King", "King of Frogs"),
        character("the Queen", "Queen of Hearts"),
        character("Emma", "Miss Woodhouse", "Emma Woodhouse"),
        character("Mr. Knightley", "Knightley"),
        character("Mrs. Weston", "Miss Taylor"),
        character("Mr. Weston", "Weston"),
        character("Mr. Woodhouse", "Woodhouse"),
        character("James", "Mr. Morland"),
        character("Thorpe", "John", "John Thorpe"),
        character("Lady Isa Vane", "Vane"),
        character("Henry"),
        character("Nell"),
    )
)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Henry Woodhouse", ("Mr. Woodhouse",)),
        ("George Knightley", ("Mr. Knightley",)),
        ("Anna Weston", ("Mrs. Weston",)),
        ("James Morland", ("James",)),
        ("Jack Thorpe", ("Thorpe",)),
        ("Nell Harrow", ("Nell",)),
        ("Inspector Harry Woodhouse", ("Mr. Woodhouse",)),
        ("John Morland", ()),
        ("James Thorpe", ()),
        ("Emma Weston", ("Mrs. Weston",)),
        ("Henry Thorpe", ("Henry",)),
        ("Nell Weston", ("Mrs. Weston", "Nell")),
        ("Orla Vane", ()),
        ("Zorbla Vane", ()),
        ("Ema Woodhouse", ("Emma",)),
        ("Joan Thorpe", ()),
        ("Emma Knightley", ()),
    ],
)
def test_a_full_name_is_not_resolved_by_one_part(
    typed: str, meant: tuple[str, ...]
) -> None:
    expected = [(typed, meant)] if meant else []
    question = f"Who knows what {typed}'s friends want?"
    found = find_names_in_question(question, FAMILIES)

    assert [(question[span.start : span.end], who) for span, who in found] == expected
    assert resolve_name(typed, FAMILIES) == meant


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Does Emma call?", [("Emma",)]),
        ("Describe Woodhouse.", [("Mr. Woodhouse",)]),
        ("what does henry woodhouse say to emma?", [("Mr. Woodhouse",), ("Emma",)]),
        ("what does james thorpe say?", []),
        ("James Thorpe speaks when?", []),
        ("Mr. John Morland speaks when?", []),
        ("Where is Emma's Mr. Weston?", [("Emma",), ("Mr. Weston",)]),
        ("Who met Emma Monday?", [("Emma",)]),
        ("Who came? Describe Isa.", [("Lady Isa Vane",)]),
        ("Is Nell Henry's niece?", [("Nell",), ("Henry",)]),
        ("Whom does Knave Of Hearts meet?", []),
        ("Who calls Mr. Knightley Mr. Weston?", [("Mr. Knightley",), ("Mr. Weston",)]),
    ],
)
def test_words_beside_a_name_are_no_part_of_it(
    question: str, names: list[tuple[str, ...]]
) -> None:
    assert [who for _, who in find_names_in_question(question, FAMILIES)] == names


@given(st.text(max_size=60))
def test_any_question_can_be_read(question: str) -> None:
    names = {one.name for one in CAST.characters}

    for span, who in find_names_in_question(question, CAST):
        assert 0 <= span.start < span.end <= len(question)
        assert who
        assert set(who) <= names
    assert set(resolve_name(question, CAST)) <= names


WORDS = st.sampled_from(
    ["Nell", "Nella", "Neil", "Tallow", "Vale", "Orla", "Mr.", "Jo"]
)
NAMES = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)


@st.composite
def casts(draw: st.DrawFn) -> Cast:
    names = draw(st.lists(NAMES, max_size=6, unique=True))
    return Cast(
        tuple(character(name, *draw(st.lists(NAMES, max_size=2))) for name in names),
        draw(st.dictionaries(NAMES, st.just(tuple(names[:2])), max_size=2)),
    )


@given(casts(), NAMES)
def test_a_name_is_resolved_as_by_comparing_it_with_each_alias(
    cast: Cast, name: str
) -> None:
    folded = fold_name(name)
    forms = {
        fold_name(form): one.name
        for one in cast.characters
        for form in (one.name, *(alias.name for alias in one.aliases))
    }
    names = {*forms, *map(fold_name, cast.shared)}
    assert is_character_name(name, cast) == (folded in names)
    people = resolve_name(name, cast)
    if folded in names:
        return
    words = {*folded.split()} - {"mr"}
    own_words = {
        one.name: [{*fold_name(a.name).split()} - {"mr"} for a in one.aliases]
        for one in cast.characters
    }
    whole = [one for one, own in own_words.items() if any(words <= w for w in own)]
    joined = [one for one, own in own_words.items() if words <= set().union(*own)]
    part = [one for one, own in own_words.items() if any(w and w <= words for w in own)]
    if words and (whole or joined):
        assert people == tuple(whole or joined)
    elif len(people) <= 2 and set(people) <= set(part):
        assert not people or len(words) > 1
    else:
        near = [bounded_edit_distance(folded, form, 2) for form in names]
        assert not people or min(near) <= 2


def test_a_misspelled_name_written_in_several_capitals_is_recognized() -> None:
    cast = Cast((character("GreyAnsel"), character("Nell")))
    assert suggest_misspelled_names(["greyansle"], "Where is GreyAnsle?", cast) == (
        "GreyAnsel",
    )
    assert suggest_misspelled_names(["greyansle"], "where is greyansle?", cast) == ()


LETTERS = st.text("abc", max_size=8)


@given(LETTERS, LETTERS, st.integers(0, 3))
def test_an_edit_distance_is_that_of_the_whole_table_up_to_its_bound(
    first: str, second: str, most: int
) -> None:
    table = {(-1, -1): 0}
    for i in range(len(first)):
        table[i, -1] = i + 1
    for j in range(len(second)):
        table[-1, j] = j + 1
    for i, letter in enumerate(first):
        for j, other in enumerate(second):
            table[i, j] = min(
                table[i - 1, j] + 1,
                table[i, j - 1] + 1,
                table[i - 1, j - 1] + (letter != other),
            )
            if i and j and (first[i - 1], letter) == (other, second[j - 1]):
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    distance = table[len(first) - 1, len(second) - 1]
    assert bounded_edit_distance(first, second, most) == min(distance, most + 1)
