"""Which names are one person, and which are two, in a cast from the text alone."""

from lrwr.core.model.cast import Cast, Character, Gender
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.evidence import gather_name_evidence
from lrwr.core.nlp.names.inference import infer_cast

REPLIES = (
    "“Wren, come here.”\n\n“I come,” said Orla.\n\n"
    "“It is late,” said Orla.\n\n“So it is, Wren.”\n\n"
)
STORY = (
    "“Sit down,” said Corin. He looked at Orla, and Orla looked at her book. "
    "Orla smiled. Corin told Orla so. “Good,” said Orla.\n\n"
)


def cast_from(*texts: str) -> Cast:
    return infer_cast([gather_name_evidence(t, [Span(0, len(t))]) for t in texts])


def who(cast: Cast, name: str) -> Character:
    return next(one for one in cast.characters if name in {a.name for a in one.aliases})


def is_one_person(cast: Cast, first: str, second: str) -> bool:
    return second in {alias.name for alias in who(cast, first).aliases}


def test_a_name_that_somebody_answers_to_is_another_name_of_that_person() -> None:
    cast = cast_from(STORY * 2 + REPLIES * 3)

    assert is_one_person(cast, "Orla", "Wren")


def test_a_name_that_the_speaker_uses_for_another_stays_apart() -> None:
    cast = cast_from(STORY * 2 + REPLIES * 3 + "“Sit, Wren,” said Orla.\n\n" * 2)

    assert not is_one_person(cast, "Orla", "Wren")


def test_a_man_and_his_sister_with_one_surname_are_two() -> None:
    text = (
        "“Sit down,” said Captain Vale. He sat. Captain Vale shook his head. "
        "“My sister Fanny Vale is dead,” said Captain Vale. Fanny Vale had written to "
        "him. She was kind. The ring of Fanny Vale was hers.\n\n"
    )
    cast = cast_from(text * 3)

    assert not is_one_person(cast, "Captain Vale", "Fanny Vale")
    assert who(cast, "Captain Vale").gender is Gender.MALE


def test_a_wife_named_after_her_husband_is_neither_he_nor_his_mother() -> None:
    text = (
        "“Come in,” said Mrs. Vale. She smiled at Thomas. “Good day,” said Thomas Vale. "
        "“He is late,” said Mrs. Thomas Vale. “Yes,” said Mrs. Vale. "
        "Thomas looked at Mrs. Thomas Vale, and Mrs. Vale looked at him.\n\n"
    )
    cast = cast_from(text * 3)

    assert not is_one_person(cast, "Mrs. Vale", "Mrs. Thomas Vale")
    assert not is_one_person(cast, "Thomas", "Mrs. Thomas Vale")


def test_the_father_of_a_son_whom_the_text_calls_by_his_given_name_is_another() -> None:
    text = (
        "Mr. and Mrs. Vale were at home. “Sit,” said Mr. Vale. “Thank you,” said "
        "Corin. Corin Vale sat down. Corin looked at Mr. Vale. “Well?” said Corin.\n\n"
    )
    cast = cast_from(text * 6)

    assert not is_one_person(cast, "Corin", "Mr. Vale")


def test_a_given_name_beside_a_married_name_belongs_to_the_wife() -> None:
    text = (
        "“Lou, my dear,” said Tom. “Yes, Tom,” said Louisa. She sat. Louisa smiled."
        "\n\n“Good day, Mrs. Vale.”\n\n“Good day,” said Louisa.\n\n“She is Lou Vale now,” "
        "said Tom.\n\n“Well, Mrs. Vale?”\n\n“Well?” said Louisa.\n\n"
    )
    cast = cast_from(text * 4)

    assert is_one_person(cast, "Louisa", "Mrs. Vale")
    assert is_one_person(cast, "Louisa", "Lou Vale")


def test_the_eldest_sister_keeps_the_surname_for_herself() -> None:
    text = (
        "The Miss Vales came in. “I am glad,” said Miss Nell. “So am I,” said Miss "
        "Vale. She took Nell by the hand. “Good,” said Nell Vale. Miss Vale sat.\n\n"
    )
    cast = cast_from(text * 4)

    assert not is_one_person(cast, "Nell", "Miss Vale")


def test_the_name_of_a_character_is_shown_before_a_description() -> None:
    text = (
        "“Sit,” said the Hatmaker. “Yes,” said Tom. The Hatmaker laughed. He sat. "
        "“Well, Orrin?” said Tom. “Orrin is late,” said Tom, “my Orrin.”\n\n"
        "“No,” said the Hatmaker.\n\n“Come, Orrin.”\n\n“I come,” said the Hatmaker.\n\n"
    )
    cast = cast_from(text * 5)

    assert who(cast, "Orrin").name == "Orrin"


def test_a_title_alone_is_a_person_from_five_mentions() -> None:
    times = (
        "He sat, and the Inspector looked at it. We saw the Inspector again. They "
        "told the Inspector so. “No,” said the Inspector. “Well?” asked Tom.\n\n"
    )
    more = "Tom followed the Inspector home. “Good,” said Tom.\n\n"

    assert "the Inspector" in {one.name for one in cast_from(times, more).characters}


def test_words_of_address_are_nobodys_name() -> None:
    text = (
        "“Yes, Monsieur,” said Tom. “No, Mother,” said Tom. “I see, Monsieur. My "
        "poor Mother! Dear Mama, and Madame?” Tom sat. “So, Mama,” said Tom.\n\n"
    )

    assert {one.name for one in cast_from(text * 4).characters} == {"Tom"}


def test_a_formal_name_after_chapters_of_the_given_name_is_the_fathers() -> None:
    early = (
        "Corin sat. “Sit down,” said Corin. Corin lost his hat. “I,” said Corin Vale. "
        "“Well?” said Mrs. Vale. “Yes,” said Corin.\n\n"
    ) * 6
    late = "In walked Mr. Vale himself. “So,” said Mr. Vale, and Mr. Vale sat. " * 3
    cast = cast_from(early, early, late)

    assert not is_one_person(cast, "Corin", "Mr. Vale")


def test_a_formal_name_before_the_given_name_is_the_same_mans() -> None:
    early = "“So,” said Mr. Vale. Mr. Vale sat. “Good day,” said Mrs. Vale.\n\n" * 3
    late = (
        "Corin sat. “Yes,” said Corin. Corin lost his hat. “I,” said Corin Vale. " * 6
    )
    cast = cast_from(early, late, late)

    assert is_one_person(cast, "Corin", "Mr. Vale")


def test_a_man_called_mr_with_his_given_name_is_not_the_one_with_the_surname() -> None:
    text = (
        "“So,” said Mr. Corin. Mr. Corin sat. “Corin Vale!” said Mr. Corin. “I,” said "
        "Mr. Vale. Mr. Vale smiled. “Good day,” said Mrs. Vale.\n\n"
    )
    cast = cast_from(text * 5)

    assert not is_one_person(cast, "Mr. Corin", "Mr. Vale")


def test_a_given_name_far_from_all_its_full_names_is_somebody_else() -> None:
    first = (
        "“I,” said Corin Vale. Corin Vale shook his head. “So,” said Corin Gannet. Corin "
        "Vale lost his hat. Corin Gannet shook his head.\n\n"
    ) * 3
    between = "“It is late,” said Nell. Nell sat. Nell smiled.\n\n" * 3
    last = "“Mine,” said Corin. Corin lost his hat. “Good,” said Corin.\n\n" * 4
    cast = cast_from(first, between, between, last)

    assert not is_one_person(cast, "Corin Vale", "Corin")


def test_a_given_name_belongs_to_its_bearer_of_the_same_chapters() -> None:
    first = "“I,” said Orla Ward. Orla Ward sat. “You?” said Miss Orla Ward.\n\n" * 3
    between = "“It is late,” said Corin. Corin sat. Corin smiled.\n\n" * 3
    last = "“Mine,” said Orla. Orla sat. “Well?” said Orla Vale.\n\n" * 3
    cast = cast_from(first, between, between, last)

    assert is_one_person(cast, "Orla Vale", "Orla")


def test_sir_and_mr_with_one_given_name_are_two_men() -> None:
    text = (
        "“I,” said Sir Corin. Sir Corin sat. “No,” said Mr. Corin Vale. Corin Vale "
        "looked at him. “Well,” said Sir Corin.\n\n"
    )
    cast = cast_from(text * 4)

    assert not is_one_person(cast, "Sir Corin", "Corin Vale")


def test_the_eldest_of_well_known_sisters_is_miss_with_the_surname() -> None:
    text = (
        "“I,” said Miss Nell. Nell Vale sat. “No,” said Orla. Orla lost her hat. “Well?” "
        "said Nell. Tom looked at Miss Vale. “Good,” said Miss Nell.\n\n"
    )
    cast = cast_from(text * 4, "“I,” said Orla Vale. She smiled.\n\n")

    assert not is_one_person(cast, "Nell", "Miss Vale")


WEDDING = (
    "“So,” said Miss Vale. She smiled. Nell Vale took her hat. “Yes,” said Miss Vale. ",
    "“I,” said Mr. Tallow. He sat. “Miss Vale,” said Mr. Tallow. “Yes,” said Nell. ",
    "Miss Vale married Mr. Tallow. “Good,” said Tom. “So,” said Tom. ",
    "“I,” said Mrs. Tallow. She sat. “No,” said Mrs. Tallow. “Well,” said Tom. ",
)


def test_a_woman_has_her_husbands_surname_after_the_wedding() -> None:
    cast = cast_from(*(part * 3 for part in WEDDING))

    assert is_one_person(cast, "Nell", "Mrs. Tallow")


def test_a_woman_who_is_still_miss_beside_the_wife_is_not_she() -> None:
    cast = cast_from(*(part * 3 for part in (*WEDDING, "", WEDDING[3] + WEDDING[1])))

    assert not is_one_person(cast, "Nell", "Mrs. Tallow")


def test_a_wife_who_was_there_before_the_wedding_is_somebody_else() -> None:
    cast = cast_from(*(part * 3 for part in (WEDDING[3], *WEDDING)))

    assert not is_one_person(cast, "Nell", "Mrs. Tallow")


COUPLE = (
    "“I,” said Mr. Corin Vale. He sat. “So,” said Corin. “Yes,” said Orla. She sat. "
    "“Well,” said Mrs. Vale. She sat. “No,” said Mrs. Vale. "
)


def test_a_woman_named_beside_a_man_who_marries_her_is_the_only_wife_of_that_name() -> (
    None
):
    marriage = "Corin spoke of the marriage with Orla. "
    together = "In came Corin and Orla. Out went Corin and Orla. "

    assert not is_one_person(cast_from(COUPLE * 3 + marriage), "Orla", "Mrs. Vale")
    assert is_one_person(
        cast_from(COUPLE * 3 + marriage + together), "Orla", "Mrs. Vale"
    )


def test_the_only_woman_with_a_given_name_is_the_wife_of_that_name() -> None:
    named = COUPLE.replace("Orla", "Orla Vale") * 3
    assert is_one_person(cast_from(named), "Orla Vale", "Mrs. Vale")
    daughter = named + "“No,” said Miss Vale. She sat. "
    assert not is_one_person(cast_from(daughter), "Orla Vale", "Mrs. Vale")
    widow = named.replace("Mr. Corin Vale", "Mr. Tallow").replace("Corin", "Tallow")
    assert not is_one_person(cast_from(widow), "Orla Vale", "Mrs. Vale")


def test_a_daughter_is_not_the_wife_however_often_she_is_named_with_a_man() -> None:
    words = "Corin spoke of the marriage with Orla. In came Corin and Orla. " * 3
    cast = cast_from(COUPLE * 3 + words + "“Miss Orla,” said Corin. She smiled.")

    assert not is_one_person(cast, "Orla", "Mrs. Vale")


def test_a_woman_named_beside_a_man_has_his_full_name_after_mrs() -> None:
    story = COUPLE.replace("Mrs. Vale", "Mrs. Corin Vale") * 3
    story += "In came Corin and Orla. " * 3
    cast = cast_from(story.replace("Corin", "Thomas"))

    assert is_one_person(cast, "Orla", "Mrs. Thomas Vale")


def test_mrs_and_a_given_name_is_the_wife_of_whoever_has_that_name() -> None:
    story = COUPLE.replace("Mrs. Vale", "Mrs. Corin Vale") * 3
    story += "In came Corin and Orla. " * 3 + "“No,” said Mrs. Corin. She sat. " * 3
    story += "“So,” said Mrs. Vale. She sat. " * 3
    cast = cast_from(story.replace("Corin", "Thomas"))

    assert is_one_person(cast, "Orla", "Mrs. Thomas")


def test_a_wife_is_known_by_her_given_name_and_her_husbands_surname() -> None:
    story = COUPLE.replace("Mrs. Vale", "Mrs. Corin Vale") * 3
    story += "In came Corin and Orla. " * 3
    cast = cast_from(story.replace("Corin", "Thomas"))

    assert is_one_person(cast, "Orla", "Orla Vale")
    assert "Orla Vale" not in {
        alias.name for alias in who(cast_from(COUPLE * 3), "Orla").aliases
    }


def test_a_full_name_that_stands_elsewhere_is_not_somebody_called_by_the_given_name() -> (
    None
):
    familiar = (
        "“I,” said Orla. She sat. Orla smiled. Orla looked at him. “So,” said Orla. "
    )
    stranger = "“No,” said Miss Gannet. Miss Orla Gannet sat. "
    cast = cast_from(*([familiar] * 12), *([stranger] * 3))
    both = cast_from(*([familiar] * 12), *([stranger + familiar] * 3))

    assert not is_one_person(cast, "Orla", "Miss Gannet")
    assert is_one_person(both, "Orla", "Miss Gannet")


LATE = (
    "“I,” said Orla. She sat. “So,” said Mr. Tallow. He sat. “Well,” said Nell. She sat. ",
    "Orla was engaged to Mr. Tallow. In came Mr. Tallow and Orla. ",
    "“No,” said Mrs. Tallow. She sat. “Yes,” said Tom. ",
)


def test_a_rare_married_name_at_the_end_is_that_of_the_only_bride() -> None:
    story = LATE[0] * 4, LATE[1] * 3, LATE[2]
    rival = (story[0], story[1] + story[1].replace("Orla", "Nell"), story[2])

    assert is_one_person(cast_from(*story), "Orla", "Mrs. Tallow")
    assert "Mrs. Tallow" not in {
        alias.name for alias in who(cast_from(*rival), "Orla").aliases
    }


PAIR = (
    "“I,” said Mr. Vale. He sat. “No,” said Mr. Tallow. He sat. “So,” said Mr. Vale. "
    "“Well,” said Mr. Tallow. “Good day,” said Miss Orla. She sat. “Yes,” said Miss "
    "Orla. “I,” said Mrs. Gannet. She sat. “Good,” said Mrs. Gannet.\n\n"
)


def test_two_names_that_the_text_says_are_one_person_are_merged() -> None:
    said = "In came Mr. Vale, otherwise Mr. Tallow, with Miss Orla, now Mrs. Gannet."
    cast = cast_from(PAIR * 3 + said)

    assert is_one_person(cast, "Mr. Vale", "Mr. Tallow")
    assert is_one_person(cast, "Miss Orla", "Mrs. Gannet")


def test_somebody_who_calls_another_is_not_that_person() -> None:
    cast = cast_from(PAIR * 3 + "Then Mr. Vale called Mr. Tallow. He came.\n\n")

    assert not is_one_person(cast, "Mr. Vale", "Mr. Tallow")


def test_a_longer_description_is_the_person_of_the_shorter_one() -> None:
    text = (
        "“Sit,” said the Hatmaker. He sat. Then the Hatmaker laughed. “No,” said Tom. "
        "Tom looked at the Hatmaker.\n\n"
    )
    cast = cast_from(text * 6 + "It was the Artful Hatmaker. “I,” said Tom. " * 3)

    assert is_one_person(cast, "Hatmaker", "Artful Hatmaker")
