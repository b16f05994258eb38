"""The passages beside the conversation, over the real services."""

from pathlib import Path

from lrwr.tui.widgets.sources import Sources, SourceView
from tests.fakes.room import NARROW, a_room

LEDGER = "Who keeps the ledger?"


async def test_a_question_is_answered_and_its_passages_stand_beside(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask(LEDGER)
        (view,) = room.transcript.views
        assert view.turn is not None
        shown = list(room.screen.query_one(Sources).query(SourceView))
        assert [one.citation for one in shown] == list(view.turn.output.citations)
        await room.press("alt+2")
        Path("/tmp/lab/pic.svg").write_text(room.app.export_screenshot())
        from tests.fakes.picture import picture

        print(picture(room.app))
