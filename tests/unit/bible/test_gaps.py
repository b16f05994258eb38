from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.bible.gaps import find_gap_by_id
from lrwr.core.bible.projection import project_bible
from lrwr.core.bible.values import Gap, GapState
from lrwr.core.canon.model import Canon, UndefinedAttribute
from lrwr.core.model.documents import Horizon
from lrwr.core.model.errors import NotFound
from lrwr.core.model.facts import Certainty, FactAbout
from lrwr.core.model.turns import GapFlag
from tests.fakes.stories import Book, Stories
from tests.unit.bible.marsh import MODEL, ONE, TWO, marsh

AGE = UndefinedAttribute("OchraMags", "age")


def ledger(canon: Canon | None = None, horizon: Horizon | None = None) -> list[Gap]:
    return list(project_bible(marsh().knowledge(canon), horizon).gaps)


def test_gaps_are_open_until_the_text_or_the_writer_defines_them() -> None:
    eyes, age, boat = ledger()
    assert (eyes.about, eyes.attribute, eyes.state) == (
        "Nell Tallow",
        "eye colour",
        GapState.CLOSED,
    )
    assert [claim.value for claim in eyes.defined] == ["grey", "brown"]
    assert eyes.defined[0].evidence[0].document == ONE
    assert (age.about, age.state) == ("OchraMags", GapState.OPEN)
    assert [claim.value for claim in age.implied] == ["She is old."]
    assert eyes.suggestions == ("Say it early.",)
    assert boat.attribute == "TODO: where is her boat?"


def test_an_answer_is_canon_and_stands_in_the_profile() -> None:
    canon = Canon(answers={UndefinedAttribute("Mags", "Age"): "sixty"})
    _, age, _ = ledger(canon)
    assert (age.state, age.answer) == (GapState.ANSWERED, "sixty")
    found = project_bible(marsh().knowledge(canon))
    mags = next(c for c in found.characters if c.name == "OchraMags")
    (claim,) = mags.attributes
    assert (claim.label, claim.value) == ("Age", "sixty")
    assert claim.decided
    assert claim.certainty is Certainty.CONFIRMED
    assert [gap.attribute for gap in mags.open_gaps] == ["TODO: where is her boat?"]


def test_an_answer_has_no_place_in_the_story_and_is_hidden_under_a_horizon() -> None:
    canon = Canon(answers={AGE: "sixty", UndefinedAttribute("Wren", "father"): "Jack"})
    found = project_bible(marsh().knowledge(canon), Horizon(3))
    assert "sixty" not in str(found)
    assert "father" not in str(found)
    assert GapState.ANSWERED in [gap.state for gap in found.gaps]


def test_what_stays_open_on_purpose_is_not_asked_again() -> None:
    _, age, _ = ledger(Canon(unsaid=(AGE,)))
    assert age.state is GapState.DECLINED


def test_an_answer_to_a_gap_that_nobody_found_is_listed() -> None:
    *_, last = ledger(Canon(answers={UndefinedAttribute("Wren", "father"): "Jack"}))
    assert (last.about, last.state) == ("Nell Tallow", GapState.ANSWERED)


def test_a_marked_gap_in_a_comment_is_hidden_under_a_horizon() -> None:
    attributes = [gap.attribute for gap in ledger(horizon=Horizon(3))]
    assert attributes == ["eye colour", "age"]
    closed = ledger(horizon=Horizon(1, 1))[0]
    assert [claim.value for claim in closed.defined] == ["grey"]


def test_ids_stay_the_same_whatever_else_is_open_or_seen() -> None:
    ids = [gap.id for gap in ledger()]
    assert len(set(ids)) == 3
    assert all(len(id_) == 4 and id_.isalpha() for id_ in ids)
    assert [gap.id for gap in ledger(horizon=Horizon(1))] == ids[:2]
    answered = Canon(answers={UndefinedAttribute("mags", "ages"): "sixty"})
    assert [gap.id for gap in ledger(answered)] == ids


def test_a_gap_is_called_by_its_id_or_the_beginning_of_it() -> None:
    gaps = ledger()
    assert find_gap_by_id(gaps[1].id.upper(), gaps) is gaps[1]
    with pytest.raises(NotFound, match="No open question has the id 'none'"):
        find_gap_by_id("none", gaps)
    with pytest.raises(NotFound):
        find_gap_by_id("", gaps)


@given(st.lists(st.text("abc", min_size=1, max_size=4), unique=True, max_size=60))
def test_no_two_gaps_have_one_id_and_every_id_finds_its_gap(names: list[str]) -> None:
    stories = Stories(Book({ONE: "# One\n\nThe marsh.\n"}))
    for name in names:
        stories.fact(ONE, "marsh", FactAbout.GAP, name, "", keeper="a-model")
    gaps = project_bible(stories.knowledge()).gaps
    assert len({gap.id for gap in gaps}) == len(gaps)
    assert all(find_gap_by_id(gap.id, gaps) is gap for gap in gaps)


def test_what_a_conversation_left_open_joins_what_the_text_does() -> None:
    flagged = (
        GapFlag("Mags", "Age", "Sixty or so.", "Name a year."),
        GapFlag("Nell Tallow", "mother", "Dead, perhaps.", ""),
        GapFlag("", "who built the lamp"),
    )
    known = replace(marsh().knowledge(), flagged_gaps=flagged)
    eyes, age, boat, mother, lamp = project_bible(known).gaps
    assert [gap.asked_in_thread for gap in (eyes, age, boat)] == [False] * 3
    assert [claim.value for claim in age.implied] == ["She is old."]
    assert "Name a year." in age.suggestions
    assert (mother.about, mother.attribute) == ("Nell Tallow", "mother")
    assert [claim.value for claim in mother.implied] == ["Dead, perhaps."]
    assert mother.implied[0].certainty is Certainty.NOT_EVALUATED
    assert (mother.asked_in_thread, lamp.asked_in_thread) == (True, True)
    answered = Canon(answers={UndefinedAttribute("Nell Tallow", "mother"): "Isa"})
    *_, closed, _ = project_bible(replace(known, canon=answered)).gaps
    assert (closed.state, closed.answer) == (GapState.ANSWERED, "Isa")


def test_a_question_on_somebody_who_comes_later_is_not_told_before() -> None:
    flagged = (GapFlag("Corin Vale", "age"), GapFlag("", "why Corin Vale came"))
    known = replace(marsh().knowledge(), flagged_gaps=flagged)
    assert "Corin" in str(project_bible(known).gaps)
    assert "Corin" not in str(project_bible(known, Horizon(1)).gaps)


def test_gaps_of_the_same_words_and_person_are_one() -> None:
    stories = marsh()
    for attribute, about in (
        ("earlier name", "Mags"),
        ("name before", "Mags"),
        ("earlier name", "Wren"),
    ):
        stories.fact(
            TWO, "Wren was proud", FactAbout.GAP, attribute, "It changed.", about,
            keeper=MODEL,
        )  # fmt: skip
    stories.fact(
        TWO, "Corin Vale drowned", FactAbout.GAP, "death", "He died.", "Mags",
        keeper=MODEL,
    )  # fmt: skip

    def of_mags(canon: Canon) -> list[tuple[str, str]]:
        gaps = project_bible(stories.knowledge(canon)).gaps
        return [(g.attribute, g.answer) for g in gaps if g.about == "OchraMags"]

    old = [("age", ""), ("TODO: where is her boat?", "")]
    one = [row for row in of_mags(Canon()) if row not in old]
    assert sorted(one) == [("death", ""), ("earlier name", "")]
    canon = Canon(answers={UndefinedAttribute("Mags", "name before"): "Annis"})
    answered = [row for row in of_mags(canon) if row not in old]
    assert sorted(answered) == [("death", ""), ("name before", "Annis")]
