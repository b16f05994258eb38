"""An answer as it comes, and what it rests on."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from lrwr.cli.cards import excerpt
from lrwr.cli.conversations import notes_on, turn_as_json
from lrwr.cli.passages import place_of
from lrwr.cli.stream import Styled
from lrwr.core.model.turns import Staged, Token, Turn, TurnDone, TurnEvent

if TYPE_CHECKING:
    from lrwr.cli.output import Output


class Live:
    """Prints an answer piece by piece as it comes; `quiet` prints nothing of it."""

    def __init__(self, output: "Output", *, quiet: bool) -> None:
        self._output = output
        self._quiet = quiet

    async def watch(self, events: AsyncGenerator[TurnEvent], note: str) -> TurnDone:
        """Show a turn to its end, `note` once it begins; return what it came to."""
        unsaid = True
        async with aclosing(events) as turn:
            async for event in turn:
                if unsaid:
                    self._output.story(note)
                    unsaid = False
                self.show(event)
        if not isinstance(event, TurnDone):
            raise TypeError("a turn ends with what it came to")
        return event

    def show(self, event: TurnEvent) -> None:
        """Show what happens: the steps on a terminal, the words of the answer."""
        match event:
            case Staged() if self._output.interactive and not self._quiet:
                self._output.story(Styled(f"{event.text} …", "faint"))
            case Token() if not self._quiet:
                self._output.piece(event.text)
            case _:
                pass

    def end(self, turn: Turn) -> None:
        """Show what the answer rests on, and what there is to say of it.

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
                Styled(f"  “{excerpt(citation.text)}”" if said.model else "", "faint"),
            )
        for note in notes_on(turn):
            self._output.story(Styled(note, "faint"))


def told_as_json(done: TurnDone) -> dict[str, object]:
    """Return the turn as a script may want it, with its conversation's id."""
    return {"thread": done.thread, **turn_as_json(done.turn)}
