"""What no citation bears out is marked, and nothing of the answer is lost."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.attribution.citations import (
    CITATION_MARK,
    drop_unknown_numbers,
    split_unfinished_mark,
    strip_answer_citation_marks,
)
from lrwr.core.attribution.claims import (
    CheckedAnswer,
    check_citations,
)
from lrwr.core.attribution.sources import StoryContext
from lrwr.core.attribution.uncited_claims import judge_uncited_claims
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.text import LineIndex, Span
from lrwr.core.model.turns import WebCitation
from lrwr.core.ports.stores import DocumentText
from tests.fakes.chatting import cite

LAMP = cite(1, "“The lamp must never go out,” said Nell.")
EYES = cite(2, "Her eyes were grey as slate.")
BOTH = (LAMP, EYES)


def doubted(answer: str, *, mode: AnswerMode = AnswerMode.ANALYTICAL) -> list[str]:
    return doubts_of(check_citations(answer, BOTH, find_sentence_spans, mode=mode))


def doubts_of(checked: CheckedAnswer) -> list[str]:
    return [checked.text[f.span.start : f.span.end] for f in checked.findings]


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ("The lamp burns [7].", "The lamp burns."),
        ("The lamp burns [1, 7].", "The lamp burns [1]."),
        ("The lamp burns [1-9].", "The lamp burns [1, 2]."),
        ("The lamp burns [1][99999999999].", "The lamp burns [1]."),
        ("The lamp burns [[9]8].", "The lamp burns."),
        ("The lamp burns [1; 2].", "The lamp burns [1; 2]."),
        ("The lamp [sic] burns [1].", "The lamp [sic] burns [1]."),
    ],
)
def test_a_number_that_stands_for_nothing_is_taken_out(answer: str, kept: str) -> None:
    assert check_citations(answer, BOTH, find_sentence_spans).text == kept


@pytest.mark.parametrize(
    ("answer", "remarks"),
    [
        ("The lamp burns [1].", ()),
        ("It burns [7].", ("There is no passage [7]: the number was removed.",)),
        (
            "It burns [1, 7][8].",
            ("There are no passages [7], [8]: the numbers were removed.",),
        ),
    ],
)
def test_a_number_that_is_taken_out_is_named(
    answer: str, remarks: tuple[str, ...]
) -> None:
    assert check_citations(answer, BOTH, find_sentence_spans).remarks == remarks


def test_the_words_of_the_question_alone_support_nothing() -> None:
    question = "Who keeps the stolen lamp in the cellar?"
    answer = "Nell keeps the stolen lamp in the cellar."
    for decided in ((), ("The quay is long.",)):
        checked = check_citations(
            answer, (), find_sentence_spans, question=question, decided=decided
        )
        assert doubts_of(checked) == [answer]
    settled = ("Nell keeps the stolen lamp in the cellar.",)
    checked = check_citations(
        answer, (), find_sentence_spans, question=question, decided=settled
    )
    assert doubts_of(checked) == []


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_a_streamed_answer_is_divided_outside_of_its_marks(size: int) -> None:
    answer = "The lamp [sic] burns [99], and [1, 2] on [9]. [7"
    ready, rest = "", ""
    numbers = frozenset({1, 2})
    for at in range(0, len(answer), size):
        part, rest = split_unfinished_mark(rest + answer[at : at + size])
        ready += drop_unknown_numbers(part, numbers)
    assert ready + rest == drop_unknown_numbers(answer, numbers)


def test_what_is_cited_comes_back_in_order_and_nothing_else() -> None:
    answer = "Her eyes are grey [2]. The lamp burns on [1]."
    assert (
        check_citations(
            answer, [*BOTH, cite(3, "Not cited.")], find_sentence_spans
        ).citations
        == BOTH
    )


@pytest.mark.parametrize(
    "answer",
    [
        "Nell says that the lamp must never go out [1].",
        "Nell’s eyes are grey. [2]",
        "She has grey eyes [2]. The lamp never goes out [1]",
        "- Eyes: grey as slate [2]\n- The lamp must burn [1]",
        "Is that all?",
        "## Eyes\n\nHer eyes are grey [2].",
        "The text does not say how old she is.",
        "Nothing in the story says so.",
        "[2] Her eyes are grey as slate.",
        "Her eyes are grey as slate.\n[2]",
        "The lamp must never go out. So says Nell of the lamp [1].",
        "",
    ],
)
def test_what_the_citation_bears_out_is_left_alone(answer: str) -> None:
    assert doubted(answer) == []


@pytest.mark.parametrize(
    ("answer", "marked"),
    [
        ("Her eyes are grey [2]. She was born in the valley.", ["She was born in the valley."]),
        ("She grew up among smugglers and thieves [2].", ["She grew up among smugglers and thieves [2]."]),
        ("Nell grew up among smugglers and thieves in town [1].", ["Nell grew up among smugglers and thieves in town [1]."]),
        ("The text does not say so, yet smugglers raised her [2].", ["The text does not say so, yet smugglers raised her [2]."]),
        ("She has grey eyes.", ["She has grey eyes."]),
    ],
)  # fmt: skip
def test_a_sentence_that_nothing_bears_out_is_marked(
    answer: str, marked: list[str]
) -> None:
    assert doubted(answer) == marked


@pytest.mark.parametrize(
    "quote",
    [
        "“the lamp must never go out”",
        '"The lamp must NEVER go out"',
        "“The lamp … go out”",
    ],
)
def test_a_quotation_in_other_typography_stands(quote: str) -> None:
    assert doubted(f"Nell says of the lamp: {quote} [1].") == []


@pytest.mark.parametrize("mode", list(AnswerMode))
def test_an_invented_or_altered_quotation_is_marked_in_every_mode(
    mode: AnswerMode,
) -> None:
    answer = "Nell says “the lamp must always go out” of the lamp [1]."
    assert "“the lamp must always go out”" in doubted(answer, mode=mode)


@pytest.mark.parametrize(
    ("answer", "renumbered"),
    [
        (
            "Of her: “Her eyes were grey as slate” [1].",
            "Of her: “Her eyes were grey as slate” [2].",
        ),
        (
            "“The lamp must never go out”, and “eyes were grey as slate” [1].",
            "“The lamp must never go out”, and “eyes were grey as slate” [1][2].",
        ),
        ("He says “grey as slate” [1].", "He says “grey as slate” [2]."),
    ],
)
def test_a_quotation_gets_the_number_of_the_text_that_has_it(
    answer: str, renumbered: str
) -> None:
    checked = check_citations(answer, BOTH, find_sentence_spans)
    assert (checked.text, checked.findings) == (renumbered, ())


NIGHT = cite(
    3,
    "The Reeve counted twelve cans on the staging, and Jack kept the note. “I heard"
    " every one of them. I never answered,” he said, and went home over the stones.",
)
CAST = (("GreyAnsel", "the Reeve", "Sel"), ("TallowJack", "Jack"), ("Nell", "Wren"))


def check_night(answer: str) -> list[tuple[str, ...]]:
    checked = check_citations(
        answer,
        [*BOTH, NIGHT],
        find_sentence_spans,
        question="Who counted the cans?",
        story=StoryContext(CAST),
    )
    return [finding.words for finding in checked.findings]


@pytest.mark.parametrize(
    "answer",
    [
        "GreyAnsel counted twelve cans on the staging [3].",
        "He says it himself: “I heard every one of them. I never answered,” on the stones [3].",
        "He heard them. TallowJack kept the note [3].",
        "Suggestions: let Nell find the note in 1830.",
        "It goes from a count to a reckoning. GreyAnsel counted the cans [3].",
        "He does not deny it: “I heard every one of them” [3].",
        "“I heard every one of them,” he says. Jack did not know [3].",
        "GreyAnsel never answered, though he heard every one of them [3].",
        "The text does not say who counted. GreyAnsel went home over the stones [3].",
        "GreyAnsel failed to answer and heard every one of them [3].",
    ],
)
def test_what_the_cited_words_have_in_any_form_is_no_finding(answer: str) -> None:
    assert check_night(answer) == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("Wren counted twelve cans on the staging [3].", ("Wren",)),
        ("The Reeve counted fourteen cans on the staging [3].", ("fourteen",)),
        ("The Reeve did not count the cans on the staging [3].", ("not",)),
        ("He never says “I heard every one of them” [3].", ("never",)),
        ("“I heard every one of them,” he never says [3].", ("never",)),
        (
            "He never says it to Jack, on the stones: “I heard every one” [3].",
            ("never",),
        ),
        (
            "In the story the Reeve never counts “twelve cans on the staging” [3].",
            ("never",),
        ),
        ("The Reeve hardly counted the cans on the staging [3].", ("hardly",)),
        ("The Reeve counted no cans on the staging [3].", ("no",)),
        ("No one counted twelve cans on the staging [3].", ("No",)),
        ("The Reeve didn’t count the cans on the staging [3].", ("didn’t",)),
        ("Jack went home without the note that he kept [3].", ("without",)),
        ("The Reeve “counted thirty cans on the staging” [3].", ("thirty",)),
        ("In chapter 7 the Reeve counted cans on the staging [3].", ("chapter 7",)),
    ],
)
def test_a_swapped_name_number_or_negation_is_named(
    answer: str, words: tuple[str, ...]
) -> None:
    assert check_night(answer) == [words]


@pytest.mark.parametrize(
    ("source", "answer", "lost"),
    [
        ("Mags never opened the red ledger again.", "Mags opened the red ledger", True),
        ("Mags did not open the red ledger.", "Mags opened the red ledger again", True),
        (
            "Mags never opened the red ledger.",
            "Mags refused to open the red ledger",
            False,
        ),
        (
            "Mags never opened the red ledger.",
            "Mags never opened the red ledger",
            False,
        ),
        (
            "Mags opened the red ledger and did not weep.",
            "Mags opened the red ledger",
            False,
        ),
        ("Mags had the red ledger. Nell did not.", "Mags has the red ledger", False),
    ],
)
def test_a_denial_that_an_answer_leaves_out_is_a_finding(
    source: str, answer: str, lost: bool
) -> None:
    text = f"{answer} [1]."
    checked = check_citations(text, [cite(1, source)], find_sentence_spans)
    assert bool(checked.findings) is lost


def test_a_sum_of_stated_numbers_is_no_finding() -> None:
    days = [cite(1, "She went on Day 402."), cite(2, "He drowned on Day 720.")]
    answer = "318 days. She went on Day 402 [1], and he drowned on Day 720 [2]."
    assert check_citations(answer, days, find_sentence_spans).findings == ()
    wrong = answer.replace("318", "319")
    assert check_citations(wrong, days, find_sentence_spans).findings


def test_who_she_is_may_stand_before_the_cited_words() -> None:
    document = DocumentText(
        "Wren sat down. She rose and left the loft.", LineIndex((0,))
    )
    left = replace(cite(1, "She rose and left the loft."), span=Span(15, 42))
    story = StoryContext(CAST, texts={left.document: document})
    answer = "Nell rose and left the loft [1]."
    assert (
        check_citations(answer, [left], find_sentence_spans, story=story).findings == ()
    )
    assert check_citations(
        answer, [left], find_sentence_spans, story=StoryContext(CAST)
    ).findings


def test_in_character_a_sentence_needs_no_number() -> None:
    assert doubted("I would rather not say.", mode=AnswerMode.IN_CHARACTER) == []


def test_what_the_material_says_beside_a_number_counts() -> None:
    answer = "Corin Vale is brave [1]."
    citation = cite(1, "He walked out alone.")
    assert check_citations(answer, [citation], find_sentence_spans).findings
    notes = {1: "Corin Vale, trait: brave"}
    checked = check_citations(answer, [citation], find_sentence_spans, notes=notes)
    assert not checked.findings


def test_what_the_writer_decided_needs_no_number() -> None:
    answer = "You decided that Nell is forty."
    assert check_citations(answer, BOTH, find_sentence_spans).findings
    decided = ["Nell, age: forty"]
    checked = check_citations(answer, BOTH, find_sentence_spans, decided=decided)
    assert not checked.findings


def test_marks_are_taken_out_of_what_is_remembered() -> None:
    assert (
        strip_answer_citation_marks("She has grey eyes [2]. So [1, 2].")
        == "She has grey eyes. So."
    )


@given(
    st.lists(
        st.sampled_from(
            ["Nell ", "lamp", ". ", "[1]", "[3]", "[1-4]", "[", "]", "1", "9", "“", "”",
             "\n", '"', "…", " never go out", "[2, 7]", "- ", "# ", "٣"]
        )
    ).map("".join)
)  # fmt: skip
def test_every_mark_that_is_left_is_cited_and_every_span_is_of_the_text(
    answer: str,
) -> None:
    checked = check_citations(answer, BOTH, find_sentence_spans)
    text, cited = checked.text, checked.citations
    spans = [finding.span for finding in checked.findings]
    left = {
        int(n)
        for mark in CITATION_MARK.finditer(text)
        for n in re.findall(r"\d+", mark[1])
    }
    assert left == {citation.number for citation in cited}
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert spans == sorted(set(spans))
    assert check_citations(text, BOTH, find_sentence_spans) == checked


@given(st.text(max_size=80))
def test_an_answer_without_marks_comes_back_as_it_is(answer: str) -> None:
    if not CITATION_MARK.search(answer):
        assert check_citations(answer, BOTH, find_sentence_spans).text == answer


GHOST = WebCitation(
    1, "Hamlet", "https://example.org", "Hamlet sees a ghost on the wall at midnight."
)


def doubted_beside_the_web(answer: str) -> list[str]:
    return doubts_of(check_citations(answer, BOTH, find_sentence_spans, web=[GHOST]))


@pytest.mark.parametrize(
    "answer",
    [
        "Hamlet sees a ghost at midnight [w1].",
        "“Hamlet sees a ghost on the wall” [w1].",
        "Nell keeps the lamp, as Hamlet keeps the wall [1][w1].",
        "The lamp must never go out [1]. Hamlet sees a ghost [W1].",
    ],
)
def test_what_a_page_of_the_web_bears_out_is_not_doubted(answer: str) -> None:
    assert doubted_beside_the_web(answer) == []


@pytest.mark.parametrize(
    "answer",
    [
        "Hamlet eats nine whales [w1].",
        "The lamp must never go out [w1].",
        "Hamlet sees a ghost [1].",
        "Hamlet sees a ghost at midnight [1][w1].",
        "Hamlet sees a ghost at midnight.",
        "“The lamp must never go out” [w1], says Hamlet of the ghost at midnight.",
        "The lamp never goes out: “Hamlet sees a ghost on the wall” [1].",
    ],
)
def test_the_web_bears_out_nothing_of_the_book_nor_the_book_of_the_web(
    answer: str,
) -> None:
    assert doubted_beside_the_web(answer)


def test_a_page_tells_nothing_of_the_books_own_people() -> None:
    said = "Nell sees a ghost at midnight [w1]. Hamlet sees a ghost [w1]."
    names = StoryContext(name_words=frozenset({"nell"}))
    checked = check_citations(said, BOTH, find_sentence_spans, web=[GHOST], story=names)
    assert doubts_of(checked) == ["Nell sees a ghost at midnight [w1]."]


def test_pages_are_no_citations_of_the_text() -> None:
    answer = "Hamlet sees a ghost [w1, w4]. The lamp burns on [1]."
    checked = check_citations(answer, BOTH, find_sentence_spans, web=[GHOST])
    text, cited = checked.text, checked.citations
    assert text == "Hamlet sees a ghost [w1]. The lamp burns on [1]."
    assert cited == (LAMP,)
    bare = check_citations("A ghost [w1].", BOTH, find_sentence_spans)
    assert bare.text == "A ghost."
    assert (
        strip_answer_citation_marks(text) == "Hamlet sees a ghost. The lamp burns on."
    )


CRIER = cite(
    1, "An old crier with a white beard came up the stairs and asked for Nell."
)
BEARD = cite(2, "Hob kept a false beard and a crier's coat in the loft.")
CRIER_STORY = StoryContext(
    cast=(("Nell",), ("Hob",), ("Mags",)), narrators=(("Mags",),)
)


@pytest.mark.parametrize(
    ("answer", "uncited"),
    [
        ("He comes up [1]. The old crier is Hob in disguise.", 1),
        ("The old crier is Hob in disguise. He comes up the stairs [1].", 1),
        ("He comes up the stairs [1]. Mags marries the crier [9].", 1),
        ("He asks for Nell [1]. He has a white beard.", 0),
        ("He asks for Nell [1]. Mags sees him on the stairs.", 0),
        ("An old man with a beard. He asks for Nell [1], Hob has a coat [2].", 0),
        ("The text so far does not say who the old crier is. He has a beard [1].", 0),
        ("He comes up the stairs [1]. Who he is has not been told so far.", 0),
        ("He comes up the stairs [1]. I have found nothing more about the crier.", 0),
        ("The book is called The Lantern Coast. The crier asks for Nell [1].", 0),
        ("He comes up the stairs [1]. In short, an odd and talkative visitor.", 0),
        ("Everybody gossips about him. He comes up the stairs [1].", 0),
        ("He asks for Nell [1]. That is why he never waits below.", 0),
        ("He asks for Nell [1]. Nothing so far explains his coming.", 0),
        ("He asks for Nell [1]. So the stairs bring him no further.", 0),
        ("He asks for Nell on the stairs [1]. Dear Nell [1] comes up the stairs.", 0),
        ("He asks for Nell [1]. The joke rests on taking words literally.", 0),
        ("He asks for Nell [1]. Eventually he sails away with a chest.", 1),
        ("He asks for Nell [1]. You will have to read on to learn it.", 0),
        ("He asks for Nell [1]. You must read on to see him murdered.", 1),
        ("He asks for Nell [1]. He murders somebody on the mole.", 1),
        ("He asks for Nell [1]. He carries a rusty flute inside his hat.", 1),
    ],
)
def test_a_claim_without_a_number_needs_one_passage_that_says_it(
    answer: str, uncited: int
) -> None:
    question = "Who is the old crier?"
    shown = ("title: The Lantern Coast",)
    checked = check_citations(
        answer,
        (CRIER, BEARD),
        find_sentence_spans,
        question=question,
        decided=shown,
        story=CRIER_STORY,
    )
    findings = judge_uncited_claims(
        checked, find_sentence_spans, question, shown, CRIER_STORY
    )
    assert len(findings) == uncited


def test_a_plural_of_a_name_in_the_cited_words_is_no_missing_name() -> None:
    cast = (("Mr. Strake", "Strake"), ("Mrs. Strake",))
    citation = cite(1, "“The Strakes are bringing oysters,” she said.")
    answer, story = "The Strakes bring oysters, too [1].", StoryContext(cast=cast)
    checked = check_citations(answer, (citation,), find_sentence_spans, story=story)
    assert checked.findings == ()


def test_the_narrator_may_be_named_where_the_cited_words_say_i() -> None:
    citation = cite(1, "I stared at the crier, and laughed at his white beard.")
    answer, story = "His beard is white [1]. Mags laughs at the beard.", CRIER_STORY
    checked = check_citations(answer, (citation,), find_sentence_spans, story=story)
    assert checked.findings == ()
