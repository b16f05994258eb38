import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.chat.context.tool_loop import (
    MAX_SEARCH_CHARS,
    FinishStep,
    ListChaptersStep,
    ReadChapterStep,
    SearchStep,
    build_step_shape,
    parse_lookup_step,
)
from lrwr.core.model.language_model import MalformedReply


def a_reply(**fields: object) -> str:
    unused: dict[str, object] = {"words": "", "chapter": 0, "part": 0, "keep": []}
    return json.dumps(unused | fields)


@pytest.mark.parametrize(
    ("reply", "step"),
    [
        (a_reply(tool="search", words=" the \n lamp "), SearchStep("the lamp")),
        (a_reply(tool="read_chapter", chapter=3, part=2), ReadChapterStep(3, 2)),
        (a_reply(tool="read_chapter", chapter=3), ReadChapterStep(3, 1)),
        (a_reply(tool="table_of_contents"), ListChaptersStep()),
        (a_reply(tool="enough", keep=[2, 1, 2]), FinishStep((2, 1))),
        ("Let me see. " + a_reply(tool="enough"), FinishStep(())),
    ],
)
def test_a_reply_asks_for_one_step(reply: str, step: object) -> None:
    assert parse_lookup_step(reply) == step


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "[]",
        '{"tool": "search"}',
        a_reply(tool="search", words="  "),
        a_reply(tool="read_chapter", chapter="3", part=1),
        a_reply(tool="enough", keep=[True]),
        a_reply(tool="delete_everything", words="all"),
    ],
)
def test_what_is_no_step_is_not_done(reply: str) -> None:
    with pytest.raises(MalformedReply):
        parse_lookup_step(reply)


def test_a_long_search_is_cut() -> None:
    step = parse_lookup_step(a_reply(tool="search", words="fog " * 400))
    assert isinstance(step, SearchStep)
    assert len(step.words) == MAX_SEARCH_CHARS


def test_the_shape_names_every_tool_that_is_read() -> None:
    schema = json.loads(build_step_shape().schema)
    for tool in schema["properties"]["tool"]["enum"]:
        assert parse_lookup_step(a_reply(tool=tool, words="fog", chapter=1, part=1))
    assert set(schema["required"]) == set(schema["properties"])


@given(st.text())
def test_nothing_that_a_model_says_raises_anything_else(reply: str) -> None:
    with suppress(MalformedReply):
        parse_lookup_step(reply)
