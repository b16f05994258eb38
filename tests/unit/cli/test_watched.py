import json

from lrwr.app.presenters.watch import (
    describe_save,
    list_changed_documents,
    watch_event_as_json,
)
from lrwr.cli.runtime.output import to_jsonable
from lrwr.core.bible.timeline import FactChange
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import FactAbout
from lrwr.core.model.language_model import Usage
from lrwr.core.model.turns import ThreadId
from lrwr.core.retrieval.freshness import StaleAnswers
from lrwr.pipeline.watch.events import (
    DocumentDelta,
    KnowledgeDelta,
    ManuscriptAway,
    ManuscriptReturn,
    PollingFallback,
    SaveReport,
    WatchCause,
    WatchEvent,
    WatchFailure,
    WatchStart,
)

READ = DocumentDelta(DocumentId("ch3.md"), passages_changed=2)
EYES = FactChange(FactAbout.CHARACTER, "Nell", "eyes", "grey", "brown")


def told(learned: KnowledgeDelta, **more: object) -> str:
    return describe_save(SaveReport(WatchCause.SAVE, learned, 0.41, **more))  # type: ignore[arg-type]


def test_a_save_is_told_in_one_line() -> None:
    learned = KnowledgeDelta((READ,), names_new=("Corin Vale",), facts_changed=(EYES,))
    assert told(learned) == (
        "ch3.md processed: 2 passages changed; new: Corin Vale;"
        " Nell's eyes: grey -> brown (0.4 s)"
    )


def test_what_came_and_went_is_told() -> None:
    documents = (
        DocumentDelta(DocumentId("1.md"), passages_new=1, passages_gone=2),
        DocumentDelta(DocumentId("2.md"), was="old.md"),
        DocumentDelta(DocumentId("3.md"), gone=True, passages_gone=9),
    )
    gap = FactChange(FactAbout.GAP, "Nell", "", after="TODO: whose boat?")
    event = FactChange(FactAbout.EVENT, "", "event", after="The bell rang.")
    learned = KnowledgeDelta(
        documents,
        names_gone=("Mags", "PurpleFrog", "TinToby", "Wren"),
        facts_new=(FactChange(FactAbout.CHARACTER, "Nell", "age", after="12"), event),
        facts_gone=(event, event),
        gaps_opened=(gap,),
        gaps_closed=(gap, gap, gap, gap),
    )
    assert told(learned) == (
        "1.md processed: 1 passage new, 2 gone; old.md -> 2.md renamed; 3.md deleted;"
        " gone: Mags, PurpleFrog, TinToby and 1 more;"
        " new: Nell's age: 12; 1 other fact new; 2 facts gone;"
        " question opened: Nell: TODO: whose boat?; 4 open questions closed (0.4 s)"
    )


def test_many_documents_are_counted_and_the_same_words_are_said_to_be_so() -> None:
    many = tuple(DocumentDelta(DocumentId(f"{n}.md")) for n in range(4))
    assert (
        told(KnowledgeDelta(many))
        == "4 documents processed: no passages changed (0.4 s)"
    )


def test_calls_of_a_model_are_told() -> None:
    line = told(KnowledgeDelta((READ,)), model="tiny", usage=Usage(calls=2))
    assert line.endswith("(2 calls of tiny, 0.4 s)")


def test_answers_that_rest_on_a_change_are_told_with_the_way_to_them() -> None:
    ids = tuple(ThreadId(f"7f3a{n:04}0000") for n in range(5))
    one = told(KnowledgeDelta((READ,)), unsettled=StaleAnswers(1, ids[:1]))
    assert one == (
        "ch3.md processed: 2 passages changed; 1 answer in 1 thread cites changed"
        " passages (lrwr threads show 7f3a0000) (0.4 s)"
    )
    many = told(KnowledgeDelta((READ,)), unsettled=StaleAnswers(9, ids))
    assert (
        "; 9 answers in 5 threads cite changed passages (lrwr threads show"
        " 7f3a0000, 7f3a0001, 7f3a0002 and 2 more) ("
    ) in many
    saved = SaveReport(
        WatchCause.SAVE, KnowledgeDelta((READ,)), 0.41, unsettled=StaleAnswers(9, ids)
    )
    row = json.loads(json.dumps(to_jsonable(watch_event_as_json(saved))))
    assert row["answers"] == {"changed": 9, "threads": list(ids)}


def test_a_file_name_cannot_break_the_line() -> None:
    odd = DocumentDelta(DocumentId("a\nb.md"), passages_new=1)
    assert "\n" not in told(KnowledgeDelta((odd,)))


def test_every_event_is_json_and_says_which_it_is() -> None:
    saved = SaveReport(
        WatchCause.SAVE, KnowledgeDelta((READ,), facts_changed=(EYES,)), 0.41
    )
    events: list[WatchEvent] = [
        saved, WatchStart(2), ManuscriptAway("x"), ManuscriptReturn(), PollingFallback("y"), WatchFailure("z", ""),
    ]  # fmt: skip
    rows = [json.loads(json.dumps(to_jsonable(watch_event_as_json(e)))) for e in events]
    assert [row["event"] for row in rows] == [
        "saved", "watching", "away", "returned", "polling", "trouble",
    ]  # fmt: skip
    assert rows[0]["documents"][0]["passages"]["changed"] == 2
    assert rows[0]["facts"]["changed"][0]["before"] == "grey"
    assert rows[0]["model"] is None


def test_only_documents_that_changed_are_handed_on() -> None:
    same = DocumentDelta(DocumentId("same.md"))
    gone = DocumentDelta(DocumentId("gone.md"), gone=True)
    assert list_changed_documents(KnowledgeDelta((READ, same, gone))) == [
        "ch3.md",
        "gone.md",
    ]
