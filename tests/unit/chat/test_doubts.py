"""When an answer made of passages says that they may lack what is asked for."""

from dataclasses import replace

import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.bible.values import TextEvidence
from lrwr.core.chat.context.items import ContextItem, StoryFacet
from lrwr.core.chat.extractive.doubts import (
    describe_conflicting_facts,
    describe_doubt,
    describe_substitutes,
)
from lrwr.core.chat.extractive.subjects import ValueQuestion
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.facts import RULES_KEEPER, Certainty
from lrwr.core.model.text import LineRange, Span, extract_content_words
from lrwr.core.model.turns import NO_CLEAR_ANSWER
from lrwr.core.retrieval.excerpts import PassageQuote
from lrwr.core.retrieval.retrievers import WordWeights
from tests.fakes.chatting import passage
from tests.fakes.stories import Book

LAMP = "The rain fell. Nell lit the lamp on the tower. Then she slept."


def doubt(
    question: str, text: str = LAMP, *, read_as: str = "", is_first: bool = True
) -> str:
    found = passage(Book({"1.md": text}), "1.md", text)
    whole = Span(0, len(text))
    best = next(s for s in find_sentence_spans(text) if "lamp" in text[s.start : s.end])
    return describe_doubt(
        TurnQuestion(question),
        ValueQuestion(read_as or question),
        [PassageQuote(text, whole, best, LineRange(1, 1), found)],
        WordWeights.of(extract_content_words(question), {}, 10),
        find_sentence_spans,
        is_first=is_first,
    )


@pytest.mark.parametrize(
    "question",
    [
        "What did Nell light on the tower?",
        "Who lit the lamp?",
        "How did Nell light the lamp?",
        "Where do I say that Nell lit the lamp?",
    ],
)
def test_passages_that_have_the_words_together_are_not_doubted(question: str) -> None:
    assert doubt(question) == ""


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("What did Corin steal from the drowned miller?", "Few words of the question"),
        (
            "Where did Nell light the lamp?",
            "None of these passages clearly says where.",
        ),
        ("And what else did she light?", "What the question continues is not clear."),
        ("Did Nell light the lamp?", "Whether it is so may not stand"),
        ("List every lamp that Nell lit.", "These passages may not have all"),
        ("Who knows that Nell lit the lamp?", "These passages may not have all"),
        (
            "How does Hob learn that Nell lit it?",
            "How somebody learns it may not stand",
        ),
        ("Why did Nell light the lamp?", "clearly gives a reason for it."),
        ("How old was Nell?", "None of these passages clearly gives the age."),
    ],
)
def test_a_doubt_has_its_reason(question: str, reason: str) -> None:
    said = doubt(question)
    assert said.startswith(f"{NO_CLEAR_ANSWER}. ")
    assert reason in said


def test_a_place_beside_what_is_asked_for_is_no_doubt() -> None:
    text = "Nell lit the lamp in the kitchen."
    assert doubt("Where did Nell light the lamp?", text) == ""
    other = "Nell lit the lamp. Then she went to bed in the kitchen."
    assert "clearly says where" in doubt("Where did Nell light the lamp?", other)


def test_a_question_that_was_completed_is_shown_as_it_was_read() -> None:
    said = doubt("And what did she light?", read_as="What did Nell light?")
    assert "The question was read as “What did Nell light?”." in said


def test_related_words_near_each_other_count_as_those_of_the_question() -> None:
    text = "Corin fled with the lamp at night."
    assert doubt("What did Corin escape with?", text) == ""


def test_a_doubt_that_is_not_first_only_names_what_is_missing() -> None:
    assert doubt("Did Nell light the lamp?", is_first=False) == ""
    assert doubt("How old was Nell?", is_first=False).startswith("None of these")


def test_up_to_a_horizon_the_doubt_is_about_the_story_so_far() -> None:
    found = passage(Book({"1.md": LAMP}), "1.md", LAMP)
    span = Span(0, len(LAMP))
    said = describe_doubt(
        replace(TurnQuestion("How old was Nell?"), horizon=Horizon(2)),
        ValueQuestion("How old was Nell?"),
        [PassageQuote(LAMP, span, span, LineRange(1, 1), found)],
        WordWeights({}),
        find_sentence_spans,
        is_first=True,
    )
    assert said.startswith(f"{NO_CLEAR_ANSWER} up to this point. ")


@pytest.mark.parametrize(
    ("word", "text", "substitute"),
    [
        ("testament", "She altered her will twice.", "will"),
        ("dowry", "Both had their Portions in gold.", "portions"),
    ],
)
def test_a_word_that_the_text_lacks_is_named_with_the_one_found_in_its_place(
    word: str, text: str, substitute: str
) -> None:
    found = passage(Book({"1.md": text}), "1.md", text)
    whole = Span(0, len(text))
    quote = PassageQuote(text, whole, whole, LineRange(1, 1), found)
    result = RetrievalResult(ranked_chunks=(found,), unknown=(word, "zeppelin"))
    assert describe_substitutes(result, [quote], find_sentence_spans) == (
        f"“{word}” is not in the text; these passages have “{substitute}”."
    )


def test_a_related_word_far_from_the_best_sentence_is_not_named() -> None:
    text = "Nell lit the lamp. It rained. Hob slept. She altered her will twice."
    found = passage(Book({"1.md": text}), "1.md", text)
    quote = PassageQuote(text, Span(0, len(text)), Span(0, 18), LineRange(1, 1), found)
    result = RetrievalResult(ranked_chunks=(found,), unknown=("testament",))
    assert describe_substitutes(result, [quote], find_sentence_spans) == ""


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (
            ["She altered her will.", "It rained."],
            "; the first of these passages has “will”",
        ),
        (["It rained.", "She altered her will."], ""),
        (["A will.", "Her will."], "; these passages have “will”"),
    ],
)
def test_a_related_word_is_named_if_the_best_passage_has_it_and_with_the_horizon(
    texts: list[str], words: str
) -> None:
    quotes = []
    for text in texts:
        found = passage(Book({"1.md": text}), "1.md", text)
        whole = Span(0, len(text))
        quotes.append(PassageQuote(text, whole, whole, LineRange(1, 1), found))
    result = RetrievalResult(unknown=("testament",))
    line = describe_substitutes(result, quotes, find_sentence_spans, Horizon(4))
    assert line == f"“testament” is not in the text up to chapter 4{words}."


WEDDING = "Mags married Corin in the chapel. The rain fell. Hob slept. Nell came late."
NARRATED = "I struck Corin with the lamp."


def doubt_action(
    question: str, verb: str, text: str, *, narrators: tuple[str, ...] = ()
) -> str:
    found = passage(Book({"1.md": text}), "1.md", text)
    span = Span(0, len(text))
    forms = [n for n in ("Nell", "Mags", "Corin") if n in question]
    return describe_doubt(
        replace(TurnQuestion(question), narrators=(narrators,)),
        ValueQuestion(
            question,
            people=[[form.lower()] for form in forms],
            forms=forms,
            topic=[verb],
        ),
        [PassageQuote(text, span, span, LineRange(1, 1), found)],
        WordWeights({}),
        find_sentence_spans,
        is_first=True,
    )


@pytest.mark.parametrize(
    ("question", "verb", "is_doubted"),
    [
        ("Who carries Mags?", "marries", False),
        ("Why did Corin marry Mags?", "marry", False),
        ("Who carries Nell?", "marries", True),
        ("Why did Corin marry Nell?", "marry", True),
        ("What did Corin marry?", "marry", False),
    ],
)
def test_an_action_of_others_is_not_that_of_the_people_in_question(
    question: str, verb: str, is_doubted: bool
) -> None:
    line = "or a related word, near everybody in question."
    assert (line in doubt_action(question, verb, WEDDING)) is is_doubted


def test_a_narrator_acts_in_the_first_person() -> None:
    question = "Why did Nell strike Corin?"
    line = "near everybody in question."
    assert line not in doubt_action(question, "strike", NARRATED, narrators=("Nell",))
    assert line in doubt_action(question, "strike", NARRATED)


def doubts_of(
    question: str,
    *chapters: int,
    horizon: Horizon | None = None,
) -> str:
    book = Book({"1.md": LAMP})
    whole = Span(0, len(LAMP))
    quotes = [
        PassageQuote(
            LAMP,
            whole,
            whole,
            LineRange(1, 1),
            replace(passage(book, "1.md", LAMP), chapter=chapter),
        )
        for chapter in chapters
    ]
    return describe_doubt(
        TurnQuestion(question, horizon=horizon),
        ValueQuestion(question),
        quotes,
        WordWeights.of(extract_content_words(question), {}, 10),
        find_sentence_spans,
        is_first=True,
    )


def test_passages_from_one_chapter_are_where_the_story_tells_it() -> None:
    question = "Did Nell light the lamp?"
    assert doubts_of(question, 3, 3, 3, 3, 9) == ""
    assert "Whether it is so" in doubts_of(question, 3, 3, 3, 8, 9)
    assert doubts_of(question, 3, 3, 3, 3, 9, horizon=Horizon(20)) == ""
    early = doubts_of(question, 3, 3, 3, 3, 2, horizon=Horizon(4))
    assert "Whether it is so" in early
    assert "clearly says where" in doubts_of("Where is Nell?", 3, 3, 3, 3, 3)


@pytest.mark.parametrize(
    ("certainties", "is_doubted"),
    [
        ([Certainty.PROBABLE, Certainty.PROBABLE], True),
        ([Certainty.PROBABLE, Certainty.VERIFIED], False),
        ([Certainty.PROBABLE], False),
    ],
)
def test_several_probable_relatives_are_no_clear_answer(
    certainties: list[Certainty], is_doubted: bool
) -> None:
    evidence = TextEvidence(
        DocumentId("1.md"), (Span(0, 4),), "aunt", LineRange(1, 1), 1, "One", 1,
        RULES_KEEPER, Certainty.PROBABLE,
    )  # fmt: skip
    facts = [
        [
            (
                ContextItem(
                    StoryFacet.RELATION,
                    "Nell’s aunt",
                    "",
                    name,
                    (replace(evidence, certainty=certainty),),
                ),
            )
            for name, certainty in zip(("Ada", "Mags"), certainties, strict=False)
        ]
    ]
    doubt = describe_conflicting_facts(facts, {})
    assert (NO_CLEAR_ANSWER in doubt) is is_doubted
