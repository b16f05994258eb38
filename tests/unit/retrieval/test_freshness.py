from collections.abc import Collection
from dataclasses import replace

import pytest

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.core.model.text import LineIndex, Span
from lrwr.core.model.turns import Citation, Turn
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.anchors import AnchoredCitation
from lrwr.core.retrieval.freshness import (
    FreshnessService,
    StaleAnswerDetector,
    StaleAnswers,
)
from tests.fakes.conversations import OTHER, THREAD, a_turn
from tests.fakes.desks import Desk
from tests.fakes.libraries import Library

ONE, TWO = DocumentId("1.md"), DocumentId("2.md")
EELS = "The eels were counted twice that night."
LAMP = "Nell lit the lamp before the fog came in."
BOOK = f"# One\n\n{EELS} {LAMP}\n"


def cited(words: str, number: int = 1) -> Citation:
    span = Span(BOOK.index(words), BOOK.index(words) + len(words))
    lines = LineIndex.of(BOOK).lines_of(span)
    return Citation(number, ONE, span, lines, words, 1)


def resting_on(*words: str) -> Turn:
    citations = (cited(one, n) for n, one in enumerate(words, start=1))
    return a_turn(citations=tuple(citations))


async def save(desk: Desk, **texts: str) -> None:
    for name, text in texts.items():
        desk.write(f"{name.removeprefix('f')}.md", text)
    await desk.ingest()


def told(places: list[AnchoredCitation]) -> list[tuple[str, str]]:
    return [(one.freshness, one.now.document if one.now else "") for one in places]


async def test_words_are_looked_up_in_the_library_as_it_was_read_last(
    desk: Desk,
) -> None:
    fresh = FreshnessService(desk.library.passages)
    await save(desk, f1=BOOK)
    both = [cited(LAMP), cited(EELS)]
    assert told(await fresh.anchor(both)) == [("current", ONE)] * 2
    desk.write("1.md", BOOK.replace("twice", "thrice"))
    assert told(await fresh.anchor(both)) == [("current", ONE)] * 2
    await desk.ingest()
    assert told(await fresh.anchor(both)) == [("current", ONE), ("edited", ONE)]
    await save(desk, f1=f"# One\n\n{EELS}\n", f2=f"# Two\n\n{LAMP}\n")
    assert told(await fresh.anchor(both)) == [("current", TWO), ("current", ONE)]
    (desk.folder / "2.md").unlink()
    await desk.ingest()
    assert told(await fresh.anchor(both)) == [("gone", ""), ("current", ONE)]


async def test_each_turn_gets_what_became_of_its_own_citations(desk: Desk) -> None:
    await save(desk, f1=BOOK.replace(EELS, ""))
    one, two, none = resting_on(EELS, LAMP), resting_on(LAMP), resting_on()
    found = await FreshnessService(desk.library.passages).anchor_turns([one, two, none])
    assert {
        turn: [str(p.freshness) for p in places] for turn, places in found.items()
    } == {
        one.id: ["gone", "current"],
        two.id: ["current"],
        none.id: [],
    }
    assert [place.citation for place in found[one.id]] == list(one.output.citations)


class Unreadable:
    """A library of which nothing can be read."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def __getattr__(self, name: str) -> object:
        return getattr(self._library.passages, name)

    async def texts(
        self, documents: Collection[DocumentId]
    ) -> dict[DocumentId, DocumentText]:
        if documents:
            raise StoreProblem(f"{documents} cannot be read.")
        return {}


async def test_of_a_library_that_cannot_be_read_nothing_is_said(desk: Desk) -> None:
    await save(desk, f1=BOOK)
    broken = FreshnessService(Unreadable(desk.library))  # type: ignore[arg-type]
    (found,) = await broken.anchor([cited(LAMP)])
    assert (found.freshness, found.now, found.changed) == ("not evaluated", None, False)
    with pytest.raises(NotFound):
        await desk.library.passages.text(TWO)


async def a_watch(desk: Desk) -> StaleAnswerDetector:
    fresh = FreshnessService(desk.library.passages)
    watch = StaleAnswerDetector(fresh, desk.library.threads)
    await watch.begin()
    return watch


async def test_a_change_tells_the_answers_that_rest_on_it_once(desk: Desk) -> None:
    await save(desk, f1=BOOK)
    keep = desk.library.threads.save_turn
    for thread, turn in (
        (THREAD, resting_on(EELS)), (THREAD, resting_on(EELS, LAMP)),
        (THREAD, resting_on(LAMP)), (OTHER, resting_on(EELS)),
    ):  # fmt: skip
        await keep(thread, "T", turn, turn.output.narrative_state_delta)
    watch = await a_watch(desk)
    await save(desk, f1=f"New. {BOOK}")
    assert await watch.unsettled([ONE]) == StaleAnswers()
    await save(desk, f1=BOOK.replace("twice", "thrice"))
    assert await watch.unsettled([TWO]) == StaleAnswers()
    assert await watch.unsettled([]) == StaleAnswers()
    assert await watch.unsettled([ONE]) == StaleAnswers(3, (THREAD, OTHER))
    assert await watch.unsettled([ONE]) == StaleAnswers()
    await save(desk, f1=BOOK)
    assert await watch.unsettled([ONE]) == StaleAnswers()
    await save(desk, f1=BOOK.replace(EELS, "").replace(LAMP, ""))
    assert await watch.unsettled([ONE]) == StaleAnswers(4, (THREAD, OTHER))


async def test_what_did_not_hold_before_is_no_news(desk: Desk) -> None:
    await save(desk, f1=BOOK.replace("twice", "thrice"))
    turn = resting_on(EELS, LAMP)
    state = turn.output.narrative_state_delta
    await desk.library.threads.save_turn(THREAD, "T", turn, state)
    watch = await a_watch(desk)
    assert await watch.unsettled([ONE]) == StaleAnswers()
    await save(desk, f1="# One\n\nNothing else.\n")
    assert await watch.unsettled([ONE]) == StaleAnswers(1, (THREAD,))
    assert replace(turn, number=1) in await desk.library.threads.turns(THREAD)


async def test_where_nothing_was_asked_nothing_is_read(desk: Desk) -> None:
    broken = FreshnessService(Unreadable(desk.library))  # type: ignore[arg-type]
    watch = StaleAnswerDetector(broken, desk.library.threads)
    await watch.begin()
    assert await watch.unsettled([ONE]) == StaleAnswers()
