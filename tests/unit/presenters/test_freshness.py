from dataclasses import replace

import pytest

from lrwr.app.presenters.citations import (
    NOT_LOOKED_UP,
    describe_changed_citations,
    describe_citation_freshness,
    freshness_as_json,
    get_displayed_words,
)
from lrwr.app.presenters.text import EXCERPT_CHARACTERS
from lrwr.core.model.text import LineRange
from lrwr.core.retrieval.anchors import (
    AnchoredCitation,
    Freshness,
    QuoteLocation,
    mark_unevaluated,
)
from tests.fakes.conversations import QUOTED
from tests.fakes.records import TWO

HERE = QuoteLocation(QUOTED.document, QUOTED.span, QUOTED.lines, QUOTED.text)
CURRENT = AnchoredCitation(QUOTED, Freshness.CURRENT, HERE, 1.0)
MOVED = replace(CURRENT, now=replace(HERE, document=TWO, lines=LineRange(9, 9)))
EDITED = AnchoredCitation(
    QUOTED, Freshness.EDITED, replace(HERE, text="It was open."), 0.7
)
GONE = AnchoredCitation(QUOTED, Freshness.GONE)
UNKNOWN = mark_unevaluated(QUOTED)


def line(one: AnchoredCitation) -> str:
    told = describe_citation_freshness(one)
    return f"{told.before}{told.place}{told.after}“{told.words}”"


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (CURRENT, "manuscript/01.md:3-4  “The sluice was shut.”"),
        (UNKNOWN, "manuscript/01.md:3-4  “The sluice was shut.”"),
        (MOVED, "moved to manuscript/02.md:9  “The sluice was shut.”"),
        (
            EDITED,
            "manuscript/01.md:3-4 was edited since; it now reads: “It was open.”",
        ),
        (GONE, "is no longer in the text; it read: “The sluice was shut.”"),
    ],
)
def test_a_citation_is_told_as_it_stands_now(one: AnchoredCitation, told: str) -> None:
    assert line(one) == told


@pytest.mark.parametrize(
    ("places", "told"),
    [
        ([], ""),
        ([CURRENT, MOVED], ""),
        ([GONE], "The cited passage has changed since this answer."),
        ([GONE, EDITED], "Both cited passages have changed since this answer."),
        ([GONE] * 3, "All 3 cited passages have changed since this answer."),
        ([GONE, CURRENT], "1 of 2 cited passages has changed since this answer."),
        (
            [GONE, EDITED, MOVED],
            "2 of 3 cited passages have changed since this answer.",
        ),
        ([UNKNOWN, UNKNOWN], NOT_LOOKED_UP),
    ],
)
def test_what_was_changed_is_said_once_for_an_answer(
    places: list[AnchoredCitation], told: str
) -> None:
    assert describe_changed_citations(places) == told


def test_a_long_passage_is_shown_where_it_differs() -> None:
    alike = "The eels were counted twice. " * 20
    cited = replace(QUOTED, text=f"{alike}Nobody slept.")
    now = replace(HERE, text=f"{alike}Everybody slept.")
    shown = get_displayed_words(AnchoredCitation(cited, Freshness.EDITED, now, 0.9))
    assert shown.startswith("… ")
    assert shown.endswith("Everybody slept.")
    assert len(shown) <= EXCERPT_CHARACTERS + 4
    assert get_displayed_words(EDITED) == "It was open."
    same = replace(now, text=alike)
    assert get_displayed_words(
        AnchoredCitation(cited, Freshness.EDITED, same, 0.9)
    ).startswith("… ")
    assert get_displayed_words(
        AnchoredCitation(cited, Freshness.CURRENT, now, 1.0)
    ).startswith("The")


def test_a_script_gets_the_present_place_or_none() -> None:
    assert freshness_as_json(GONE) == {"freshness": "gone", "now": None}
    assert freshness_as_json(UNKNOWN) == {"freshness": "not evaluated", "now": None}
    assert freshness_as_json(MOVED) == {
        "freshness": "current",
        "now": {
            "document": TWO,
            "lines": [9, 9],
            "chars": [20, 41],
            "text": "The sluice was shut.",
        },
    }
