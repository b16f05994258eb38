"""Which kind of value a question asks for, and whether a passage has one."""

import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.bible.values import CharacterRelation
from lrwr.core.chat.extractive.answer_types import asks_for_list, find_answer_type
from lrwr.core.chat.extractive.answer_values import (
    describe_missing_value,
    find_sentences_about_person,
)
from lrwr.core.chat.extractive.relatives import find_kin_asked, select_kin
from lrwr.core.chat.extractive.subjects import ValueQuestion
from lrwr.core.model.cast import Gender
from lrwr.core.model.facts import Certainty


def missing(question: str, *texts: str, names: tuple[str, ...] = ()) -> str:
    people = [words.lower().split() for words in names]
    typed = ValueQuestion(question, people, names)
    described = describe_missing_value(typed, texts, find_sentence_spans)
    assert described is not None
    return described.removeprefix("gives ")


@pytest.mark.parametrize(
    ("question", "text", "kind"),
    [
        ("What colour are Nell's eyes?", "Nell had grey eyes.", "the colour"),
        ("How old is Mags?", "Mags was sixty that winter.", "the age"),
        ("How old is Mags?", "Mags, a woman of forty, laughed.", "the age"),
        ("What is the name of the boat?", "They called the boat Petrel.", "its name"),
        ("In which year did the bell crack?", "It cracked in 1871.", "the year"),
        ("On what day did the reeve come?", "He came on Tuesday.", "the date"),
        ("What time was it?", "It struck four as he came in.", "the time of day"),
        ("How long did Nell stay?", "She stayed three weeks.", "the length of time"),
        ("How much money was lost?", "They lost forty pounds.", "the sum of money"),
        ("How many men drowned?", "Eleven of them drowned.", "the number"),
        ("Which street did he live in?", "He lived in Tallow Street.", "such a name"),
        ("Which village is she from?", "She came from the village of Holm.", "such a name"),
    ],
)  # fmt: skip
def test_a_passage_must_have_the_kind_of_value_asked_for(
    question: str, text: str, kind: str
) -> None:
    assert missing(question, text) == ""
    assert missing(question, "Mags and Nell and Orla walked on in the fog.") == kind


@pytest.mark.parametrize(
    ("question", "text", "lack"),
    [
        ("How old is Mags?", "“We are at one, then,” said Mags.", "the age"),
        ("How old is Mags?", "Within two months Mags was gone.", "the age"),
        ("In which year did it crack?", "It cracked years ago.", "the year"),
        ("What was the date of the wreck?", "The wreck was the next day.", "the date"),
    ],
)
def test_a_word_of_the_kind_is_not_always_a_value(
    question: str, text: str, lack: str
) -> None:
    assert missing(question, text) == lack


def test_how_people_are_related_is_asked_with_two_names() -> None:
    kind = find_answer_type("What is Nell to Mags?")
    assert kind is not None and kind.name == "how they are related"
    assert find_answer_type("Who is the woman who comes to look at the boat?") is None


def test_how_somebody_dies_is_not_asked_by_every_question_with_a_death() -> None:
    assert find_answer_type("How did Nell’s uncle die?") is not None
    assert find_answer_type("What did Nell wear after she had killed Jack?") is None


def test_a_related_word_near_the_value_tells_what_it_is_of() -> None:
    typed = ValueQuestion("Where does Nell lodge?", topic=("lodge",))
    texts = ["Nell took lodgings in Tallow Street."]
    assert describe_missing_value(typed, texts, find_sentence_spans) == ""


def test_the_sentence_with_a_value_of_the_person_is_named() -> None:
    typed = ValueQuestion("What colour is Nell's hair?", [["nell"]], ("Nell",))
    text = "It rained. Nell had red hair. Jack left."
    spans = find_sentences_about_person(typed, text, find_sentence_spans)
    assert [text[s.start : s.end].strip() for s in spans] == ["Nell had red hair."]
    plain = ValueQuestion("What happened?", [["nell"]], ("Nell",))
    assert find_sentences_about_person(plain, text, find_sentence_spans) == []


def test_the_value_must_stand_near_the_person_asked_about() -> None:
    text = "Jack had black hair. He sang. He went out. Nell sat down. She waited."
    assert missing("What colour is Nell's hair?", text) == "the colour"
    assert missing("What colour is Jack's hair?", text) == ""


@pytest.mark.parametrize(
    ("question", "text", "other", "lack"),
    [
        (
            "What colour is Nell's hair?",
            "Nell's hair, once black, was long.",
            "Nell wore a red coat over the shoulder on which her hair fell.",
            "the colour",
        ),
        (
            "What was the Christian name of Orla's mother?",
            "Orla's mother was named Ada.",
            "Orla heard her mother. They called the boat Petrel.",
            "such a name",
        ),
        (
            "What is the name of the town?",
            "They called the town Holm.",
            "“Come to town,” said Nell, “It is late.”",
            "its name",
        ),
        (
            "Where does the reeve live?",
            "The reeve lived in Holm.",
            "The reeve lived for many years.",
            "says where",
        ),
    ],
)
def test_the_value_must_stand_in_the_clause_of_what_is_asked_for(
    question: str, text: str, other: str, lack: str
) -> None:
    names = tuple(name for name in ("Nell", "Orla") if name in question)
    assert missing(question, text, names=names) == ""
    assert missing(question, other, names=names) == lack


def test_other_names_of_the_person_count() -> None:
    text = "The old lamplighter had white hair."
    assert missing("What colour is Ansel's hair?", text) == "the colour"
    names = ("Ansel lamplighter",)
    assert missing("What colour is Ansel's hair?", text, names=names) == ""


@pytest.mark.parametrize(
    ("text", "lack"),
    [
        ("Nell came to Holm in the summer of 1806.", ""),
        ("Nell came to Holm three years ago.", ""),
        ("Nell came to Holm after the funeral.", ""),
        ("Nell came to Holm. It was Day 12 of the watch.", ""),
        ("Nell came to Holm with a lantern.", "says when"),
        ("It was the summer of 1806. Orla slept. Nell came to Holm.", "says when"),
        ("In the summer of 1806 Nell sang.", "says when"),
    ],
)
def test_when_somebody_comes_is_said_by_a_time_with_the_name_and_the_verb(
    text: str, lack: str
) -> None:
    typed = ValueQuestion(
        "When did Nell come to Holm?", [["nell"]], ["Nell"], ["come", "holm"]
    )
    missing_value = describe_missing_value(typed, [text], find_sentence_spans)
    assert missing_value == lack


@pytest.mark.parametrize(
    "question", ["Why did Nell leave?", "Who rang?", "What does Nell want?"]
)
def test_other_questions_ask_for_no_such_value(question: str) -> None:
    typed = ValueQuestion(question)
    assert describe_missing_value(typed, ["Nothing."], find_sentence_spans) is None


@pytest.mark.parametrize(
    ("text", "lack"),
    [
        ("Admiral Rook was sixty.", ""),
        ("The Admiral was sixty.", ""),
        ("Admiral Tobias Rook was sixty.", ""),
        ("Mr Pike saw the Admiral, who was sixty.", ""),
        ("It is Admiral Vane. He was sixty, and no more.", "the age"),
        ("Mrs Rook was sixty.", "the age"),
        ("It was three weeks since Admiral Rook had come.", "the age"),
    ],
)
def test_somebody_with_the_same_title_or_surname_is_somebody_else(
    text: str, lack: str
) -> None:
    assert missing("How old is Admiral Rook?", text, names=("Admiral Rook",)) == lack


@pytest.mark.parametrize(
    ("question", "text", "lack"),
    [
        ("How old is Mags?", "Mags had known him for the last fifteen years.", "the age"),
        ("How old is Mags?", "Mags was sixteen years of age.", ""),
        ("How old is Mags?", "At sixteen years old Mags sang.", "the age"),
        ("How old is Mags?", "Mags saw Nell, a girl of ten.", "the age"),
        ("How old is Mags?", "Mags has sung since she was twelve.", "the age"),
        ("Who is Mags?", "Mags was an old bellringer.", ""),
        ("Who is Mags?", "They went to see the widow Mags.", ""),
        ("Who is Mags?", "Mags laughed.", "says who the person is"),
        ("Who marries Mags?", "Mags married Hob in the spring.", ""),
        ("Who marries Mags?", "Mags would never marry Hob.", "says whom the person marries"),
        ("Who marries Mags?", "Nell married Hob, and Mags sang.", "says whom the person marries"),
        ("How did Mags die?", "Mags was dead, because of a letter.", "says how somebody dies"),
        ("How did Mags die?", "Hob nearly died of grief; Mags sang.", "says how somebody dies"),
        ("Who is Mags's elder brother?", "Nell met her brother.", "names such a relative"),
    ],
)  # fmt: skip
def test_a_value_must_be_said_of_the_person_in_question(
    question: str, text: str, lack: str
) -> None:
    typed = ValueQuestion(question, [["mags"]], ["Mags"], others=["nell", "hob"])
    described = describe_missing_value(typed, [text], find_sentence_spans)
    assert described is not None
    assert described.removeprefix("gives ") == lack


def test_a_surname_is_known_from_the_names_of_the_cast() -> None:
    question, text = "What is Orla's surname?", "Orla heard the name of the boat."
    assert missing(question, text, names=("Orla",)) == "such a name"
    assert missing(question, text, names=("Mrs. Orla",)) == "such a name"
    assert missing(question, text, names=("Orla Pike",)) == ""


@pytest.mark.parametrize(
    ("question", "text", "other", "lack"),
    [
        (
            "How is Nell related to Mags?",
            "Mags, who was Nell's aunt, laughed.",
            "Nell saw Mags. Her aunt came.",
            "says how they are related",
        ),
        (
            "What is Mags to Nell?",
            "Nell called Mags her sister.",
            "Nell walked with Mags.",
            "says how they are related",
        ),
        (
            "What is the name of Nell's mother?",
            "Nell's mother was called Ada.",
            "A mother laughed.",
            "names such a relative",
        ),
        (
            "What does Mags look like?",
            "Mags was a stout old woman.",
            "Mags came in.",
            "says how the person looks",
        ),
        (
            "How did Mags die?",
            "They say that Mags was drowned.",
            "Mags was alone.",
            "says how somebody dies",
        ),
    ],
)
def test_a_passage_must_say_what_a_question_of_another_kind_asks_for(
    question: str, text: str, other: str, lack: str
) -> None:
    names = ("Nell", "Mags") if "Nell" in question else ("Mags",)
    assert missing(question, text, names=names) == ""
    assert missing(question, other, names=names) == lack


@pytest.mark.parametrize(
    ("question", "text", "other"),
    [
        ("How many boats has Nell?", "Nell had three small boats.", "Nell had three aunts."),
        ("How many boats has Nell?", "Of Nell's boats there were six.", "Nell waited two hours."),
        ("Who is the miller who saw Nell?", "Hob, the miller, saw Nell.", "The miller saw Nell."),
        ("Who is the doctor who saw Nell?", "Doctor Vale saw Nell.", "The doctor saw Nell."),
        ("What is the name of Nell's sister?", "Nell came in with her sister, Ada.", "Nell came in with her sister."),
        ("What is the name of Nell's little boat?", "Nell named her boat Petrel.", "Nell sold her boat."),
        ("Which hospital is Nell in?", "Nell lay in Saint Bride hospital.", "Nell lay in hospital."),
        ("What is the name of Nell's boat?", "Nell named her boat Petrel.", "Nell sold her boat."),
        ("Where does Nell stay in Holm?", "Nell had taken a house in Tallow Street.", "Nell was in Tallow Street."),
        ("How did Nell die?", "A fever had seized Nell, and carried her off.", "Nell was carried off the boat."),
    ],
)  # fmt: skip
def test_a_value_of_the_thing_in_question_is_needed(
    question: str, text: str, other: str
) -> None:
    assert missing(question, text, names=("Nell",)) == ""
    assert missing(question, other, names=("Nell",))


def test_of_two_people_one_may_be_the_narrator() -> None:
    question, text = "How is Nell related to Mags?", "Mags was my aunt, and lame."
    assert missing(question, text, names=("Nell", "Mags")) == ""


def test_a_value_without_a_word_of_the_question_near_it_is_another() -> None:
    typed = ValueQuestion("How long does Nell stay?", topic=("stay",))
    texts = ["The rain had lasted a week. Nobody came. Nell stayed at the mill."]
    near = ["Nell stayed at the mill for a week."]
    assert describe_missing_value(typed, near, find_sentence_spans) == ""
    lack = describe_missing_value(typed, texts, find_sentence_spans)
    assert lack == "gives the length of time"


@pytest.mark.parametrize(
    ("question", "is_list"),
    [
        ("List the letters that Nell writes", True),
        ("Who made every proposal?", True),
        ("How do Nell and Mags each leave?", True),
        ("Where did Nell and Mags first see each other?", False),
        ("Who is Nell?", False),
        ("Where does Nell live?", False),
        ("What does Nell get every year?", False),
        ("Who says that all the fog is late?", False),
        ("Who sold all the old boats?", True),
    ],
)
def test_questions_with_several_answers_are_told_from_others(
    question: str, is_list: bool
) -> None:
    assert asks_for_list(question) is is_list


def relation(source: str, kind: str, target: str) -> CharacterRelation:
    return CharacterRelation(source, target, kind, "", (), Certainty.VERIFIED)


JACK = relation("Jack", "daughter", "Nell")
ANNIS = relation("Annis", "daughter", "Nell")
WIFE = relation("Jack", "wife", "Annis")
MAGS = relation("Nell", "aunt", "Mags")
FATHER = relation("Nell", "father", "Jack")
MOTHER = relation("Nell", "mother", "Annis")


@pytest.mark.parametrize(
    ("question", "person", "expected"),
    [
        ("Who is Nell's mother?", "Nell", [MOTHER]),
        ("Who are Nell’s parents?", "Nell", [FATHER, MOTHER]),
        ("Whose daughter is Nell?", "Nell", [FATHER, MOTHER]),
        ("Who is the father of Nell?", "Nell", [FATHER]),
        ("Who is Jack's daughter?", "Jack", [JACK]),
        ("Does Jack have a wife?", "Jack", [WIFE]),
        ("Who is Annis's husband?", "Annis", [relation("Annis", "husband", "Jack")]),
        ("Who is Nell's aunt?", "Nell", [MAGS]),
        ("Who is Mags's niece?", "Mags", [relation("Mags", "niece", "Nell")]),
        ("Who is Nell's sister?", "Nell", []),
    ],
)
def test_relatives_are_found_from_both_sides(
    question: str, person: str, expected: list[CharacterRelation]
) -> None:
    asked = find_kin_asked(question)
    assert asked is not None
    relations = [JACK, ANNIS, WIFE, MAGS]
    genders = {"Jack": Gender.MALE, "Nell": Gender.FEMALE}
    assert select_kin(asked, {person}, relations, genders) == expected


def test_a_title_tells_that_a_brother_is_no_sister() -> None:
    asked = find_kin_asked("Who is Nell's sister?")
    assert asked is not None
    brothers = [relation("Mr. Jack Pike", "brother", "Nell")]
    genders = {"Mr. Jack Pike": Gender.UNKNOWN}
    assert select_kin(asked, {"Nell"}, brothers, genders) == []


def test_who_is_married_is_asked_as_for_a_spouse() -> None:
    for question in ("Who marries Nell?", "Whom did Nell marry?"):
        asked = find_kin_asked(question)
        assert asked is not None
        assert asked.base == "spouse"


def test_the_father_is_no_answer_to_who_is_the_mother() -> None:
    asked = find_kin_asked("Who is Nell's mother?")
    assert asked is not None
    # Nobody says that Jack is a man, but that Annis is a woman.
    genders = {"Annis": Gender.FEMALE}
    assert select_kin(asked, {"Nell"}, [JACK, ANNIS], genders) == [MOTHER]
    assert select_kin(asked, {"Nell"}, [JACK], {}) == [JACK]


@pytest.mark.parametrize(
    "question",
    ["Who killed Nell's father?", "What does Nell's father look like?", "Who is Nell?"],
)
def test_a_relative_who_is_only_named_is_not_asked_for(question: str) -> None:
    assert find_kin_asked(question) is None
