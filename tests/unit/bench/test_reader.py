"""What stands in for a language model in the bench keeps to the schema and quotes."""

import json

import pytest

from bench.reader import FALSE, NONSENSE, Reader
from lrwr.core.adapters.analyst.model_prompts import (
    Extracted,
    Passages,
    build_analyst_repair_messages,
    build_classify_messages,
    build_extract_messages,
    build_reply_shape,
)
from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.quote_lookup import find_fuzzy_quote
from lrwr.core.ports.models import ChatMessage, Excerpt, ReplyShape
from tests.fakes.model_server import Asked

PAGES = "\n\n".join(
    f"“Count them,” said Nell Tallow; the lamp—number {n}—hissed, and nobody spoke."
    for n in range(30)
)


def excerpt(text: str, before: str = "") -> Excerpt:
    return Excerpt(Span(0, len(text)), text, before, ("Nell Tallow",), "here")


def asked(messages: list[ChatMessage], shape: ReplyShape) -> Asked:
    wanted = {"name": shape.name, "schema": json.loads(shape.schema)}
    body = {
        "messages": [{"role": one.role, "content": one.text} for one in messages],
        "response_format": {"json_schema": wanted},
    }
    return Asked("POST", "/v1/chat/completions", {}, body, 0)


def test_every_numbered_passage_is_answered_and_what_comes_before_is_not() -> None:
    parts = PAGES.split("\n\n")
    messages = build_classify_messages([excerpt(one, "It was dusk.") for one in parts])
    reply = Passages.model_validate_json(
        Reader()(asked(messages, build_reply_shape(Passages)))
    )
    assert [one.id for one in reply.passages] == list(range(1, len(parts) + 1))


def test_quotes_that_are_counted_as_true_stand_in_the_text() -> None:
    reader = Reader()
    for n in range(20):
        text = PAGES[n:]
        said = reader(
            asked(build_extract_messages(excerpt(text)), build_reply_shape(Extracted))
        )
        reply = Extracted.model_validate_json(said)
        quotes = [one.quote for one in reply.people]
        quotes += [one.quote for one in reply.events]
        quotes += [one.quote for one in reply.gaps]
        false = [one for one in quotes if not find_fuzzy_quote(one, text)]
        assert all("brass herons" in one for one in false)
        assert find_fuzzy_quote(reply.scenes[0].opening, text)
    assert reader.false > 0
    assert reader.true > 0.7 * FALSE * reader.false


@pytest.mark.parametrize("again", [False, True])
def test_what_was_asked_is_counted(again: bool) -> None:
    reader = Reader(stumble=2)
    messages = build_extract_messages(excerpt(PAGES))
    first = reader(asked(messages, build_reply_shape(Extracted)))
    if again:
        messages = build_analyst_repair_messages(
            messages, first, "it holds no JSON object."
        )
    assert reader(asked(messages, build_reply_shape(Extracted))) == NONSENSE
    assert (reader.calls, reader.kinds["Extracted"]) == (2, 2)
    assert reader.twice == (0 if again else 1)
    assert reader.prompt > len(PAGES) // 2
