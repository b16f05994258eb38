"""Relations that the text states, that cues suffice for, and that follow."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrwr.core.bible.index import BibleParts
from lrwr.core.bible.values import format_relation
from lrwr.core.model.cast import Gender
from lrwr.core.model.facts import (
    ALONE_DETAIL,
    WRITER_KEEPER,
    CueParty,
)
from tests.fakes.suite import examples
from tests.unit.bible.family import PEOPLE, PROBABLE, VERIFIED, Family


def test_one_weak_cue_is_not_enough_and_two_are() -> None:
    family = Family("Miss Vale", "Mrs. Gannet")
    family.hints("address", "Mrs. Gannet", "aunt", "Miss Vale", sure=VERIFIED)
    assert family.shown() == []
    family.hints("title", "Mrs. Gannet", "aunt", "Miss Vale", sure=VERIFIED)
    (relation,) = family.relations()
    assert (relation.kind, relation.certainty) == ("aunt", PROBABLE)
    assert len(relation.evidence) == 2


def test_both_directions_of_one_relation_are_one_with_all_places() -> None:
    family = Family("Miss Vale", "Mr. Vale")
    family.states("Mr. Vale", "brother", "Miss Vale")
    family.states("Miss Vale", "sister", "Mr. Vale")
    (relation,) = family.relations()
    assert (relation.target, relation.kind, relation.source) == (
        "Mr. Vale",
        "brother",
        "Miss Vale",
    )
    assert len(relation.evidence) == 2


def test_a_title_before_a_given_name_is_no_other_surname() -> None:
    family = Family("Nell Tallow", "Hob Tallow")
    family.stories.name("Tom", "Mr. Tom", gender=Gender.MALE)
    for _ in range(4):
        family.hints("tag", "Nell Tallow", "sister", "Tom")
    assert ("Nell Tallow", "sister", "Tom") in family.shown()


@pytest.mark.parametrize(
    ("full_names", "shown"),
    [(["Annis Pell"], "Annis Pell"), (["Annis Pell", "Annis Gannet"], "Annis")],
)
def test_a_stranger_is_known_by_the_only_full_name_with_the_given_name(
    full_names: list[str], shown: str
) -> None:
    family = Family("Hob Tallow", "Nell Tallow")
    for name in full_names:
        family.states(name, "mother", "Nell Tallow")
    family.states("Annis", "wife", "Hob Tallow", keeper=WRITER_KEEPER)
    assert (shown, "wife", "Hob Tallow") in family.shown()


def test_a_nameless_mother_is_the_only_mrs_of_that_surname() -> None:
    family = Family("Nell Tallow", "Mrs. Tallow", "Mrs. Gannet")
    for _ in range(3):
        family.hints("unnamed", "", "mother", "Nell Tallow")
    assert family.shown() == []
    family.hints("unnamed", "", "mother", "Nell Tallow")
    assert family.shown() == [("Mrs. Tallow", "mother", "Nell Tallow")]


def test_kin_without_a_name_confirm_a_name_said_once() -> None:
    family = Family("Miss Vale", "Mr. Vale", "Mrs. Gannet", "Hob Tallow")
    family.hints("named", "Hob Tallow", "nephew", "Mrs. Gannet")
    assert family.shown() == []
    for _ in range(2):
        family.hints("unnamed", "", "nephew", "Mrs. Gannet")
    assert family.shown() == [("Hob Tallow", "nephew", "Mrs. Gannet")]


def test_a_name_after_the_pronoun_of_the_only_one_in_a_paragraph_suffices() -> None:
    family = Family("Miss Vale", "Hob Tallow")
    one = (("possible", "Miss Vale"), ("pronoun", "her"), ALONE_DETAIL)
    family.hints("named", "Hob Tallow", "cousin", "", *one)
    assert family.shown() == [("Hob Tallow", "cousin", "Miss Vale")]


def test_a_wife_has_her_husbands_name_although_he_has_a_brother() -> None:
    family = Family("Mr. Tallow", "Mrs. Tallow", "Hob Tallow")
    assert family.shown() == []
    family.hints("unnamed", "", "wife", "Mr. Tallow")
    assert family.shown() == [("Mrs. Tallow", "wife", "Mr. Tallow")]


def test_an_aunt_is_no_cousin_but_a_husband_may_be_one() -> None:
    family = Family("Miss Vale", "Mrs. Gannet", "Mr. Vale")
    for _ in range(4):
        family.hints("title", "Mrs. Gannet", "aunt", "Miss Vale", sure=VERIFIED)
    for _ in range(3):
        family.hints("address", "Mrs. Gannet", "cousin", "Miss Vale", sure=VERIFIED)
    assert family.shown() == [("Mrs. Gannet", "aunt", "Miss Vale")]
    family.states("Mr. Vale", "husband", "Mrs. Gannet")
    family.states("Mr. Vale", "cousin", "Mrs. Gannet")
    assert {kind for _, kind, _ in family.shown()} >= {"husband", "cousin"}


def test_a_companion_is_no_relation() -> None:
    family = Family("Miss Vale", "Hob Tallow")
    for _ in range(3):
        family.hints("named", "Hob Tallow", "companion", "Miss Vale", sure=VERIFIED)
    assert family.shown() == []


def test_kin_without_a_name_are_those_whom_the_text_states() -> None:
    family = Family("Nell Tallow", "Mrs. Gannet", "Hob Tallow", "Mr. Vale")
    family.states("Mr. Vale", "nephew", "Mrs. Gannet")
    family.hints("named", "Hob Tallow", "nephew", "Mrs. Gannet")
    for _ in range(3):
        family.hints("unnamed", "", "nephew", "Mrs. Gannet")
    assert family.shown() == [("Mr. Vale", "nephew", "Mrs. Gannet")]


def test_mr_and_mrs_are_a_couple_beside_a_son_without_a_title() -> None:
    family = Family("Mr. Tallow", "Mrs. Tallow", "Hob Tallow")
    family.states("Mrs. Tallow", "wife", "Mr. Tallow", sure=PROBABLE)
    assert family.shown() == [("Mrs. Tallow", "wife", "Mr. Tallow")]


def test_many_places_tell_that_mr_and_mrs_are_a_couple_beside_a_captain() -> None:
    family = Family("Mr. Tallow", "Mrs. Tallow")
    family.stories.name("Captain Tallow", gender=Gender.MALE)
    for _ in range(3):
        family.states("Mrs. Tallow", "wife", "Mr. Tallow", sure=PROBABLE)
    assert family.shown() == []
    family.states("Mrs. Tallow", "wife", "Mr. Tallow", sure=PROBABLE)
    assert family.shown() == [("Mrs. Tallow", "wife", "Mr. Tallow")]


def test_lady_is_the_wife_of_the_knight_and_not_of_his_heir() -> None:
    family = Family()
    for name in ("Sir Hob Vale", "Mr. Vale"):
        family.stories.name(name, gender=Gender.MALE)
    family.stories.name("Lady Vale", gender=Gender.FEMALE)
    for man in ("Sir Hob Vale", "Mr. Vale") * 2:
        family.hints("unnamed", "", "wife", man)
    assert family.shown() == [("Lady Vale", "wife", "Sir Hob Vale")]


def test_mr_and_mrs_with_a_given_name_are_the_man_of_that_name() -> None:
    family = Family("Hob Tallow", "Mr. Tallow", "Mrs. Tallow")
    family.stories.name("Hob Tallow", "Mr. Hob Tallow", gender=Gender.MALE)
    family.stories.name("Mrs. Hob Tallow", gender=Gender.FEMALE)
    family.states("Mrs. Hob Tallow", "wife", "Mr. Hob Tallow", sure=PROBABLE)
    assert family.shown() == [("Mrs. Hob Tallow", "wife", "Hob Tallow")]


def test_a_mother_of_whom_one_often_speaks_is_the_only_mrs_of_that_surname() -> None:
    family = Family("Hob Tallow", "Mrs. Tallow")
    for _ in range(4):
        family.hints("unnamed", "", "mother", "Hob Tallow")
    assert family.shown() == []
    family.hints("unnamed", "", "mother", "Hob Tallow")
    assert family.shown() == [("Mrs. Tallow", "mother", "Hob Tallow")]


def test_a_father_with_another_surname_is_one_whose_son_and_father_are_named() -> None:
    family = Family("Hob Tallow", "Mr. Tallow", "Mr. Vale")
    for _ in range(8):
        family.hints("unnamed", "", "father", "Hob Tallow")
    for _ in range(4):
        family.hints("address", "Mr. Vale", "father", "Hob Tallow")
    assert family.shown() == [("Mr. Tallow", "father", "Hob Tallow")]
    family.hints("tag", "Mr. Vale", "father", "Hob Tallow", sure=VERIFIED)
    family.hints("tag", "Hob Tallow", "son", "Mr. Vale", sure=VERIFIED)
    assert family.shown() == [("Mr. Vale", "father", "Hob Tallow")]


def test_nobody_gets_a_second_father_by_the_mothers_marriage() -> None:
    family = Family("Nell Tallow", "Mr. Tallow", "Mrs. Tallow", "Hob Tallow")
    family.states("Hob Tallow", "father", "Nell Tallow")
    family.states("Mrs. Tallow", "mother", "Nell Tallow")
    family.states("Mrs. Tallow", "wife", "Mr. Tallow")
    assert ("Mr. Tallow", "father", "Nell Tallow") not in family.shown()


def test_a_father_with_another_surname_needs_more_than_a_word_in_passing() -> None:
    family = Family("Nell Tallow", "Mr. Vale")
    family.states("Nell Tallow", "daughter", "Mr. Vale", sure=PROBABLE)
    assert family.shown() == []
    family.hints("address", "Mr. Vale", "father", "Nell Tallow", sure=VERIFIED)
    assert family.shown() == [("Nell Tallow", "daughter", "Mr. Vale")]


def test_the_last_of_the_marriages_that_are_spoken_of_is_listed() -> None:
    family = Family("Hob Tallow", "Nell Tallow", "Miss Vale")
    family.hints("union", "Miss Vale", "spouse", "Hob Tallow", sure=VERIFIED)
    family.hints("union", "Nell Tallow", "spouse", "Hob Tallow", sure=VERIFIED)
    assert family.shown() == [("Nell Tallow", "wife", "Hob Tallow")]


def test_a_pronoun_means_the_only_one_of_its_gender() -> None:
    family = Family("Nell Tallow", "Hob Tallow", "Mrs. Gannet")
    both = (("possible", "Nell Tallow"), ("possible", "Hob Tallow"))
    for _ in range(2):
        family.hints("named", "Mrs. Gannet", "aunt", "", ("pronoun", "her"), *both)
    assert family.shown() == [("Mrs. Gannet", "aunt", "Nell Tallow")]


@pytest.mark.parametrize("party", CueParty)
def test_nobody_is_guessed_for_an_unknown_speaker(party: CueParty) -> None:
    family = Family("Mrs. Gannet")
    for _ in range(9):
        family.hints("named", "Mrs. Gannet", "aunt", party)
    assert family.shown() == []


def test_your_cousin_weighs_less_than_my_cousin() -> None:
    family = Family("Miss Vale", "Mrs. Gannet")
    party = ("party", CueParty.ADDRESSEE)
    family.hints("named", "Mrs. Gannet", "cousin", "Miss Vale", party, sure=VERIFIED)
    assert family.shown() == []
    family.hints("named", "Mrs. Gannet", "cousin", "Miss Vale", sure=VERIFIED)
    assert family.shown() == [("Mrs. Gannet", "cousin", "Miss Vale")]


def test_a_girl_is_no_mother_of_a_married_woman() -> None:
    family = Family("Nell Tallow", "Mrs. Gannet")
    for _ in range(4):
        family.hints("address", "Nell Tallow", "mother", "Mrs. Gannet")
    assert family.shown() == []


def test_mr_and_mrs_of_a_surname_are_a_couple_if_he_is_its_only_man() -> None:
    family = Family("Mr. Vale")
    family.states("Mrs. Vale", "wife", "Mr. Vale", sure=PROBABLE)
    assert family.shown() == [("Mrs. Vale", "wife", "Mr. Vale")]


def test_a_general_is_the_father_of_his_name() -> None:
    family = Family("Miss Vale")
    family.stories.name("General Vale", gender=Gender.MALE)
    family.stories.name("Hob", "Captain Hob Vale", gender=Gender.MALE)
    for _ in range(4):
        family.hints("unnamed", "", "father", "Miss Vale")
    assert family.shown() == [("General Vale", "father", "Miss Vale")]
    for _ in range(4):
        family.hints("unnamed", "", "brother", "Miss Vale")
    assert ("Hob", "brother", "Miss Vale") in family.shown()


def test_after_mrs_a_given_name_is_a_surname() -> None:
    family = Family()
    family.stories.name("Mr. Ellis", "Ellis", gender=Gender.MALE)
    family.stories.name("Mrs. Ellis", gender=Gender.FEMALE)
    family.states("Mrs. Ellis", "wife", "Mr. Ellis", sure=PROBABLE)
    assert family.shown() == [("Mrs. Ellis", "wife", "Mr. Ellis")]


def test_a_mother_by_surname_is_no_wife_of_anybody_but_the_father() -> None:
    family = Family("Hob Tallow", "Mr. Tallow", "Mrs. Tallow", "Mr. Vale")
    family.states("Mrs. Tallow", "wife", "Mr. Tallow")
    for _ in range(5):
        family.hints("unnamed", "", "mother", "Hob Tallow")
    mother = ("Mrs. Tallow", "mother", "Hob Tallow")
    assert mother in family.shown()
    family.states("Mr. Vale", "father", "Hob Tallow")
    assert mother not in family.shown()


def test_of_two_with_one_surname_by_birth_fewer_cues_make_siblings() -> None:
    family = Family("Hob Tallow", "Nell Tallow", "Mr. Vale")
    for other in ("Nell Tallow", "Mr. Vale"):
        family.hints("title", other, "cousin", "Hob Tallow", sure=VERIFIED)
    assert family.shown() == []
    family = Family("Hob Tallow", "Nell Tallow")
    for _ in range(2):
        family.hints("tag", "Nell Tallow", "sister", "Hob Tallow")
    assert family.shown() == [("Nell Tallow", "sister", "Hob Tallow")]


def test_a_mother_does_not_stay_a_wife() -> None:
    family = Family("Hob Tallow", "Mrs. Tallow")
    for _ in range(4):
        family.hints("unnamed", "", "wife", "Hob Tallow")
    assert family.shown() == [("Mrs. Tallow", "wife", "Hob Tallow")]
    family.hints("address", "Mrs. Tallow", "mother", "Hob Tallow", sure=VERIFIED)
    for _ in range(3):
        family.hints("unnamed", "", "mother", "Hob Tallow")
        family.hints("address", "Mrs. Tallow", "mother", "Hob Tallow", sure=VERIFIED)
    assert family.shown() == [("Mrs. Tallow", "mother", "Hob Tallow")]


def test_mr_and_mrs_are_no_couple_if_the_only_man_has_a_given_name() -> None:
    family = Family("Mrs. Tallow")
    for _ in range(4):
        family.states("Mrs. Tallow", "wife", "Mr. Tallow", sure=PROBABLE)
    family.stories.name("Hob Gannet", "Hob Tallow", "Mr. Tallow", gender=Gender.MALE)
    assert family.shown() == []


def test_of_contradictory_kin_only_the_better_supported_is_shown() -> None:
    family = Family("Hob Tallow", "Mrs. Gannet")
    family.states("Mrs. Gannet", "mother", "Hob Tallow", sure=PROBABLE)
    family.states("Mrs. Gannet", "wife", "Hob Tallow")
    assert family.shown() == [("Mrs. Gannet", "wife", "Hob Tallow")]


def test_what_the_author_states_is_always_shown() -> None:
    family = Family("Hob Tallow", "Mrs. Gannet")
    family.states("Mrs. Gannet", "mother", "Hob Tallow", keeper=WRITER_KEEPER)
    family.states("Mrs. Gannet", "wife", "Hob Tallow")
    family.states("Mrs. Gannet", "wife", "Hob Tallow")
    assert family.shown() == [("Mrs. Gannet", "mother", "Hob Tallow")]


@pytest.mark.parametrize(
    ("target", "kind", "source"),
    [
        ("Mr. Vale", "sister", "Miss Vale"),
        ("Miss Vale", "wife", "Mrs. Gannet"),
        ("Mr. Vale", "companion", "Hob Tallow"),
    ],
)
def test_genders_and_chance_company_rule_a_relation_out(
    target: str, kind: str, source: str
) -> None:
    family = Family(target, source)
    family.states(target, kind, source)
    assert family.shown() == []


def test_two_daughters_of_one_man_are_sisters() -> None:
    family = Family("Nell Tallow", "Mags Tallow", "Mr. Tallow")
    family.states("Nell Tallow", "daughter", "Mr. Tallow")
    family.states("Mags Tallow", "daughter", "Mr. Tallow")
    *stated, sisters = family.relations()
    assert [relation.derived for relation in stated] == [False, False]
    assert (sisters.source, sisters.kind, sisters.target) == (
        "Mags Tallow",
        "sister",
        "Nell Tallow",
    )
    assert (sisters.derived, sisters.certainty) == (True, PROBABLE)
    assert len(sisters.evidence) == 2
    assert format_relation(sisters)[1] == "Nell Tallow (derived)"


def test_a_mothers_sister_is_an_aunt() -> None:
    family = Family("Miss Vale", "Mrs. Gannet", "Mags Tallow")
    family.states("Mrs. Gannet", "mother", "Miss Vale")
    family.states("Mags Tallow", "sister", "Mrs. Gannet")
    assert family.shown()[-1] == ("Mags Tallow", "aunt", "Miss Vale")


def test_nothing_follows_against_a_stated_relation() -> None:
    family = Family("Miss Vale", "Mrs. Gannet", "Mags Tallow")
    family.states("Mrs. Gannet", "mother", "Miss Vale")
    family.states("Mags Tallow", "sister", "Mrs. Gannet")
    family.states("Mags Tallow", "cousin", "Miss Vale")
    assert len(family.shown()) == 3


NAMES = list(PEOPLE)
KINDS = [
    "mother",
    "father",
    "sister",
    "brother",
    "son",
    "daughter",
    "wife",
    "husband",
    "aunt",
    "uncle",
    "cousin",
]
SIGNS = ["owner", "unnamed", "named", "list", "union", "address", "title", "tag"]


def random_family(seed: int, *, swapped: bool = False) -> Family:
    chance = Random(seed)
    family = Family(*NAMES, swapped=swapped)
    for _ in range(chance.randint(1, 30)):
        target, source = chance.choice(NAMES), chance.choice(NAMES)
        kind, sure = chance.choice(KINDS), chance.choice([VERIFIED, PROBABLE])
        if chance.random() < 0.4:
            family.states(target, kind, source, sure=sure)
        else:
            sign = chance.choice(SIGNS)
            nameless = sign in ("owner", "unnamed")
            family.hints(sign, "" if nameless else target, kind, source, sure=sure)
    return family


@settings(max_examples=examples(150))
@given(st.integers(0, 2**32))
def test_nobody_is_related_to_themselves_and_no_pair_is_there_twice(seed: int) -> None:
    relations = random_family(seed).relations()
    assert all(relation.source != relation.target for relation in relations)
    keys = [(*sorted((r.source, r.target)), r.kind) for r in relations]
    assert len(keys) == len(set(keys))
    inverse = {"mother": {"son", "daughter"}, "father": {"son", "daughter"}}
    for relation in relations:
        for other in relations:
            if (other.source, other.target) == (relation.source, relation.target):
                assert other.kind not in inverse.get(relation.kind, ())


@settings(max_examples=examples(150))
@given(st.integers(0, 2**32))
def test_relations_do_not_depend_on_the_order_of_documents(seed: int) -> None:
    def described(family: Family) -> set[tuple[str, ...]]:
        return {(r.source, r.kind, r.target) for r in family.relations()}

    assert described(random_family(seed)) == described(random_family(seed))
    assert described(random_family(seed)) == described(
        random_family(seed, swapped=True)
    )


@settings(max_examples=examples(150))
@given(st.integers(0, 2**32))
async def test_the_relations_of_one_character_are_those_of_the_whole_bible(
    seed: int,
) -> None:
    service = random_family(seed).stories.service()
    whole = await service.read()
    name = Random(seed).choice(NAMES)
    part = await service.read_parts(BibleParts(people=frozenset({name})))
    assert part.relations == tuple(
        relation
        for relation in whole.relations
        if name in (relation.source, relation.target)
    )


def test_siblings_of_whom_both_speak_are_known_from_the_first_cue_that_names_one() -> (
    None
):
    family = Family("Nell Tallow", "Hob Tallow", "Miss Vale")
    family.stories.name("Ansel", gender=Gender.MALE)
    family.hints("unnamed", "", "brother", "Miss Vale")
    family.hints("tag", "Miss Vale", "sister", "Ansel")
    assert family.shown() == []
    family.hints("unnamed", "", "sister", "Ansel")
    (relation,) = family.relations()
    assert {relation.source, relation.target} == {"Miss Vale", "Ansel"}
    assert [e.text for e in relation.evidence] == ["word0", "word1", "word2"]
    family.hints("tag", "Nell Tallow", "sister", "Ansel")
    assert family.shown() == []
