from functools import reduce
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.canon.decision import (
    Decision,
    GapAnswered,
    GapDeclined,
    NameIgnored,
    NameRenamed,
    NamesMerged,
    PointOfViewSet,
    SlipIntended,
    format_decision,
)
from lrwr.core.canon.model import (
    Canon,
    IntendedContradiction,
    ManuscriptLocation,
    UndefinedAttribute,
)
from lrwr.core.canon.parser import parse_canon
from lrwr.core.canon.reducer import apply_decision
from lrwr.core.canon.serializer import serialize_canon
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import SettingsProblem
from tests.fakes.canons import a_service, slips_meant

EYES = IntendedContradiction("Nell", "eyes", "grey", "green")
MINE = """\
[[intentional]]  # chapter 9
about = "Nell"
attribute = "eyes"
one = "grey"
other = "green"
because = "she lies"  # to Mags
"""


def test_a_contradiction_is_meant_with_or_without_a_reason() -> None:
    plainly = apply_decision(Canon(), SlipIntended("Nell", "eyes", "grey", "green"))
    assert plainly == Canon(intentional={EYES: ""})
    why = apply_decision(
        plainly, SlipIntended("Nell", "eyes", "grey", "green", "she lies")
    )
    assert why == Canon(intentional={EYES: "she lies"})
    again = apply_decision(why, SlipIntended(" Nell ", "eyes", "grey", "green"))
    assert again == why


def test_what_is_meant_is_read_from_the_file_and_comments_stay() -> None:
    assert parse_canon(MINE, "f") == Canon(intentional={EYES: "she lies"})
    more = apply_decision(
        parse_canon(MINE, "f"), SlipIntended("Mags", "age", "sixty", "ten", "a joke")
    )
    text = serialize_canon(MINE, more)
    assert parse_canon(text, "f") == more
    assert text.startswith(MINE)
    other = apply_decision(
        more, SlipIntended("Nell", "eyes", "grey", "green", "she is two")
    )
    assert "# to Mags" in serialize_canon(text, other)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('[[intentional]]\nabout = "Nell"', "f:"),
        (MINE + MINE, "is listed twice"),
        (MINE + 'why = "x"', "unknown setting"),
        (MINE.replace('"she lies"', "3"), "is not a valid reason"),
    ],
)
def test_a_row_that_means_nothing_is_refused(text: str, where: str) -> None:
    with pytest.raises(SettingsProblem, match=where):
        parse_canon(text, "f")


def test_it_is_told_in_a_sentence() -> None:
    told = format_decision(SlipIntended("Nell", "eyes", "grey", "green", "she lies"))
    assert told == "Marked as intended: Nell's eyes, grey and green (she lies)."


def test_it_is_undone_byte_for_byte(tmp_path: Path) -> None:
    service = a_service(tmp_path)
    service.path.write_text(MINE, encoding="utf-8")
    service.decide(SlipIntended("Mags", "age", "sixty", "ten"))
    assert len(service.load().intentional) == 2
    service.undo()
    assert service.path.read_text(encoding="utf-8") == MINE


@pytest.mark.parametrize(
    ("decision", "name"),
    [
        (NameRenamed("Wren", "Nell"), "Nell"),
        (NameRenamed("Wren", "Mags"), "Mags"),
        (NamesMerged(("Reeve", "Mags")), "Reeve"),
        (NameIgnored("Wren"), "Mags"),
    ],
)
def test_decisions_follow_a_character_who_is_renamed(
    decision: Decision, name: str
) -> None:
    place = ManuscriptLocation(DocumentId("1.md"))
    decisions: tuple[Decision, ...] = (
        NameRenamed("Mags", "Wren"),
        SlipIntended("Wren", "eyes", "grey", "green", "she lies"),
        GapAnswered("Wren", "age", "ten"),
        GapDeclined("Wren", "home"),
        PointOfViewSet(place, "Wren"),
        GapAnswered("Rook", "age", "nine"),
    )
    canon = reduce(apply_decision, (*decisions, decision), Canon())
    assert canon.intentional == {
        IntendedContradiction(name, "eyes", "grey", "green"): "she lies"
    }
    assert canon.answers == {
        UndefinedAttribute(name, "age"): "ten",
        UndefinedAttribute("Rook", "age"): "nine",
    }
    assert canon.unsaid == (UndefinedAttribute(name, "home"),)
    assert canon.points_of_view == {place: name}
    assert parse_canon(serialize_canon(None, canon), "f") == canon


def test_of_two_decisions_that_of_the_name_until_now_holds() -> None:
    decisions: tuple[Decision, ...] = (
        SlipIntended("Mags", "eyes", "grey", "green", "she lies"),
        GapDeclined("Mags", "age"),
        GapAnswered("Mags", "home", "the mill"),
        NameRenamed("Mags", "Wren"),
        SlipIntended("Wren", "eyes", "grey", "green"),
        GapAnswered("Wren", "age", "ten"),
        GapDeclined("Wren", "home"),
        NameRenamed("Wren", "Mags"),
    )
    canon = reduce(apply_decision, decisions, Canon())
    assert canon.answers == {UndefinedAttribute("Mags", "age"): "ten"}
    assert canon.unsaid == (UndefinedAttribute("Mags", "home"),)
    eyes = IntendedContradiction("Mags", "eyes", "grey", "green")
    assert canon.intentional == {eyes: "she lies"}


@given(st.lists(slips_meant, max_size=6))
def test_whatever_is_meant_can_be_written_and_read(meant: list[Decision]) -> None:
    canon = reduce(apply_decision, meant, Canon())
    assert parse_canon(serialize_canon(None, canon), "f") == canon
