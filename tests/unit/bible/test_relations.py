"""Relations that the text states, that cues suffice for, and that follow."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrwr.core.bible.index import BibleParts
from lrwr.core.bible.projection import project_bible
from lrwr.core.bible.values import CharacterRelation, format_relation
from lrwr.core.model.cast import Gender
from lrwr.core.model.facts import (
    ALONE_DETAIL,
    FAR_DETAIL,
    RELATION_CUE_FIELD,
    RULES_KEEPER,
    WRITER_KEEPER,
    Certainty,
    CharacterField,
    CueParty,
    FactAbout,
)
from tests.fakes.stories import Book, Stories
from tests.fakes.suite import examples

VERIFIED, PROBABLE = Certainty.VERIFIED, Certainty.PROBABLE
PEOPLE = {
    "Nell Tallow": Gender.FEMALE,
    "Mags Tallow": Gender.FEMALE,
    "Hob Tallow": Gender.MALE,
    "Mr. Tallow": Gender.MALE,
    "Mrs. Tallow": Gender.FEMALE,
    "Miss Vale": Gender.FEMALE,
    "Mr. Vale": Gender.MALE,
    "Mrs. Gannet": Gender.FEMALE,
}
WORDS = [f"word{n}" for n in range(40)]
HALF = len(WORDS) // 2


class Family:
    """A book of numbered words, and facts about the people in it."""

    def __init__(self, *names: str, swapped: bool = False) -> None:
        pages = {
            "book/1.md": "# Chapter 1\n\n" + ". ".join([*names, *WORDS[:HALF]]),
            "book/2.md": "# Chapter 2\n\n" + ". ".join(WORDS[HALF:]),
        }
        self.stories = Stories(
            Book(dict(reversed(pages.items())) if swapped else pages)
        )
        for name in names:
            self.stories.name(name, gender=PEOPLE[name])
        self.count = 0

    def states(
        self, target: str, kind: str, source: str, *, sure: Certainty = VERIFIED,
        keeper: str = RULES_KEEPER,
    ) -> None:  # fmt: skip
        self._add(
            FactAbout.CHARACTER, CharacterField.RELATIONSHIP, source, sure,
            (("target", target), ("kind", kind)), keeper,
        )  # fmt: skip

    def hints(
        self, sign: str, target: str, kind: str, source: str = "", *more: tuple[str, str],
        sure: Certainty = PROBABLE,
    ) -> None:  # fmt: skip
        details = (("target", target), ("kind", kind), ("sign", sign), *more)
        self._add(FactAbout.RELATION_CUE, RELATION_CUE_FIELD, source, sure, details)

    def _add(
        self, about: FactAbout, field: str, source: str, sure: Certainty,
        details: tuple[tuple[str, str], ...], keeper: str = RULES_KEEPER,
    ) -> None:  # fmt: skip
        word = WORDS[self.count % len(WORDS)]
        page = "book/1.md" if self.count % len(WORDS) < HALF else "book/2.md"
        self.count += 1
        self.stories.fact(
            page, word, about, field, "", source,
            keeper=keeper, certainty=sure, details=details,
        )  # fmt: skip

    def relations(self) -> tuple[CharacterRelation, ...]:
        return project_bible(self.stories.knowledge()).relations

    def shown(self) -> list[tuple[str, str, str]]:
        return [(r.target, r.kind, r.source) for r in self.relations()]


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
    for _ in range(3):
        family.hints("unnamed", "", "wife", "Mr. Tallow")
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


def test_many_places_tell_that_mr_and_mrs_are_a_couple_beside_a_son() -> None:
    family = Family("Mr. Tallow", "Mrs. Tallow", "Hob Tallow")
    for _ in range(3):
        family.states("Mrs. Tallow", "wife", "Mr. Tallow", sure=PROBABLE)
    assert family.shown() == []
    family.states("Mrs. Tallow", "wife", "Mr. Tallow", sure=PROBABLE)
    assert family.shown() == [("Mrs. Tallow", "wife", "Mr. Tallow")]


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


def test_cues_for_the_father_of_two_sisters_count_together() -> None:
    family = Family("Nell Tallow", "Mags Tallow", "Mr. Tallow")
    for name in ("Nell Tallow", "Mags Tallow"):
        family.hints("tag", "Mr. Tallow", "father", name)
        family.hints("unnamed", "", "father", name)
    assert family.shown() == []
    family.states("Nell Tallow", "sister", "Mags Tallow")
    assert ("Mr. Tallow", "father", "Nell Tallow") in family.shown()
    assert ("Mr. Tallow", "father", "Mags Tallow") in family.shown()


def test_cues_for_an_uncle_and_his_wife_count_together() -> None:
    family = Family("Miss Vale", "Mr. Tallow", "Mrs. Tallow")
    for name, kind in (("Mr. Tallow", "uncle"), ("Mrs. Tallow", "aunt")):
        for _ in range(2):
            family.hints("tag", name, kind, "Miss Vale")
    assert family.shown() == []
    family.states("Mrs. Tallow", "wife", "Mr. Tallow")
    assert ("Mr. Tallow", "uncle", "Miss Vale") in family.shown()
    assert ("Mrs. Tallow", "aunt", "Miss Vale") in family.shown()


def test_a_sister_named_once_is_believed_if_an_aunt_follows() -> None:
    family = Family("Miss Vale", "Mrs. Gannet", "Mrs. Tallow")
    family.states("Mrs. Tallow", "aunt", "Miss Vale")
    family.hints("named", "Mrs. Tallow", "sister", "Mrs. Gannet")
    assert len(family.shown()) == 1
    family.states("Mrs. Gannet", "mother", "Miss Vale")
    assert ("Mrs. Tallow", "sister", "Mrs. Gannet") in family.shown()


def test_a_sister_by_better_evidence_is_no_mother() -> None:
    family = Family("Nell Tallow", "Mags Tallow", "Hob Tallow")
    for _ in range(3):
        family.hints("address", "Nell Tallow", "mother", "Mags Tallow")
    assert family.shown() == [("Nell Tallow", "mother", "Mags Tallow")]
    family.states("Nell Tallow", "sister", "Hob Tallow")
    family.states("Mags Tallow", "sister", "Hob Tallow")
    assert ("Nell Tallow", "mother", "Mags Tallow") not in family.shown()
    assert ("Nell Tallow", "sister", "Mags Tallow") in family.shown()


def test_a_wife_with_a_maiden_name_is_no_sister_of_another_family() -> None:
    family = Family("Mr. Vale")
    family.stories.name("Nell", "Nell Tallow", "Mrs. Gannet", gender=Gender.FEMALE)
    for _ in range(3):
        family.hints("address", "Nell", "sister", "Mr. Vale", sure=VERIFIED)
    assert family.shown() == []


def test_all_children_of_a_man_are_siblings_in_several_steps() -> None:
    family = Family("Nell Tallow", "Mags Tallow", "Hob Tallow", "Mr. Tallow")
    family.states("Mr. Tallow", "father", "Nell Tallow")
    family.states("Nell Tallow", "sister", "Mags Tallow")
    family.states("Mags Tallow", "sister", "Hob Tallow")
    derived = {(r.target, r.kind, r.source) for r in family.relations() if r.derived}
    assert ("Mr. Tallow", "father", "Mags Tallow") in derived
    assert ("Mr. Tallow", "father", "Hob Tallow") in derived
    assert ("Nell Tallow", "sister", "Hob Tallow") in derived


def test_a_brother_who_follows_is_not_listed_as_a_friend() -> None:
    family = Family("Nell Tallow", "Hob Tallow", "Mr. Tallow")
    family.states("Hob Tallow", "friend", "Nell Tallow")
    assert len(family.shown()) == 1
    for name in ("Nell Tallow", "Hob Tallow"):
        family.states("Mr. Tallow", "father", name)
    kinds = {kind for _, kind, _ in family.shown()}
    assert kinds == {"father", "brother"} or kinds == {"father", "sister"}


def test_an_aunt_with_a_surname_is_the_only_mrs_of_that_name() -> None:
    family = Family("Miss Vale", "Mrs. Gannet", "Hob Tallow")
    family.states("Gannet", "aunt", "Miss Vale")
    family.states("Tallow", "uncle", "Miss Vale")
    assert ("Mrs. Gannet", "aunt", "Miss Vale") in family.shown()
    assert ("Hob Tallow", "uncle", "Miss Vale") not in family.shown()


def test_a_name_after_a_pronoun_for_somebody_far_needs_more() -> None:
    family = Family("Miss Vale", "Hob Tallow")
    far = (("possible", "Miss Vale"), ("pronoun", "her"), FAR_DETAIL)
    family.hints("named", "Hob Tallow", "cousin", "", *far)
    family.hints("named", "Hob Tallow", "cousin", "", *far)
    assert family.shown() == []
    family.hints("named", "Hob Tallow", "cousin", "", *far)
    assert family.shown() == [("Hob Tallow", "cousin", "Miss Vale")]


def test_kin_without_a_name_of_a_wife_are_those_of_her_maiden_name() -> None:
    family = Family("Mrs. Tallow", "Mr. Tallow", "Mrs. Gannet")
    forms = "Nell Tallow", "Mrs. Vale"
    family.stories.name("Nell", *forms, gender=Gender.FEMALE)
    for kind in ("mother", "father"):
        for _ in range(4):
            family.hints("unnamed", "", kind, "Nell")
    assert ("Mrs. Tallow", "mother", "Nell") in family.shown()
    assert ("Mr. Tallow", "father", "Nell") in family.shown()


def test_a_friend_who_becomes_a_father_in_law_stays_a_friend() -> None:
    family = Family("Mr. Tallow", "Mr. Vale", "Nell Tallow")
    family.states("Mr. Vale", "friend", "Mr. Tallow")
    family.states("Mr. Tallow", "father", "Nell Tallow")
    family.states("Nell Tallow", "wife", "Mr. Vale")
    assert ("Mr. Vale", "friend", "Mr. Tallow") in family.shown()
    assert ("Mr. Tallow", "father-in-law", "Mr. Vale") in family.shown()


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
