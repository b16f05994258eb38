"""Relations of a family that support and exclude each other."""

from lrwr.core.model.cast import Cast, Gender
from lrwr.core.model.facts import ALONE_DETAIL, FAR_DETAIL
from tests.unit.bible.family import PROBABLE, VERIFIED, Family


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


def test_nobody_is_in_love_with_a_mother() -> None:
    family = Family("Hob Tallow", "Mrs. Tallow")
    family.states("Mrs. Tallow", "mother", "Hob Tallow")
    family.states("Mrs. Tallow", "lover", "Hob Tallow")
    assert family.shown() == [("Mrs. Tallow", "mother", "Hob Tallow")]


def test_nobody_is_their_own_aunt_under_a_name_that_two_people_share() -> None:
    family = Family("Nell Tallow", "Mr. Vale")
    stories = family.stories
    stories.people = Cast(
        stories.people.characters, {"Mrs. Hale": ("Nell Tallow", "Mr. Vale")}
    )
    family.states("Mr. Vale", "father", "Nell Tallow")
    family.states("Mrs. Hale", "sister", "Mr. Vale")
    assert ("Mrs. Hale", "aunt", "Nell Tallow") not in family.shown()


def test_a_wife_with_two_married_names_keeps_the_marriage_of_each() -> None:
    family = Family("Mr. Vale", "Mr. Tallow")
    family.stories.name("Mrs. Vale", "Mrs. Tallow", gender=Gender.FEMALE)
    family.states("Mrs. Vale", "wife", "Mr. Vale", sure=PROBABLE)
    assert family.shown() == [("Mrs. Vale", "wife", "Mr. Vale")]


def test_a_marriage_that_gave_a_name_is_not_replaced_by_a_later_one() -> None:
    family = Family("Mr. Vale", "Hob Tallow")
    family.stories.name("Nell", "Mrs. Vale", gender=Gender.FEMALE)
    family.hints("union", "Nell", "spouse", "Mr. Vale", sure=VERIFIED)
    family.hints("union", "Nell", "spouse", "Hob Tallow", sure=VERIFIED)
    assert family.shown() == [
        ("Nell", "wife", "Mr. Vale"),
        ("Nell", "wife", "Hob Tallow"),
    ]


def test_a_friend_who_becomes_a_father_in_law_stays_a_friend() -> None:
    family = Family("Mr. Tallow", "Mr. Vale", "Nell Tallow")
    family.states("Mr. Vale", "friend", "Mr. Tallow")
    family.states("Mr. Tallow", "father", "Nell Tallow")
    family.states("Nell Tallow", "wife", "Mr. Vale")
    assert ("Mr. Vale", "friend", "Mr. Tallow") in family.shown()
    assert ("Mr. Tallow", "father-in-law", "Mr. Vale") in family.shown()


def test_a_father_has_the_surname_of_his_children_unless_the_text_states_another() -> (
    None
):
    family = Family("Nell Tallow", "Mr. Vale", "Mrs. Gannet")
    for _ in range(5):
        family.hints("address", "Mr. Vale", "father", "Nell Tallow", sure=VERIFIED)
    assert family.shown() == []
    family.states("Mr. Vale", "father", "Nell Tallow")
    assert family.shown() == [("Mr. Vale", "father", "Nell Tallow")]


def test_cousins_of_two_families_do_not_support_each_other() -> None:
    family = Family("Nell Tallow", "Hob Tallow", "Miss Vale", "Mr. Vale")
    family.states("Nell Tallow", "sister", "Hob Tallow")
    family.states("Miss Vale", "sister", "Mr. Vale")
    family.hints("named", "Nell Tallow", "cousin", "Miss Vale")
    family.hints("named", "Hob Tallow", "cousin", "Mr. Vale")
    assert not [kind for _, kind, _ in family.shown() if kind == "cousin"]


def test_a_woman_who_has_a_mans_name_by_marriage_is_his_wife() -> None:
    family = Family("Mr. Vale", "Mr. Tallow")
    family.stories.name("Nell", "Nell Tallow", "Mrs. Vale", gender=Gender.FEMALE)
    assert family.shown() == []
    family.hints("unnamed", "", "husband", "Nell")
    assert family.shown() == [("Mr. Vale", "husband", "Nell")]


def test_a_betrothed_with_the_married_name_is_a_wife() -> None:
    family = Family("Mr. Vale", "Hob Tallow")
    family.stories.name("Nell", "Nell Tallow", "Mrs. Vale", gender=Gender.FEMALE)
    family.states("Nell", "betrothed", "Mr. Vale")
    family.states("Nell", "sister", "Hob Tallow")
    assert ("Nell", "wife", "Mr. Vale") in family.shown()


def test_the_mr_and_mrs_who_are_parents_of_one_child_are_a_couple() -> None:
    family = Family("Nell Tallow", "Mr. Tallow", "Mrs. Tallow", "Mrs. Gannet")
    family.states("Mr. Tallow", "father", "Nell Tallow")
    family.states("Mrs. Tallow", "mother", "Nell Tallow")
    assert ("Mrs. Tallow", "wife", "Mr. Tallow") in family.shown()
    family.states("Mrs. Gannet", "wife", "Mr. Tallow")
    assert ("Mrs. Tallow", "wife", "Mr. Tallow") not in family.shown()


def test_the_only_stepmother_and_the_only_stepson_are_each_others() -> None:
    family = Family("Hob Tallow", "Mrs. Gannet", "Mr. Vale")
    family.hints("unnamed", "", "stepmother", "Hob Tallow", ALONE_DETAIL)
    family.hints("unnamed", "", "stepson", "Mrs. Gannet")
    family.hints("unnamed", "", "stepson", "Mrs. Gannet")
    assert family.shown() == [("Mrs. Gannet", "stepmother", "Hob Tallow")]
    family.hints("unnamed", "", "stepmother", "Mr. Vale", ALONE_DETAIL)
    assert family.shown() == []


def test_children_of_an_aunt_are_cousins_unless_she_is_only_called_so() -> None:
    family = Family("Miss Vale", "Mrs. Gannet", "Hob Tallow")
    family.states("Hob Tallow", "son", "Mrs. Gannet")
    for _ in range(4):
        family.hints("address", "Mrs. Gannet", "aunt", "Miss Vale", sure=VERIFIED)
    assert not [kind for _, kind, _ in family.shown() if kind == "cousin"]
    family.states("Mrs. Gannet", "aunt", "Miss Vale")
    assert [kind for _, kind, _ in family.shown() if kind == "cousin"]
