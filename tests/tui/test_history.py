"""Walking through what was asked before."""

from hypothesis import given
from hypothesis import strategies as st

from lrwr.tui.input.prompt import PromptHistory

ASKED = st.lists(st.text(min_size=1), max_size=8)


def history(*asked: str) -> PromptHistory:
    found = PromptHistory()
    found.load(asked)
    return found


def test_one_goes_back_from_the_newest_and_forward_to_the_draft() -> None:
    past = history("one", "two")
    assert past.older("a draft") == "two"
    assert past.older("two") == "one"
    assert past.older("one") is None
    assert past.newer("one") == "two"
    assert past.newer("two") == "a draft"
    assert past.newer("a draft") is None


def test_a_change_to_what_came_back_changes_nothing_of_what_was_asked() -> None:
    past = history("one", "two")
    past.older("")
    past.older("two, changed")
    assert past.newer("one") == "two"


def test_a_changed_text_becomes_the_draft_where_there_is_none() -> None:
    past = history("one", "two")
    past.older("")
    past.older("two, changed")
    past.newer("one")
    assert past.newer("two") == "two, changed"


def test_a_draft_outlives_a_change_to_what_came_back() -> None:
    past = history("one")
    past.older("a draft")
    assert past.newer("one, changed") == "a draft"


def test_what_is_asked_again_is_there_once_where_it_was_asked_last() -> None:
    past = history("one", "two")
    past.add("one")
    assert past.older("") == "one"
    assert past.older("one") == "two"
    assert past.older("two") is None


def test_former_questions_stand_before_those_of_this_sitting() -> None:
    past = history()
    past.add("now")
    past.load(["before"])
    assert past.older("") == "now"
    assert past.older("now") == "before"


@given(ASKED, st.text(), st.lists(st.booleans(), max_size=20))
def test_a_draft_comes_back_from_every_walk(
    asked: list[str], draft: str, steps: list[bool]
) -> None:
    past = history(*asked)
    text = draft
    for back in steps:
        moved = past.older(text) if back else past.newer(text)
        text = text if moved is None else moved
    while (moved := past.newer(text)) is not None:
        text = moved
    assert text == draft
    assert past.shown is None


@given(ASKED)
def test_all_that_was_asked_comes_back_newest_first(asked: list[str]) -> None:
    past = history(*asked)
    text, seen = "", []
    while (moved := past.older(text)) is not None:
        seen.append(moved)
        text = moved
    assert seen == list(dict.fromkeys(reversed(asked)))
