from dataclasses import replace

import pytest

from lrwr.core.canon.model import Canon
from lrwr.core.chat.history import (
    MAX_SHORTENED_TURNS,
    SHORTENED_LINE_CHARS,
    estimate_history_tokens,
    filter_turns_by_horizon,
    fit_turns_to_budget,
    format_changed_answer_remark,
    is_answer_within_horizon,
    recall_history,
    select_recallable_turns,
)
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.text import LineRange, Span
from lrwr.core.model.turns import NarrativeState, Turn
from lrwr.core.retrieval.anchors import AnchoredCitation, Freshness, QuoteLocation
from lrwr.core.retrieval.freshness import FreshnessService
from lrwr.core.retrieval.story import StoryOrder, build_story_order
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
    return build_story_order(book.outline_list(), (), Canon())


def test_without_a_horizon_every_turn_counts(order: StoryOrder) -> None:
    turns = [a_turn(), a_turn(as_of="ch2")]
    assert filter_turns_by_horizon(turns, None, order) == turns


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
    found = filter_turns_by_horizon(turns, horizon, order)
    assert [turn.output.narrative_state_delta.as_of for turn in found] == kept


def test_the_newest_turns_that_fit_are_told_in_full_the_others_in_short() -> None:
    long = "Where " + "on earth " * 40 + "is the boat?"
    turns = [a_turn(long), a_turn("Who is Wren?"), a_turn("Why?")]
    budget = sum(
        estimate_history_tokens(t.question + t.output.response_text) for t in turns[1:]
    )
    kept, before = fit_turns_to_budget(turns, budget)
    assert kept == tuple(turns[1:])
    title, line = before.splitlines()
    assert title == "Earlier the writer asked:"
    asked, answered = line.split(" Answered: ")
    assert asked.startswith("- Where on earth") and asked.endswith("…")
    assert len(asked) <= SHORTENED_LINE_CHARS + 2
    assert answered == "At the landing."


def test_what_all_fits_leaves_nothing_before() -> None:
    turns = [a_turn(), a_turn()]
    assert fit_turns_to_budget(turns) == (tuple(turns), "")
    assert fit_turns_to_budget([]) == ((), "")


def test_a_turn_that_is_too_long_alone_is_told_in_short() -> None:
    kept, before = fit_turns_to_budget([a_turn("Why?", "Because [1]. " + "x " * 9_000)])
    assert kept == ()
    told = before.partition("- Why? Answered: ")[2]
    assert told.startswith("Because. x x") and len(told) <= SHORTENED_LINE_CHARS
    stopped = [a_turn("Who?", ""), a_turn("Why?")]
    assert fit_turns_to_budget(stopped, 0)[1].splitlines()[1] == "- Who?"


def test_in_short_an_outdated_answer_is_not_told() -> None:
    old, other = a_turn("Where?"), a_turn("Who?", "Wren.")
    _, before = fit_turns_to_budget([old, other], 0, outdated={old.id})
    assert before.splitlines()[1:] == ["- Where?", "- Who? Answered: Wren."]


def test_only_turns_that_can_be_told_are_recalled() -> None:
    turns = [a_turn(f"Question {n}?", "x" * 400) for n in range(40)]
    kept, before = fit_turns_to_budget(turns)
    told = select_recallable_turns(turns)
    assert list(told) == turns[-(len(kept) + MAX_SHORTENED_TURNS) :]
    assert fit_turns_to_budget(told) == (kept, before)
    assert select_recallable_turns(turns[:3]) == turns[:3]


def at(
    document: str, start: int, state: Freshness = Freshness.CURRENT
) -> AnchoredCitation:
    place = QuoteLocation(
        DocumentId(document), Span(start, start + 4), LineRange(1, 1), "One."
    )
    return AnchoredCitation(QUOTED, state, place, 1.0)


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
        (Horizon(2), AnchoredCitation(QUOTED, Freshness.GONE), True),
    ],
)
def test_words_that_stand_behind_the_horizon_now_are_out_of_sight(
    order: StoryOrder, horizon: Horizon | None, place: AnchoredCitation, seen: bool
) -> None:
    assert is_answer_within_horizon([at("1.md", 5), place], horizon, order) is seen


async def test_a_damaged_turn_is_not_recalled(order: StoryOrder) -> None:
    sound, damaged = a_turn("Where?"), replace(a_turn("Who?"), is_damaged=True)
    freshness = FreshnessService(Book({"1.md": "# One\n"}))
    recalled = await recall_history([damaged, sound], None, order, freshness)
    assert recalled.history == (sound,)
    assert "Who?" not in recalled.before


def test_a_remark_counts_what_was_changed() -> None:
    gone, edited = (
        AnchoredCitation(QUOTED, Freshness.GONE),
        at("1.md", 1, Freshness.EDITED),
    )
    whole = at("1.md", 1)
    unknown = AnchoredCitation(QUOTED, Freshness.NOT_EVALUATED)
    assert (
        format_changed_answer_remark([])
        == format_changed_answer_remark([whole, unknown])
        == ""
    )
    assert format_changed_answer_remark([gone]).startswith("The passage that")
    assert format_changed_answer_remark([whole, gone]).startswith(
        "1 of the 2 passages that"
    )
    assert format_changed_answer_remark([edited, gone]).endswith("have changed since.")
