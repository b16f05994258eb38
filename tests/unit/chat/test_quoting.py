"""Without a model the text answers in its own words, and says where it has none."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.attribution.claims import check_citations
from lrwr.core.bible.gaps import find_asked_attribute
from lrwr.core.bible.values import Gap, GapState
from lrwr.core.canon.model import UndefinedAttribute as Asked
from lrwr.core.chat.extractive.selection import MAX_FACTS_PER_PART
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.chunks import TextHash
from lrwr.core.model.documents import Horizon
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.facts import WRITER_KEEPER, FactAbout
from lrwr.core.model.turns import AnswerIntent, GapFlag, QuestionEntity, SourceIntention
from lrwr.core.ports.models import SentenceRating
from tests.fakes.answered import answer
from tests.fakes.chatting import (
    ONE,
    TWO,
    a_bible,
    a_plan,
    a_story,
    found,
    paragraphs,
)
from tests.fakes.stories import Book, Stories

NELL = "Nell Tallow"


class Wordless:
    """A reranker that does not answer."""

    name = "wordless"

    async def rerank(
        self, question: str, passages: Sequence[str], stored: Sequence[TextHash] = ()
    ) -> list[float]:
        """Fail."""
        raise ServiceUnavailable("The reranker is away.")

    async def rate_sentences(
        self, question: str, passages: Sequence[str], stored: Sequence[TextHash]
    ) -> list[list[SentenceRating]]:
        """Fail."""
        raise ServiceUnavailable("The reranker is away.")


@pytest.fixture
def story() -> Stories:
    return a_story()


async def test_what_is_known_comes_first_then_the_passages(story: Stories) -> None:
    result = found(story, "Corin Vale", passages=paragraphs(story.book, ONE)[:1])
    plan = a_plan(SourceIntention.TRAITS)
    said = await answer(story, "Who is Corin Vale?", plan, result)
    first, *quotes = said.text.split("\n\n")
    assert first.startswith("Corin Vale, occupation: lantern-bearer")
    assert quotes == ["Closest passages: [2]"]
    assert said.gaps == ()


async def test_passages_with_the_kind_of_value_asked_for_come_first(
    story: Stories,
) -> None:
    passages = [*paragraphs(story.book, TWO), *paragraphs(story.book, ONE)]
    result = found(story, NELL, passages=passages)
    plan = a_plan(SourceIntention.FIND_PASSAGE)
    said = await answer(story, "How many rungs does the ladder have?", plan, result)
    first, *_ = said.citations
    assert "nineteen rungs" in first.text


async def test_every_citation_is_verbatim_and_every_line_is_borne_out(
    story: Stories,
) -> None:
    passages = [*paragraphs(story.book, ONE), *paragraphs(story.book, TWO)]
    result = found(story, NELL, "Corin Vale", passages=passages)
    plan = a_plan(SourceIntention.TRAITS, SourceIntention.WHAT_HAPPENED)
    said = await answer(story, "What happened in the fog?", plan, result)
    for citation in said.citations:
        kept = story.book.all_texts()[citation.document]
        assert kept.text[citation.span.start : citation.span.end] == citation.text
        assert kept.lines.lines_of(citation.span) == citation.lines
    facts = "\n\n".join(said.text.split("\n\n")[:-1])
    checked = check_citations(facts, said.citations, find_sentence_spans)
    assert checked.text == facts
    assert checked.findings == ()


async def test_of_a_passage_the_best_sentence_is_marked(story: Stories) -> None:
    result = found(story, NELL, passages=paragraphs(story.book, ONE)[:1])
    question = "How many rungs had she climbed?"
    said = await answer(story, question, a_plan(), result)
    (citation,) = said.citations
    assert said.text == "Closest passages: [1]"
    assert citation.best is not None
    best = citation.text[citation.best.start : citation.best.end]
    assert best == "Nell Tallow climbed the ladder, nineteen rungs of it."


async def test_a_fact_or_a_quote_comes_at_a_time(story: Stories) -> None:
    result = found(story, NELL, passages=paragraphs(story.book, ONE))
    said = await answer(story, "Who is Nell?", a_plan(SourceIntention.TRAITS), result)
    assert len(said.lines) == said.text.count("\n\n") + 1
    doubt, *lines = said.lines
    assert doubt.endswith("clearly says who the person is.")
    assert all(line.rstrip().endswith("]") for line in lines)


async def test_only_what_the_question_asks_for_is_told(story: Stories) -> None:
    story.fact(
        ONE, "nineteen rungs of it", FactAbout.CHARACTER, "attribute", "nineteen", NELL,
        details=(("attribute", "age"),),
    )  # fmt: skip
    result = found(story, NELL)
    said = await answer(
        story, "What age is Nell?", a_plan(SourceIntention.TRAITS), result
    )
    assert "nineteen" in said.text and "grey" not in said.text
    everything = await answer(
        story, "Who is Nell?", a_plan(SourceIntention.TRAITS), result
    )
    assert "nineteen" in everything.text and "grey" in everything.text
    none = await answer(
        story, "Who is Nell?", a_plan(SourceIntention.FIND_PASSAGE), result
    )
    assert "grey" not in none.text


async def test_facts_are_few(story: Stories) -> None:
    for name in "abcdefghijkl":
        story.fact(
            ONE, "nineteen rungs of it", FactAbout.CHARACTER, "attribute",
            f"one more mark, like {name}", NELL, details=(("attribute", f"no {name}"),),
        )  # fmt: skip
    said = await answer(
        story, "Who is Nell?", a_plan(SourceIntention.TRAITS), found(story, NELL)
    )
    assert len(said.lines) == MAX_FACTS_PER_PART


async def test_short_facts_of_somebody_stand_in_one_line(story: Stories) -> None:
    story.fact(
        ONE, "nineteen rungs of it", FactAbout.CHARACTER, "attribute", "nineteen", NELL,
        details=(("attribute", "age"),),
    )  # fmt: skip
    said = await answer(
        story, "Who is Nell?", a_plan(SourceIntention.TRAITS), found(story, NELL)
    )
    assert said.text == (
        "Nell Tallow, age: nineteen, in chapter 1 (“nineteen rungs of it”) [1];"
        " eyes: grey (“Her eyes were grey as slate.”) [2]"
    )


async def test_facts_in_one_line_that_are_no_sentences_are_told_apart(
    story: Stories,
) -> None:
    for says in ("one who counts", "She hums.", "one who keeps count"):
        story.fact(
            ONE, "nineteen rungs of it", FactAbout.CHARACTER, "attribute", says, NELL,
            details=(("attribute", "ways"),),
        )  # fmt: skip
    said = await answer(
        story,
        "What are Nell's ways?",
        a_plan(SourceIntention.TRAITS),
        found(story, NELL),
    )
    assert "one who counts (“nineteen rungs of it”) [1];" in said.text
    assert "“nineteen rungs of it”) [1]; She hums." in said.text
    assert ";\n" not in said.text and not said.text.endswith(";")


async def test_where_nothing_is_left_open_that_is_all_there_is_to_say(
    story: Stories,
) -> None:
    plan = replace(
        a_plan(intent=AnswerIntent.GAP_PROBE), entities=(QuestionEntity(NELL, 1.0),)
    )
    result = found(story, NELL, passages=paragraphs(story.book, ONE))
    said = await answer(story, "What is left open about Nell?", plan, result)
    assert said.text == "There are no open questions about Nell Tallow."


async def test_a_sentence_of_the_notes_that_is_left_open_is_told_as_one(
    story: Stories,
) -> None:
    open_ = "Undecided: who lit the lamp in the fog."
    gap = Gap("bcdf", Asked(NELL, open_), NELL, open_, GapState.OPEN)
    result = replace(found(story, NELL), gaps=(gap,))
    said = await answer(story, "Who lit the lamp?", a_plan(), result)
    assert said.text == (
        "Nell Tallow: Undecided: who lit the lamp in the fog (left open)"
    )
    assert said.gaps == (GapFlag(NELL, open_),)


async def test_words_that_the_text_never_has_are_a_gap(story: Stories) -> None:
    result = found(
        story, NELL, passages=paragraphs(story.book, ONE), unknown=["bicycle"]
    )
    said = await answer(
        story, "Has Nell a bicycle?", a_plan(SourceIntention.TRAITS), result
    )
    assert said.gaps == (GapFlag(NELL, "bicycle"),)
    first, second, *nearest = said.text.split("\n\n")
    assert first == "Not found in the text: “bicycle”."
    assert second == "No clear answer found."
    assert [one[:18] for one in nearest] == ["Closest passages: "]


async def test_a_work_outside_of_the_book_is_named_as_asked_and_is_no_gap(
    story: Stories,
) -> None:
    result = found(
        story, NELL, passages=paragraphs(story.book, ONE), unknown=["macbeth's"]
    )
    plan = replace(a_plan(), intent=AnswerIntent.EXTERNAL_REFERENCE)
    said = await answer(story, "Is Nell's like Macbeth's?", plan, result)
    assert said.gaps == ()
    result = replace(result, unknown=("macbeth",))
    said = await answer(story, "Is Nell's end like Macbeth's?", plan, result)
    assert said.text.startswith("Not found in the text: “Macbeth”.".replace("’", "'"))


async def test_a_word_that_only_asks_need_not_stand_in_the_text(
    story: Stories,
) -> None:
    story.fact(
        TWO, "Corin Vale came over the marsh", FactAbout.CHARACTER, "relationship", "",
        NELL, details=(("target", "Corin Vale"), ("kind", "cousin")),
    )  # fmt: skip
    result = found(story, NELL, unknown=["related"])
    plan = a_plan(SourceIntention.RELATIONSHIPS)
    said = await answer(story, "Who is Nell related to?", plan, result)
    assert said.text.startswith("Nell Tallow’s cousin: Corin Vale")
    assert said.gaps == ()


async def test_a_fact_in_the_very_words_of_the_text_says_them_once(
    story: Stories,
) -> None:
    story.fact(
        ONE, "nineteen rungs of it", FactAbout.CHARACTER, "attribute",
        "Nineteen rungs of it", NELL, details=(("attribute", "ladder"),),
    )  # fmt: skip
    said = await answer(
        story,
        "What ladder has Nell?",
        a_plan(SourceIntention.TRAITS),
        found(story, NELL),
    )
    assert said.text == "Nell Tallow, ladder: Nineteen rungs of it [1]"


async def test_a_fact_is_told_without_the_marks_of_its_note_and_cited_with_them() -> (
    None
):
    lives = "Lives at [[Half House]] with [[OchraMags|Mags]]."
    values = "**Values:** an honest *count*."
    small = "She is _small_ for twelve and quick."
    text = f"# One\n\nNell Tallow.\n\n{lives} {small}\n\n- {values}\n"
    noted = Stories(Book({ONE: text}))
    noted.name(NELL, "Nell")
    for label, value, words in (
        ("home", lives, lives),
        ("values", "an honest *count*.", values),
        ("height", "[[Heights|small]] for twelve", small),
    ):
        noted.fact(
            ONE, words, FactAbout.CHARACTER, "attribute", value, NELL,
            details=(("attribute", label),),
        )  # fmt: skip
    plan = a_plan(SourceIntention.TRAITS, SourceIntention.VALUES)
    said = await answer(noted, "Who is Nell?", plan, found(noted, NELL))
    assert said.text.split("\n\n") == [
        "Nell Tallow, home: Lives at Half House with Mags. [1]",
        f"Nell Tallow, height: small for twelve (“{small}”) [2]",
        "Nell Tallow, values: an honest count. [3]",
    ]
    assert [one.text for one in said.citations] == [lives, small, values]
    notes = dict.fromkeys((1, 2, 3), NELL)
    checked = check_citations(
        said.text, said.citations, find_sentence_spans, notes=notes
    )
    assert (checked.text, checked.findings) == (said.text, ())


async def test_who_is_asked_for_by_another_name_is_told_whole() -> None:
    story = a_story()
    story.name("Ivo Gannet", "the Reeve")
    for label, value in (("age", "forty"), ("home", "the mill")):
        story.fact(
            TWO, "Nobody had asked him.", FactAbout.CHARACTER, "attribute", value,
            "Ivo Gannet", details=(("attribute", label),),
        )  # fmt: skip
    result = found(story, "Ivo Gannet")
    said = await answer(
        story, "Who is the Reeve?", a_plan(SourceIntention.TRAITS), result
    )
    assert "forty" in said.text and "the mill" in said.text


async def test_what_is_noted_is_not_what_the_story_says(story: Stories) -> None:
    story.fact(
        ONE, "nineteen rungs of it", FactAbout.CHARACTER, "attribute", "nineteen", NELL,
        keeper=WRITER_KEEPER, details=(("attribute", "age"),),
    )  # fmt: skip
    plan = a_plan(SourceIntention.TRAITS, SourceIntention.AUTHOR_INTENT)
    said = await answer(story, "What did I note about Nell?", plan, found(story, NELL))
    assert "nineteen" in said.text and "grey" not in said.text


async def test_a_passage_that_is_told_already_is_not_quoted_again(
    story: Stories,
) -> None:
    (rung, *_) = paragraphs(story.book, ONE)
    story.fact(
        ONE, rung.chunk.text, FactAbout.CHARACTER, "attribute", "a climber", NELL,
        details=(("attribute", "habit"),),
    )  # fmt: skip
    result = found(story, NELL, passages=[rung])
    said = await answer(
        story, "What habit has Nell?", a_plan(SourceIntention.BEHAVIOR), result
    )
    assert len(said.citations) == 1


async def test_what_kind_of_thing_it_is_is_no_answer(
    story: Stories,
) -> None:
    story.fact(
        TWO, "with a lantern in his hand", FactAbout.WORLD, "element_type", "artifact",
        "the lantern of the fen",
    )  # fmt: skip
    bible = a_bible(story)
    result = replace(found(story, NELL), world=bible.world)
    plan = a_plan(SourceIntention.WHAT_HAPPENED, SourceIntention.ARTIFACT)
    said = await answer(story, "What happened to the lantern in the fog?", plan, result)
    assert "artifact" not in said.text


async def test_a_word_or_two_are_no_answer_where_more_is_said(story: Stories) -> None:
    result = found(story, NELL, speaker=NELL)
    plan = a_plan(SourceIntention.DIALOGUE_OF)
    said = await answer(story, "What does Nell say?", plan, result)
    assert "The lamp must never go out," in said.text and "Not once." not in said.text


async def test_under_a_horizon_silence_is_so_far(story: Stories) -> None:
    question = TurnQuestion("Has Nell a bicycle?", horizon=Horizon(1))
    result = found(story, NELL, horizon=Horizon(1), unknown=["bicycle"])
    said = await answer(story, question, a_plan(SourceIntention.TRAITS), result)
    assert said.text.startswith("Not found in the story up to this point: “bicycle”.")
    assert "does not mention this up to this point." in said.text
    assert said.gaps == ()


async def test_nothing_found_of_a_character_is_a_gap(story: Stories) -> None:
    said = await answer(story, "Why the marsh?", a_plan(), RetrievalResult())
    assert said.text == "The text does not mention this."
    assert said.gaps == ()
    plan = replace(a_plan(), entities=(QuestionEntity("Mags", 1.0),))
    said = await answer(story, "Has Mags a bicycle?", plan, RetrievalResult())
    assert said.gaps == (GapFlag("Mags", "bicycle"),)
    said = await answer(story, "Why does Mags hum?", plan, RetrievalResult())
    assert said.gaps == ()


@pytest.mark.parametrize(
    ("question", "attribute"),
    [
        ("How old is Nell?", "age"),
        ("What colour are Nell’s eyes?", "eye colour"),
        ("What is the colour of her hair?", "hair colour"),
        ("What is Nell's favourite song?", "favourite song"),
        ("What is the name of Nell's dog?", "name of dog"),
        ("Who is Nell's mother?", "mother"),
        ("Where does Nell live?", "home"),
        ("Does Nell own a horse?", "horse"),
        ("How did Nell die?", ""),
        ("Who is Nell?", ""),
        ("Nell sister", ""),
        ("What is Nell's plan?", ""),
        ("Did Nell take a boat?", ""),
    ],
)
def test_only_an_attribute_becomes_a_gap(question: str, attribute: str) -> None:
    assert find_asked_attribute(question) == attribute


async def test_a_gap_of_the_ledger_is_flagged_with_what_it_implies(
    story: Stories,
) -> None:
    gap = Gap("bcdf", Asked(NELL, "age"), NELL, "age", GapState.OPEN, (), ("Say it.",))
    result = replace(found(story, NELL), gaps=(gap,))
    said = await answer(
        story, "What age is Nell?", a_plan(SourceIntention.TRAITS), result
    )
    assert said.gaps == (GapFlag(NELL, "age", "", "Say it."),)
    plan = a_plan(intent=AnswerIntent.GAP_PROBE)
    said = await answer(story, "What is open about Nell?", plan, result)
    assert said.gaps == (GapFlag(NELL, "age", "", "Say it."),)
    assert "Nell Tallow, age: left open" in said.text


async def test_what_would_be_if_is_shown_by_what_was(story: Stories) -> None:
    result = found(story, "Corin Vale", passages=paragraphs(story.book, TWO)[:1])
    plan = a_plan(intent=AnswerIntent.SCENARIO)
    said = await answer(story, "What would Corin do in the fog?", plan, result)
    first, *shown = said.text.split("\n\n")
    assert first == ("Playing out a scenario about Corin Vale needs a language model.")
    assert shown[-1].startswith("Related passages: [")
    assert any("The pony drowned in the fog." in one.text for one in said.citations)
    assert all(line.endswith("]") for line in shown)
    nothing = await answer(story, "What if?", plan, RetrievalResult())
    assert "No related passage was found" in nothing.text


async def test_what_the_document_no_longer_says_is_not_told(story: Stories) -> None:
    result = found(story, NELL, passages=paragraphs(story.book, ONE))
    changed = a_story()
    changed.book.documents = {
        name: replace(one, text="Nothing is left of it.")
        for name, one in story.book.documents.items()
    }
    said = await answer(changed, "Who is Nell?", a_plan(SourceIntention.TRAITS), result)
    assert said.citations == ()
    assert said.text == "The text does not mention this."


async def test_without_a_reranker_words_choose_the_sentences(story: Stories) -> None:
    result = found(story, NELL, passages=paragraphs(story.book, ONE))
    said = await answer(
        story, "Who opened the ledger?", a_plan(), result, reranker=Wordless()
    )
    assert any("Mags opened the ledger" in one.text for one in said.citations)
