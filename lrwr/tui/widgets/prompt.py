"""The prompt: input of questions and commands, with suggestions and hints."""

from collections.abc import Sequence
from typing import ClassVar, assert_never

from textual import events, on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static, TextArea
from textual.widgets.option_list import Option

from lrwr.app.presenters.text import LONGEST, describe_question_length, sanitize_text
from lrwr.tui.actions.keys_and_commands import PROMPT_ACTIONS
from lrwr.tui.input.prompt import (
    CompletionContext,
    PromptHistory,
    Suggestion,
    TypedCommand,
    TypedQuestion,
    UnclearInput,
    is_complete_command,
    list_commands,
    parse_prompt_input,
    suggest_completions,
)


class SuggestionList(OptionList, can_focus=False):
    """The completions above the prompt.

    The prompt's keys move through it; a click accepts a completion.
    """

    DEFAULT_CSS: ClassVar[str] = """
    SuggestionList {
        height: auto;
        max-height: 8;
        margin: 0 1;
        padding: 0 1;
        border: none;
        background: $surface;
        scrollbar-size-vertical: 1;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """

    class Accepted(Message):
        """Posted when a suggestion is clicked; `index` counts from 0."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self) -> None:
        super().__init__(id="suggestions", markup=False)
        self.display = False
        self._shown: tuple[Suggestion, ...] = ()

    def show(self, suggestions: tuple[Suggestion, ...], chosen: int | None) -> None:
        """Show `suggestions`, and highlight the one at index `chosen`, from 0.

        If `chosen` is None, none is highlighted. Without suggestions the list is
        hidden.
        """
        if suggestions != self._shown:
            self._shown = suggestions
            self.set_options(_build_options(suggestions))
            self.display = bool(suggestions)
        self.highlighted = chosen

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Accepted(event.option_index))


def _build_options(suggestions: Sequence[Suggestion]) -> list[Option]:
    labels = [" ".join(sanitize_text(s.label).split()) for s in suggestions]
    width = max((len(label) for label in labels), default=0)
    return [
        Option(
            Content.assemble(
                (label.ljust(min(width, 38)), "bold"),
                "  ",
                (sanitize_text(suggestion.help), "dim"),
            )
        )
        for label, suggestion in zip(labels, suggestions, strict=True)
    ]


OWN_KEYS_IN_PROMPT = frozenset({"f6", "f7"})
"""Default keys of Textual's text area that the chat screen uses itself."""
ANSWER_RUNNING = (
    "An answer is still being written. Press Escape to stop it; your text stays here."
)


class PromptInputArea(TextArea, inherit_bindings=False):
    """The question input: Enter sends, Alt+Enter inserts a line break.

    While an answer is streamed, `busy` is true: a question is not sent and a hint
    explains why. It is not queued either, because the answer may change the question.
    Commands always run.

    The chat screen resets `busy` when an answer ends, and sets `completions`. Actions
    run through `call_later`, after the keys typed before them.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            binding
            for binding in TextArea.BINDINGS
            if getattr(binding, "key", "") not in OWN_KEYS_IN_PROMPT
        ),
        *(action.binding for action in PROMPT_ACTIONS),
        Binding("escape", "close", "Close", show=False),
    ]

    class Sent(Message):
        """Posted when the user sends the question `text`."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Command(Message):
        """Posted when the user sends the command `name`, without its slash.

        `words` is the argument, empty if there is none.
        """

        def __init__(self, name: str, words: str) -> None:
            super().__init__()
            self.name = name
            self.words = words

    class Hint(Message):
        """Asks to show the hint `line` above the prompt; an empty line hides it."""

        def __init__(self, line: str) -> None:
            super().__init__()
            self.line = line

    class SuggestionsChanged(Message):
        """Posted when the suggestions change.

        `chosen` is the index, from 0, of the one that Enter accepts; None for none.
        """

        def __init__(
            self, suggestions: tuple[Suggestion, ...], chosen: int | None
        ) -> None:
            super().__init__()
            self.suggestions = suggestions
            self.chosen = chosen

    class CompletionsNeeded(Message):
        """Posted when a command is begun: the screen then updates `completions`."""

    def __init__(self) -> None:
        super().__init__(
            id="prompt",
            highlight_cursor_line=False,
            placeholder="Ask your manuscript…  (F1 for help, / for commands)",
        )
        self.question_history = PromptHistory()
        self.busy = False
        self._completions = CompletionContext()
        self._suggestions: tuple[Suggestion, ...] = ()
        self._chosen: int | None = None
        self._refused: str | None = None
        self._recalled: tuple[str, tuple[int, int]] | None = None

    @property
    def completions(self) -> CompletionContext:
        """The values that complete command arguments, such as names of characters."""
        return self._completions

    @completions.setter
    def completions(self, context: CompletionContext) -> None:
        self._completions = context
        if self._suggestions or self.text.startswith("/"):
            self._suggest()

    @on(TextArea.Changed)
    def _changed(self) -> None:
        if self._recalled and self.text != self._recalled[0]:
            self._recalled = None
        if self.text != self._refused:  # else the reason stays
            self._refused = None
            hint = describe_question_length(len(self.text.strip()))
            self.post_message(self.Hint(hint))
        if self.text == "/":
            self.post_message(self.CompletionsNeeded())
        self._suggest()

    def action_send(self) -> None:
        """Accept the highlighted suggestion; if there is none, send the input."""
        self.call_later(self._send)

    def action_newline(self) -> None:
        """Insert a line break at the cursor."""
        self.call_later(self.insert, "\n")

    def action_complete(self) -> None:
        """Insert the highlighted suggestion, or else the first.

        Without suggestions, move the focus as Tab does.
        """
        if not self.text.startswith("/") or not self._suggestions:
            raise SkipAction
        self.call_later(self._complete)

    def action_close(self) -> None:
        """Hide the suggestions; if there are none, let the screen handle Escape."""
        if not self._suggestions:
            raise SkipAction
        self._set_suggestions((), None)

    def action_older(self) -> None:
        """Show the next older text of the history in the prompt, if any."""
        self._recall(self.question_history.older(self.text), first_line=True)

    def action_newer(self) -> None:
        """Show the next newer text of the history in the prompt, at last the draft."""
        self._recall(self.question_history.newer(self.text), first_line=False)

    def action_cursor_up(self, select: bool = False) -> None:
        """Move the cursor up; or move up in the suggestions, if there are any.

        On the first line, show the next older text of the history instead. With
        `select`, always extend the selection of text.
        """
        if select or not (self._suggestions or self._on_edge(first=True)):
            super().action_cursor_up(select)
        elif self._suggestions:
            self._choose(-1)
        else:
            self.action_older()

    def action_cursor_down(self, select: bool = False) -> None:
        """Move the cursor down; or move down in the suggestions, if there are any.

        On the last line, show the next newer text of the history instead. With
        `select`, always extend the selection of text.
        """
        if select or not (self._suggestions or self._on_edge(first=False)):
            super().action_cursor_down(select)
        elif self._suggestions:
            self._choose(1)
        else:
            self.action_newer()

    def accept_suggestion(self, index: int) -> None:
        """Insert the suggestion at `index`, from 0; if it is complete, send it.

        Nothing happens if there is no such suggestion.
        """
        if index >= len(self._suggestions):
            return
        suggestion = self._suggestions[index]
        self._write(suggestion.text)
        if suggestion.is_complete:
            self._send()

    async def _on_paste(self, event: events.Paste) -> None:
        """Insert pasted text with its line breaks, without control characters."""
        event.prevent_default()
        event.stop()
        text = sanitize_text(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        result = self._replace_via_keyboard(text, *self.selection)
        if result is not None:
            self.move_cursor(result.end_location)
            self.focus()

    def _send(self) -> None:
        if self._accept_chosen():
            return
        typed = parse_prompt_input(self.text, list_commands())
        match typed:
            case TypedQuestion(""):
                pass
            case TypedQuestion(text) if len(text) > LONGEST:
                self.post_message(self.Hint(describe_question_length(len(text))))
            case TypedQuestion() if self.busy:
                self.post_message(self.Hint(ANSWER_RUNNING))
            case TypedQuestion(text):
                self.busy = (
                    True  # at once: the next message may be in the queue already
                )
                self._clear_and_post(self.Sent(text))
            case TypedCommand(name, words):
                self._clear_and_post(self.Command(name, words))
            case UnclearInput(why):
                self._refused = self.text
                self.post_message(self.Hint(why))
            case _:
                assert_never(typed)

    def _accept_chosen(self) -> bool:
        """Accept the chosen suggestion; return whether there was one."""
        self._suggest()
        if self._chosen is None:
            return False
        self.accept_suggestion(self._chosen)
        return True

    def _clear_and_post(self, message: Message) -> None:
        self.question_history.add(self.text)
        self._recalled = None
        self.clear()
        self.post_message(message)

    def _complete(self) -> None:
        if self._suggestions:
            self._write(self._suggestions[self._chosen or 0].text)

    def _write(self, text: str) -> None:
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end)
        self._suggest()

    def _recall(self, text: str | None, *, first_line: bool) -> None:
        """Show a text of the history, with the cursor where the same key continues."""
        if text is None:
            return
        self.replace(text, (0, 0), self.document.end)
        end = self.document.end
        place = (0, len(text.split("\n")[0])) if first_line else end
        self.move_cursor(place)
        self._recalled = (text, place)
        self._set_suggestions((), None)

    def _on_edge(self, *, first: bool) -> bool:
        """Return whether the cursor keys should leave the text for the history."""
        if self._recalled == (self.text, self.cursor_location):
            return True
        if first:
            return self.navigator.is_first_wrapped_line(self.cursor_location)
        return self.navigator.is_last_wrapped_line(self.cursor_location)

    def _suggest(self) -> None:
        """Update the suggestions; there are none for a recalled text."""
        is_recalled = self._recalled and self._recalled[0] == self.text
        suggestions = (
            () if is_recalled else suggest_completions(self.text, self._completions)
        )
        complete = is_complete_command(self.text, self._completions)
        if suggestions != self._suggestions or (complete and self._chosen is not None):
            typed = self.text.partition(" ")[2].strip() or " " not in self.text
            first = 0 if suggestions and typed and not complete else None
            self._set_suggestions(suggestions, first)

    def _set_suggestions(
        self, suggestions: tuple[Suggestion, ...], chosen: int | None
    ) -> None:
        self._suggestions, self._chosen = suggestions, chosen
        self.post_message(self.SuggestionsChanged(suggestions, chosen))

    def _choose(self, step: int) -> None:
        last = len(self._suggestions) - 1
        current = self._chosen if self._chosen is not None else (-1 if step > 0 else 0)
        chosen = (current + step) % (last + 1)
        self._set_suggestions(self._suggestions, chosen)


class PromptBox(Vertical):
    """The prompt, with suggestions and a hint above it."""

    DEFAULT_CSS: ClassVar[str] = """
    PromptBox {
        height: auto;
    }
    PromptBox #prompt-hint {
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
        """Lay out suggestions, hint and question input."""
        yield SuggestionList()
        hint = Static(id="prompt-hint", markup=False)
        hint.display = False
        yield hint
        yield PromptInputArea()

    @on(PromptInputArea.Hint)
    def _show_hint(self, event: PromptInputArea.Hint) -> None:
        event.stop()
        hint = self.query_one("#prompt-hint", Static)
        hint.update(sanitize_text(event.line))
        hint.display = bool(event.line)

    @on(PromptInputArea.SuggestionsChanged)
    def _show_suggestions(self, event: PromptInputArea.SuggestionsChanged) -> None:
        event.stop()
        self.query_one(SuggestionList).show(event.suggestions, event.chosen)

    @on(SuggestionList.Accepted)
    def _suggestion_accepted(self, event: SuggestionList.Accepted) -> None:
        event.stop()
        prompt = self.query_one(PromptInputArea)
        prompt.focus()
        prompt.call_later(
            prompt.accept_suggestion, event.index
        )  # what it posts is its own
