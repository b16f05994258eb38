"""What becomes of a model's replies: facts with their words, or nothing."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from lrwr.core.adapters.analyst.model import ModelAnalyst
from lrwr.core.adapters.chat.connection import ChatConnection, ModelServerClient
from lrwr.core.adapters.chat.openai import OpenAIChatModel
from lrwr.core.adapters.http.rate_limit import RateLimit
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.facts import DIRECTED_DETAIL, Certainty, Fact, FactAbout
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import Span
from lrwr.core.ports.models import (
    EXCERPTS_PER_CALL,
    ChatMessage,
    Excerpt,
    ExcerptFinding,
    ReplyShape,
)
from tests.fakes.chat_models import ScriptedChat
from tests.fakes.model_replies import Json, made_up
from tests.fakes.model_server import KEY, MODEL, ModelServer

BEFORE = "# One\n\n"
TEXT = (
    "Nell Tallow climbed the ladder. “I don’t mind the fog,” she told OchraMags, “but"
    " the lamp — it was my father’s — must never go out.” Her grey eyes were wet."
    " Mags hummed a tune by Bach and said nothing of the ledger."
)
DOCUMENT = BEFORE + TEXT
EXCERPT = Excerpt(
    Span(len(BEFORE), len(DOCUMENT)), TEXT, "It was late.", ("Nell Tallow",), "ch 1"
)


def excerpts(count: int) -> list[Excerpt]:
    found, at = [], 0
    for number in range(count):
        text = f"Passage {number}: Mrs. Gannet counted to {number} in the fog."
        found.append(Excerpt(Span(at, at + len(text)), text, "", (), f"p {number}"))
        at += len(text) + 2
    return found


def a_passage(number: int = 1, **told: Json) -> Json:
    plain = {
        "id": number,
        "content": "dialogue",
        "function": "plot_event",
        "tag": "none",
        "present": [],
        "references": [],
    }
    return {**plain, **told}


def passages(*each: Json) -> str:
    return json.dumps({"passages": list(each)})


def extracted(**told: Json) -> str:
    kinds = ("scenes", "people", "relations", "world", "events", "told", "gaps")
    return json.dumps({**{kind: [] for kind in kinds}, **told})


def words(fact: Fact) -> list[str]:
    return [DOCUMENT[span.start : span.end] for span in fact.spans]


async def read(chat: ScriptedChat) -> list[Fact]:
    finding, _ = await ModelAnalyst(chat).extract(EXCERPT)
    return list(finding.facts)


async def test_a_passage_is_told_what_it_is_and_who_is_there() -> None:
    told = a_passage(present=["Nell Tallow", "I"], references=["Bach"])
    findings, usage = await ModelAnalyst(ScriptedChat(passages(told))).classify(
        [EXCERPT]
    )
    facts = findings[0].facts
    assert [(fact.field, fact.value) for fact in facts] == [
        ("content_type", "dialogue"),
        ("narrative_function", "plot_event"),
        ("story_grid_tag", "none"),
        ("present", "Nell Tallow"),
        ("present", "I"),
        ("external_reference", "Bach"),
    ]
    assert {one.keeper for one in facts} == {"scripted"}
    about = [
        FactAbout.SCENE if f.field == "present" else FactAbout.PASSAGE for f in facts
    ]
    assert [one.about for one in facts] == about
    assert [fact.certainty for fact in facts[3:]] == [
        Certainty.PROBABLE,
        Certainty.PROBABLE,
        Certainty.VERIFIED,
    ]
    assert [words(fact) for fact in facts[3:]] == [["Nell Tallow"], [TEXT], ["Bach"]]
    assert (usage.calls, usage.quotes, usage.verified) == (1, 1, 1)


async def test_a_gap_needs_its_words() -> None:
    gap = {"who": "the ledger", "what": "content", "implied": "a secret", "fill": ""}
    reply = extracted(
        gaps=[
            {**gap, "quote": "said nothing of the ledger"},
            {**gap, "quote": "the ledger was burnt by the widow in the night"},
        ]
    )
    finding, usage = await ModelAnalyst(ScriptedChat(reply)).extract(EXCERPT)
    (only,) = finding.facts
    assert (only.about, only.subject, only.field, only.value) == (
        FactAbout.GAP,
        "the ledger",
        "content",
        "a secret",
    )
    assert words(only) == ["said nothing of the ledger"]
    assert (usage.quotes, usage.verified) == (2, 1)


SISTER = {
    "person": "OchraMags",
    "is": "elder sister",
    "of": "Nell Tallow",
    "valence": "ally",
    "quote": "she told OchraMags",
}
TELLING = {
    "who": "Nell Tallow",
    "to": ["OchraMags"],
    "fact": "the lamp was her father's",
    "quote": "it was my father's",
}


async def test_people_relations_and_who_told_whom_are_read() -> None:
    facts = await read(
        ScriptedChat(
            extracted(
                people=[
                    claim("attribute", "Eyes", "grey", "Her grey eyes"),
                    claim("trait", "x", "stubborn", "must never go out"),
                    claim("alias", "", "Mags", "Mags hummed", who="OchraMags"),
                ],
                relations=[SISTER],
                told=[TELLING],
            )
        )
    )
    assert [(one.subject, one.field, one.value, one.details) for one in facts] == [
        ("Nell Tallow", "attribute", "grey", (("attribute", "eyes"),)),
        ("Nell Tallow", "personality_trait", "stubborn", ()),
        ("OchraMags", "alias", "Mags", ()),
        (
            "Nell Tallow",
            "relationship",
            "ally",
            (("target", "OchraMags"), ("kind", "elder sister"), DIRECTED_DETAIL),
        ),
        (
            "Nell Tallow",
            "told",
            "the lamp was her father's",
            (("hearer", "OchraMags"),),
        ),
    ]
    assert words(facts[4]) == ["it was my father’s"]
    assert {one.certainty for one in facts} == {Certainty.VERIFIED}


def claim(
    kind: str, what: str, value: str, quote: str, who: str = "Nell Tallow"
) -> Json:
    return {"who": who, "kind": kind, "what": what, "value": value, "quote": quote}


async def test_scenes_and_gaps_are_read() -> None:
    scene = {
        "opening": "Nell Tallow climbed the ladder",
        "pov": "Nell Tallow",
        "recap": "Nell speaks\nof the lamp.",
    }
    gap = {
        "who": "Mags",
        "what": "motive",
        "implied": "she hides something",
        "fill": "let her speak",
        "quote": "said nothing of the ledger",
    }
    facts = await read(ScriptedChat(extracted(scenes=[scene], gaps=[gap])))
    assert [(one.about, one.field, one.value) for one in facts] == [
        (FactAbout.SCENE, "pov", "Nell Tallow"),
        (FactAbout.SCENE, "recap", "Nell speaks of the lamp."),
        (FactAbout.GAP, "motive", "she hides something"),
    ]
    assert words(facts[0]) == ["Nell Tallow climbed the ladder"]
    assert facts[2].detail("suggestion") == "let her speak"


async def test_the_world_and_what_happens_are_read() -> None:
    lamp = {
        "name": "the lamp",
        "type": "artifact",
        "about": "A lamp that must burn.",
        "people": ["Nell Tallow", "Nell Tallow", " "],
        "quote": "the lamp ... must never go out",
    }
    event = {
        "what": "Nell climbs",
        "people": ["Nell Tallow"],
        "feelings": ["Nell Tallow: sad", "tired", ": cold"],
        "tag": "crisis",
        "quote": "climbed the ladder",
    }
    facts = await read(ScriptedChat(extracted(world=[lamp], events=[event])))
    assert [(one.subject, one.field, one.value) for one in facts] == [
        ("the lamp", "element_type", "artifact"),
        ("the lamp", "description", "A lamp that must burn."),
        ("the lamp", "connected_character", "Nell Tallow"),
        ("", "event", "Nell climbs"),
    ]
    assert words(facts[0]) == ["the lamp", "must never go out"]
    assert facts[3].details == (
        ("involved", "Nell Tallow"),
        ("feels", "Nell Tallow: sad"),
        ("story_grid_tag", "crisis"),
    )


async def test_a_fact_without_its_words_is_dropped_and_counted() -> None:
    people = [
        claim("trait", "", "brave", "She fought the bear with a spoon"),
        claim("trait", "", "stubborn", "must never go out"),
        claim("trait", "", " ", "must never go out"),
        claim("attribute", "", "grey", "Her grey eyes"),
    ]
    finding, usage = await ModelAnalyst(ScriptedChat(extracted(people=people))).extract(
        EXCERPT
    )
    assert [fact.value for fact in finding.facts] == ["stubborn"]
    assert (usage.quotes, usage.verified) == (4, 3)


async def test_sixteen_passages_are_read_in_one_call_and_stay_in_order() -> None:
    chat = ScriptedChat(answer=by_number)
    findings, usage = await ModelAnalyst(chat).classify(excerpts(19))
    assert [references(one) for one in findings] == [[str(n)] for n in range(19)]
    assert usage.calls == len(chat.asked) == 2
    assert EXCERPTS_PER_CALL == 16


def by_number(messages: Sequence[ChatMessage], shape: ReplyShape | None) -> str:
    """Tell of each passage, last first, the number that it counts to."""
    lines = [one for one in messages[-1].text.splitlines() if "counted" in one]
    each = [
        a_passage(at, references=[line.split(" to ")[1].split(" ")[0]])
        for at, line in enumerate(lines, start=1)
    ]
    return passages(*reversed(each))


def references(finding: ExcerptFinding) -> list[str]:
    return [fact.value for fact in finding.facts if fact.field == "external_reference"]


async def test_a_passage_that_was_left_out_is_asked_for_alone() -> None:
    both, alone = passages(a_passage(1), a_passage(7)), passages(a_passage(1))
    chat = ScriptedChat(both, alone)
    findings, usage = await ModelAnalyst(chat).classify(excerpts(2))
    assert [one.failed for one in findings] == ["", ""]
    assert usage.calls == 2
    assert "Passage 0" not in chat.asked[1][0][-1].text


async def test_a_passage_that_is_left_out_even_then_has_failed() -> None:
    chat = ScriptedChat(passages(a_passage(1)), passages())
    findings, _ = await ModelAnalyst(chat).classify(excerpts(2))
    assert not findings[0].failed
    assert "p 1" in findings[1].failed
    assert findings[1].facts == ()


async def test_a_reply_that_does_not_fit_is_asked_for_once_more() -> None:
    chat = ScriptedChat(extracted(people=[{"who": "Nell"}]), extracted())
    finding, usage = await ModelAnalyst(chat).extract(EXCERPT)
    assert finding == ExcerptFinding(())
    assert (usage.calls, usage.repaired, usage.failed) == (2, 1, 0)
    again = chat.asked[1][0]
    assert [one.role for one in again] == ["system", "user", "assistant", "user"]
    assert "people.0.kind" in again[-1].text


@pytest.mark.parametrize("reply", ["", "I cannot.", '{"scenes": [', "[]", "{}", "}{"])
async def test_a_reply_that_makes_no_sense_twice_has_failed(reply: str) -> None:
    finding, usage = await ModelAnalyst(ScriptedChat(reply, reply)).extract(EXCERPT)
    assert "ch 1" in finding.failed
    assert finding.facts == ()
    assert (usage.calls, usage.repaired, usage.failed) == (2, 1, 1)


async def test_words_around_a_reply_do_no_harm() -> None:
    people = [claim("trait", "", "stubborn", "must never go out")]
    reply = f"<think>{{no}}</think>Here:\n```json\n{extracted(people=people)}\n```"
    assert len(await read(ScriptedChat(reply))) == 1


async def test_what_no_terminal_shows_is_left_out_of_values() -> None:
    people = [claim("trait", "", "stub\u0007born\n\u202eyes", "must never go out")]
    assert (await read(ScriptedChat(extracted(people=people))))[0].value == (
        "stub born yes"
    )


async def test_a_server_that_fails_is_not_hidden() -> None:
    chat = ScriptedChat(ServiceUnavailable("It sleeps."))
    with pytest.raises(ServiceUnavailable):
        await ModelAnalyst(chat).extract(EXCERPT)


async def test_nothing_to_read_costs_nothing() -> None:
    assert await ModelAnalyst(ScriptedChat()).classify([]) == ([], Usage())


@pytest.mark.parametrize("extracting", [False, True])
async def test_the_cost_of_asking_is_known_before(extracting: bool) -> None:
    read = excerpts(11)
    analyst = ModelAnalyst(ScriptedChat(answer=made_up_answer))
    told = analyst.prompt_tokens(read, extracting=extracting)
    if extracting:
        spent = sum([(await analyst.extract(one))[1].prompt_tokens for one in read])
    else:
        analyst = ModelAnalyst(ScriptedChat(answer=by_number))
        batches = read[:EXCERPTS_PER_CALL], read[EXCERPTS_PER_CALL:]
        spent = sum([(await analyst.classify(one))[1].prompt_tokens for one in batches])
    assert told == pytest.approx(spent, rel=0.01)


def made_up_answer(messages: Sequence[ChatMessage], shape: ReplyShape | None) -> str:
    assert shape is not None
    return json.dumps(made_up(json.loads(shape.schema)))


def test_the_revision_names_the_model() -> None:
    one, other = (ModelAnalyst(ScriptedChat(name=name)) for name in ("a", "b"))
    assert one.name == "a"
    assert one.revision != other.revision
    assert one.revision == ModelAnalyst(ScriptedChat(name="a")).revision


async def test_it_reads_through_a_server() -> None:
    people = [claim("trait", "", "stubborn", "must never go out")]
    with ModelServer() as server:
        server.answering(
            lambda asked: (
                extracted(people=people)
                if asked.shape == "Extracted"
                else passages(a_passage())
            )
        )
        chat = OpenAIChatModel(
            ChatConnection(MODEL, server.base_url, key=KEY),
            ModelServerClient(RateLimit(2)),
        )
        analyst = ModelAnalyst(chat)
        findings, spent = await analyst.classify([EXCERPT])
        finding, more = await analyst.extract(EXCERPT)
        await chat.aclose()
    assert len(findings[0].facts) == 3
    assert [fact.keeper for fact in finding.facts] == [MODEL]
    assert (spent + more).prompt_tokens > 1000


async def test_only_a_known_name_in_the_text_can_be_no_person() -> None:
    reply = extracted(not_people=["Mags", "Bach", "Corin", "Mags"])
    shown = replace(EXCERPT, cast=("OchraMags = Mags = the Widow", "Corin"))
    chat = ScriptedChat(reply)
    finding, usage = await ModelAnalyst(chat).extract(shown)
    (fact,) = finding.facts
    assert (fact.subject, fact.field) == ("Mags", "not_a_person")
    assert words(fact) == ["Mags"]
    assert fact.certainty is Certainty.PROBABLE
    assert usage.quotes == 0
    prompt = chat.asked[0][0][-1].text
    assert prompt.startswith("Known: OchraMags = Mags = the Widow, Corin\n")
