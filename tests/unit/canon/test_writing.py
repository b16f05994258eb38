from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.canon.decision import (
    Decision,
    DocumentTypeSet,
    GapAnswered,
    GapDeclined,
    NameIgnored,
    NamesMerged,
    StoryOrderSet,
)
from lrwr.core.canon.model import Canon
from lrwr.core.canon.parser import parse_canon
from lrwr.core.canon.reducer import apply_decision
from lrwr.core.canon.serializer import serialize_canon
from lrwr.core.model.documents import DocumentId, DocumentType
from lrwr.core.model.errors import SettingsProblem, StoreProblem
from lrwr.core.settings.library import CANON_FILE_NAME
from tests.fakes.canons import decisions

MINE = """\
# The canon of my book.

[names]   # who is who
ignored = [
  "Monday",  # a day
  # and a place:
  "Thole",
]

[types]
"./mill.md" = "Setting"  # not a person

[names.renamed]
Jack = "Jory"
"""


def as_far_as_possible(canon: Canon, decision: Decision) -> Canon:
    try:
        return apply_decision(canon, decision)
    except SettingsProblem:
        return canon


def with_decisions(text: str | None, *made: Decision) -> str:
    before = Canon() if text is None else parse_canon(text, CANON_FILE_NAME)
    return serialize_canon(text, reduce(as_far_as_possible, made, before))


@given(st.lists(decisions, max_size=8), st.lists(decisions, max_size=8))
def test_what_is_written_is_what_is_read(
    first: list[Decision], then: list[Decision]
) -> None:
    canon = reduce(as_far_as_possible, first, Canon())
    text = serialize_canon(None, canon)
    assert parse_canon(text, CANON_FILE_NAME) == canon
    later = reduce(as_far_as_possible, then, canon)
    assert parse_canon(serialize_canon(text, later), CANON_FILE_NAME) == later


def test_what_is_declined_again_stands_last() -> None:
    text = with_decisions(None, GapDeclined("", "age"))
    answered = GapAnswered("", "age", "grey")
    again = (answered, GapDeclined("", "eyes"), GapDeclined("", "age"))
    told = with_decisions(text, *again)
    unsaid = parse_canon(told, CANON_FILE_NAME).unsaid
    assert [question.attribute for question in unsaid] == ["eyes", "age"]


@given(st.lists(decisions, max_size=8), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_a_file_written_by_hand_is_changed_faithfully(
    made: list[Decision], end: str, mark: bool
) -> None:
    text = ("\ufeff" if mark else "") + MINE.replace("\n", end)
    canon = reduce(as_far_as_possible, made, parse_canon(text, CANON_FILE_NAME))
    changed = serialize_canon(text, canon)
    assert parse_canon(changed, CANON_FILE_NAME) == canon
    assert changed.startswith(text[:25])
    assert changed.count("\r\n") == (changed.count("\n") if end == "\r\n" else 0)


@given(st.lists(decisions, max_size=8))
def test_nothing_to_change_changes_nothing(made: list[Decision]) -> None:
    text = with_decisions(MINE, *made)
    assert serialize_canon(text, parse_canon(text, CANON_FILE_NAME)) == text


def test_comments_and_order_stay() -> None:
    text = with_decisions(
        MINE,
        NameIgnored("Ness"),
        DocumentTypeSet(DocumentId("a.md"), DocumentType.SCENE),
        NamesMerged(("Monday", "Mo")),
    )
    for line in MINE.splitlines():
        assert line in text.splitlines() or "Monday" in line
    assert '"./mill.md" = "Setting"  # not a person\n"a.md" = "scene"' in text
    assert '  "Thole",\n  "Ness",\n]' in text


def test_a_new_file_says_whose_it_is() -> None:
    text = with_decisions(None, NameIgnored("Monday"))
    assert text.startswith(f"# {CANON_FILE_NAME}")
    assert text.endswith('[names]\nignored = ["Monday"]\n')


def test_a_long_order_gets_a_line_for_each_file() -> None:
    documents = tuple(DocumentId(f"chapters/{n:02}-chapter.md") for n in range(5))
    lines = with_decisions(None, StoryOrderSet(documents)).splitlines()
    assert '    "chapters/00-chapter.md",' in lines


@pytest.mark.parametrize(
    "text",
    [
        'names.merged."Nell" = ["Wren"]\n',
        'names = { merged = { Nell = ["Wren"] } }\n',
        '[names.merged]\nNell = ["Wren"]\n[types]\n[names.renamed]\n',
        "[types]",
        "[order]\nstory = [] # none",
    ],
)
@given(made=st.lists(decisions, max_size=4))
def test_an_odd_layout_is_changed_rightly_or_not_at_all(
    text: str, made: list[Decision]
) -> None:
    canon = reduce(as_far_as_possible, made, parse_canon(text, CANON_FILE_NAME))
    try:
        changed = serialize_canon(text, canon)
    except StoreProblem as problem:
        assert "[header]" in problem.hint
    else:
        assert parse_canon(changed, CANON_FILE_NAME) == canon
