"""Whatever a model replies that fits the schema, a fact has words of the text."""

import json
from collections.abc import Sequence
from functools import cache

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lrwr.core.adapters.analyst.model import ModelAnalyst
from lrwr.core.model.text import Span
from lrwr.core.ports.models import ChatMessage, Excerpt, ReplyShape
from tests.fakes.chat_models import ScriptedChat
from tests.fakes.model_replies import Json
from tests.fakes.suite import examples

TEXT = """\
Nell Tallow climbed the ladder. “The lamp,” she told OchraMags, “must never go out; it \
was my father’s.” Mags hummed, and said nothing of the ledger.
"""
START = 1000
EXCERPT = Excerpt(Span(START, START + len(TEXT)), TEXT, "", ("Nell Tallow",), "here")

TEXTS = st.sampled_from(["Nell Tallow", TEXT[40:90], "…", "a"]) | st.text(max_size=6)


@cache
def replies_to(schema: str) -> st.SearchStrategy[Json]:
    return replies(json.loads(schema))


def replies(schema: Json) -> st.SearchStrategy[Json]:
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"]:
        case "object":
            fields = schema["properties"].items()
            return st.fixed_dictionaries({name: replies(one) for name, one in fields})
        case "array":
            return st.lists(replies(schema["items"]), max_size=2)
        case "integer":
            return st.integers(-1, 3)
        case _:
            return TEXTS


@settings(
    max_examples=examples(50),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],  # a reply is a large thing to make
)
@given(st.data())
async def test_whatever_is_replied_every_fact_has_words_of_the_excerpt(
    data: st.DataObject,
) -> None:
    def answer(messages: Sequence[ChatMessage], shape: ReplyShape | None) -> str:
        assert shape is not None
        return json.dumps(data.draw(replies_to(shape.schema)))

    analyst = ModelAnalyst(ScriptedChat(answer=answer))
    findings, _ = await analyst.classify([EXCERPT, EXCERPT])
    finding, usage = await analyst.extract(EXCERPT)
    for fact in (fact for one in [*findings, finding] for fact in one.facts):
        assert fact.spans
        assert all(len(one) and EXCERPT.span.holds(one) for one in fact.spans)
        assert fact.value.isprintable()
    assert usage.verified <= usage.quotes
