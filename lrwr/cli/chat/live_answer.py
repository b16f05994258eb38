"""Prints an answer while it is streamed, then its citations and remarks."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from lrwr.app.presenters.answers import (
    UNFINISHED_LINK,
    describe_answer_notes,
    describe_turn_cost,
    strip_links,
)
from lrwr.app.presenters.citations import format_line_range
from lrwr.app.presenters.text import StyledText, shorten_excerpt
from lrwr.app.presenters.threads import render_web_citations, turn_as_json
from lrwr.cli.runtime.output import Output
from lrwr.core.model.turns import (
    AnswerToken,
    Citation,
    Turn,
    TurnDone,
    TurnEvent,
    TurnStageStarted,
)


class LiveAnswer:
    """Prints one answer as it is streamed, then its citations.

    With `quiet`, neither stages nor the text of the answer are printed. Stages are
    printed if stdout is a terminal, or with `has_steps`: those of a companion's answer.
    """

    def __init__(self, output: Output, *, quiet: bool, has_steps: bool = False) -> None:
        self._output = output
        self._quiet = quiet
        self._shows_stages = (output.interactive or has_steps) and not quiet
        self._held = ""

    async def watch(self, events: AsyncGenerator[TurnEvent], note: str) -> TurnDone:
        """Print the events of a turn until it ends, and return the last one.

        `note` is a sentence printed to stderr when the first event arrives, unless it
        is empty.

        Raises:
            TypeError: The last event is not `TurnDone`.
        """
        try:
            event = await self._follow(events, note)
        finally:
            self.finish()
        if not isinstance(event, TurnDone):
            raise TypeError("the last event of a turn must be TurnDone")
        return event

    async def _follow(self, events: AsyncGenerator[TurnEvent], note: str) -> TurnEvent:
        has_pending_note = True
        async with aclosing(events) as turn:
            async for event in turn:
                if has_pending_note and note:
                    self._output.info(note)
                    has_pending_note = False
                self.show(event)
        return event

    def show(self, event: TurnEvent) -> None:
        """Print text of the answer to stdout, and stages to stderr.

        The beginning of a wiki link is held back until the link is complete.
        """
        match event:
            case TurnStageStarted() if self._shows_stages:
                self._output.info(StyledText(f"{event.text} …", "faint"))
            case AnswerToken() if not self._quiet:
                self._say(event.text)
            case _:
                pass

    def _say(self, text: str) -> None:
        """Print text of the answer; hold back a wiki link that is not complete yet."""
        text = strip_links(self._held + text)
        unfinished_link = UNFINISHED_LINK.search(text)
        complete = text[: unfinished_link.start()] if unfinished_link else text
        self._held = text[len(complete) :]
        self._output.write_piece(complete)

    def finish(self) -> None:
        """Print the text that was held back: an incomplete link, the last word."""
        self._output.write_piece(self._held)
        self._held = ""
        self._output.end_pieces()

    def end(self, turn: Turn) -> None:
        """Print citations, web pages and remarks of a turn, and its cost to stderr.

        Without a language model the answer quotes what it cites, so citations show only
        locations, except passages that may answer: they are shown as a search does.
        """
        answer = turn.output
        if answer.response_text and not answer.response_text.endswith("\n"):
            self._output.answer()
        if answer.citations:
            self._output.answer()
        for citation in answer.citations:
            self._print_citation(citation, quoted=bool(answer.model))
        if answer.web:
            self._output.answer()
            self._output.show(render_web_citations(answer))
        for note in describe_answer_notes(turn):
            self._output.answer(StyledText(note.text, "faint"))
        if cost_text := describe_turn_cost(turn):
            self._output.info(StyledText(cost_text, "faint"))

    def _print_citation(self, citation: Citation, *, quoted: bool) -> None:
        """Print the location of a citation, with the beginning of its words if
        `quoted`, or with the whole passage if one of its sentences fits best.
        """
        words = f"  “{shorten_excerpt(strip_links(citation.text))}”" if quoted else ""
        self._output.answer(
            f"[{citation.number}] ",
            StyledText(format_line_range(citation.document, citation.lines), "place"),
            StyledText(words, "faint"),
        )
        if (best := citation.best) is not None:
            passage = (
                strip_links(citation.text[: best.start]),
                StyledText(strip_links(citation.text[best.start : best.end]), "strong"),
                strip_links(citation.text[best.end :]),
            )
            self._output.answer(*passage, indent=4)
            self._output.answer()


def turn_done_as_json(
    turn_done: TurnDone, warnings: Sequence[str] = ()
) -> dict[str, object]:
    """Return the finished turn as JSON: the keys of `turn_as_json`, and `thread`.

    `thread` is the id of the turn's thread. The `warnings` are added to the remarks.
    """
    turn = turn_as_json(turn_done.turn)
    if warnings:
        remarks = (*turn_done.turn.output.remarks, *warnings)
        turn.update(warned=True, remarks=remarks)
    return {"thread": turn_done.thread, **turn}
