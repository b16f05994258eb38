from functools import reduce

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lrwr.core.canon.decision import (
    Decision,
    NameDecision,
    NameIgnored,
    NameRenamed,
    NamesMerged,
    NamesSplit,
)
from lrwr.core.canon.model import (
    Canon,
    CanonNames,
    find_name_conflicts,
    resolve_canon_person,
)
from lrwr.core.canon.reducer import apply_decision, apply_name_decision
from lrwr.core.model.errors import SettingsProblem
from tests.fakes.canons import name_decisions, names


def after(*decisions: NameDecision) -> CanonNames:
    return reduce(apply_name_decision, decisions, CanonNames())


def as_far_as_possible(canon: Canon, decision: Decision) -> Canon:
    try:
        return apply_decision(canon, decision)
    except SettingsProblem:
        return canon


def test_merged_names_stand_under_the_first_unless_another_is_chosen() -> None:
    assert after(NamesMerged(("Nell", "Wren"))).merged == {"Nell": ("Wren",)}
    chosen = after(NamesMerged(("Nell", "Wren"), "Nell Tallow"))
    assert chosen.merged == {"Nell Tallow": ("Nell", "Wren")}


def test_merging_two_people_brings_all_their_names_together() -> None:
    found = after(
        NamesMerged(("Nell", "Wren")),
        NamesMerged(("Sel", "Ansel")),
        NamesMerged(("Ansel", "Wren")),
    )
    assert found.merged == {"Sel": ("Ansel", "Wren", "Nell")}


def test_the_last_word_wins_between_merging_and_splitting() -> None:
    merged = NamesMerged(("Mags", "Maggie", "Ochra"))
    split = NamesSplit("Mags", "Maggie")
    assert after(split, merged).split == ()
    apart = after(merged, split)
    assert apart.merged == {"Mags": ("Ochra",)}
    assert apart.split == (("Maggie", "Mags"),)


def test_splitting_two_of_two_dissolves_the_group() -> None:
    apart = after(NamesMerged(("Mags", "Maggie")), NamesSplit("Maggie", "Mags"))
    assert apart.merged == {}


def test_a_renamed_person_answers_to_both_names() -> None:
    found = after(
        NameRenamed("the narrator", "Nell"),
        NamesMerged(("Nell", "Wren")),
        NameRenamed("Wren", "Nell Tallow"),
    )
    assert found.renamed == {"the narrator": "Nell Tallow"}
    assert resolve_canon_person(found, "Wren") == resolve_canon_person(
        found, "Nell Tallow"
    )


def test_a_person_can_be_called_what_they_were_again() -> None:
    assert (
        after(NameRenamed("Jack", "Jory"), NameRenamed("Jory", "Jack")) == CanonNames()
    )


def test_two_people_cannot_be_given_one_name() -> None:
    with pytest.raises(SettingsProblem, match="already the name") as caught:
        after(NamesMerged(("Nell", "Wren")), NameRenamed("Mags", "Wren"))
    assert 'lrwr canon merge "Wren" "Mags"' in caught.value.hint


def test_an_ignored_word_is_nobody_until_it_is_decided_about_again() -> None:
    gone = after(NamesMerged(("Monday", "Mags", "Ochra")), NameIgnored("Monday"))
    assert gone == CanonNames(merged={"Mags": ("Ochra",)}, ignored=("Monday",))
    assert apply_name_decision(gone, NamesSplit("Monday", "Mags")).ignored == ()


@pytest.mark.parametrize(
    "decision",
    [
        NamesMerged(("Nell", " Nell ")),
        NamesSplit("Nell", "Nell"),
        NameRenamed("Nell", "Nell"),
        NameIgnored(" "),
        NameIgnored("a\x1b[31mb"),
        NameIgnored("\udc80"),
    ],
)
def test_a_decision_that_says_nothing_is_refused(decision: NameDecision) -> None:
    with pytest.raises(SettingsProblem) as caught:
        after(decision)
    assert caught.value.hint


@given(st.lists(name_decisions, max_size=12))
def test_no_decisions_ever_contradict_each_other(made: list[Decision]) -> None:
    canon = reduce(as_far_as_possible, made, Canon())
    assert list(find_name_conflicts(canon.names)) == []


@given(st.lists(name_decisions, max_size=8), st.lists(names, min_size=2, unique=True))
def test_merged_names_are_one_person_whatever_was_decided_before(
    made: list[Decision], together: list[str]
) -> None:
    before = reduce(as_far_as_possible, made, Canon())
    merged = apply_decision(before, NamesMerged(tuple(together))).names
    assert len({resolve_canon_person(merged, name) for name in together}) == 1


@given(st.lists(name_decisions, max_size=8), st.lists(names, min_size=2, unique=True))
def test_split_names_are_two_people_whatever_was_decided_before(
    made: list[Decision], apart: list[str]
) -> None:
    before = reduce(as_far_as_possible, made, Canon())
    split = apply_decision(before, NamesSplit(*apart[:2])).names
    assert resolve_canon_person(split, apart[0]) != resolve_canon_person(
        split, apart[1]
    )


@given(st.lists(name_decisions, max_size=8), name_decisions)
def test_deciding_twice_is_deciding_once(
    made: list[Decision], decision: Decision
) -> None:
    before = reduce(as_far_as_possible, made, Canon())
    if isinstance(decision, NameRenamed):  # back to the first name ends the renaming
        assume(resolve_canon_person(before.names, decision.old) != decision.new)
    once = as_far_as_possible(before, decision)
    assert as_far_as_possible(once, decision) == once
