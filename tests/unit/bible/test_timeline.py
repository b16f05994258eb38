import pytest

from lrwr.core.bible.projection import project_bible
from lrwr.core.model.cast import Gender
from lrwr.core.model.facts import CueParty, FactAbout, LifeEventKind
from tests.fakes.stories import Book, Stories


def told_events(*details: tuple[tuple[str, str], ...]) -> list[tuple[str, ...]]:
    """Who takes part in the listed ones of events that rules found, one a sentence."""
    sentences = [f"Nell met Corin {number} times." for number in range(len(details))]
    text = "# One\n\nNell, Corin and Mags came.\n\n# Two\n\n" + "\n".join(sentences)
    stories = Stories(Book({"chapters/01.md": text}))
    stories.name("Nell", gender=Gender.FEMALE)
    stories.name("Mags", gender=Gender.FEMALE)
    stories.name("Corin", gender=Gender.MALE)
    for sentence, detail in zip(sentences, details, strict=True):
        stories.fact(
            "chapters/01.md", sentence, FactAbout.EVENT, "event", sentence, details=detail
        )  # fmt: skip
    return [e.characters_involved for e in project_bible(stories.knowledge()).events]


def event_details(kind: LifeEventKind, *names: str) -> tuple[tuple[str, str], ...]:
    return ("kind", kind), *(("involved", name) for name in names)


SPOKEN = (("told", "yes"), ("party", CueParty.SPEAKER))


@pytest.mark.parametrize("kind", [LifeEventKind.LOVED, LifeEventKind.ENGAGED])
def test_two_women_who_talk_are_no_couple(kind: LifeEventKind) -> None:
    assert told_events((*event_details(kind, "Nell", "Mags"), *SPOKEN)) == []
    pair = ("Nell", "Corin")
    assert told_events((*event_details(kind, *pair), *SPOKEN)) == [pair]
    assert told_events(event_details(kind, "Nell", "Mags")) == [("Nell", "Mags")]


def test_love_is_not_declared_by_one_alone() -> None:
    details = event_details(LifeEventKind.LOVED, "Nell")
    assert told_events((*details, *SPOKEN)) == []
    assert told_events(details) == [("Nell",)]


def test_dialogue_about_an_event_that_was_told_is_not_listed_again() -> None:
    married = event_details(LifeEventKind.MARRIED, "Nell", "Corin")
    again = event_details(LifeEventKind.MARRIED, "Nell")
    assert told_events(married, (*again, *SPOKEN)) == [("Nell", "Corin")]
    assert told_events(married, again) == [("Nell", "Corin"), ("Nell",)]


def test_a_chance_meeting_of_people_known_from_earlier_chapters_is_not_listed() -> None:
    assert told_events(event_details(LifeEventKind.MET, "Nell", "Corin")) == []
    assert told_events(event_details(LifeEventKind.FOUGHT, "Nell", "Corin"))


def test_a_wedding_that_the_narration_tells_is_listed_without_names() -> None:
    details = event_details(LifeEventKind.MARRIED)
    assert told_events(details) == [()]
    assert told_events((*details, ("told", "yes"))) == []
