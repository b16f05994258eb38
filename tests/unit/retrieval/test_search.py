from collections.abc import Sequence

import pytest

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import ChunkKind, TextHash
from lrwr.core.model.documents import DocumentType, Horizon
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.ports.indexes import VectorIndex
from lrwr.core.ports.models import SentenceRating
from lrwr.core.retrieval.search_model import SearchRequest, SearchResult
from lrwr.core.retrieval.service import PassageFinder
from tests.fakes.desks import Desk
from tests.fakes.embedder import WordEmbedder

CHAPTERS = {
    "chapters/1.md": "# One\n\nThe frog lit the lamp.\n\n%% remember the pony %%",
    "chapters/2.md": "# Two\n\nMags opened the ledger.\n\n***\n\nThe frog slept.",
    "chapters/10.md": "# Three\n\nA pony came over the stones to the lamp.",
    "characters/frog.md": "The frog keeps a lamp and a secret.",
}


@pytest.fixture
async def book(desk: Desk) -> Desk:
    for name, text in CHAPTERS.items():
        desk.write(name, text)
    await desk.ingest()
    return desk


def request(question: str, **changes: object) -> SearchRequest:
    given: dict[str, object] = {"pipeline": Pipeline.NAIVE, "limit": 8} | changes
    return SearchRequest(question=question, **given)  # type: ignore[arg-type]


async def find(desk: Desk, question: str, **changes: object) -> SearchResult:
    return await desk.finder().find(request(question, **changes))


def files(result: SearchResult) -> list[str]:
    return [passage.chunk.document for passage in result.passages]


async def test_passages_say_where_they_stand_in_the_story(book: Desk) -> None:
    result = await find(book, "Where did the frog sleep, or slept?")
    first = result.passages[0]
    assert first.chunk.text == "The frog slept."
    assert (first.chapter, first.scene, first.chapter_title) == (2, 2, "Two")
    assert first.type is DocumentType.SCENE
    note = next(p for p in result.passages if p.type is DocumentType.CHARACTER)
    assert (note.chapter, note.scene) == (None, None)


async def test_words_alone_find_what_holds_them(book: Desk) -> None:
    result = await find(book, "ledger", dense=False)
    assert files(result) == ["chapters/2.md"]
    assert book.embedder is not None
    assert "ledger" not in book.embedder.asked


async def test_meaning_alone_ranks_everything(book: Desk) -> None:
    result = await find(book, "Mags opened the ledger", lexical=False)
    assert len(result.passages) == 5
    assert "Mags opened the ledger." in result.passages[0].chunk.text
    scores = [passage.score for passage in result.passages if passage.chapter]
    assert scores == sorted(scores, reverse=True)
    assert result.passages[-1].type is DocumentType.CHARACTER


async def test_both_ways_together_find_what_either_finds(book: Desk) -> None:
    both = await find(book, "the pony's ledger")
    for alone in ({"dense": False}, {"lexical": False}):
        assert set(files(await find(book, "pony ledger", **alone))) <= set(files(both))


async def test_an_answer_is_the_same_every_time(book: Desk) -> None:
    first = await find(book, "the lamp of the frog")
    for _ in range(3):
        assert await find(book, "the lamp of the frog") == first


async def test_without_vectors_a_search_goes_by_words(desk: Desk) -> None:
    desk.embedder = None
    desk.write("1.md", "The frog lit the lamp.")
    await desk.ingest()
    result = await find(desk, "lamp")
    assert files(result) == ["1.md"]
    assert result.remarks == ()


async def test_when_the_embedder_is_away_words_are_searched_and_a_remark_says_so(
    book: Desk,
) -> None:
    finder = book.finder(embedder=WordEmbedder(patience=0))
    result = await finder.find(request("ledger"))
    assert files(result) == ["chapters/2.md"]
    told = "Searched by words only. The model is away. Wake it up."
    assert result.remarks == (told,)


async def test_when_the_vectors_cannot_be_opened_words_are_searched(
    book: Desk,
) -> None:
    async def away() -> VectorIndex | None:
        raise ServiceUnavailable("The model's folder is gone.")

    finder = PassageFinder(
        store=book.library.passages,
        lexical=book.library.words,
        embedder=book.embedder,
        vectors=away,
        reranker=None,
        candidates=20,
        order_patterns=(),
    )
    result = await finder.find(request("ledger"))
    assert files(result) == ["chapters/2.md"]
    assert "The model's folder is gone." in result.remarks[0]


async def test_types_narrow_a_search(book: Desk) -> None:
    result = await find(book, "frog lamp", types=frozenset({DocumentType.CHARACTER}))
    assert files(result) == ["characters/frog.md"]
    setting = frozenset({DocumentType.SETTING})
    assert (await find(book, "frog lamp", types=setting)).passages == ()


async def test_the_authors_comments_are_found_only_when_asked_for(book: Desk) -> None:
    assert files(await find(book, "remember", dense=False)) == []
    result = await find(book, "remember", dense=False, notes=True)
    assert [p.chunk.kind for p in result.passages] == [ChunkKind.NOTE]
    assert result.passages[0].chunk.text == "%% remember the pony %%"


@pytest.mark.parametrize("limit", [1, 2, 3])
async def test_no_more_than_the_limit_is_found(book: Desk, limit: int) -> None:
    result = await find(book, "frog lamp", limit=limit)
    everything = await find(book, "frog lamp")
    text = [p for p in everything.passages if p.chapter is not None]
    notes = [p for p in result.passages if p.chapter is None]
    assert list(result.passages) == text[:limit] + notes
    assert len(notes) <= 1


@pytest.mark.parametrize("ways", [{}, {"dense": False}, {"lexical": False}])
async def test_nothing_beyond_the_horizon_is_found(
    book: Desk, ways: dict[str, object]
) -> None:
    bound = await find(book, "pony frog lamp", horizon=Horizon(2, 1), **ways)
    texts = " ".join(passage.chunk.text for passage in bound.passages)
    assert "lamp" in texts
    assert "pony" not in texts
    assert "slept" not in texts
    assert "secret" not in texts


async def test_words_that_no_passage_holds_are_named(book: Desk) -> None:
    result = await find(book, "Did the frog eat marzipan with Zoë?")
    assert result.unknown == ("eat", "marzipan", "zoë")


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("Jack died at noon.", "die"),
        ("The old cat dies.", "dying"),
        ("She ran home.", "run"),
        ("He left it and wrote down nothing.", "leave write"),
        ("The pony drowned.", "drown drowning"),
    ],
)
@pytest.mark.parametrize("horizon", [None, Horizon(1)])
async def test_a_word_is_known_by_any_of_its_forms(
    desk: Desk, written: str, asked: str, horizon: Horizon | None
) -> None:
    desk.write("chapters/1.md", f"# One\n\n{written}\n")
    desk.write("chapters/2.md", "# Two\n\nA lamp burned.\n")
    await desk.ingest()
    result = await find(desk, f"{asked} swim", horizon=horizon)
    assert result.unknown == ("swim",)


@pytest.mark.parametrize("question", ["", "?!", '"', "NEAR(", "a AND OR*", "_", "\0"])
async def test_no_question_breaks_a_search(book: Desk, question: str) -> None:
    assert isinstance(await find(book, question), SearchResult)


async def test_an_empty_library_has_no_answer(desk: Desk) -> None:
    result = await find(desk, "frog")
    assert (result.passages, result.unknown, result.remarks) == ((), ("frog",), ())


async def test_the_order_of_the_settings_numbers_the_chapters(book: Desk) -> None:
    finder = book.finder(order=["chapters/10.md"])
    result = await finder.find(request("pony", dense=False))
    assert result.passages[0].chapter == 1


class Backwards:
    """A reranker that likes the last best; `away` makes it fail."""

    name = "backwards"

    def __init__(self, *, away: bool = False) -> None:
        self.away = away
        self.asked: list[int] = []

    async def rerank(
        self, question: str, passages: Sequence[str], stored: Sequence[TextHash] = ()
    ) -> list[float]:
        """Score by place."""
        self.asked.append(len(passages))
        if self.away:
            raise ServiceUnavailable("The reranker is away.")
        return [float(place) for place in range(len(passages))]

    async def rate_sentences(
        self, question: str, passages: Sequence[str], stored: Sequence[TextHash]
    ) -> list[list[SentenceRating]]:
        """Return no ratings."""
        del question, stored
        return [[] for _ in passages]


async def test_a_reranker_sees_the_candidates_and_changes_their_order(
    book: Desk,
) -> None:
    reranker = Backwards()
    plain = await find(book, "frog lamp")
    finder = book.finder(reranker=reranker, candidates=3)
    result = await finder.find(request("frog lamp"))
    assert reranker.asked == [3]
    assert set(files(result)) == set(files(plain))
    looked_at = [passage.chunk for passage in result.passages[:3]]
    assert looked_at[0] == plain.passages[2].chunk
    assert {c.id for c in looked_at} == {p.chunk.id for p in plain.passages[:3]}
    rest = [passage.chunk for passage in result.passages[3:]]
    assert rest == [passage.chunk for passage in plain.passages[3:]]


async def test_a_reranker_may_be_left_out_or_fail(book: Desk) -> None:
    plain = await find(book, "frog lamp")
    finder = book.finder(reranker=Backwards(away=True))
    assert await finder.find(request("frog lamp", rerank=False)) == plain
    result = await finder.find(request("frog lamp"))
    assert files(result) == files(plain)
    assert result.remarks == ("Results were not reranked. The reranker is away.",)


async def test_what_is_saved_is_found_by_the_next_search(book: Desk) -> None:
    finder = book.finder()
    await finder.find(request("frog"))
    book.write("chapters/2.md", "# Two\n\nA heron stood in the ditch.")
    await book.ingest()
    result = await finder.find(request("A heron in the ditch", lexical=False))
    assert "heron" in result.passages[0].chunk.text
    assert "ledger" not in " ".join(p.chunk.text for p in result.passages)


async def test_what_came_after_the_order_was_read_is_left_for_the_next_search(
    book: Desk,
) -> None:
    finder = book.finder()
    order = await finder.story_order()
    book.write("chapters/11.md", "# Four\n\nA heron stood in the ditch.")
    await book.ingest()
    result = await finder.find(request("heron"), order)
    assert "chapters/11.md" not in files(result)
    assert "chapters/11.md" in files(await finder.find(request("heron")))


async def test_a_word_that_comes_only_later_is_as_unknown_as_any_other(
    book: Desk,
) -> None:
    early = await find(book, "Was there a pony or a griffin?", horizon=Horizon(1))
    assert early.unknown == ("pony", "griffin")
    late = await find(book, "Was there a pony or a griffin?", horizon=Horizon(3))
    assert late.unknown == ("griffin",)
