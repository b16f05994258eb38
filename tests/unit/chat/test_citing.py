"""Citations are the document's own words, each once, within what was asked for."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.attribution.citations import (
    CitationNumbering,
    iter_evidence_spans,
    reanchor_citation,
)
from lrwr.core.chat.context.fact_selection import MAX_CHARACTER_LINES
from lrwr.core.chat.context.items import (
    ContextItem,
    StoryFacet,
    collect_context_items,
    load_result_texts,
)
from lrwr.core.chat.context.material import (
    MATERIAL_TOKEN_BUDGET,
    NumberedItem,
    NumberedMaterial,
    estimate_material_tokens,
    number_material,
)
from lrwr.core.chat.state import RetrievalResult
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.text import LineIndex, LineRange, Span
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.retrievers import WordWeights
from tests.fakes.chatting import (
    ONE,
    TWO,
    a_story,
    cite,
    found,
    paragraphs,
    passage,
)
from tests.fakes.stories import Book, Stories

HERE = DocumentId("here.md")
PROSE = st.text(alphabet="ab c.,’“”\n-", min_size=1, max_size=60)


@pytest.fixture
def story() -> Stories:
    return a_story()


def everything(story: Stories) -> RetrievalResult:
    passages = [*paragraphs(story.book, ONE), *paragraphs(story.book, TWO)]
    return found(
        story, "Nell Tallow", "Corin Vale", speaker="Nell Tallow", passages=passages
    )


def in_numbers(
    result: RetrievalResult,
    book: Book,
    *,
    words: WordWeights | None = None,
    budget: int = MATERIAL_TOKEN_BUDGET,
) -> NumberedMaterial:
    return number_material(
        result, book.all_texts(), find_sentence_spans, words=words, budget=budget
    )


def document(text: str) -> DocumentText:
    return DocumentText(text, LineIndex.of(text))


def verbatim(material: NumberedMaterial, book: Book) -> None:
    for citation in material.citations:
        kept = book.all_texts()[citation.document]
        assert kept.text[citation.span.start : citation.span.end] == citation.text
        assert kept.lines.lines_of(citation.span) == citation.lines


def test_everything_found_is_numbered_from_1_verbatim_and_once(story: Stories) -> None:
    material = in_numbers(everything(story), story.book)
    numbers = [citation.number for citation in material.citations]
    places = [(citation.document, citation.span) for citation in material.citations]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(set(places)) == len(places)
    verbatim(material, story.book)
    assert {passage.text for passage in material.passages} == {
        one.chunk.text for one in everything(story).ranked_chunks
    }


def eyes_of(material: NumberedMaterial) -> NumberedItem:
    return next(e for e in material.entries if e.item.label == "eyes")


def test_a_fact_has_the_number_of_its_words(story: Stories) -> None:
    result = replace(everything(story), ranked_chunks=())
    material = in_numbers(result, story.book)
    eyes = eyes_of(material)
    cited = material.citations[eyes.numbers[0] - 1]
    assert eyes.quoted == eyes.numbers
    assert (eyes.item.about, eyes.item.statement) == ("Nell Tallow", "grey")
    assert cited.text == "Her eyes were grey as slate."
    assert (cited.document, cited.lines, cited.chapter) == (ONE, LineRange(3, 3), 1)
    assert material.notes[cited.number] == "Nell Tallow, eyes: grey"


def test_a_fact_whose_words_are_in_a_passage_has_the_number_of_the_passage(
    story: Stories,
) -> None:
    material = in_numbers(everything(story), story.book)
    eyes = eyes_of(material)
    assert (eyes.numbers, eyes.quoted) == ((1,), ())
    assert len(material.citations) == len(material.passages)


def test_what_a_passage_says_in_the_same_words_is_not_said_again(
    story: Stories,
) -> None:
    alone = in_numbers(replace(everything(story), ranked_chunks=()), story.book)
    assert {e.item.facet for e in alone.entries} >= {
        StoryFacet.HAPPENED,
        StoryFacet.LINE,
    }
    material = in_numbers(everything(story), story.book)
    assert {e.item.facet for e in material.entries} == {StoryFacet.LOOK}


def test_passages_come_first_and_facts_take_a_sixth_at_most() -> None:
    told = [f"“I have said it {n} times over to her,” said Nell." for n in range(30)]
    text = "\n\n".join(told)
    story = Stories(Book({ONE: f"# One\n\n{text}\n"}))
    story.name("Nell")
    for n in range(30):
        story.says(ONE, f"I have said it {n} times over to her,", "Nell")
    held = [passage(story.book, ONE, one) for one in told[20:]]
    result = found(story, speaker="Nell", passages=held)
    material = in_numbers(result, story.book, budget=240)
    quoted = {n for entry in material.entries for n in entry.quoted}
    facts = [c for c in material.citations if c.number in quoted]
    assert 0 < sum(estimate_material_tokens(one.text) for one in facts) <= 40
    assert [one.number for one in material.passages] == list(
        range(1, len(material.passages) + 1)
    )


@pytest.mark.parametrize("budget", [40, 90, 200, MATERIAL_TOKEN_BUDGET])
def test_the_budget_is_kept_and_nothing_is_cut_inside_a_sentence(
    story: Stories, budget: int
) -> None:
    material = in_numbers(everything(story), story.book, budget=budget)
    assert (
        sum(estimate_material_tokens(one.text) for one in material.citations) <= budget
    )
    for citation in material.passages:
        assert citation.text.rstrip("”")[-1] in ".,"
    verbatim(material, story.book)


def test_a_passage_too_long_is_cut_to_the_sentences_that_fit_the_question() -> None:
    filler = "The marsh lay still and grey under the cloud all that day. " * 6
    told = f"{filler}PurpleFrog lit the lantern. {filler}".strip()
    book = Book({ONE: f"# One\n\n{told}\n"})
    result = RetrievalResult(ranked_chunks=(passage(book, ONE, told),))
    words = WordWeights({"lantern": 1.0})
    (cut,) = in_numbers(result, book, words=words, budget=100).passages
    assert "PurpleFrog lit the lantern." in cut.text
    assert len(cut.text) < len(told)
    assert cut.text.startswith(("The", "Purple")) and cut.text.endswith(".")


def test_passages_keep_their_order(story: Stories) -> None:
    result = everything(story)
    material = in_numbers(result, story.book)
    assert [one.text for one in material.passages] == [
        one.chunk.text for one in result.ranked_chunks
    ]


def test_facts_leave_passages_their_room(story: Stories) -> None:
    material = in_numbers(everything(story), story.book, budget=160)
    assert material.passages
    assert material.entries


def test_of_many_lines_few_are_given_and_verified_ones_first() -> None:
    said = [f"I have said it {count} times over." for count in "abcdefghijkl"]
    text = "\n\n".join(f"“{one}” said Nell." for one in said)
    story = Stories(Book({ONE: f"# One\n\n{text}\n"}))
    story.name("Nell")
    for one in said:
        story.says(ONE, one, "Nell")
    material = in_numbers(found(story, speaker="Nell"), story.book)
    assert len(material.entries) == MAX_CHARACTER_LINES
    assert {e.item.facet for e in material.entries} == {StoryFacet.LINE}


@pytest.mark.parametrize(("share", "most"), [(1.0, 1.0), (1 / 3, 1 / 3), (0.0, 0.0)])
def test_notes_use_no_more_than_their_share(
    story: Stories, share: float, most: float
) -> None:
    passages = paragraphs(story.book, ONE)
    notes = [replace(one, chapter=None) for one in passages[:2]]
    result = RetrievalResult(
        ranked_chunks=(*notes, *passages[2:]), max_note_share=share
    )
    budget = 3 * sum(12 + -(-len(one.chunk.text) // 4) for one in notes)
    material = in_numbers(result, story.book, budget=budget)
    note_places = {one.chunk.span for one in notes}
    used = [c for c in material.passages if c.span in note_places]
    assert len(used) == (2 if most else 0)
    half = in_numbers(result, story.book, budget=budget // 2)
    used = [c for c in half.passages if c.span in note_places]
    assert len(used) == {1.0: 2, 1 / 3: 1, 0.0: 0}[share]


def test_what_a_document_no_longer_says_has_no_number(story: Stories) -> None:
    result = everything(story)
    texts = story.book.all_texts() | {DocumentId(ONE): document("# One\n\nNothing.\n")}
    material = number_material(result, texts, find_sentence_spans)
    assert {citation.document for citation in material.citations} == {TWO}


async def test_texts_are_those_of_the_documents_that_are_still_there(
    story: Stories,
) -> None:
    result = everything(story)
    del story.book.documents[DocumentId(ONE)]
    assert set(await load_result_texts(result, story.book)) == {TWO}


def test_nothing_later_than_the_horizon_gets_a_number(story: Stories) -> None:
    result = found(story, "Nell Tallow", horizon=Horizon(1), speaker="Nell Tallow")
    material = in_numbers(result, story.book)
    assert {citation.document for citation in material.citations} == {ONE}


def test_a_decision_of_the_writers_needs_no_number() -> None:
    piece = ContextItem(StoryFacet.LOOK, "Nell", "age", "forty", decided=True)
    assert piece.line == "Nell, age: forty"
    assert piece.is_uncited


def test_an_utterance_in_two_stretches_has_a_number_for_each(story: Stories) -> None:
    quote = a_story_with_a_tag()
    pieces = collect_context_items(found(quote, speaker="Nell"))
    (evidence,) = pieces[0].evidence
    assert [text for _, text in iter_evidence_spans(evidence)] == ["Never", "not once."]
    material = in_numbers(found(quote, speaker="Nell"), quote.book)
    assert [one.text for one in material.citations] == ["Never", "not once."]


def a_story_with_a_tag() -> Stories:
    story = Stories(Book({ONE: "# One\n\n“Never”, said Nell, “not once.”\n"}))
    story.name("Nell")
    story.says(ONE, "Never", "Nell")
    (said,) = story.said
    spans = (*said.quotation.spans, story.book.span(ONE, "not once."))
    story.said = [replace(said, quotation=replace(said.quotation, spans=spans))]
    return story


@given(before=PROSE, words=PROSE, after=PROSE, moved=PROSE)
def test_words_are_found_again_where_they_stand_now(
    before: str, words: str, after: str, moved: str
) -> None:
    old = before + words + after
    span = Span(len(before), len(before) + len(words))
    citation = cite(3, words, start=span.start)
    same = reanchor_citation(citation, document(old))
    assert same is None or (same.span, same.text, same.number) == (span, words, 3)
    assert (same is None) == (not words.strip())
    new = f"{moved}\n{old}"
    again = reanchor_citation(citation, document(new))
    if again is not None:
        assert new[again.span.start : again.span.end] == again.text
        assert again.lines == document(new).lines.lines_of(again.span)


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ("Far above. The lamp's out, she said.", "The lamp's out"),
        ("THE *LAMP’S* OUT", "THE *LAMP’S* OUT"),
        ("The lamps of the town went out", None),
        ("The lamp was out", None),
        ("", None),
    ],
)
def test_other_typography_is_the_same_words_and_other_words_are_not(
    now: str, words: str | None
) -> None:
    again = reanchor_citation(cite(1, "The lamp’s out"), document(now))
    assert (again.text if again else None) == words


def test_of_two_places_the_nearer_one_is_taken() -> None:
    text = "Not once. " * 2 + "A long stretch lies between. Not once."
    again = reanchor_citation(cite(1, "Not once.", start=len(text) - 3), document(text))
    assert again is not None
    assert again.span.end == len(text)


def test_words_inside_of_a_word_are_not_found() -> None:
    assert (
        reanchor_citation(cite(1, "lamp", start=9), document("The lamplighter")) is None
    )


@given(text=PROSE, cuts=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60))))
def test_a_stretch_keeps_its_number_however_often_it_is_cited(
    text: str, cuts: list[tuple[int, int]]
) -> None:
    numbering = CitationNumbering({HERE: document(text)})
    for start, end in cuts:
        span = Span(min(start, len(text)), min(end, len(text)))
        words = text[span.start : span.end]
        made = numbering.locate(HERE, span, words, None)
        if made is not None:
            assert numbering.number(made) == numbering.number(made)
    citations = numbering.citations
    assert [one.number for one in citations] == list(range(1, len(citations) + 1))
    assert all(text[c.span.start : c.span.end] == c.text for c in citations)
    assert len({one.span for one in citations}) == len(citations)


@given(
    st.lists(st.sampled_from(["Nell ran. ", "It rained, and it rained. "]), min_size=1)
)
def test_a_cut_never_falls_inside_a_word(parts: list[str]) -> None:
    told = "".join(parts).strip()
    book = Book({ONE: f"# One\n\n{told}\n"})
    result = RetrievalResult(ranked_chunks=(passage(book, ONE, told),))
    material = in_numbers(result, book, budget=70)
    for citation in material.citations:
        end = citation.span.end
        whole = book.documents[DocumentId(ONE)].text
        assert not re.match(r"\w\w", whole[end - 1 : end + 1])
