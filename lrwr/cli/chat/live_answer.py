"""An answer as it comes, and what it rests on."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from lrwr.app.presenters.answers import OPENING, notes_on, spent_on, without_links
from lrwr.app.presenters.citations import place_of
from lrwr.app.presenters.text import excerpt
from lrwr.cli.presenters.threads import show_web, turn_as_json
from lrwr.cli.runtime.stream import Styled
from lrwr.core.model.turns import Staged, Token, Turn, TurnDone, TurnEvent

if TYPE_CHECKING:
    from lrwr.cli.runtime.output import Output


class Live:
    """Prints an answer piece by piece as it comes; `quiet` prints nothing of it."""

    def __init__(self, output: "Output", *, quiet: bool) -> None:
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
        unsaid = True
        async with aclosing(events) as turn:
            async for event in turn:
                if unsaid and note:
                    self._output.story(note)
                    unsaid = False
                self.show(event)
        return event

    def show(self, event: TurnEvent) -> None:
        """Show what happens: the steps on a terminal, the words of the answer."""
        match event:
            case Staged() if self._output.interactive and not self._quiet:
                self._output.story(Styled(f"{event.text} …", "faint"))
            case Token() if not self._quiet:
                self._say(event.text)
            case _:
                pass

    def _say(self, text: str) -> None:
        """Show words of the answer, without the beginning of a link that is to come."""
        text = without_links(self._held + text)
        begun = OPENING.search(text)
        shown = text[: begun.start()] if begun else text
        self._held = text[len(shown) :]
        self._output.piece(shown)

    def finish(self) -> None:
        """Show what was held back, since nothing more comes."""
        if self._held:
            self._output.piece(self._held)
            self._held = ""

    def end(self, turn: Turn) -> None:
        """Show what the answer rests on, what there is to say of it, and what it cost.

        An answer without a language model is its own words: their places are enough.
        """
        said = turn.output
        if said.response_text and not said.response_text.endswith("\n"):
            self._output.answer()
        if said.citations:
            self._output.answer()
        for citation in said.citations:
            self._output.answer(
                f"[{citation.number}] ",
                Styled(place_of(citation.document, citation.lines), "place"),
                Styled(
                    f"  “{excerpt(without_links(citation.text))}”"
                    if said.model
                    else "",
                    "faint",
                ),
            )
        if said.web:
            self._output.answer()
        show_web(said, self._output)
        for note in notes_on(turn):
            self._output.story(Styled(note, "faint"))
        if spent := spent_on(turn):
            self._output.story(Styled(spent, "faint"))


def told_as_json(done: TurnDone) -> dict[str, object]:
    """Return the turn as a script may want it, with its conversation's id."""
    return {"thread": done.thread, **turn_as_json(done.turn)}
