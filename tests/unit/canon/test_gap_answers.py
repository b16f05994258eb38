from functools import reduce
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.canon.decision import (
    Decision,
    GapAnswered,
    GapDeclined,
    NameConfirmed,
    NameIgnored,
    format_decision,
)
from lrwr.core.canon.model import Canon, UndefinedAttribute, find_answer_conflicts
from lrwr.core.canon.parser import parse_canon
from lrwr.core.canon.reducer import apply_decision
from lrwr.core.canon.serializer import serialize_canon
from lrwr.core.model.errors import SettingsProblem
from tests.fakes.canons import a_service, gap_decisions

EYES = UndefinedAttribute("Nell Tallow", "eyes")
MINE = """\
# Mine.
[[answer]]  # decided in spring
attribute = "eyes"
about = "Nell Tallow"
answer = "grey"  # not blue

[[answer]]
about = "Mags"
attribute = "age"
answer = "sixty"

[[wont_say]]
attribute = "what the light is"
"""


def after(*decisions: Decision) -> Canon:
    return reduce(apply_decision, decisions, Canon())


def refusal(text: str) -> str:
    with pytest.raises(SettingsProblem) as caught:
        parse_canon(text, "lrwr.canon.toml")
    assert caught.value.hint
    return str(caught.value)


def test_the_last_word_wins_between_answering_and_leaving_open() -> None:
    answer, decline = (
        GapAnswered(*("Nell Tallow", "eyes"), "grey"),
        GapDeclined("Nell  Tallow", "eyes"),
    )
    assert after(answer) == Canon(answers={EYES: "grey"})
    assert after(answer, decline) == Canon(unsaid=(EYES,))
    assert after(decline, answer) == after(answer)
    assert after(answer, GapAnswered("Nell Tallow", "eyes", "brown")).answers == {
        EYES: "brown"
    }


@pytest.mark.parametrize(
    "decision",
    [
        GapAnswered("Nell", "eyes", " "),
        GapAnswered("Nell", "", "grey"),
        GapAnswered("\udc80", "eyes", "grey"),
        GapAnswered("Nell", "eyes", "\x1b[2J"),
        GapDeclined("Nell", " "),
    ],
)
def test_an_answer_that_says_nothing_is_refused(decision: Decision) -> None:
    with pytest.raises(SettingsProblem) as caught:
        after(decision)
    assert caught.value.hint


def test_a_confirmed_name_is_no_longer_ignored_and_the_other_way_round() -> None:
    confirmed = after(NameIgnored("Vex"), NameConfirmed("Vex")).names
    assert (confirmed.confirmed, confirmed.ignored) == (("Vex",), ())
    ignored = after(NameConfirmed("Vex"), NameIgnored("Vex")).names
    assert (ignored.confirmed, ignored.ignored) == ((), ("Vex",))


def test_tables_written_by_hand_are_read_and_changed_in_place() -> None:
    canon = parse_canon(MINE, "canon")
    light = UndefinedAttribute("", "what the light is")
    assert canon.answers == {EYES: "grey", UndefinedAttribute("Mags", "age"): "sixty"}
    assert canon.unsaid == (light,)
    canon = apply_decision(canon, GapAnswered("Nell Tallow", "eyes", "brown"))
    canon = apply_decision(canon, GapDeclined("Mags", "age"))
    text = serialize_canon(MINE, canon)
    assert '[[answer]]  # decided in spring\nattribute = "eyes"' in text
    assert 'answer = "brown"  # not blue' in text
    assert "sixty" not in text
    assert text.endswith('[[wont_say]]\nabout = "Mags"\nattribute = "age"\n')
    assert parse_canon(text, "canon") == canon


def test_rows_in_brackets_are_changed_too() -> None:
    text = 'answer = [{ about = "Nell", attribute = "eyes", answer = "grey" }]\n'
    canon = apply_decision(
        parse_canon(text, "canon"), GapAnswered("Nell", "age", "twelve")
    )
    assert parse_canon(serialize_canon(text, canon), "canon") == canon


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"{MINE}\n[[answer]]\nabout = 3\n",
            "lrwr.canon.toml:16: 3 is not a valid name",
        ),
        (
            f"{MINE}\n[[answer]]\nabuot = 'x'\n",
            "toml:16: unknown setting `answer.3.abuot`",
        ),
        (
            f"{MINE}\n[[answer]]\nattribute = 'age'\n",
            "toml:15: '' is not a valid answer",
        ),
        (f"{MINE}\n[[wont_say]]\n", "lrwr.canon.toml:15: '' is not a valid name"),
        ("[answer]\nabout = 'x'\n", "lrwr.canon.toml:1: `answer` must be an array"),
        ("answer = 3\n", "lrwr.canon.toml:1: `answer` must be an array of tables"),
        ("[[anser]]\n", "did you mean `answer`?"),
        (
            MINE + '[[wont_say]]\nattribute = "what the light is"\n',
            "lrwr.canon.toml:14: what the light is is listed twice",
        ),
        (
            MINE + '[[wont_say]]\nabout = "Mags"\nattribute = "age"\n',
            "Mags, age is both answered and left open",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(text: str, said: str) -> None:
    assert said in refusal(text)


@given(st.lists(gap_decisions, max_size=12))
def test_no_question_is_ever_decided_in_two_ways(made: list[Decision]) -> None:
    assert list(find_answer_conflicts(after(*made))) == []


def test_an_answer_is_told_and_undone(tmp_path: Path) -> None:
    service = a_service(tmp_path)
    answer = GapAnswered("Nell Tallow", "eyes", "grey")
    service.decide(answer)
    service.decide(GapDeclined("", "the light"))
    later = a_service(tmp_path)
    told = [format_decision(one.decision) for one in later.history()]
    assert told == [
        "Answered “Nell Tallow, eyes” with “grey”.",
        "Left “the light” open on purpose.",
    ]
    later.undo()
    assert later.undo() == answer
    assert later.load() == Canon()
