"""An answer as it comes, and what it rests on."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from lrwr.app.presenters.answers import (
    UNFINISHED_LINK,
    describe_answer_notes,
    describe_turn_cost,
    strip_links,
)
from lrwr.app.presenters.citations import format_line_range
from lrwr.app.presenters.text import StyledText, shorten_excerpt
from lrwr.cli.presenters.threads import show_web_citations, turn_as_json
from lrwr.cli.runtime.output import Output
from lrwr.core.model.turns import (
    AnswerToken,
    Turn,
    TurnDone,
    TurnEvent,
    TurnStageStarted,
)


class LiveAnswer:
    """Prints an answer piece by piece as it comes; `quiet` prints nothing of it."""

    def __init__(self, output: Output, *, quiet: bool) -> None:
        self._output = output
        self._quiet = quiet
        self._held = ""

    async def watch(self, events: AsyncGenerator[TurnEvent], note: str) -> TurnDone:
        """Show a turn to its end, `note` once it begins; return what it came to.

        An empty note is not shown.
        """
        try:
            event = await self._follow(events, note)
        finally:
            self.finish()
        if not isinstance(event, TurnDone):
            raise TypeError("a turn ends with what it came to")
        return event

    async def _follow(self, events: AsyncGenerator[TurnEvent], note: str) -> TurnEvent:
        """Show a turn as it comes; return what came last."""
        has_pending_note = True
        async with aclosing(events) as turn:
            async for event in turn:
                if has_pending_note and note:
                    self._output.story(note)
                    has_pending_note = False
                self.show(event)
        return event

    def show(self, event: TurnEvent) -> None:
        """Show what happens: the steps on a terminal, the words of the answer."""
        match event:
            case TurnStageStarted() if self._output.interactive and not self._quiet:
                self._output.story(StyledText(f"{event.text} …", "faint"))
            case AnswerToken() if not self._quiet:
                self._say(event.text)
            case _:
                pass

    def _say(self, text: str) -> None:
        """Show words of the answer, without the beginning of a link that is to come."""
        text = strip_links(self._held + text)
        unfinished_link = UNFINISHED_LINK.search(text)
        complete = text[: unfinished_link.start()] if unfinished_link else text
        self._held = text[len(complete) :]
        self._output.piece(complete)

    def finish(self) -> None:
        """Show what was held back, since nothing more comes."""
        if self._held:
            self._output.piece(self._held)
            self._held = ""

    def end(self, turn: Turn) -> None:
        """Show what the answer rests on, what there is to say of it, and what it cost.

        An answer without a language model is its own words: their places are enough.
        """
        answer = turn.output
        if answer.response_text and not answer.response_text.endswith("\n"):
            self._output.answer()
        if answer.citations:
            self._output.answer()
        for citation in answer.citations:
            self._output.answer(
                f"[{citation.number}] ",
                StyledText(
                    format_line_range(citation.document, citation.lines), "place"
                ),
                StyledText(
                    f"  “{shorten_excerpt(strip_links(citation.text))}”"
                    if answer.model
                    else "",
                    "faint",
                ),
            )
        if answer.web:
            self._output.answer()
        show_web_citations(answer, self._output)
        for note in describe_answer_notes(turn):
            self._output.story(StyledText(note, "faint"))
        if cost_text := describe_turn_cost(turn):
            self._output.story(StyledText(cost_text, "faint"))


def turn_done_as_json(turn_done: TurnDone) -> dict[str, object]:
    """Return the turn as a script may want it, with its conversation's id."""
    return {"thread": turn_done.thread, **turn_as_json(turn_done.turn)}
