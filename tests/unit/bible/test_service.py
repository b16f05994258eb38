import pytest

from lrwr.core.bible.service import find_profile_by_name
from lrwr.core.canon.model import Canon, UndefinedAttribute
from lrwr.core.model.cast import Gender
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.errors import NotFound
from lrwr.core.ports.stores import DocumentText
from tests.fakes.stories import Book, Stories
from tests.unit.bible.marsh import FILES, TWO, marsh


class Vanishing(Book):
    """A book of which one document goes away while it is read."""

    async def text(self, document: DocumentId) -> DocumentText:
        if document == TWO:
            raise NotFound("gone")
        return await super().text(document)


async def test_a_writers_place_is_a_horizon_for_every_surface() -> None:
    service = marsh().service()
    horizon = await service.horizon("ch1")
    assert horizon == Horizon(1)
    bible = await service.read(horizon)
    assert [c.name for c in bible.characters] == ["Wren", "Mags"]
    assert find_profile_by_name("mags", bible).name == "Mags"
    assert (bible.world, bible.relations) == ((), ())
    assert [quote.speaker for quote in bible.quotes].count("Wren") == 1
    assert sum("Mags" in moment.characters for moment in bible.timeline) == 1
    assert [gap.about for gap in bible.gaps].count("Wren") == 1
    assert len(bible.scenes) == 2


async def test_without_a_horizon_everything_is_there() -> None:
    service = marsh().service()
    bible = await service.read()
    assert [len(part) for part in (bible.quotes, bible.timeline, bible.gaps)] == [3] * 3
    (aunt,) = bible.relations
    assert aunt.source == "Nell Tallow"
    with pytest.raises(NotFound, match="no chapter 9"):
        await service.horizon("ch9")


async def test_what_nobody_has_read_is_told_from_what_was_read() -> None:
    assert (await Stories(Book({})).service().read()).unread
    assert not (await marsh().service().read()).unread


async def test_decisions_are_read_anew_each_time() -> None:
    canon = Canon()
    service = marsh().service(lambda: canon)
    assert find_profile_by_name("Mags", await service.read()).attributes == ()
    canon = Canon(answers={UndefinedAttribute("Mags", "age"): "sixty"})
    (age,) = find_profile_by_name("Mags", await service.read()).attributes
    assert age.value == "sixty"


async def test_a_document_that_goes_away_takes_its_facts_along() -> None:
    stories = marsh()
    stories.book = Vanishing(FILES)
    bible = await stories.service().read()
    assert bible.events == ()
    assert [quote.evidence.chapter for quote in bible.quotes] == [1, 1]
    assert [scene.chapter for scene in bible.scenes] == [1, 1]


async def test_a_name_that_may_be_several_people_is_asked_back() -> None:
    stories = marsh()
    stories.name("Corin Tallow")
    with pytest.raises(NotFound, match="may mean several characters") as caught:
        find_profile_by_name("Tallow", await stories.service().read())
    assert caught.value.hint == "Use Nell Tallow or Corin Tallow."


async def test_a_misspelled_name_is_refused_with_the_nearest() -> None:
    for name in ("Tollow", "Nell Tollow"):
        with pytest.raises(NotFound, match=f"No character is called {name}") as caught:
            find_profile_by_name(name, await marsh().service().read())
        assert caught.value.hint == "Did you mean Nell Tallow?"


async def test_a_title_of_a_woman_never_means_a_man_of_that_surname() -> None:
    stories = marsh()
    with pytest.raises(NotFound, match=r"No character is called Mrs\. Vale") as caught:
        find_profile_by_name("Mrs. Vale", await stories.service().read())
    assert caught.value.hint == "Did you mean Corin Vale?"
    bible = await stories.service().read()
    assert find_profile_by_name("Mr. Vale", bible).name == "Corin Vale"
    assert find_profile_by_name("Captain Vale", bible).name == "Corin Vale"
    stories.name("Mrs. Vale", gender=Gender.FEMALE)
    assert find_profile_by_name("Mrs Vale", await stories.service().read()).name == (
        "Mrs. Vale"
    )
