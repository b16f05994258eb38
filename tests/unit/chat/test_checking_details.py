"""What of a right sentence the cited words lack, and what of a wrong one is found."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.attribution.claims import CheckedAnswer, check_citations
from lrwr.core.attribution.details import find_missing_negation
from lrwr.core.attribution.names import find_missing_names
from lrwr.core.attribution.quotations import count_quotations
from lrwr.core.attribution.sources import StoryContext
from lrwr.core.model.text import LineIndex, Span
from lrwr.core.model.turns import Citation
from lrwr.core.ports.stores import DocumentText
from tests.fakes.chatting import cite

CAST = (
    ("Ada Vane", "Ada", "Vane"),
    ("Tomas", "Tom", "Papa"),
    ("Mrs. Gale", "Gale"),
    ("Brother Piet", "Piet"),
    ("Ilse",),
)
CHAPTER = (
    "## Chapter 4\n\n"
    "Ada Vane sat by the stove with Tomas.\n\n"
    "“I counted the boats,” she said. “I could not have counted wrong.”\n\n"
    "He wore a blue coat, and his father had worn it for nine winters. It was his own"
    " doing that they had lost the mill.\n\n"
    "“My dear Ada, the mill was sold before the feast, and I was the one to sign. It is"
    " impossible for me to go back.”\n\n"
    "YOUR OLD GALE.\n\n"
    "## Chapter 5\n\n"
    "Brother Piet went to Norderney in the rain.\n"
)
DOCUMENT = DocumentText(CHAPTER, LineIndex((0,)))


def passage(number: int, words: str, chapter: int = 4) -> Citation:
    start = CHAPTER.index(words)
    span = Span(start, start + len(words))
    return replace(cite(number, words), span=span, chapter=chapter)


BOATS = passage(1, "“I counted the boats,” she said. “I could not have counted wrong.”")
COAT = passage(
    2,
    "He wore a blue coat, and his father had worn it for nine winters. It was his own"
    " doing that they had lost the mill.",
)
LETTER = passage(
    3,
    "“My dear Ada, the mill was sold before the feast, and I was the one to sign. It is"
    " impossible for me to go back.”",
)
RAIN = passage(4, "Brother Piet went to Norderney in the rain.", 5)
ALL = (BOATS, COAT, LETTER, RAIN)


def check(answer: str, question: str = "") -> CheckedAnswer:
    story = StoryContext(CAST, texts={c.document: DOCUMENT for c in ALL})
    return check_citations(
        answer, ALL, find_sentence_spans, question=question, story=story
    )


def lacking(answer: str) -> list[tuple[str, ...]]:
    return [finding.words for finding in check(answer).findings]


@pytest.mark.parametrize(
    "answer",
    [
        "Tomas calls it “his own doing” [2].",
        "Tomas wore a blue coat [2].",
        "Mrs. Gale admits it in her letter: “I was the one to sign” [3].",
        "In the feast year the Vanes counted the boats [1].",
        "By the stove Ada is sure: “I counted the boats” [1].",
    ],
)
def test_somebody_of_the_scene_needs_no_name_in_the_cited_words(answer: str) -> None:
    assert lacking(answer) == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("Piet calls it “his own doing” [2].", ("Piet",)),
        ("There Ilse counted the boats [1].", ("Ilse",)),
        ("In the rain Tomas went to Norderney [4].", ("Tomas",)),
        ("He wore a blue coat in Bremen [2].", ("Bremen",)),
    ],
)
def test_somebody_of_another_chapter_is_a_finding(
    answer: str, words: tuple[str, ...]
) -> None:
    assert lacking(answer) == [words]


@pytest.mark.parametrize(
    ("source", "answer", "is_supported"),
    [
        ("Ada and Piet were married at Norderney.", "The wedding took place", True),
        ("Ada wept over the letter.", "She cried", True),
        ("They buried Gale in the rain.", "The funeral took place", True),
        ("They buried Gale in the rain.", "The wedding took place", False),
    ],
)
def test_another_word_for_the_same_supports_a_sentence(
    source: str, answer: str, is_supported: bool
) -> None:
    checked = check_citations(f"{answer} [1].", [cite(1, source)], find_sentence_spans)
    assert (not checked.findings) is is_supported


@pytest.mark.parametrize(
    ("source", "is_supported"),
    [
        ("She went to the mill. The ford was hopeless: Ada sat down and wept.", True),
        ("She went to the mill. The ford was deep: Ada sat down and wept.", False),
        ("She went to the mill. It was hopeless to argue. Ada wept.", False),
    ],
)
def test_what_somebody_cannot_do_may_be_in_other_words(
    source: str, is_supported: bool
) -> None:
    sentence = "She wept because she could not go to the mill [1]."
    checked = check_citations(sentence, [cite(1, source)], find_sentence_spans)
    assert (not checked.findings) is is_supported


def test_a_word_of_a_name_that_the_source_has_by_itself_is_not_missing() -> None:
    cast = [("Nell Tallow", "Miss Tallow")]
    source = "He knew the Tallow who kept the mill."
    assert find_missing_names("The mill is kept by a Tallow.", source, cast) == ()
    assert find_missing_names("The mill is kept by a Tallow.", "The mill.", cast)


def test_names_side_by_side_are_divided() -> None:
    cast = (("Elizabeth",), ("Lady Catherine", "Catherine"))
    source = "Elizabeth walked through Rosings."
    assert find_missing_names("At Rosings Elizabeth walked.", source, cast) == ()
    missing = find_missing_names("At Kent Elizabeth walked.", source, cast)
    assert [name.text for name in missing] == ["Kent"]


@pytest.mark.parametrize("adverb", ["Meanwhile", "Presently", "Afterwards"])
def test_an_adverb_before_a_name_is_no_part_of_it(adverb: str) -> None:
    cast, source = [("Captain Tallow",)], "Captain Tallow rowed."
    assert find_missing_names(f"{adverb} Captain Tallow rowed.", source, cast) == ()
    missing = find_missing_names(f"{adverb} Hob Marsh rowed.", source, cast)
    assert [name.text for name in missing] == ["Hob Marsh"]
    missing = find_missing_names("Father Marsh rowed.", source, cast)
    assert [name.text for name in missing] == ["Father Marsh"]


@pytest.mark.parametrize(
    "answer",
    [
        "She will not believe it: “I could not have counted wrong” [1].",
        "The writer would not return: “It is impossible for me to go back” [3].",
        "The signing itself is not shown.",
        "She never says why the boats were counted [1].",
        "No buyer is named in it.",
        "Nobody told her: she counted the boats.",
        "I have not seen the later chapters whole.",
        "Nothing about the coat was found [2].",
    ],
)
def test_a_negation_in_a_fair_sentence_is_no_finding(answer: str) -> None:
    assert lacking(f"“I counted the boats” [1]. {answer}") == []


@pytest.mark.parametrize(
    "answer",
    [
        "He did not wear a blue coat [2].",
        "She never says, “I could not have counted wrong” [1].",
        "She never counted the boats [1].",
        "It was not “his own doing” [2], and “I could not have counted wrong” [1].",
        "Nobody went to Norderney in the rain [4].",
    ],
)
def test_a_flipped_claim_stays_a_finding(answer: str) -> None:
    assert lacking(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "There are two steps.\n\n1. A count: “I counted the boats” [1].\n2. A coat: “a"
        " blue coat” [2].",
        "He blames two things, the coat and the mill [2].",
        "It was worn nine winters [2]. With this one, that makes ten winters [2].",
    ],
)
def test_a_count_of_what_the_answer_lists_is_no_finding(answer: str) -> None:
    assert lacking(answer) == []


def test_a_count_that_contradicts_the_passage_is_a_finding() -> None:
    assert lacking("His father had worn the coat for six winters [2].") == [("six",)]


def test_the_name_of_a_list_item_is_no_finding() -> None:
    answer = "1. Loss without blame. It was “his own doing” [2].\n2. Signing. “I was the one to sign” [3]."
    assert lacking(answer) == []


def test_a_quotation_is_not_moved_to_a_passage_about_somebody_else() -> None:
    checked = check("Ilse was calm: “a blue coat” [1].")
    assert checked.text == "Ilse was calm: “a blue coat” [1]."
    assert checked.moved == ()
    assert [finding.words for finding in checked.findings] == [("a", "blue", "coat")]
    checked = check("He has “a blue coat” [1].", "What does Ilse look like?")
    assert checked.moved == ()
    assert checked.findings


def test_a_moved_quotation_is_reported() -> None:
    checked = check("Of Tomas: “a blue coat” [1].")
    assert checked.text == "Of Tomas: “a blue coat” [2]."
    assert [moved.remark for moved in checked.moved] == [
        "“a blue coat” stands in [2], not in [1]: renumbered."
    ]
    assert check(checked.text).moved == ()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("He wore a “grey coat” [2].", ("grey",)),
        ("He calls it “ruin” [2].", ("ruin",)),
        ("His “old doing” cost them the mill [2].", ("old",)),
    ],
)
def test_a_short_quotation_with_a_citation_must_be_verbatim(
    answer: str, words: tuple[str, ...]
) -> None:
    assert lacking(answer) == [words]


def test_a_short_quotation_without_a_citation_may_be_irony() -> None:
    assert lacking("A “hero” of a kind. He wore a blue coat [2].") == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("He wore a green coat [2].", ("green",)),
        ("His uncle had worn the coat for nine winters [2].", ("uncle",)),
        (
            "It was sold after the funeral. Piet went to Norderney in the rain [4].",
            None,
        ),
        ("He wore an azure coat, as his father had [2].", None),
    ],
)
def test_a_changed_word_of_a_concrete_kind_is_a_finding(
    answer: str, words: tuple[str, ...] | None
) -> None:
    found = [finding for finding in lacking(answer) if finding]
    assert found == ([words] if words else [])


_WORDS = st.sampled_from(
    ["“a blue coat”", "“grey coat”", "Tomas", "Ilse", "not", "red", "nine", "[1]", "[2]",
     "[3]", ".", ":", "\n", "1. ", "I have", "mother"]
)  # fmt: skip


@given(st.lists(_WORDS, max_size=14).map(" ".join))
def test_a_check_of_a_checked_answer_changes_nothing(answer: str) -> None:
    checked = check(answer)
    assert check(checked.text) == checked
    assert check(checked.text).moved == ()


def test_quotations_are_counted_with_those_that_are_verbatim() -> None:
    answer = "He wore “a blue coat” [2] and “a red hat” [2]; “the mill” is lost."
    assert count_quotations(answer, [COAT]) == (3, 2)


def test_the_narrators_name_may_stand_for_i() -> None:
    text = "I found his manner to Ada rather cold. “I am tired,” he said."
    document = DocumentText(text, LineIndex((0,)))
    cold = replace(cite(1, text[:38]), span=Span(0, 38))
    cast = (*CAST, ("Captain Brand", "Brand"))
    story = StoryContext(cast, texts={cold.document: document})
    told = replace(story, narrators=cast[-1:])
    answer = "Brand finds his manner to Ada cold [1]."

    def find_missing(context: StoryContext) -> list[tuple[str, ...]]:
        checked = check_citations(answer, [cold], find_sentence_spans, story=context)
        return [finding.words for finding in checked.findings]

    assert find_missing(story) == [("Brand",)]
    assert find_missing(told) == []
    spoken = replace(cold, text=text[39:], span=Span(39, len(text)))
    checked = check_citations(
        "Brand is tired [1].", [spoken], find_sentence_spans, story=told
    )
    assert [finding.words for finding in checked.findings] == [("Brand",)]


def test_a_reader_may_be_told_that_what_was_read_says_nothing() -> None:
    for silence in (
        "What has been read does not tell it.",
        "The part you have read so far never says so.",
        "What you have read does not say who did it.",
    ):
        assert lacking(silence) == []


def test_a_verb_that_is_spelled_like_a_colour_is_no_finding() -> None:
    assert lacking("His father, nine winters in that coat, rose by himself [2].") != [
        ("rose",)
    ]
    assert lacking("He wore a rose coat, as his father had [2].") == [("rose",)]


@pytest.mark.parametrize("negation", ["canna", "winna", "dinna"])
def test_a_negation_of_a_dialect_is_one(negation: str) -> None:
    source = [f"“I {negation} find work elsewhere, sir.”"]
    assert find_missing_negation("Hob cannot find work elsewhere.", source) == ()
    other = ["“I find work elsewhere, sir.”"]
    assert find_missing_negation("Hob cannot find work.", other) == ("cannot",)


def test_a_negation_may_be_inferred_from_the_quotation_after_a_colon() -> None:
    assert lacking("He is not ashamed: “He wore a blue coat” [2].") == []
    assert lacking("He never wore it: “He wore a blue coat” [2].") != []
    assert lacking("He is not ashamed of his coat: “for nine winters” [2].") != []


def test_what_the_text_is_silent_about_may_be_denied_in_the_same_sentence() -> None:
    answer = "What you have read so far does not say: no coat is stolen in it."
    assert lacking(answer) == []


def test_not_a_word_denies_news_and_nothing_else() -> None:
    source = [
        "There was news at noon.",
        "Not a word came from the quay.",
        "Nell walked.",
    ]
    assert find_missing_negation("Nell has no news so far.", source) == ()
    assert find_missing_negation("Nell did not walk.", source) == ("not",)
    assert find_missing_negation("Nell has no news.", source[:1]) == ("no",)


def test_a_narrator_on_stage_and_a_teller_named_in_speech_may_be_named() -> None:
    cast = (("Nell",), ("Hob Tarn", "Hob", "Tarn"), ("Ada Pike", "Ada", "Pike"))
    tale = "“He owed me my share, and I told him that I and my men would wait for us.”"
    text = "\n\n".join(
        (
            "I sat by the fire with Nell.",
            "“Old Tarn spoke at last.",
            tale,
            "“The quay is small,” said Nell.",
            "“Small?”",
        )
    )

    def cite_words(words: str) -> Citation:
        at = text.index(words)
        return replace(cite(1, words), span=Span(at, at + len(words)))

    def check(answer: str, words: str) -> list[tuple[str, ...]]:
        citation = cite_words(words)
        story = StoryContext(
            cast,
            texts={citation.document: DocumentText(text, LineIndex((0,)))},
            narrators=cast[-1:],
        )
        checked = check_citations(answer, (citation,), find_sentence_spans, story=story)
        return [finding.words for finding in checked.findings]

    quay = "“The quay is small,” said Nell.\n\n“Small?”"
    assert check("Nell tells Ada that the quay is small [1].", quay) == []
    assert check("Nell tells Ilse that the quay is small [1].", quay) == [("Ilse",)]
    assert check("Ada says that the quay is small [1].", quay[:31]) == [("Ada",)]
    assert check("Tarn told him that his men would wait [1].", tale) == []
