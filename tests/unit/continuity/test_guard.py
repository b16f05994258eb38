from dataclasses import replace

import pytest

from lrwr.core.canon.model import Canon, IntendedContradiction, UndefinedAttribute
from lrwr.core.continuity.contradictions import (
    build_contradiction_key,
    find_contradiction_by_id,
    find_contradictions,
)
from lrwr.core.continuity.statements import StatementSource
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.errors import NotFound
from tests.unit.continuity.readers import NOTE, ONE, TWO, found, known, read

NELL = "Nell Tallow"
GREY = "- **Eyes:** grey, like the marsh"


@pytest.mark.parametrize(
    ("note", "text", "attribute", "value"),
    [
        (GREY, "Nell’s eyes were green.", "eyes", "green"),
        (GREY, "Nell, whose eyes were brown, turned away.", "eyes", "brown"),
        (GREY, "Nell opened her brown eyes.", "eyes", "brown"),
        (GREY, "There was no mistaking Nell’s green eyes.", "eyes", "green"),
        ("- **Hair:** red", "Nell wore her black hair in a net.", "hair", "black"),
        ("She has grey eyes.", "Nell was a green-eyed girl.", "eyes", "green"),
        ("- **Hair:** red", "Nell’s black hair was wet.", "hair", "black"),
        ("- **Hair:** red", "Then Nell pushed back her fair hair.", "hair", "fair"),
        ("- **Age:** forty", "Nell was twelve years old.", "age", "twelve"),
        ("- **Age:** twelve", "Nell, aged 40, came in.", "age", "40"),
        ("She is forty, and slow.", "Nell was twelve years old.", "age", "twelve"),
        ("A quiet woman of forty.", "Nell was twelve years old.", "age", "twelve"),
        (GREY, "Mags imagined much. Nell’s eyes were green.", "eyes", "green"),
        (
            "- **Father:** Corin Vale",
            "It was Bram Ottley, the father of Nell.",
            "father",
            "Bram Ottley",
        ),
        ("- **Born:** 3 May 1801", "Nell was born in October.", "born", "October"),
        (
            "- **Father:** Corin Vale",
            "Then Nell’s father, Bram Ottley, came.",
            "father",
            "Bram Ottley",
        ),
        (
            "- **Father:** Corin Vale",
            "Then Nell’s uncle, Corin Vale, came.",
            "kin",
            "Corin Vale is Nell Tallow’s uncle",
        ),
    ],
)
def test_the_text_is_held_against_the_writers_note(
    note: str, text: str, attribute: str, value: str
) -> None:
    ((about, which, _, said),) = found(two=text, note=note)
    assert (about, which, said) == (NELL, attribute, value)


@pytest.mark.parametrize(
    ("note", "text"),
    [
        (GREY, "Nell’s gray eyes were wide."),
        (GREY, "Nell’s steel-grey eyes were wide."),
        (GREY, "Nell’s eyes were dark."),
        (GREY, "“Nell’s eyes were green,” said Mags."),
        (GREY, '"Nell’s eyes were green," said Mags.'),
        (GREY, "“Come,” said Mags.\n\n'Nell’s eyes are green,' said Hob."),
        (GREY, "Nell’s eyes were not green."),
        ("- **Hair:** black", "Nell’s red hair ribbon was lost."),
        ("- **Age:** forty", "At the time of the flood Nell was twelve."),
        (GREY, "If Nell’s green eyes saw it, she said nothing."),
        (GREY, "It was as if Nell had green eyes."),
        (GREY, "People said that Nell had green eyes."),
        (GREY, "In the tale that Mags made up, Nell had green eyes."),
        (GREY, "In Mags’s new play Nell’s eyes were green."),
        ("- **Hair:** black", "For the masquerade Nell’s hair was red."),
        (GREY, "The warrant said that Nell had green eyes."),
        (GREY, "The clerk wrote in the book that Nell’s eyes were green."),
        (GREY, "Nell, or so the mate told them, had green eyes."),
        (GREY, "By the forged papers, Nell’s eyes were green."),
        (GREY, "Mags dreamed of it. Nell’s eyes were green."),
        (GREY, "In the portrait Nell had green eyes."),
        (GREY, "*Nell had green eyes.*"),
        (GREY, "Mags’s eyes were green."),
        (GREY, "The man beside Nell had green eyes."),
        (GREY, "Corin looked at Nell with his green eyes."),
        (GREY, "Nell lifted his green eyes."),
        ("- **Eyes:** grey or green", "Nell’s eyes were brown."),
        ("Her mother had grey eyes.", "Nell’s eyes were green."),
        ("- **Hair:** brown", "Nell’s chestnut hair was wet."),
        ("- **Hair:** brown", "Nell’s light brown hair was wet."),
        ("- **Hair:** black", "Nell’s hair had turned white. Nell’s hair was white."),
        ("- **Hair:** black", "As a child Nell had fair hair."),
        ("- **Hair:** black", "Nell’s hair was now red."),
        ("- **Age:** twelve", "Nell was 12 years old."),
        ("- **Age:** twelve", "Nell was thirteen years old."),
        ("- **Age:** twelve", "Nell was about fourteen years old."),
        ("- **Age:** forty", "When Nell was twelve years old, the mill was sold."),
        ("- **Age:** twelve", "Ten years later it rained. Nell was forty years old."),
        ("- **Born:** 3 May", "Nell was born on the third of May."),
        ("- **Father:** Corin Vale", "Then Nell’s father, Corin, came."),
        ("- **Father:** Corin Vale", "Then Nell’s friend, Bram Ottley, came."),
    ],
)
def test_what_is_not_surely_different_or_not_asserted_is_not_said(
    note: str, text: str
) -> None:
    assert found(two=text, note=note) == []


def test_earlier_text_counts_where_the_writer_says_nothing() -> None:
    brown, green = "Nell’s eyes were brown.", "Nell’s eyes were green."
    assert found(brown, green) == [(NELL, "eyes", "brown", "green")]
    assert found(f"{brown}\n\n{green}") == [(NELL, "eyes", "brown", "green")]
    assert found(brown, green, note="- **Eyes:** green") == [
        (NELL, "eyes", "green", "brown")
    ]


def test_hair_that_is_stated_of_a_name_or_repeated_counts() -> None:
    black = "Nell’s hair was black."
    assert found(black, "Nell’s hair was red.") == [(NELL, "hair", "black", "red")]
    assert found("The wind took her black hair.", "Nell’s hair was red.") == []
    twice = f"{black}\n\nThe wind took Nell’s black hair."
    assert found(twice, "Nell’s hair was red.") == [(NELL, "hair", "black", "red")]


def test_somebody_who_has_died_does_not_live_later_but_dies_after_living() -> None:
    dead, alive = "Then Corin Vale died.", "But Corin Vale was still alive."
    assert found(dead, alive) == [("Corin Vale", "life", "dead", "alive")]
    assert found(alive, dead) == []


@pytest.mark.parametrize(
    "act",
    [
        "Corin Vale opened the gate.",
        "“Come in,” said Corin.",
        "Corin then sat.",
        "“Not a penny,” said Corin.",
        "Corin Vale tied the boat.",
    ],
)
def test_whoever_has_died_does_not_act_later(act: str) -> None:
    dead = "Then Corin Vale died."
    assert found(dead, act) == [("Corin Vale", "life", "dead", "acts")]
    assert found(act, dead) == []


@pytest.mark.parametrize(
    "text",
    [
        "Years before, Corin Vale opened the gate.",
        "Nell remembered the day. Corin Vale opened the gate.",
        "“Then Corin Vale opened the gate,” said Nell.",
        "Nell dreamed that night. Corin Vale opened the gate.",
        "Corin Vale had opened the gate.",
        "Corin Vale's dog came in.",
    ],
)
def test_whoever_has_died_may_act_in_a_flashback(text: str) -> None:
    assert found("Then Corin Vale died.", text) == []


def test_births_that_are_no_dates_are_different_contradictions() -> None:
    keys = {
        build_contradiction_key(NELL, "born", "at sea", place)
        for place in ("in a ditch", "in a mill")
    }
    assert len(keys) == 2


def test_a_thing_has_one_number_of_its_parts() -> None:
    one = "There were nineteen rungs in the ladder to the loft."
    assert found(one, "There were twenty-one rungs in the ladder.") == [
        ("ladder", "number of rungs", "nineteen", "twenty-one")
    ]
    assert found(one, "The 19 rungs of the ladder were wet.") == []
    assert found(one, "“There were twelve rungs in the ladder,” said Nell.") == []
    assert found(one, "There were twelve rungs in the gate.") == []


def test_a_confirmed_name_that_is_one_letter_off_is_reported() -> None:
    often = " ".join(["Nell Tallow came."] * 6)
    named = Canon(names=replace(Canon().names, confirmed=(NELL,)))
    assert found(often, "There stood Nell Tallov.", canon=named) == [
        (NELL, "name", NELL, "Nell Tallov")
    ]
    assert found(often, "There stood Nell Tallov.") == []
    assert found(often, "There stood the Nell Tallows.", canon=named) == []
    assert found(often, "“There’s Nell Tallov,” said Mags.", canon=named) == []


def test_a_canon_answer_counts_and_has_no_passage() -> None:
    canon = Canon(answers={UndefinedAttribute("Nell", "eye colour"): "grey"})
    (one,) = find_contradictions(read(two="Nell’s eyes were green.", canon=canon))
    assert (one.canon.source, one.canon.evidence) == (StatementSource.ANSWER, ())
    assert (one.found.source, one.found.evidence[0].document) == (
        StatementSource.TEXT,
        TWO,
    )


def test_both_sides_are_whole_sentences_with_their_places() -> None:
    text = (
        "It rained. Nell came down, and Nell’s eyes were green, I swear. It was late."
    )
    (one,) = find_contradictions(read(two=text, note=GREY))
    (note,), (place,) = one.canon.evidence, one.found.evidence
    assert (note.document, note.chapter, one.canon.source) == (
        NOTE,
        None,
        StatementSource.NOTE,
    )
    assert (place.document, place.chapter, place.scene) == (TWO, 2, 1)
    assert place.text == "Nell came down, and Nell’s eyes were green, I swear."
    assert (place.lines.first, place.lines.last) == (3, 3)


def test_all_passages_with_one_value_are_one_contradiction() -> None:
    text = "Nell’s eyes were green.\n\nMags saw Nell’s dark green eyes."
    (one,) = find_contradictions(read(two=text, note=GREY))
    assert len(one.found.evidence) == 2


def test_an_id_stays_the_same_whatever_else_is_found() -> None:
    alone = find_contradictions(read(two="Nell’s eyes were green.", note=GREY))
    more = find_contradictions(
        read(
            "Nell was born in May.",
            "Nell’s green eyes shone.",
            GREY + "\n- **Hair:** red",
        )
    )
    assert [one.id for one in alone] == [one.id for one in more]
    assert find_contradiction_by_id(alone[0].id[:2], alone) == alone[0]
    with pytest.raises(NotFound) as caught:
        find_contradiction_by_id("q", alone)
    assert "lrwr check --all" in caught.value.hint


def test_what_is_meant_is_marked_in_whatever_words_it_is_said() -> None:
    meant = {IntendedContradiction("Nell", "eyes", "gray", "dark green"): "she lies"}
    knowledge = read(two="Nell’s eyes were green.", note=GREY)
    canon = Canon(intentional=meant)
    (one,) = find_contradictions(replace(knowledge, canon=canon))
    assert (one.intended, one.because) == (True, "she lies")
    other = Canon(
        intentional={IntendedContradiction("Nell", "eyes", "grey", "brown"): ""}
    )
    (still,) = find_contradictions(replace(knowledge, canon=other))
    assert not still.intended


def test_nothing_after_the_horizon_is_looked_at_but_notes_hold() -> None:
    knowledge = read("Nell’s eyes were brown.", "Nell’s hair was fair.",
                     GREY + "\n- **Hair:** red")  # fmt: skip
    assert [c.attribute for c in find_contradictions(knowledge)] == ["eyes", "hair"]
    early = find_contradictions(knowledge, Horizon(1))
    assert [c.attribute for c in early] == ["eyes"]


def test_only_what_touches_the_documents_asked_for_is_returned() -> None:
    knowledge = read("Nell’s eyes were brown.", "Nell’s hair was fair.",
                     GREY + "\n- **Hair:** red")  # fmt: skip
    (only,) = find_contradictions(knowledge, documents={DocumentId(ONE)})
    assert only.attribute == "eyes"
    assert len(find_contradictions(knowledge, documents={DocumentId(NOTE)})) == 2


def test_whoever_shares_a_name_with_another_is_not_judged() -> None:
    files = {
        ONE: "# One\n\nThen Nell’s father, Corin Vale, came.\n",
        TWO: "# Two\n\nThen Nell’s father, Mr. Corin, came.\n",
    }
    assert find_contradictions(known(files)) == ()


@pytest.mark.parametrize(
    "death",
    [
        "Corin Vale passed away in the spring.",
        "Corin Vale died quietly in his sleep.",
        "Corin Vale lay dead in the upper room.",
        "Corin Vale was found dead at the gate.",
        "Corin Vale closed his eyes for ever.",
        "A ball struck Corin Vale, who fell dead on the stones.",
        "Corin Vale gave one long sigh and died.",
        "The death of Corin Vale was told at breakfast.",
        "Corin Vale's funeral took place on the Thursday.",
        "Before the week was out Corin Vale lay dead in the upper room.",
        "By the time that the surgeon arrived, Corin was already dead.",
        "The fever took Corin within the week.",
        "An hour later Corin Vale was no more.",
        "Corin Vale never woke again.",
        "Corin lived three days longer, and then died.",
        "Corin Vale was struck by a falling beam and killed.",
        "A fall from the cliff killed Corin.",
        "Corin Vale did not live to see the spring.",
        "In March came the funeral of Corin Vale.",
    ],
)
def test_a_death_may_be_told_in_many_words(death: str) -> None:
    act = "Corin Vale bought two pounds of candles."
    assert found(death, act) == [("Corin Vale", "life", "dead", "acts")]


@pytest.mark.parametrize(
    "text",
    [
        "The clerk feared the death of Corin Vale.",
        "Corin Vale's death would have grieved the clerk.",
        "Corin Vale fell and almost died.",
        "Corin Vale passed the gate.",
        "Corin Vale saw the old dog, which sighed and died.",
        "Corin Vale never woke before ten.",
        "The fever took Corin to the sea.",
        "Until Corin Vale was dead the house would not be sold.",
        "“Corin Vale was found dead,” said the clerk.",
        "In the play Corin Vale was murdered by the king.",
        "Corin Vale was dead tired.",
    ],
)
def test_a_death_that_is_not_told_kills_nobody(text: str) -> None:
    assert found(text, "Corin Vale bought two pounds of candles.") == []


@pytest.mark.parametrize(
    "text",
    [
        "Nell Tallow had a letter from her father, Bram Ottley.",
        "Bram Ottley and his daughter Nell Tallow came late.",
        "Bram Ottley had a daughter, Nell Tallow.",
        "Bram Ottley, whose daughter was Nell Tallow, sat by the mill.",
        "Nell Tallow kissed her father Bram Ottley at the gate.",
        "Bram Ottley was proud of his daughter Nell Tallow.",
        "Nell Tallow's father was Bram Ottley.",
        "The father of Nell Tallow, Bram Ottley, was at the door.",
    ],
)
def test_a_father_in_other_words_contradicts_the_note(text: str) -> None:
    expected = [("Nell Tallow", "father", "Corin Vale", "Bram Ottley")]
    assert found("Rain.", text, "- **Father:** Corin Vale") == expected


@pytest.mark.parametrize(
    "text",
    [
        "Nell Tallow saw the miller's wife and her father, Bram Ottley.",
        "Nell Tallow met a girl with her father, Bram Ottley.",
        "Nell Tallow's father was Bram Ottley's clerk.",
        "Nell Tallow met the father of Mags, Bram Ottley.",
    ],
)
def test_the_father_of_somebody_else_contradicts_nothing(text: str) -> None:
    assert found("Rain.", text, "- **Father:** Corin Vale") == []


@pytest.mark.parametrize(
    ("text", "attribute", "values"),
    [
        (
            "Nell’s eyes were grey that morning.\n\nNell’s eyes were blue that evening.",
            "eyes",
            ("grey", "blue"),
        ),
        (
            "Nell’s hair was red.\n\nIt rained.\n\nNell’s hair was white and thin.",
            "hair",
            None,
        ),
        (
            "Nell had red hair.\n\nIt rained.\n\nNell had black hair.",
            "hair",
            ("red", "black"),
        ),
    ],
)
def test_two_statements_of_a_name_in_one_document_are_compared(
    text: str, attribute: str, values: tuple[str, str] | None
) -> None:
    contradictions = found(two=text)
    if values is None:  # hair turns white
        assert contradictions == []
    else:
        assert [(a, v) for _, a, *v in contradictions] == [(attribute, [*values])]
