"""Where the writer asks."""

from typing import ClassVar, assert_never

from textual import events, on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static, TextArea

from lrwr.app.presenters.answers import LONGEST, describe_question_length
from lrwr.app.presenters.text import sanitize_text
from lrwr.tui.actions.table import PROMPT_ACTIONS
from lrwr.tui.input.commands import (
    CompletionContext,
    Suggestion,
    is_complete_command,
    list_commands,
    suggest_completions,
)
from lrwr.tui.input.history import PromptHistory
from lrwr.tui.input.parser import (
    TypedCommand,
    TypedQuestion,
    UnclearInput,
    parse_prompt_input,
)
from lrwr.tui.widgets.suggestions import SuggestionList

OWN_KEYS_IN_PROMPT = frozenset({"f6", "f7"})
"""Keys that the room needs for something else than a text does."""

UNDER_WAY = "An answer is under way; Escape stops it. What you wrote stays here."


class PromptInputArea(TextArea, inherit_bindings=False):
    """A few lines to write in: Enter asks, Alt+Enter begins a new line.

    While an answer comes, a question stays where it is, and a line says so. It is not
    sent by itself later: what one reads meanwhile may change what one wants to ask, and
    an answer may cost something. Commands are done at once.

    The room takes `busy` away when an answer is over, and sets `known` to what can follow
    commands. Keys that do something wait their turn behind the letters typed before
    them.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            one
            for one in TextArea.BINDINGS
            if getattr(one, "key", "") not in OWN_KEYS_IN_PROMPT
        ),
        *(action.binding for action in PROMPT_ACTIONS),
        Binding("escape", "close", "Close", show=False),
    ]

    class Sent(Message):
        """The writer has asked."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Command(Message):
        """The writer wants something done: a command's name, and what follows it."""

        def __init__(self, name: str, words: str) -> None:
            super().__init__()
            self.name = name
            self.words = words

    class Told(Message):
        """There is a line to say; an empty one takes the last away."""

        def __init__(self, line: str) -> None:
            super().__init__()
            self.line = line

    class Offered(Message):
        """A command may go on so; `chosen` is the one that Enter takes, None for none."""

        def __init__(self, offers: tuple[Suggestion, ...], chosen: int | None) -> None:
            super().__init__()
            self.offers = offers
            self.chosen = chosen

    class Wanting(Message):
        """A command begins: what can follow it will be wanted in `known`."""

    def __init__(self) -> None:
        super().__init__(
            id="prompt",
            highlight_cursor_line=False,
            placeholder="Ask your manuscript …  (F1 helps, / is a command)",
        )
        self.past = PromptHistory()
        self.busy = False
        self._known = CompletionContext()
        self._offers: tuple[Suggestion, ...] = ()
        self._chosen: int | None = None
        self._came_back: tuple[str, tuple[int, int]] | None = None

    @property
    def known(self) -> CompletionContext:
        """What can follow commands."""
        return self._known

    @known.setter
    def known(self, known: CompletionContext) -> None:
        self._known = known
        if self._offers or self.text.startswith("/"):
            self._offer()

    @on(TextArea.Changed)
    def _changed(self) -> None:
        if self._came_back and self.text != self._came_back[0]:
            self._came_back = None
        self.post_message(self.Told(describe_question_length(len(self.text.strip()))))
        if self.text == "/":
            self.post_message(self.Wanting())
        self._offer()

    def action_send(self) -> None:
        """Ask what is written, if anything is, or do what is commanded."""
        self.call_later(self._send)

    def action_newline(self) -> None:
        """Begin a new line."""
        self.call_later(self.insert, "\n")

    def action_complete(self) -> None:
        """Complete a command; without one, go on to what can be gone on to."""
        if not self.text.startswith("/") or not self._offers:
            raise SkipAction
        self.call_later(self._complete)

    def action_close(self) -> None:
        """Take away what is offered; Escape does something else where nothing is."""
        if not self._offers:
            raise SkipAction
        self._show_offers((), None)

    def action_older(self) -> None:
        """Bring back what was asked before."""
        self._bring(self.past.older(self.text), first_line=True)

    def action_newer(self) -> None:
        """Go on to what was asked after that, or to the draft."""
        self._bring(self.past.newer(self.text), first_line=False)

    def action_cursor_up(self, select: bool = False) -> None:
        """Go up: among what is offered, in the text, or from there to older questions."""
        if select or not (self._offers or self._on_edge(first=True)):
            super().action_cursor_up(select)
        elif self._offers:
            self._choose(-1)
        else:
            self.action_older()

    def action_cursor_down(self, select: bool = False) -> None:
        """Go down: among what is offered, in the text, or from there to newer ones."""
        if select or not (self._offers or self._on_edge(first=False)):
            super().action_cursor_down(select)
        elif self._offers:
            self._choose(1)
        else:
            self.action_newer()

    def take(self, index: int) -> None:
        """Go on as was offered; what is a whole command then is done."""
        if index >= len(self._offers):
            return
        offer = self._offers[index]
        self._write(offer.text)
        if offer.whole:
            self._send()

    async def _on_paste(self, event: events.Paste) -> None:
        """Take a text as it is, lines and all, without what could steer a terminal."""
        event.prevent_default()
        event.stop()
        text = sanitize_text(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        result = self._replace_via_keyboard(text, *self.selection)
        if result is not None:
            self.move_cursor(result.end_location)
            self.focus()

    def _send(self) -> None:
        if self._taken():
            return
        typed = parse_prompt_input(self.text, list_commands())
        match typed:
            case TypedQuestion(""):
                pass
            case TypedQuestion(text) if len(text) > LONGEST:
                self.post_message(self.Told(describe_question_length(len(text))))
            case TypedQuestion() if self.busy:
                self.post_message(self.Told(UNDER_WAY))
            case TypedQuestion(text):
                self.busy = True  # at once: what comes next may be in the queue already
                self._gone(self.Sent(text))
            case TypedCommand(name, words):
                self._gone(self.Command(name, words))
            case UnclearInput(why):
                self.post_message(self.Told(why))
            case _:
                assert_never(typed)

    def _taken(self) -> bool:
        """Take what is chosen of what is offered, if anything is."""
        self._offer()
        if self._chosen is None:
            return False
        self.take(self._chosen)
        return True

    def _gone(self, message: Message) -> None:
        self.past.add(self.text)
        self._came_back = None
        self.clear()
        self.post_message(message)

    def _complete(self) -> None:
        if self._offers:
            self._write(self._offers[self._chosen or 0].text)

    def _write(self, text: str) -> None:
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end)
        self._offer()

    def _bring(self, text: str | None, *, first_line: bool) -> None:
        """Show a text of the history, so that the same key goes on from there."""
        if text is None:
            return
        self.replace(text, (0, 0), self.document.end)
        end = self.document.end
        place = (0, len(text.split("\n")[0])) if first_line else end
        self.move_cursor(place)
        self._came_back = (text, place)
        self._show_offers((), None)

    def _on_edge(self, *, first: bool) -> bool:
        """Say whether there is no line further up, or down; all of what came back is."""
        if self._came_back == (self.text, self.cursor_location):
            return True
        if first:
            return self.navigator.is_first_wrapped_line(self.cursor_location)
        return self.navigator.is_last_wrapped_line(self.cursor_location)

    def _offer(self) -> None:
        """Offer how a command may go on, what came back out of the history excepted."""
        quiet = self._came_back and self._came_back[0] == self.text
        found = () if quiet else suggest_completions(self.text, self._known)
        whole = is_complete_command(self.text, self._known)
        if found != self._offers or (whole and self._chosen is not None):
            begun = self.text.partition(" ")[2].strip() or " " not in self.text
            self._show_offers(found, 0 if found and begun and not whole else None)

    def _show_offers(self, found: tuple[Suggestion, ...], chosen: int | None) -> None:
        self._offers, self._chosen = found, chosen
        self.post_message(self.Offered(found, chosen))

    def _choose(self, step: int) -> None:
        last = len(self._offers) - 1
        before = self._chosen if self._chosen is not None else (-1 if step > 0 else 0)
        chosen = (before + step) % (last + 1)
        self._show_offers(self._offers, chosen)


class PromptBox(Vertical):
    """The prompt, and above it what can go on and what there is to say of it."""

    DEFAULT_CSS: ClassVar[str] = """
    PromptBox {
        height: auto;
    }
    PromptBox #prompt-told {
        height: auto;
        max-height: 3;
        padding: 0 2;
        color: $text-warning;
    }
    PromptBox PromptInputArea {
        height: auto;
        min-height: 3;
        max-height: 10;
    }
    """

    def compose(self) -> ComposeResult:
        """Lay out the prompt and what belongs to it."""
        yield SuggestionList()
        told = Static(id="prompt-told", markup=False)
        told.display = False
        yield told
        yield PromptInputArea()

    @on(PromptInputArea.Told)
    def _told(self, event: PromptInputArea.Told) -> None:
        event.stop()
        told = self.query_one("#prompt-told", Static)
        told.update(sanitize_text(event.line))
        told.display = bool(event.line)

    @on(PromptInputArea.Offered)
    def _offered(self, event: PromptInputArea.Offered) -> None:
        event.stop()
        self.query_one(SuggestionList).show(event.offers, event.chosen)

    @on(SuggestionList.Taken)
    def _taken(self, event: SuggestionList.Taken) -> None:
        event.stop()
        prompt = self.query_one(PromptInputArea)
        prompt.focus()
        prompt.call_later(prompt.take, event.index)  # what it posts is its own
