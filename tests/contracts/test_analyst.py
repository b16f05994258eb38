from dataclasses import replace

import pytest

from lrwr.core.adapters.analyst.rules import RulesAnalyst
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.facts import Fact, FactAbout, PassageField, WorldField
from lrwr.core.model.text import Span
from lrwr.core.ports.models import Analyst, Excerpt, ExcerptFinding
from tests.fakes.analysts import ScriptedAnalyst

PAGE = (
    "“Twelve,” said Nell. “Twelve of twelve, and that is the last of them.”\n\n"
    "Nell’s brother, Corin Vale, was eleven years old. TODO: say more of Corin.\n\n"
    "Mrs. Gannet arrived at Gull House. Mrs. Gannet told Corin that the tide was out.\n"
)
TAIL = "Nobody answered. The lamp went out."
DOCUMENT = "Some words before.\n\n" + PAGE + TAIL
START = DOCUMENT.index(PAGE)


def excerpt(start: int = START, end: int = START + len(PAGE)) -> Excerpt:
    text = DOCUMENT[start:end]
    known = tuple(
        name for name in ("Nell", "Corin Vale", "Mrs. Gannet") if name in text
    )
    return Excerpt(Span(start, end), text, DOCUMENT[:start], known, "the story, page 1")


@pytest.fixture(params=["rules", "scripted"])
def analyst(request: pytest.FixtureRequest) -> Analyst:
    if request.param == "rules":
        return RulesAnalyst(find_sentence_spans)
    return ScriptedAnalyst(
        {
            "Twelve of twelve": (
                FactAbout.PASSAGE,
                PassageField.CONTENT_TYPE,
                "dialogue",
            ),
            "TODO: say more of Corin": (FactAbout.GAP, "marked", "say more of Corin"),
            "Gull House": (FactAbout.WORLD, WorldField.ELEMENT_TYPE, "setting"),
            "arrived": (FactAbout.EVENT, "event", "Mrs. Gannet arrived"),
        }
    )


async def everything(analyst: Analyst, excerpt: Excerpt) -> list[Fact]:
    (classified,), _ = await analyst.classify([excerpt])
    extracted, _ = await analyst.extract(excerpt)
    return [*classified.facts, *extracted.facts]


async def test_something_is_found_and_the_analyst_is_its_keeper(
    analyst: Analyst,
) -> None:
    facts = await everything(analyst, excerpt())
    assert {FactAbout.GAP, FactAbout.WORLD, FactAbout.EVENT} <= {
        fact.about for fact in facts
    }
    assert {fact.keeper for fact in facts} == {analyst.name}
    assert analyst.revision


async def test_every_fact_rests_on_words_of_the_excerpt_in_order(
    analyst: Analyst,
) -> None:
    here = excerpt()
    for fact in await everything(analyst, here):
        assert fact.spans
        assert list(fact.spans) == sorted(fact.spans)
        assert all(here.span.holds(span) and len(span) for span in fact.spans)


async def test_classifying_tells_of_passages_and_gaps_and_extracting_of_the_rest(
    analyst: Analyst,
) -> None:
    (classified,), _ = await analyst.classify([excerpt()])
    extracted, _ = await analyst.extract(excerpt())
    ours = {FactAbout.PASSAGE, FactAbout.GAP}
    assert {fact.about for fact in classified.facts} <= ours
    assert ours.isdisjoint(fact.about for fact in extracted.facts)


async def test_findings_come_one_for_each_excerpt_in_order(analyst: Analyst) -> None:
    page, tail = excerpt(), excerpt(START + len(PAGE), len(DOCUMENT))
    together, _ = await analyst.classify([page, tail, page])
    assert together[0] == together[2]
    for finding, of in zip(together, [page, tail, page], strict=True):
        assert all(of.span.holds(s) for fact in finding.facts for s in fact.spans)
    assert (await analyst.classify([]))[0] == []


async def test_where_an_excerpt_stands_moves_its_spans_and_changes_nothing_else(
    analyst: Analyst,
) -> None:
    here = excerpt()
    there = replace(
        here,
        span=Span(here.span.start + 70, here.span.end + 70),
        where="another chapter",
    )
    moved = [
        replace(f, spans=tuple(Span(s.start + 70, s.end + 70) for s in f.spans))
        for f in await everything(analyst, here)
    ]
    assert await everything(analyst, there) == moved
    assert await everything(analyst, here) == await everything(analyst, here)


@pytest.mark.parametrize("text", ["", " \n\n ", "“", "?!", "\x01", "灯をともす。"])
async def test_text_with_nothing_to_find_has_findings_all_the_same(
    analyst: Analyst, text: str
) -> None:
    empty = Excerpt(Span(5, 5 + len(text)), text, "", (), "")
    assert [f.failed for f in (await analyst.classify([empty]))[0]] == [""]
    assert (await analyst.extract(empty))[0].failed == ""


async def test_an_excerpt_that_cannot_be_read_has_no_facts_and_says_why() -> None:
    analyst = ScriptedAnalyst({"Nell": (FactAbout.EVENT, "event", "x")}, broken="Nell")
    finding, _ = await analyst.extract(excerpt())
    assert finding == ExcerptFinding((), failed="the model's reply could not be read")
