"""Turns are read back as they were kept, and so are those of an older lrwr."""

import json
from dataclasses import replace

from lrwr.core.adapters.storage.sqlite.thread_store import (
    parse_turn_row,
    turn_to_columns,
)
from lrwr.core.model.turns import Turn, WebCitation
from tests.fakes.conversations import a_turn

PAGES = (
    WebCitation(1, "Hamlet", "https://example.org/h", "“A ghost” [3] \x1b[31m"),
    WebCitation(3, "Läser", "https://example.org/l", ""),
)


def read_back(turn: Turn, *without: str) -> Turn:
    row = turn_to_columns(turn)
    output = json.loads(str(row["output"]))
    for key in without:
        del output[key]
    return parse_turn_row(
        (
            turn.id, turn.number, turn.asked_at, turn.state.value, turn.price,
            str(row["usage"]), turn.question, str(row["answer"]), json.dumps(output),
            1,
        )
    )  # fmt: skip


def test_what_is_from_the_web_is_read_back() -> None:
    turn = a_turn()
    output = replace(turn.output, web=PAGES, web_query="Hamlet", tavily_used=True)
    turn = replace(turn, output=output)
    assert read_back(turn) == turn


def test_a_turn_from_before_the_web_still_reads() -> None:
    turn = a_turn()
    assert read_back(turn, "web", "web_query") == turn
