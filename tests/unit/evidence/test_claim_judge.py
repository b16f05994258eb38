"""Verdicts of a language model about statements: prompts, replies, quotations."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.knowledge_store import SqliteAnalysisStore
from lrwr.core.evidence.judge import (
    ClaimJudge,
    ClaimJudgement,
    EvidenceClaim,
    Verdict,
    build_claim_messages,
    parse_claim_judgements,
    share_passages,
    verify_judgement,
)
from lrwr.core.model.language_model import MalformedReply, Usage
from lrwr.pipeline.analysis import ModelBudget
from tests.fakes.chat_models import ScriptedChat
from tests.fakes.records import Clock

LAMP = "Nell filled the lamp at dusk."
MULE = "The mule had no name."
CLAIMS = [
    EvidenceClaim("Nell tends the lamp.", (LAMP, MULE), ("Nell, SootWren",)),
    EvidenceClaim("The mule is called Bess.", (MULE,), ()),
]


def row(number: int, verdict: str, passage: int, quote: str) -> dict[str, object]:
    return {
        "id": number,
        "verdict": verdict,
        "passage": passage,
        "quote": quote,
        "why": "it says so",
    }


def reply(*rows: dict[str, object]) -> str:
    return json.dumps({"statements": rows})


def test_a_passage_of_several_statements_is_sent_once() -> None:
    user = build_claim_messages(CLAIMS)[1].text
    assert user.count(MULE) == 1
    assert re.search(r"<statement 1, passages 1, 2 \w+>\nNell tends the lamp\.", user)
    assert re.search(r"<statement 2, passages 2 \w+>\nThe mule is called Bess\.", user)
    assert "Nell, SootWren" in user


def test_numbers_of_passages_become_those_of_the_statement() -> None:
    judged = parse_claim_judgements(
        reply(
            row(1, "supported", 1, "filled the lamp"),
            row(2, "contradicted", 2, "had no name"),
        ),
        CLAIMS,
    )
    assert judged[0].passage == 0
    assert (judged[1].verdict, judged[1].passage) == (Verdict.CONTRADICTED, 0)


def test_a_number_of_another_passage_counts_as_none() -> None:
    (judged,) = parse_claim_judgements(
        reply(row(2, "contradicted", 1, "had no name")), CLAIMS
    ).values()
    assert judged.passage is None


def test_a_passage_of_another_statement_of_the_prompt_may_decide() -> None:
    shared = share_passages(CLAIMS)
    system, user = (message.text for message in build_claim_messages(shared))
    assert "any other passage here may decide" in system
    assert user.count(LAMP) == user.count(MULE) == 1
    assert re.search(r"<statement 2, passages 2 \w+>", user)
    (judged,) = parse_claim_judgements(
        reply(row(2, "contradicted", 1, "filled the lamp at dusk")), shared
    ).values()
    verified = verify_judgement(shared[1], judged)
    assert verified is not None
    assert verified.passage is not None
    assert shared[1].texts[verified.passage] == LAMP
    assert verify_judgement(CLAIMS[1], judged) is None
    assert "use those only" in build_claim_messages(CLAIMS)[0].text


def test_each_passage_has_its_chapter_in_the_prompt() -> None:
    first = EvidenceClaim("Nell tends it.", (LAMP,), places=("chapter 3",))
    second = EvidenceClaim("It is called Bess.", (MULE,), places=("note",))
    shared = share_passages([first, second])
    assert shared[0].places == ("chapter 3", "note")
    user = build_claim_messages(shared)[1].text
    assert re.search(r"<passage 1, chapter 3 \w+>\nNell filled", user)
    assert re.search(r"<passage 2, note \w+>\nThe mule", user)


def test_numbers_out_of_range_and_double_ones_are_ignored() -> None:
    rows = [
        row(1, "absent", 0, ""),
        row(1, "supported", 1, "x"),
        row(9, "absent", 0, ""),
    ]
    assert parse_claim_judgements(reply(*rows), CLAIMS) == {}


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "{}",
        '{"statements": [1, "x"]}',
        reply(row(1, "maybe", 1, "x")),
        reply({**row(1, "absent", 0, ""), "more": 1}),
    ],
)
def test_other_replies_are_refused(text: str) -> None:
    with pytest.raises(MalformedReply):
        parse_claim_judgements(text, CLAIMS)


def test_a_malformed_row_does_not_spoil_the_others() -> None:
    rows = [row(1, "maybe", 1, "x"), row(2, "contradicted", 2, "had no name")]
    (index,) = parse_claim_judgements(reply(*rows), CLAIMS)
    assert index == 1


def test_the_sentences_before_a_statement_stand_beside_it() -> None:
    claim = EvidenceClaim("She tends it.", (LAMP,), before="Nell has a lamp.")
    system, user = (message.text for message in build_claim_messages([claim]))
    assert re.search(r"<before 1 \w+>\nNell has a lamp\.", user)
    assert "passages: use those only" in system


GATE = "The gate at Ness was shut. Nell waited for him there until two."


@pytest.mark.parametrize(
    ("statement", "names", "quote", "is_accepted"),
    [
        ("Nell waited at the gate.", ("Nell",), "Nell waited for him", True),
        ("The girl waited.", (), "Nell waited for him", True),
        ("Nell waited at the gate.", ("Nell",), "him there", False),
        ("Nell waited at the gate.", ("Nell",), "for him there", False),
        ("Jack sang.", ("Jack",), "Nell waited for him", False),
        ("Nell becomes SootWren.", ("Nell",), "Nell waited for him", False),
        ("SootWren waited.", ("Nell, SootWren",), "Nell waited for him", True),
    ],
)
def test_a_supporting_quotation_tells_of_the_statement_and_its_names(
    statement: str, names: tuple[str, ...], quote: str, *, is_accepted: bool
) -> None:
    claim = EvidenceClaim(statement, (GATE,), names)
    judged = verify_judgement(claim, ClaimJudgement(Verdict.SUPPORTED, 0, quote))
    assert (judged is not None) == is_accepted


def test_a_verdict_needs_words_of_a_passage() -> None:
    wrong = ClaimJudgement(Verdict.SUPPORTED, 0, "Nell broke the lamp")
    assert verify_judgement(CLAIMS[0], wrong) is None
    claim = EvidenceClaim("The mule lacks a name.", (LAMP, MULE))
    elsewhere = ClaimJudgement(Verdict.SUPPORTED, 0, "mule had no name")
    assert verify_judgement(claim, elsewhere) == ClaimJudgement(
        Verdict.SUPPORTED, 1, "mule had no name"
    )
    absent = ClaimJudgement(Verdict.ABSENT, 1, "had no name", "not told")
    assert verify_judgement(CLAIMS[0], absent) == ClaimJudgement(
        Verdict.ABSENT, why="not told"
    )


def test_a_contradiction_may_stand_far_from_the_words_of_the_statement() -> None:
    far = f"Nell waited by the lamp. {'The rain fell on the roof. ' * 20}"
    text = f"{far}“Mr. Lusk asked for my hand last night, and he shall have it. Don’t tell Hob.”"
    claim = EvidenceClaim("Nell marries Jack for gold.", (text,), ("Nell", "Jack"))
    quote = (
        "Mr. Lusk asked for my hand last night, and he shall have it. Don't tell Hob."
    )
    contradicted = ClaimJudgement(Verdict.CONTRADICTED, 0, quote)
    assert verify_judgement(claim, contradicted) == contradicted
    supported = ClaimJudgement(Verdict.SUPPORTED, 0, quote)
    assert verify_judgement(claim, supported) is None


@given(st.text(max_size=40))
def test_whatever_is_quoted_stands_in_the_passage_or_is_dropped(quote: str) -> None:
    judged = verify_judgement(CLAIMS[0], ClaimJudgement(Verdict.CONTRADICTED, 0, quote))
    assert judged is None or judged.passage in (0, 1)
    if judged is not None:
        words = re.findall(r"\w+", quote.lower())
        assert set(words) <= set(re.findall(r"\w+", f"{LAMP} {MULE}".lower()))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteAnalysisStore]:
    database = SqliteDatabase(tmp_path / "library.db")
    yield SqliteAnalysisStore(database, now=Clock())
    await database.aclose()


async def test_a_stored_verdict_costs_no_call(store: SqliteAnalysisStore) -> None:
    answer = reply(row(1, "supported", 1, "filled the lamp"), row(2, "absent", 0, ""))
    chat = ScriptedChat(answer=lambda *_: answer)
    first = await ClaimJudge(chat, store, free()).judge(CLAIMS)
    again = await ClaimJudge(ScriptedChat(), store, free()).judge(CLAIMS)
    assert (first.usage.calls, again.usage.calls) == (1, 0)
    assert first.judged == again.judged
    assert [judgement.verdict for _, judgement in again.judged] == [
        Verdict.SUPPORTED,
        Verdict.ABSENT,
    ]


async def test_a_budget_of_nothing_asks_nothing(store: SqliteAnalysisStore) -> None:
    budget = ModelBudget(lambda _: 1.0, 0.5)
    session = await ClaimJudge(ScriptedChat(), store, budget).judge(CLAIMS)
    assert (session.unjudged, session.usage) == (2, Usage())
    assert session.stopped


def free() -> ModelBudget:
    return ModelBudget(lambda _: 0.0, 0.0)
