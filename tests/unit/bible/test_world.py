"""Which places the story bible lists, in which order, and inside which others."""

from asyncio import run

from hypothesis import given, settings
from hypothesis import strategies as st

from lrwr.core.bible.index import BibleParts
from lrwr.core.bible.projection import project_bible
from lrwr.core.bible.values import WorldElement
from lrwr.core.bible.world import nest_places
from lrwr.core.canon.model import Canon
from lrwr.core.model.facts import (
    LOCATIVE_DETAIL,
    MENTIONS_DETAIL,
    PART_OF_DETAIL,
    Certainty,
    FactAbout,
    WorldField,
)
from tests.fakes.stories import Book, Stories
from tests.fakes.suite import examples

ONE, TWO = "book/1.md", "book/2.md"
WORDS = (
    "# One\n\nHe came to Thole, to Barrow, to the Angel, to Gull Street. He saw the Lodge,"
    " Thole Lodge. Barrow Park, Barrow Hall, Barrow Lodge, Hob's, Hob's house. He met"
    " the Baron, Frederick, Clifton, the East room.\n"
)


def world(*counts: tuple[str, str, int, int, str]) -> tuple[WorldElement, ...]:
    """Return the elements for (document, name, mentions, locative uses, part of)."""
    return project_bible(tell(*counts).knowledge()).world


def tell(*counts: tuple[str, str, int, int, str]) -> Stories:
    """Return a story with facts about (document, name, mentions, uses, part of)."""
    stories = Stories(Book({ONE: WORDS, TWO: WORDS}))
    for document, name, mentions, locative, part_of in counts:
        details = (
            (MENTIONS_DETAIL, str(mentions)), (LOCATIVE_DETAIL, str(locative)),
            *([(PART_OF_DETAIL, part_of)] if part_of else []),
        )  # fmt: skip
        certainty = Certainty.VERIFIED if "Street" in name else Certainty.PROBABLE
        field = WorldField.ELEMENT_TYPE if locative else WorldField.MENTION
        stories.fact(
            document, name, FactAbout.WORLD, field, "setting" if locative else "",
            name, details=details, certainty=certainty,
        )  # fmt: skip
    return stories


def test_mentions_of_all_documents_count_most_used_first() -> None:
    places = world(
        (ONE, "Thole", 1, 1, ""), (ONE, "Barrow", 2, 2, ""), (TWO, "Thole", 4, 0, "")
    )
    assert [(p.name, p.mentions) for p in places] == [("Thole", 5), ("Barrow", 2)]


def test_one_mention_is_enough_only_with_a_place_noun() -> None:
    places = world((ONE, "Thole", 1, 1, ""), (ONE, "Gull Street", 1, 1, ""))
    assert [p.name for p in places] == ["Gull Street"]


def test_a_name_that_is_hardly_ever_a_place_is_none() -> None:
    assert world((ONE, "Thole", 20, 1, "")) == ()
    assert world((ONE, "the Angel", 5, 1, "")) == ()
    assert [p.name for p in world((ONE, "the Angel", 5, 2, ""))] == ["the Angel"]


def test_a_place_follows_the_place_that_it_is_part_of() -> None:
    places = world(
        (ONE, "Gull Street", 3, 3, "Thole"),
        (ONE, "Barrow", 2, 2, "Nowhere"),
        (ONE, "Thole", 2, 2, ""),
    )
    assert [(place.name, depth) for place, depth in nest_places(places)] == [
        ("Thole", 0), ("Gull Street", 1), ("Barrow", 0)
    ]  # fmt: skip


def test_places_in_a_circle_are_all_shown() -> None:
    places = world((ONE, "Thole", 2, 2, "Barrow"), (ONE, "Barrow", 2, 2, "Thole"))
    assert [depth for _, depth in nest_places(places)] == [0, 0]


def test_the_lodge_is_the_only_lodge_under_its_full_name() -> None:
    one = (ONE, "Thole Lodge", 2, 2, ""), (ONE, "the Lodge", 5, 3, "")
    assert [(p.name, p.mentions) for p in world(*one)] == [("Thole Lodge", 7)]
    assert len(world(*one, (ONE, "Barrow Lodge", 2, 2, ""))) == 3
    often = (ONE, "Thole Lodge", 8, 8, ""), (ONE, "the Lodge", 5, 3, "")
    assert len(world(*often, (ONE, "Barrow Lodge", 2, 2, ""))) == 2


def test_a_title_a_given_name_and_the_word_before_a_room_are_no_places() -> None:
    assert world((ONE, "the Baron", 3, 3, ""), (ONE, "Frederick", 6, 1, "")) == ()
    assert [p.name for p in world((ONE, "Clifton", 6, 3, ""))] == ["Clifton"]
    rooms = world((ONE, "the East", 9, 8, ""), (ONE, "the East room", 9, 8, ""))
    assert [(p.name, p.mentions) for p in rooms] == [("the East room", 9)]


def test_a_park_is_the_place_whose_name_it_has_if_that_is_its_usual_name() -> None:
    full, short = (ONE, "Barrow Park", 2, 2, ""), (ONE, "Barrow", 9, 5, "")
    assert [(p.name, p.mentions) for p in world(full, short)] == [("Barrow", 11)]
    hall = (ONE, "Barrow Hall", 2, 2, "")
    assert len(world(full, short, hall)) == 3
    assert len(world(full, (ONE, "Barrow", 3, 3, ""))) == 2


def test_a_house_of_somebody_has_one_entry() -> None:
    places = world((ONE, "Hob's", 2, 2, ""), (ONE, "Hob's house", 2, 2, ""))
    assert [(p.name, p.mentions) for p in places] == [("Hob's", 4)]


def test_a_place_with_two_names_is_the_same_if_only_it_is_read() -> None:
    places = tell(
        (ONE, "Thole Lodge", 2, 2, ""), (ONE, "the Lodge", 5, 3, ""),
        (TWO, "Barrow Park", 2, 2, ""), (TWO, "Barrow", 9, 5, ""),
    )  # fmt: skip
    service = places.service(Canon)
    whole = run(service.read())
    parts = BibleParts(elements=frozenset({"Thole Lodge", "Barrow"}))
    assert run(service.read_parts(parts)).world == whole.world
    assert [place.name for place in whole.world] == ["Barrow", "Thole Lodge"]


NAMES = (
    "Thole",
    "Barrow",
    "Barrow Park",
    "Gull Street",
    "the Lodge",
    "Thole Lodge",
    "Hob's",
)
COUNT = st.tuples(
    st.sampled_from((ONE, TWO)), st.sampled_from(NAMES),
    st.integers(1, 3), st.integers(0, 2), st.sampled_from(("", "Thole")),
)  # fmt: skip


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(COUNT, max_size=9))
def test_names_too_rare_for_a_place_change_nothing_when_they_are_not_read(
    counts: list[tuple[str, str, int, int, str]],
) -> None:
    service = tell(*counts).service(Canon)
    whole = run(service.read())
    names = [place.name for place in whole.world]
    assert [place.name for place in run(service.names()).world] == names
    parts = BibleParts(elements=frozenset(names))
    assert run(service.read_parts(parts)).world == whole.world
