import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.facts import Certainty, Fact
from lrwr.core.nlp.facts.kinship import find_kinship_facts
from lrwr.core.nlp.text.prose import annotate_prose

VERIFIED, PROBABLE = Certainty.VERIFIED, Certainty.PROBABLE


def told(text: str, narrator: str = "", known: tuple[str, ...] = ()) -> list[Fact]:
    return list(
        find_kinship_facts(annotate_prose(text, find_sentence_spans, known), narrator)
    )


def claims(text: str, narrator: str = "") -> list[tuple[str, str, str, Certainty]]:
    return [
        (f.subject, f.detail("kind"), f.detail("target"), f.certainty)
        for f in told(text, narrator)
    ]


@pytest.mark.parametrize(
    ("text", "one", "kin", "two"),
    [
        ("Then Nell’s sister Mags came in.", "Nell", "sister", "Mags"),
        ("She met Nell's younger brother, Corin Vale.", "Nell", "brother", "Corin Vale"),
        ("Mags, Nell’s sister, came in.", "Nell", "sister", "Mags"),
        ("Here sat Mrs. Gannet, the widow of Hob Gannet.", "Hob Gannet", "widow",
         "Mrs. Gannet"),
        ("Mags was the daughter of Jack Tallow.", "Jack Tallow", "daughter", "Mags"),
        ("Corin Vale was Nell’s employer.", "Nell", "employer", "Corin Vale"),
        ("Hob had married Annis Vale.", "Hob", "spouse", "Annis Vale"),
        ("At last Mr. Vale adopted Toby as his son.", "Toby", "adoptive parent", "Mr. Vale"),
        ("Here is Dr. Vale, Nell’s own doctor.", "Nell", "doctor", "Dr. Vale"),
        ("Then Nell and Mags were sisters.", "Nell", "sister", "Mags"),
        ("It was Nell's uncle, called Hob.", "Nell", "uncle", "Hob"),
        ("The late Mr. Vale’s clerk Toby ran.", "Mr. Vale", "clerk", "Toby"),
        ("Hob Vale had a daughter, Nell.", "Hob Vale", "daughter", "Nell"),
        ("Then Hob Vale had an only son called Toby.", "Hob Vale", "son", "Toby"),
        ("Hob Vale, whose son was Toby, sat by the mill.", "Hob Vale", "son", "Toby"),
        ("Nell was born to Annis Vale.", "Annis Vale", "child", "Nell"),
    ],
)  # fmt: skip
def test_a_tie_between_two_names_is_verified(
    text: str, one: str, kin: str, two: str
) -> None:
    assert claims(text) in (
        [(one, kin, two, VERIFIED)],
        [(f"the late {one}", kin, two, VERIFIED)],
        [(f"The late {one}", kin, two, VERIFIED)],
    )


def test_the_span_is_the_words_that_say_it() -> None:
    text = "Then Nell’s sister Mags came in."
    (fact,) = told(text)
    assert text[fact.spans[0].start : fact.spans[0].end] == "Nell’s sister Mags"
    assert fact.value == ""


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Nell went out with her sister Mags.", ("Nell", "sister", "Mags", PROBABLE)),
        ("“Nell’s sister Mags came,” he said.", ("Nell", "sister", "Mags", PROBABLE)),
        ("They met Mr. and Mrs. Vale.", ("Mr. Vale", "wife", "Mrs. Vale", PROBABLE)),
    ],
)
def test_a_pronoun_a_couple_or_a_speaker_is_only_probable(
    text: str, claim: tuple[str, str, str, Certainty]
) -> None:
    assert claims(text) == [claim]


@pytest.mark.parametrize(
    "text",
    [
        "Nell’s sister, Mags, and Corin came in.",
        "She saw Nell’s sister, Mags and Corin.",
        "Mags was not Nell’s sister.",
        "If Mags was Nell’s sister, nobody knew.",
        "Was Mags the sister of Nell?",
        "Hob told Nell and Mags of her uncle Corin.",
        "Mr. Vale came with her uncle Corin.",
        "“Is he Nell’s brother, Corin?” she asked.",
        "“Come to my uncle Hob,” he said.",
        "My uncle Hob was there.",
    ],
)
def test_lists_doubts_questions_and_unclear_pronouns_are_left_out(text: str) -> None:
    assert claims(text) == []


def test_the_narrators_own_people_need_the_narrators_name() -> None:
    text = "It was my uncle Hob who rang."
    assert claims(text, "Nell") == [("Nell", "uncle", "Hob", PROBABLE)]


def test_her_own_sister_is_that_of_somebody_else() -> None:
    assert claims("Mrs. Vale was away, and her own sister, Mags, at school.") == []


def test_a_knight_and_a_lady_are_a_couple() -> None:
    assert claims("There came Sir Hob and Lady Gannet.") == [
        ("Sir Hob", "wife", "Lady Gannet", PROBABLE)
    ]


def test_a_child_of_two_has_both_as_parents() -> None:
    text = "It was Mags, the daughter of Mr. Vale, of Thole, and Lady Anne."
    assert claims(text)[-2:] == [
        ("Mr. Vale", "daughter", "Mags", VERIFIED),
        ("Lady Anne", "daughter", "Mags", VERIFIED),
    ]


def test_who_has_a_daughter_is_a_person_though_the_text_says_nothing_else() -> None:
    text = "Then Hob came.\n\nJane sat beside her mother, Mags Ottley."
    facts = told(text, known=("Hob",))
    assert [(f.subject, f.detail("target")) for f in facts] == [("Jane", "Mags Ottley")]
    assert told("In Thole her mother, Mags Ottley, sat.", known=("Hob",)) == []
