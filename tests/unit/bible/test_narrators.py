"""Who says "I" in the chapters of a story with several narrators."""

import pytest

from lrwr.core.bible.projection import project_bible
from lrwr.core.canon.model import Canon, ManuscriptLocation
from lrwr.core.model.cast import Gender
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import (
    NARRATOR_DETAIL,
    WRITER_KEEPER,
    Certainty,
    CharacterField,
    FactAbout,
    LifeEventKind,
)
from tests.fakes.stories import Book, Stories
from tests.unit.bible.marsh import ONE


def two_narrators(details: tuple[tuple[str, str], ...] = ()) -> Stories:
    """A file of two chapters in the first person; the story's narrator is Hob Tallow."""
    text = "# One\n\nI left Ness. Hob Tallow sang.\n\n# Two\n\nI fell. I married Corin Vale. Nell Gannet slept."
    stories = Stories(Book({ONE: text}))
    stories.name("Nell Gannet", gender=Gender.FEMALE)
    stories.name("Corin Vale", gender=Gender.MALE)
    stories.name("Hob Tallow", gender=Gender.MALE, narrator=True)
    stories.fact(
        ONE, "I left Ness.", FactAbout.EVENT, "event", "I left Ness.",
        details=(("kind", LifeEventKind.LEFT), NARRATOR_DETAIL),
    )  # fmt: skip
    stories.fact(
        ONE, "I married Corin Vale.", FactAbout.EVENT, "event", "I married Corin Vale.",
        details=(("kind", LifeEventKind.MARRIED), ("involved", "Corin Vale"), NARRATOR_DETAIL),
    )  # fmt: skip
    stories.fact(
        ONE, "I fell.", FactAbout.SCENE, "pov", "", "", details=(("person", "first"),)
    )
    return stories


def test_an_event_of_the_narrator_is_that_of_whoever_narrates_its_chapter() -> None:
    second = ManuscriptLocation(DocumentId(ONE), "Two")
    stories = two_narrators()
    found = project_bible(stories.knowledge())
    assert [e.characters_involved for e in found.events] == [
        ("Hob Tallow",), ("Hob Tallow", "Corin Vale"),
    ]  # fmt: skip
    canon = Canon(points_of_view={second: "Nell Gannet"})
    found = project_bible(stories.knowledge(canon))
    assert [e.characters_involved for e in found.events] == [
        ("Hob Tallow",), ("Nell Gannet", "Corin Vale"),
    ]  # fmt: skip


def test_a_narrator_whom_the_author_states_tells_the_events_of_the_scene() -> None:
    stories = two_narrators()
    stories.fact(
        ONE, "I married Corin Vale.", FactAbout.SCENE, "pov", "Nell Gannet",
        keeper=WRITER_KEEPER, certainty=Certainty.CONFIRMED,
    )  # fmt: skip
    *_, last = project_bible(stories.knowledge()).events
    assert last.characters_involved == ("Nell Gannet", "Corin Vale")


def test_who_narrates_a_chapter_in_the_first_person_is_present_in_it() -> None:
    second = ManuscriptLocation(DocumentId(ONE), "Two")
    canon = Canon(points_of_view={second: "Nell Gannet"})
    first, last = project_bible(two_narrators().knowledge(canon)).scenes
    assert (first.present, last.present) == ((), ("Nell Gannet",))


def test_a_point_of_view_in_the_third_person_is_no_sign_of_presence() -> None:
    canon = Canon(points_of_view={ManuscriptLocation(DocumentId(ONE)): "Nell Gannet"})
    first, _ = project_bible(two_narrators().knowledge(canon)).scenes
    assert first.present == ()


@pytest.mark.parametrize(
    ("kind", "involved"),
    [
        ("mother", ("Hob Tallow",)),
        ("cousin", ("Hob Tallow", "Mrs. Tallow")),
    ],
)
def test_nobody_falls_in_love_with_a_mother(
    kind: str, involved: tuple[str, ...]
) -> None:
    text = "# One\n\nMrs. Tallow sat with Hob Tallow. He had fallen in love with her."
    stories = Stories(Book({ONE: text}))
    stories.name("Mrs. Tallow", gender=Gender.FEMALE)
    stories.name("Hob Tallow", gender=Gender.MALE)
    stories.fact(
        ONE, "sat with", FactAbout.CHARACTER, CharacterField.RELATIONSHIP, "",
        "Hob Tallow", details=(("target", "Mrs. Tallow"), ("kind", kind)),
    )  # fmt: skip
    people = (("involved", "Hob Tallow"), ("involved", "Mrs. Tallow"))
    stories.fact(
        ONE, "fallen in love", FactAbout.EVENT, "event", "fallen in love",
        details=(("kind", LifeEventKind.LOVED), *people),
    )  # fmt: skip
    (event,) = project_bible(stories.knowledge()).events
    assert event.characters_involved == involved
