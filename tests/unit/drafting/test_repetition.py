"""Repetitions: runs of the same words, and passages that are very similar."""

import random
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.drafting.style import RUN_WORDS, Repetition, find_repetitions
from lrwr.core.model.documents import DocumentId

DRAFT, OTHER = DocumentId("draft.md"), DocumentId("1.md")
RUN = "the lamp went round and threw its arm of light across the wet road"
"""Fourteen words."""


def find(draft: str, other: str = "") -> list[Repetition]:
    texts: Mapping[DocumentId, str] = {OTHER: other, DRAFT: draft}
    return find_repetitions(DRAFT, texts)


def test_a_run_of_words_is_found_whatever_stands_around_it() -> None:
    draft = f"At nine, {RUN.replace(' round', ', round')}; she slept."
    (found,) = find(draft, f"Nobody saw that {RUN.upper()} that night.")
    assert draft[found.span.start : found.span.end].startswith("the lamp went, round")
    assert (found.words, found.is_verbatim, found.document) == (14, True, OTHER)


def test_shorter_runs_do_not_count_and_paragraphs_do_not_interrupt_one() -> None:
    words = RUN.split()
    short = " ".join(words[: RUN_WORDS - 1])
    assert find(f"And {short} there.", RUN) == []
    assert find(" ".join(words[:7]) + "\n\n" + " ".join(words[7:]), RUN)


def test_a_draft_may_repeat_itself() -> None:
    draft = f"First {RUN}.\n\nThen {RUN} again."
    (found,) = find(draft)
    assert found.document == DRAFT
    assert found.other_span.end < found.span.start


def test_a_draft_that_is_not_repeated_has_no_repetition() -> None:
    assert find(RUN) == []


def test_a_passage_with_most_of_its_words_from_another_is_similar() -> None:
    other = (
        "She took the can off the shelf, filled the lamp and trimmed the wick. Then she"
        " went up the stair and sat down to listen for the bell, which was late."
    )
    draft = (
        other.replace("trimmed", "cut")
        .replace("up the", "to the")
        .replace("listen", "wait")
    )
    (found,) = find(draft, other)
    assert not found.is_verbatim
    assert find("It rained on the moor for nine days.", other) == []


WORDS = [f"w{n}" for n in range(400)]


@pytest.mark.parametrize("seed", range(40))
def test_planted_runs_are_found_and_unplanted_text_is_clean(seed: int) -> None:
    dice = random.Random(seed)
    other = " ".join(dice.choices(WORDS, k=600))
    draft = " ".join(dice.choices(WORDS, k=300))
    assert find(draft, other) == []
    start = dice.randrange(560)
    planted = " ".join(other.split()[start : start + dice.randint(RUN_WORDS, 40)])
    assert any(r.is_verbatim for r in find(f"{draft} {planted} {draft[:50]}", other))


@given(st.text("ab \n", max_size=200), st.text("ab \n", max_size=200))
def test_any_texts_can_be_compared(draft: str, other: str) -> None:
    for found in find(draft, other):
        text = draft if found.document == DRAFT else other
        assert draft[found.span.start : found.span.end].split()
        assert text[found.other_span.start : found.other_span.end].split()
