import pytest

from lrwr.core.canon.model import Canon
from lrwr.core.chat.history import (
    OLDER,
    SHORT,
    estimated_tokens,
    fitting,
    in_sight,
    recalled,
    remark_on,
    within_horizon,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.story import Horizon
from lrwr.core.model.text import Lines, Span
from lrwr.core.model.turns import NarrativeState, Turn
from lrwr.core.retrieval.anchors import Anchored, Freshness, Place
from lrwr.core.retrieval.story import StoryOrder, arrange
from tests.fakes.conversations import QUOTED
from tests.fakes.conversations import a_turn as a_kept_turn
from tests.fakes.stories import Book


def a_turn(
    question: str = "Where is the boat?",
    answer: str = "At the landing.",
    as_of: str = "",
) -> Turn:
    return a_kept_turn(question, answer, state=NarrativeState(as_of=as_of))


@pytest.fixture
def order() -> StoryOrder:
    book = Book({f"{n}.md": f"# {n}\n\nOne.\n\n***\n\nTwo.\n" for n in (1, 2, 3)})
    return arrange(book.outline_list(), (), Canon())


def test_without_a_horizon_every_turn_counts(order: StoryOrder) -> None:
    turns = [a_turn(), a_turn(as_of="ch2")]
    assert within_horizon(turns, None, order) == turns


@pytest.mark.parametrize(
    ("horizon", "kept"),
    [
        (Horizon(1), []),
        (Horizon(2), ["ch2", "ch2:s1"]),
        (Horizon(2, 1), ["ch2:s1"]),
        (Horizon(3), ["ch2", "ch2:s1", "ch3"]),
        (Horizon(3, 1), ["ch2", "ch2:s1"]),
    ],
)
def test_a_turn_from_later_in_the_story_is_left_out(
    order: StoryOrder, horizon: Horizon, kept: list[str]
) -> None:
    places = ["ch2", "ch2:s1", "ch3", "", "ch9"]
    turns = [a_turn(as_of=place) for place in places]
    found = within_horizon(turns, horizon, order)
    assert [turn.output.narrative_state_delta.as_of for turn in found] == kept


def test_the_newest_turns_that_fit_are_told_in_full_the_others_in_short() -> None:
    long = "Where " + "on earth " * 40 + "is the boat?"
    turns = [a_turn(long), a_turn("Who is Wren?"), a_turn("Why?")]
    budget = sum(
        estimated_tokens(t.question + t.output.response_text) for t in turns[1:]
    )
    kept, before = fitting(turns, budget)
    assert kept == tuple(turns[1:])
    title, line = before.splitlines()
    assert title == "Earlier the writer asked:"
    asked, answered = line.split(" Answered: ")
    assert asked.startswith("- Where on earth") and asked.endswith("…")
    assert len(asked) <= SHORT + 2
    assert answered == "At the landing."


def test_what_all_fits_leaves_nothing_before() -> None:
    turns = [a_turn(), a_turn()]
    assert fitting(turns) == (tuple(turns), "")
    assert fitting([]) == ((), "")


def test_a_turn_that_is_too_long_alone_is_told_in_short() -> None:
    kept, before = fitting([a_turn("Why?", "Because [1]. " + "x " * 9_000)])
    assert kept == ()
    told = before.partition("- Why? Answered: ")[2]
    assert told.startswith("Because. x x") and len(told) <= SHORT
    stopped = [a_turn("Who?", ""), a_turn("Why?")]
    assert fitting(stopped, 0)[1].splitlines()[1] == "- Who?"


def test_in_short_an_outdated_answer_is_not_told() -> None:
    old, other = a_turn("Where?"), a_turn("Who?", "Wren.")
    _, before = fitting([old, other], 0, outdated={old.id})
    assert before.splitlines()[1:] == ["- Where?", "- Who? Answered: Wren."]


def test_only_turns_that_can_be_told_are_recalled() -> None:
    turns = [a_turn(f"Question {n}?", "x" * 400) for n in range(40)]
    kept, before = fitting(turns)
    told = recalled(turns)
    assert list(told) == turns[-(len(kept) + OLDER) :]
    assert fitting(told) == (kept, before)
    assert recalled(turns[:3]) == turns[:3]


def at(document: str, start: int, state: Freshness = Freshness.CURRENT) -> Anchored:
    place = Place(DocumentId(document), Span(start, start + 4), Lines(1, 1), "One.")
    return Anchored(QUOTED, state, place, 1.0)


@pytest.mark.parametrize(
    ("horizon", "place", "seen"),
    [
        (None, at("3.md", 5), True),
        (Horizon(2), at("2.md", 5), True),
        (Horizon(2), at("3.md", 5), False),
        (Horizon(2), at("3.md", 5, Freshness.EDITED), False),
        (Horizon(2, 1), at("2.md", 5), True),
        (Horizon(2, 1), at("2.md", 16), False),
        (Horizon(2), at("notes/of-nobody.md", 5), True),
        (Horizon(2), Anchored(QUOTED, Freshness.GONE), True),
    ],
)
def test_words_that_stand_behind_the_horizon_now_are_out_of_sight(
    order: StoryOrder, horizon: Horizon | None, place: Anchored, seen: bool
) -> None:
    assert in_sight([at("1.md", 5), place], horizon, order) is seen


def test_a_remark_counts_what_was_changed() -> None:
    gone, edited = Anchored(QUOTED, Freshness.GONE), at("1.md", 1, Freshness.EDITED)
    whole = at("1.md", 1)
    unknown = Anchored(QUOTED, Freshness.NOT_EVALUATED)
    assert remark_on([]) == remark_on([whole, unknown]) == ""
    assert remark_on([gone]).startswith("The passage that")
    assert remark_on([whole, gone]).startswith("1 of the 2 passages that")
    assert remark_on([edited, gone]).endswith("were changed since.")
