"""What the chat says of files that were not read."""

from lrwr.app.presenters.watch import describe_watch_event
from lrwr.core.model.documents import DocumentId
from lrwr.pipeline.report import DocumentProblem
from lrwr.pipeline.watch.events import (
    DocumentDelta,
    KnowledgeDelta,
    SaveReport,
    WatchCause,
)

FOG = DocumentId("fog.md")
PROBLEM = DocumentProblem(
    FOG, "fog.md has git conflict markers (line 5)", "Resolve the conflict.", 4
)
COPY = "fog 2.md was skipped: a copy of fog.md."


def told(*documents: DocumentDelta) -> str:
    report = SaveReport(
        WatchCause.SAVE,
        KnowledgeDelta(documents),
        0.1,
        problems=(PROBLEM,),
        remarks=(COPY,),
    )
    return describe_watch_event(report, {})[0]


def test_problems_and_remarks_are_said_without_a_changed_document() -> None:
    assert told() == (
        "fog.md has git conflict markers (line 5). Resolve the conflict. " + COPY
    )


def test_problems_and_remarks_follow_what_was_read() -> None:
    mill = DocumentDelta(DocumentId("mill.md"), passages_new=1)
    assert told(mill).endswith(f"line 5). Resolve the conflict. {COPY}")
    assert told(mill).startswith("mill.md read")
