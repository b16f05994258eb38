"""The dead who act in a draft."""

import pytest

from lrwr.core.continuity.deaths import (
    DeadActor,
    KnownPerson,
    find_dead_actors,
)
from lrwr.core.drafting.findings import select_own_forms
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import Span

ONE, TWO, THREE = map(DocumentId, ("1.md", "2.md", "3.md"))
DEATH = "Corin Vale drowned in the spring. Nell Tallow wept."
ACT = "Corin Vale laughed. Nell Tallow put the lamp out."
PEOPLE = (KnownPerson("Corin Vale", ("Corin Vale", "Corin")),)


def find(
    draft: str, *before: str, people: tuple[KnownPerson, ...] = PEOPLE
) -> list[DeadActor]:
    texts = dict(zip((ONE, TWO, THREE), before, strict=False))
    return list(find_dead_actors(draft, texts, people))


def test_somebody_who_died_before_and_acts_is_named_with_both_places() -> None:
    (actor,) = find(ACT, "The tide was late.", DEATH)
    assert (actor.name, actor.document) == ("Corin Vale", TWO)
    assert ACT[actor.act.start : actor.act.end] == "Corin Vale laughed"
    assert DEATH[actor.death.start : actor.death.end] == (
        "Corin Vale drowned in the spring."
    )


@pytest.mark.parametrize(
    ("draft", "before"),
    [
        ("Corin Vale had laughed here once.", [DEATH]),
        ("“Corin Vale laughed,” said Nell.", [DEATH]),
        (ACT, ["Corin Vale nearly drowned in the spring."]),
        (ACT, [DEATH, "Corin Vale came in.", "Corin Vale laughed."]),
        ("Corin Valerius laughed.", [DEATH]),
        ("Nell remembered the spring. Corin Vale laughed.", [DEATH]),
        ("Corin Vale had come in. Corin Vale laughed.", [DEATH]),
        ("Corin Vale laughed while Nell Tallow was ten.", [DEATH]),
    ],
    ids=[
        "memory",
        "in speech",
        "not dead",
        "alive twice after it",
        "another name",
        "a sentence about a memory before",
        "what they had done before",
        "another time in the sentence",
    ],
)
def test_others_are_not_dead_or_do_not_act(draft: str, before: list[str]) -> None:
    assert find(draft, *before) == []


def test_a_list_of_the_dead_counts_also_for_names_without_a_character() -> None:
    (actor,) = find("Edwin Sayle sat down.", "> Drowned: Luke Amery; Edwin Sayle.")
    assert (actor.name, actor.document) == ("Edwin Sayle", ONE)


def test_what_somebody_else_had_done_is_no_memory_of_the_dead() -> None:
    draft = "Nell Tallow had brought the lamp. “Before dark,” she said. Corin Vale sat."
    (actor,) = find(draft, DEATH)
    assert draft[actor.act.start : actor.act.end] == "Corin Vale sat"


def test_an_animal_is_dead_if_the_only_one_of_its_kind_died() -> None:
    pony = KnownPerson("Duchess", ("Duchess",), ("the pony", "The pony"))
    (actor,) = find("Duchess trotted in.", "The pony drowned.", people=(pony,))
    assert actor.name == "Duchess"


@pytest.mark.parametrize(("is_present", "found"), [(False, 1), (True, 0)])
def test_a_note_of_a_death_counts_if_nobody_has_met_them(
    is_present: bool, found: int
) -> None:
    note = ("Dead before the book begins.", DocumentId("n.md"), Span(0, 4))
    person = KnownPerson(
        "Corin Vale", ("Corin Vale",), notes=(note,), is_present=is_present
    )
    assert len(find(ACT, "The tide was late.", people=(person,))) == found


def test_a_form_that_may_mean_somebody_else_is_left_out() -> None:
    forms = {
        "Corin Vale": ("Corin Vale", "Vale", "the keeper"),
        "Ada Vale": ("Ada Vale", "Ada"),
    }
    assert select_own_forms(forms) == {
        "Corin Vale": ("Corin Vale",),
        "Ada Vale": ("Ada Vale", "Ada"),
    }
