import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.cast import (
    Alias,
    AttributionCue,
    Cast,
    Character,
    Gender,
    Mention,
    Quotation,
)
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.speakers import attribute_quotations


def person(name: str, gender: Gender, *aliases: str) -> Character:
    forms = tuple(Alias(form, 5, Certainty.VERIFIED) for form in (name, *aliases))
    return Character(name, forms, gender, Certainty.VERIFIED, Certainty.VERIFIED)


NELL = person("Nell", Gender.FEMALE, "Nell Tallow")
CORIN = person("Corin", Gender.MALE, "Corin Vale")
HOB = person("Hob", Gender.MALE)
GANNET = person("Mrs. Gannet", Gender.FEMALE)
REEVE = person("Reeve Aldous", Gender.MALE)
CAST = Cast((NELL, CORIN, HOB, GANNET, REEVE))


def mentions(text: str, cast: Cast = CAST) -> list[Mention]:
    who = {a.name: c.name for c in cast.characters for a in c.aliases}
    forms = "|".join(map(re.escape, sorted(who, key=len, reverse=True)))
    return [
        Mention(who[match.group()], Span(match.start(), match.end()))
        for match in re.finditer(rf"\b(?:{forms})(?!\w)", text)
    ]


def told(text: str, *, narrator: str = "", cast: Cast = CAST) -> list[Quotation]:
    scenes = [[Span(0, len(text))]]
    return attribute_quotations(
        text, scenes, cast, mentions(text, cast), narrator=narrator
    )


def speakers(text: str, *, narrator: str = "") -> list[str]:
    return [quotation.speaker for quotation in told(text, narrator=narrator)]


@pytest.mark.parametrize(
    "text",
    [
        "“Come in,” said Nell.",
        "“Come in,” Nell said.",
        "“Come in!” cried Nell Tallow.",
        "“Come in,” said poor old Nell.",
        "“Come in,” whispered Nell to Corin.",
        "“Come,” said Nell, “in.”",
        "“Come in,” remonstrated Nell.",
        "“Come in,” moodily answered Nell.",
        "Nell said, “Come in.”",
        "Nell looked at Corin and said, “Come in.”",
        "Nell, who had seen Corin at the gate, said: “Come in.”",
        "Corin laughed, and Nell said, “Come in.”",
        "Corin knocked so long that Nell added, “Come in.”",
        "“Come in,” was Nell’s reply.",
        "Nell’s answer was, “Come in.”",
        "Corin knocked. Nell turned and answered:\n\n“Come in.”",
    ],
)
def test_a_name_at_a_verb_of_speech_is_the_speaker(text: str) -> None:
    assert speakers(text) == ["Nell"]


def test_a_name_at_a_verb_of_speech_is_asserted() -> None:
    quotation = told("“Come in,” said Nell.")[0]
    assert quotation.certainty is Certainty.VERIFIED
    assert quotation.cue is AttributionCue.NAMED


def test_a_form_that_is_not_surely_hers_is_not_asserted() -> None:
    alias = Alias("Wick", 2, Certainty.PROBABLE)
    wren = Character(
        "Wren", (alias,), Gender.FEMALE, Certainty.PROBABLE, Certainty.PROBABLE
    )
    quotation = told("“Come in,” said Wick.", cast=Cast((wren,)))[0]
    assert (quotation.speaker, quotation.certainty) == ("Wren", Certainty.PROBABLE)


def test_what_turns_alone_tell_is_only_probable() -> None:
    text = "“Who is it?” said Nell.\n\n“Corin,” said Corin.\n\n“Come in.”"
    last = told(text)[-1]
    assert (last.speaker, last.certainty, last.cue) == (
        "Nell",
        Certainty.PROBABLE,
        AttributionCue.TURN,
    )


def test_two_people_take_turns() -> None:
    text = (
        "“Is it late?” said Nell.\n\n“Very late,” said Corin.\n\n“How late?”\n\n"
        "“Past third bell.”\n\n“Then I must go.”"
    )
    assert speakers(text) == ["Nell", "Corin", "Nell", "Corin", "Nell"]


def test_a_pronoun_is_the_one_of_that_sex() -> None:
    text = (
        "Nell met Corin at the gate.\n\n“You are late,” she said.\n\n“I am,” he said."
    )
    quotations = told(text)
    assert [q.speaker for q in quotations] == ["Nell", "Corin"]
    assert {q.cue for q in quotations} == {AttributionCue.PRONOUN}


def test_she_who_is_called_is_not_the_one_who_speaks() -> None:
    text = "Nell met Mrs. Gannet.\n\n“You are late, Nell,” she said."
    assert speakers(text) == ["Mrs. Gannet"]


def test_a_description_is_somebody_of_that_sex() -> None:
    text = "Nell met Corin at the gate.\n\n“You are late,” said the young man."
    assert speakers(text) == ["Corin"]


def test_an_office_is_the_one_who_bears_it() -> None:
    text = "Corin met Reeve Aldous at the gate.\n\n“You are late,” said the reeve."
    assert speakers(text) == ["Reeve Aldous"]


def test_a_deed_in_the_paragraph_tells_who_speaks() -> None:
    text = "Corin and Nell sat down.\n\nNell put the kettle on. “You are late.”"
    quotation = told(text)[0]
    assert (quotation.speaker, quotation.cue) == ("Nell", AttributionCue.ACTION)


def test_all_that_a_paragraph_says_is_by_one_person() -> None:
    text = "“You are late,” said Nell. She shut the door. Rain fell. “Sit down.”"
    assert speakers(text) == ["Nell", "Nell"]


def test_who_is_called_speaks_next() -> None:
    text = (
        "Hob and Corin and Nell sat down.\n\n“What do you say, Corin?” said Nell.\n\n"
        "“I say no.”"
    )
    assert speakers(text) == ["Nell", "Corin"]


def test_a_stranger_is_nobody_of_the_cast() -> None:
    text = "Nell went to the door.\n\n“A letter,” said Postlethwaite."
    quotation = told(text)[0]
    assert (quotation.speaker, quotation.certainty) == ("", Certainty.NOT_EVALUATED)


@pytest.mark.parametrize("who", ["gentleman", "man", "old man", "officer"])
def test_the_gentleman_of_a_tag_is_hardly_the_last_man_who_was_named(who: str) -> None:
    quotation = told(f"Hob rose and went to the door.\n\n“Come,” said the {who}.")[0]
    assert (quotation.speaker, quotation.certainty) == ("", Certainty.NOT_EVALUATED)


def test_a_tag_before_the_words_may_end_without_a_mark() -> None:
    text = "Hob dug on, and Nell remarked to the others\n\n“That will do for today.”"
    assert speakers(text) == ["Nell"]


def test_whoever_comes_when_another_has_hardly_arrived_is_who_speaks() -> None:
    text = (
        "Hob had hardly tied up the boat, when Nell ran down from the mill; ran without "
        "a lamp; and throwing him a rope, said, “Tie the other end.”"
    )
    assert speakers(text) == ["Nell"]


def test_the_narrator_speaks_by_name_when_it_is_known() -> None:
    text = "Nell sat down.\n\n“You are late,” I said.\n\n“I know,” said Nell."
    assert speakers(text, narrator="Hob") == ["Hob", "Nell"]


def test_a_nameless_narrator_is_said_to_be_the_narrator() -> None:
    quotation = told("Nell sat down.\n\n“You are late,” I said.")[0]
    assert (quotation.speaker, quotation.cue) == ("", AttributionCue.NARRATOR)
    assert quotation.certainty is Certainty.NOT_EVALUATED


def test_he_is_never_the_narrator() -> None:
    text = "I met Corin.\n\n“You are late,” he said."
    assert speakers(text, narrator="Hob") == ["Corin"]


@pytest.mark.parametrize(
    ("text", "certainty"),
    [
        ("“Come in,” said Nell to Corin.", Certainty.VERIFIED),
        ("“Come in, Corin,” said Nell.", Certainty.VERIFIED),
        ("“It’s Corin,” said Corin.\n\n“Come in,” said Nell.", Certainty.PROBABLE),
    ],
)
def test_a_listener_is_named_or_called_or_the_other_one(
    text: str, certainty: Certainty
) -> None:
    last = told(text)[-1]
    assert (last.addressee, last.addressee_certainty) == ("Corin", certainty)


def test_the_words_tell_whom_they_name() -> None:
    quotation = told("“Corin saw Hob, and Hob saw Corin,” said Nell.")[0]
    assert quotation.mentions == ("Corin", "Hob")


def test_turns_do_not_go_on_over_a_break_between_scenes() -> None:
    one = "“Is it late?” said Nell.\n\n“It is,” said Corin."
    two = "Hob met Mrs. Gannet.\n\n“You again?” said Hob.\n\n“Me again.”"
    text = f"{one}\n\n* * *\n\n{two}"
    cut = len(one)
    scenes = [[Span(0, cut)], [Span(cut + 9, len(text))]]
    found = attribute_quotations(text, scenes, CAST, mentions(text))
    assert [q.speaker for q in found] == ["Nell", "Corin", "Hob", "Mrs. Gannet"]


def test_what_nobody_says_is_left_out() -> None:
    assert told("The so-called “palace” was Nell’s shed.") == []


PIECES: Sequence[str] = [
    "“",
    "”",
    "Nell",
    "Corin",
    "I",
    " said ",
    " he ",
    " she ",
    " the old man ",
    "’s ",
    " to ",
    ", ",
    ". ",
    ":\n\n",
    "\n\n",
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_speakers_are_people_of_the_cast_or_nobody(text: str) -> None:
    names = {character.name for character in CAST.characters} | {""}
    for quotation in told(text):
        assert {quotation.speaker, quotation.addressee} <= names
        known = quotation.certainty is not Certainty.NOT_EVALUATED
        assert known is bool(quotation.speaker)


def test_the_topic_of_the_words_is_not_certainly_spoken_to() -> None:
    text = (
        "“Is he here?” said Nell.\n\n“Corin, I imagine, is at home,” said Hob.\n\n"
        "“No,” said Corin.\n\n"
    )
    quotation = told(text)[1]

    assert quotation.addressee_certainty is not Certainty.VERIFIED


def test_a_wife_is_spoken_to_and_nobody_else() -> None:
    gannet = person("Mr. Gannet", Gender.MALE)
    cast = Cast((*CAST.characters, gannet))
    text = (
        "“Well,” said Hob.\n\nMr. Gannet observed to his wife, “It is late.”\n\n"
        "“So it is,” said Hob.\n\n"
    )
    quotation = told(text, cast=cast)[1]

    assert (quotation.speaker, quotation.addressee) == ("Mr. Gannet", "Mrs. Gannet")


def test_the_paragraph_before_speaks_through_its_last_name() -> None:
    text = (
        "“What Hob says is true,” was Corin’s rejoinder; but Nell’s remark was--\n\n"
        "“I do not think so.”\n\n"
    )

    assert told(text)[-1].speaker == "Nell"


def test_a_name_whose_sentence_goes_on_behind_the_tag_is_no_addressee() -> None:
    text = (
        "“Well?” said Corin.\n\n“Corin,” said Nell to Hob, “never forgets it.”\n\n"
        "“Corin,” said Nell, “never forgets it.”\n\n“No,” said Corin.\n\n"
    )
    quotations = told(text)

    assert quotations[1].addressee == "Hob"
    assert quotations[2].addressee_certainty is not Certainty.VERIFIED


def test_words_to_me_are_said_to_the_narrator() -> None:
    text = "“Corin is late,” said Nell to me.\n\n“He is,” I said.\n\n"

    assert told(text, narrator="Hob")[0].addressee == "Hob"


def test_people_without_names_who_talk_are_nobody_of_the_cast() -> None:
    text = (
        "“I go,” said Corin.\n\nNell left.\n\nThe ladies of Corin’s party began talking "
        "of them.\n\n“Is she not pretty?”\n\n“Very.”\n\n“So I think,” said Nell.\n\n"
    )

    assert speakers(text) == ["Corin", "", "", "Nell"]


def test_a_name_between_semicolons_is_not_spoken_to() -> None:
    text = "“No,” said Corin.\n\n“She is pretty; Corin; very pretty,” said Nell.\n\n"

    assert told(text)[1].addressee_certainty is not Certainty.VERIFIED


@pytest.mark.parametrize(
    "text",
    [
        "“She is tired of it all.” Nell agreed with him.",
        "“Her friend,” as Nell called Hob, was late.",
        "“What could he mean?” and asked Nell whether she knew.",
    ],
)
def test_a_name_that_only_follows_the_words_is_no_certain_speaker(text: str) -> None:
    assert all(
        one.certainty is not Certainty.VERIFIED or one.speaker != "Nell"
        for one in told(text)
    )


def test_a_son_is_nobody_who_has_no_relative_in_the_text() -> None:
    father = person("Mr. Vale", Gender.MALE)
    clown = person("Mr. Marl", Gender.MALE)
    text = (
        "Mr. Vale and Mr. Marl came in.\n\n“How was this done?” asked Mr. Vale.\n\n"
        "“How was what done?” answered the son."
    )
    with_son = Cast((father, clown, person("Corin Vale", Gender.MALE, "Corin")))
    last = [
        told(text.replace("Marl came in", "Marl came in to Corin Vale"), cast=with_son),
        told(text, cast=Cast((father, clown))),
    ]
    assert [quotations[-1].speaker for quotations in last] == ["Corin Vale", ""]
