"""What may leave this machine: words of a question, without the names of the book."""

import re
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrwr.core.bible.values import (
    AliasForm,
    Bible,
    BibleClaim,
    CharacterProfile,
    WorldElement,
)
from lrwr.core.chat.planning.rules import plan_by_rules
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.cast import Gender
from lrwr.core.model.facts import Certainty
from lrwr.core.model.turns import (
    AnswerIntent,
    AnswerSource,
    QuestionEntity,
    QuestionPlan,
    SourceChoice,
    SourceIntention,
)
from lrwr.core.web.search import (
    MAX_WEB_QUERY_CHARS,
    MAX_WEB_QUESTION_CHARS,
    build_web_query,
)
from tests.fakes.suite import examples

SURE = Certainty.VERIFIED


def a_plan(
    *intentions: SourceIntention, source: AnswerSource = AnswerSource.WEB
) -> QuestionPlan:
    choices = tuple(SourceChoice(source, one, 0.9) for one in intentions)
    return QuestionPlan(AnswerIntent.EXTERNAL_REFERENCE, choices, (), "a-model")


REFERENCE = a_plan(SourceIntention.EXTERNAL_REFERENCE)
CRAFT = a_plan(SourceIntention.CRAFT)


def person(name: str, *forms: str, cites: tuple[str, ...] = ()) -> CharacterProfile:
    named = tuple(AliasForm(form, 3, SURE) for form in (name, *forms))
    references = tuple(BibleClaim(one, (), SURE) for one in cites)
    return CharacterProfile(
        name, named, Gender.UNKNOWN, SURE, SURE, external_references=references
    )


def by_rules(text: str, bible: Bible) -> str:
    question = TurnQuestion(text)
    return build_web_query(question.text, plan_by_rules(question, bible), bible)


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ("Is Nell's arc like in Hamlet?", "arc Hamlet"),
        ("Does Mrs. Gannet remind you of Lady Macbeth?", "Lady Macbeth"),
        ("Is the Lampkeeper a nod to Heart of Darkness?", "nod Heart of Darkness"),
        (
            "Is Gull Post based on Skellig Michael? It is too grey.",
            "based Skellig Michael",
        ),
        ("Is purple frog reminiscent of Kermit?", "Kermit"),
        ("Is Nel Talow similar to Jane Eyre?", "Jane Eyre"),
        (
            "How do other novels handle a trope like found family?",
            "other novels handle trope found family",
        ),
        ("Is Nell's arc a hero's journey?", "arc hero's journey"),
        ("Are wren-like heroes a trope?", "heroes trope"),
        ("What does Nell want?", ""),
        ("Who keeps the marsh lantern?", ""),
    ],
)
def test_a_question_is_sent_without_the_names_of_the_book(
    marsh_bible: Bible, asked: str, sent: str
) -> None:
    assert by_rules(asked, marsh_bible) == sent


def test_nothing_is_sent_unless_the_plan_asks_the_web(marsh_bible: Bible) -> None:
    asked = "Is Nell like Hamlet?"
    other = a_plan(SourceIntention.FIND_PASSAGE, source=AnswerSource.MANUSCRIPT)
    assert build_web_query(asked, other, marsh_bible) == ""
    assert build_web_query(asked, REFERENCE, marsh_bible) == "Hamlet"


def test_a_character_asks_no_web(marsh_bible: Bible) -> None:
    asked = "Is this like Hamlet?"
    assert build_web_query(asked, REFERENCE, marsh_bible) == "Hamlet"
    assert build_web_query(asked, REFERENCE, marsh_bible, in_character=True) == ""


def test_without_a_name_from_outside_a_reference_is_not_asked_for(
    marsh_bible: Bible,
) -> None:
    for text in ("What does Nell's father want?", "Is Nell like Mags?", "Is she rude?"):
        assert build_web_query(text, REFERENCE, marsh_bible) == ""


def test_a_name_that_a_model_found_counts_in_small_letters(marsh_bible: Bible) -> None:
    plan = replace(REFERENCE, entities=(QuestionEntity("Hamlet", 0.9),))
    assert build_web_query("is nell like hamlet?", plan, marsh_bible) == "hamlet"


def test_a_work_that_the_text_refers_to_may_share_a_name_with_the_book() -> None:
    bible = Bible(characters=(person("Alice", cites=("Alice in Wonderland",)),))
    asked = "Is Alice like Alice in Wonderland?"
    assert build_web_query(asked, REFERENCE, bible) == "Alice in Wonderland"


def test_a_long_quotation_stays_here(marsh_bible: Bible) -> None:
    for text in (
        "Is “The lamp must never go out, not once” taken from Keats?",
        'Is "The lamp must never go out, not once" taken from Keats?',
    ):
        sent = build_web_query(text, REFERENCE, marsh_bible)
        assert sent == "taken Keats"


def test_only_the_sentence_that_asks_is_sent(marsh_bible: Bible) -> None:
    text = "The reeve drowned in the sluice.\n\nWould Agatha Christie do that? Say why."
    assert build_web_query(text, REFERENCE, marsh_bible) == "Agatha Christie"


def test_of_a_question_as_long_as_a_passage_nothing_is_sent(marsh_bible: Bible) -> None:
    text = "Compare with Hamlet: " + "the fog came over the sluice " * 8
    assert len(text) > MAX_WEB_QUESTION_CHARS
    assert build_web_query(text, REFERENCE, marsh_bible) == ""


def test_a_query_ends_with_a_whole_word(marsh_bible: Bible) -> None:
    words = ["wonderful" + letter * 9 for letter in "abcdefgh"]
    text = f"Which trope has {' '.join(words)}?"
    sent = build_web_query(text, CRAFT, marsh_bible)
    assert len(sent) <= MAX_WEB_QUERY_CHARS
    assert sent == " ".join(["trope", *words][: len(sent.split())])


LETTERS = st.characters(categories=["Lu", "Ll"], max_codepoint=0x24F)
WORDS = st.text(LETTERS, min_size=2, max_size=9)
NAMES = st.lists(WORDS.map(str.title), min_size=1, max_size=3).map(" ".join)
SHAPES = st.sampled_from(
    [
        "Is {0} like Hamlet?",
        "Does {0}’s arc remind you of {1}'s in Oedipus Rex?",
        "which trope are {0} and {1}?",
        "Compare {0}-like heroes, such as “{1}”, with Jane Eyre.",
        "{0}? {1}! Is it Kafka?\n{0}",
        "How do other novels treat ({0}) and {1}s?",
    ]
)
CASES = st.sampled_from([str, str.lower, str.upper, str.title, str.swapcase])


def plain(text: str) -> str:
    bare = re.sub(r"[^\w\s]|_", " ", unicodedata.normalize("NFKC", text).casefold())
    return f" {' '.join(bare.split())} "


@settings(max_examples=examples(150))
@given(shape=SHAPES, first=NAMES, second=NAMES, case=CASES, thing=st.booleans())
def test_no_name_of_the_book_is_ever_in_a_query(
    shape: str, first: str, second: str, case: type[str], thing: bool
) -> None:
    other: tuple[WorldElement, ...] = ()
    people: tuple[CharacterProfile, ...] = (person(first), person(second))
    if thing:
        people, other = people[:1], (WorldElement(second, (), (), (), SURE),)
    text = shape.format(case(first), case(second))
    for plan in (REFERENCE, CRAFT):
        sent = plain(build_web_query(text, plan, Bible(people, other)))
        assert len(sent) <= MAX_WEB_QUERY_CHARS + 2
        for name in (first, second):
            assert plain(name) not in sent


@settings(max_examples=examples(100))
@given(st.text(max_size=240))
def test_a_query_has_words_of_the_question_and_nothing_else(text: str) -> None:
    sent = build_web_query(text, CRAFT, Bible())
    assert len(sent) <= MAX_WEB_QUERY_CHARS
    assert sent == "" or sent.isprintable()
    asked = unicodedata.normalize("NFKC", text)
    assert all(word in asked for word in sent.split())
