"""What LangSmith is sent of an evaluation, and what is said where it is not taken."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.http.rate_limit import Clock
from lrwr.core.adapters.traces.experiments import LangSmithExperimentLog
from lrwr.core.adapters.traces.http import LangSmithConnection
from lrwr.core.adapters.traces.records import (
    FAILED_SCORE_COMMENT,
    LangSmithRow,
    split_rows_by_size,
)
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.traces import (
    Experiment,
    ExperimentResult,
    GoldenExample,
    GoldenSet,
    MeasureScore,
)
from tests.fakes.hosted_server import (
    Asked,
    CutShort,
    Hang,
    Nonsense,
    Refuse,
    Say,
    Turn,
)
from tests.fakes.langsmith_server import KEY, LangSmithServer

SECRET = "Nell Tallow hid the ledger under the weir."
HIDDEN = "3b7e library of Corin Vale"
SET = GoldenSet(
    HIDDEN,
    SECRET,
    tuple(
        GoldenExample(
            n,
            {"kind": "fact", "answerable": True},
            {"question": f"{SECRET} {n}?", "as_of": SECRET},
            {"answer": SECRET, "quotes": (f"weir.md: {SECRET}",)},
        )
        for n in range(1, 4)
    ),
)


def an_experiment(name: str, number: int = 3) -> Experiment:
    results = [
        ExperimentResult(
            n,
            0.5,
            {"tokens": 20.0},
            (MeasureScore("mrr", 0.5), MeasureScore("leak", 0.0)),
        )
        for n in range(1, number)
    ]
    lost = ExperimentResult(number, 0.0, {}, (MeasureScore("mrr", None),), failed=True)
    facts = {"lrwr": "1.0", "model_answers": "m-1"}
    key = f"{HIDDEN}\n{name}"
    return Experiment(key, name, f"{name}, told.", facts, (*results, lost))


A, B = an_experiment("A"), an_experiment("B")


@pytest.fixture
def server() -> Iterator[LangSmithServer]:
    with LangSmithServer() as opened:
        yield opened


@dataclass
class Forgetful(LangSmithServer):
    """Takes what it is sent, and loses its answer to one request."""

    loses: int = 0

    def reply(self, asked: Asked) -> Turn:
        turn = super().reply(asked)
        return CutShort() if len(self.asked) == self.loses else turn


@dataclass
class Refusing(LangSmithServer):
    """Refuses one request and all that come after it."""

    refuses: int = 0

    def reply(self, asked: Asked) -> Turn:
        late = self.refuses and len(self.asked) >= self.refuses
        return Refuse(503) if late else super().reply(asked)


@dataclass
class Desk:
    """A log on a clock that nobody waits for."""

    server: LangSmithServer
    texts: bool = False
    timeout: float = 10.0
    key: str = KEY
    slept: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def now(self) -> float:
        return sum(self.slept)

    def give_key(self) -> str:
        if not self.key:
            raise ServiceUnavailable("There is no key", hint="Set one.")
        return self.key

    async def keep(self, *experiments: Experiment, golden: GoldenSet = SET) -> str:
        about = LangSmithConnection(
            "book", self.server.origin, self.texts, self.timeout, True
        )
        clock = Clock(now=self.now, sleep=self.sleep)
        log = LangSmithExperimentLog(about, self.give_key, None, clock)
        return await log.store(golden, experiments or (A, B))

    async def refused(self) -> ServiceUnavailable:
        with pytest.raises(ServiceUnavailable) as caught:
            await self.keep()
        return caught.value


def kept(server: LangSmithServer) -> str:
    """All that the server has kept but times, in no order."""
    desk = server.desk
    rows = [desk.datasets, desk.examples, desk.sessions, desk.feedback, server.runs]
    times = {"start_time", "end_time", "dotted_order"}
    told = [
        {
            own: {n: v for n, v in row.items() if n not in times}
            for own, row in r.items()
        }
        for r in rows
    ]
    return json.dumps(told, sort_keys=True)


async def test_an_evaluation_is_a_dataset_and_an_experiment_for_each_arm(
    server: LangSmithServer,
) -> None:
    name = await Desk(server).keep()
    desk = server.desk
    (dataset,) = desk.datasets.values()
    assert dataset["name"] == name
    assert name.startswith("book: questions ")
    assert len(desk.examples) == 3
    a, b = desk.sessions.values()
    assert a["name"].startswith("book: A ")
    assert a["reference_dataset_id"] == b["reference_dataset_id"] == dataset["id"]
    facts = a["extra"]["metadata"]
    assert (facts["lrwr"], facts["model_answers"]) == ("1.0", "m-1")
    assert a["end_time"] >= a["start_time"]
    runs = [run for run in server.runs.values() if run["session_id"] == a["id"]]
    assert [run["inputs"] for run in runs] == [{"number": n} for n in (1, 2, 3)]
    assert {run["reference_example_id"] for run in runs} == set(desk.examples)
    assert runs[0]["outputs"] == {"tokens": 20.0}
    assert ["error" in run for run in runs] == [False, False, True]


async def test_a_measure_is_feedback_and_one_that_failed_has_no_score(
    server: LangSmithServer,
) -> None:
    await Desk(server).keep(A)
    rows = list(server.desk.feedback.values())
    said = [(row["key"], row["score"], row.get("comment", "")) for row in rows]
    assert said == [("mrr", 0.5, ""), ("leak", 0.0, "")] * 2 + [
        ("mrr", None, FAILED_SCORE_COMMENT)
    ]


async def test_without_texts_neither_words_nor_keys_of_ids_are_sent(
    server: LangSmithServer,
) -> None:
    await Desk(server).keep()
    sent = repr([(one.path, one.body) for one in server.asked])
    for planted in (SECRET, "Tallow", "weir", HIDDEN, KEY):
        assert planted not in sent


async def test_with_texts_questions_and_what_answers_go_into_a_set_of_its_own(
    server: LangSmithServer,
) -> None:
    without = await Desk(server).keep(A)
    assert await Desk(server, texts=True).keep(A) != without
    assert len(server.desk.datasets) == len(server.desk.sessions) == 2
    example = list(server.desk.examples.values())[-1]
    assert example["inputs"] == {
        "number": 3, "question": f"{SECRET} 3?", "as_of": SECRET
    }  # fmt: skip
    assert example["outputs"]["quotes"] == [f"weir.md: {SECRET}"]
    assert HIDDEN not in repr([one.body for one in server.asked])


async def test_what_is_there_already_takes_a_few_requests_and_changes_nothing(
    server: LangSmithServer,
) -> None:
    await Desk(server).keep()
    before, first = kept(server), len(server.asked)
    await Desk(server).keep()
    assert kept(server) == before
    again = [(one.method, one.place) for one in server.asked[first:]]
    assert again[:2] == [("POST", "/datasets"), ("GET", "/examples")]
    assert [method for method, _ in again[2:]] == ["POST", "GET"] * 2


@pytest.mark.parametrize("number", range(1, 11))
async def test_whatever_request_is_refused_the_next_time_all_is_there_once(
    server: LangSmithServer, number: int
) -> None:
    await Desk(server).keep()
    with Refusing(refuses=number) as refusing:
        await Desk(refusing).refused()
        refusing.refuses = 0
        await Desk(refusing).keep()
        assert kept(refusing) == kept(server)


@pytest.mark.parametrize("number", range(1, 11))
async def test_whatever_answer_is_lost_all_is_there_once(
    server: LangSmithServer, number: int
) -> None:
    await Desk(server).keep()
    with Forgetful(loses=number) as forgetful:
        desk = Desk(forgetful)
        await desk.keep()
        assert desk.slept == [1.0]
        assert kept(forgetful) == kept(server)


async def test_a_large_set_goes_in_requests_of_so_many_rows(
    server: LangSmithServer,
) -> None:
    examples = tuple(GoldenExample(n, {"kind": "fact"}) for n in range(1, 261))
    golden = replace(SET, examples=examples)
    await Desk(server).keep(an_experiment("A", 260), golden=golden)
    sizes = [
        (one.place, len(one.body if one.place != "/runs/batch" else one.body["post"]))
        for one in server.asked
        if one.place.endswith(("bulk", "batch"))
    ]
    assert sizes == [
        ("/examples/bulk", 250), ("/examples/bulk", 10),
        ("/runs/batch", 100), ("/runs/batch", 100), ("/runs/batch", 60),
        ("/feedback/batch", 250), ("/feedback/batch", 250), ("/feedback/batch", 19),
    ]  # fmt: skip
    del server.desk.feedback[next(iter(server.desk.feedback))]
    del server.runs[list(server.runs)[150]]
    server.desk.sessions[next(iter(server.desk.sessions))]["extra"] = {}
    await Desk(server).keep(an_experiment("A", 260), golden=golden)
    assert (len(server.runs), len(server.desk.feedback)) == (260, 519)


@given(st.lists(st.text(max_size=40)), st.integers(1, 5), st.integers(1, 200))
def test_batches_hold_each_row_once_in_order_and_no_more_than_they_may(
    texts: list[str], most: int, most_bytes: int
) -> None:
    rows: list[LangSmithRow] = [{"text": text} for text in texts]
    found = list(split_rows_by_size(rows, most, most_bytes))
    assert [row for batch in found for row in batch] == rows
    for batch in found:
        size = sum(len(json.dumps(row, ensure_ascii=False).encode()) for row in batch)
        assert 1 <= len(batch) <= most
        assert len(batch) == 1 or size <= most_bytes


@pytest.mark.parametrize(
    ("turn", "says"),
    [
        (
            Refuse(401, SECRET),
            "LangSmith does not accept the key (HTTP 401). Set the key",
        ),
        (
            Refuse(403, SECRET),
            "LangSmith does not accept the key (HTTP 403). Set the key",
        ),
        (Refuse(404, SECRET), "no LangSmith API at this address (HTTP 404). Check"),
        (Refuse(422, SECRET), "LangSmith refused the data (HTTP 422). Check"),
        (Refuse(307), "redirected the request to another address (HTTP 307). Set"),
        (
            Refuse(429, SECRET, {"retry-after": "60"}),
            "received too many requests (HTTP 429). Try",
        ),
        (Refuse(500, SECRET), "LangSmith failed (HTTP 500). Try again later"),
        (CutShort(), "before its answer was complete. Try"),
        (Nonsense("<html>"), "did not come from LangSmith's API. Check"),
        (Say("no rows"), "did not come from LangSmith's API. Check"),
    ],
)
async def test_what_goes_wrong_is_said_without_the_words_of_the_server(
    server: LangSmithServer, turn: Turn, says: str
) -> None:
    server.will(*[turn] * 3)
    error = await Desk(server).refused()
    assert says in error.full_text
    assert SECRET not in error.full_text
    assert KEY not in error.full_text
    assert len(server.asked) <= 2


async def test_a_service_that_does_not_answer_is_waited_for_once(
    server: LangSmithServer,
) -> None:
    server.will(*[Hang()] * 3)
    error = await Desk(server, timeout=0.2).refused()
    assert "did not answer within 0.2 seconds" in error.full_text
    assert len(server.asked) == 1


async def test_a_busy_service_is_asked_once_more_when_it_says(
    server: LangSmithServer,
) -> None:
    busy = Refuse(429, headers={"retry-after": "2"})
    server.will(busy)
    desk = Desk(server)
    await desk.keep()
    assert desk.slept == [2.0]
    server.will(busy, busy, busy)
    asked = len(server.asked)
    await desk.refused()
    assert len(server.asked) == asked + 2


@pytest.mark.timeout(20)
async def test_the_second_try_has_what_the_first_has_left_of_the_time(
    server: LangSmithServer,
) -> None:
    server.will(Refuse(429, headers={"retry-after": "59.8"}), Hang())
    error = await Desk(server, timeout=60).refused()
    assert "did not answer within 60 seconds" in error.full_text


async def test_nobody_there_is_said(server: LangSmithServer) -> None:
    desk = Desk(server)
    server.__exit__()
    assert "LangSmith cannot be reached." in (await desk.refused()).full_text


async def test_without_a_key_or_with_what_can_be_none_nothing_is_sent(
    server: LangSmithServer,
) -> None:
    assert (
        await Desk(server, key="").refused()
    ).full_text == "There is no key. Set one."
    said = (await Desk(server, key="one\ntwo").refused()).full_text
    assert "key is not valid. Set the key again" in said
    assert "two" not in said
    assert server.asked == []
