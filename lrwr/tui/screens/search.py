"""The search screen: passages as you type, with filters."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import work
from textual.binding import BindingType
from textual.widgets import Input

from lrwr.app.presenters.citations import (
    describe_missing_words,
    describe_passage_chapter,
    describe_passage_remark,
    format_line_range,
    highlight_words,
)
from lrwr.app.presenters.text import (
    StyledLine,
    StyledText,
    format_horizon,
    sanitize_line,
    shorten_excerpt,
)
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import DocumentType
from lrwr.core.model.text import split_highlighted_words
from lrwr.core.retrieval.query_words import extract_search_words, has_search_words
from lrwr.core.retrieval.search_model import SearchResult
from lrwr.tui.actions.screen_keys import OPEN_ROW_ACTION, SEARCH_ACTIONS
from lrwr.tui.queries.search import (
    SearchChoice,
    passage_evidence,
    search_passages,
    split_chapters,
)
from lrwr.tui.room import RoomScreen
from lrwr.tui.screens.dialogs import TextInputScreen
from lrwr.tui.screens.master_detail import MasterDetailScreen
from lrwr.tui.screens.scope import CharactersScreen, HorizonScreen
from lrwr.tui.widgets.lists import LineList, ListRow, RowList

TYPES = (None, *DocumentType)
"""The filters by type of document, in the order in which a key selects them."""

ALL_CHAPTERS = "all"
"""What the user types to search all chapters again."""

CHARACTERS_BEFORE = 16
"""Characters of an excerpt before the first match, at least."""


class SearchScreen(MasterDetailScreen[None]):
    """Lists the passages that match the typed words, best first.

    While the user types, only words are compared; Enter searches by meaning, too.
    `words` fill the input.
    """

    DEFAULT_CSS: ClassVar[str] = """
    SearchScreen.-beside #master-detail-rows { width: 50%; }
    """
    EXTRA_DELAY: ClassVar[float] = 0.1
    BINDINGS: ClassVar[list[BindingType]] = [
        OPEN_ROW_ACTION.binding,
        *(action.binding for action in SEARCH_ACTIONS),
    ]

    def __init__(self, room: RoomScreen, words: str = "") -> None:
        super().__init__(room, "Search", words=words)
        self.hint = "Type words, storm ch5-ch8 for some chapters; Enter adds meaning…"
        self.nothing = "Type the words to search for."
        self._choice = SearchChoice(as_of=room.scope.as_of)
        self._result = SearchResult(())
        self._searched = ""

    async def rows(self) -> Sequence[ListRow]:
        """Show the filters; there are no rows before something is typed."""
        self._show_choice()
        return ()

    def reload(self) -> None:
        """Search again, after the library has changed."""
        text = self.query_one(Input).value.strip()
        if text and self._searched == text:
            self._search_fully(text)
        elif text:
            self._search_extra()

    def typed(self) -> None:
        """Leave the earlier results until the new ones arrive."""
        self._searched = ""

    async def extra_rows(self, text: str) -> Sequence[ListRow]:
        """Return the passages that contain words of `text`.

        A text of function words such as "the" is searched only on Enter: they are in
        nearly every passage.
        """
        if not has_search_words(split_chapters(text)[0]):
            self._result = SearchResult(())
            self.find()
            return ()
        rows = await self._search(text, full=False)
        self._show_choice()
        return rows

    def find(self, extra: Sequence[ListRow] = (), *, at: str = "") -> None:
        """Show `extra`, the passages found last."""
        self.query_one(RowList).show(extra, at=at)
        if not extra:
            text = self.query_one(Input).value.strip()
            message = f"No passage found for “{text}”." if text else self.nothing
            words, chapters = split_chapters(text)
            if chapters and not words:
                message = f"Type the words to search for in {chapters}."
            elif text and self._searched != text and not has_search_words(words):
                message = f"Press Enter to search for “{text}”, or type another word."
            self.query_one(LineList).show([StyledLine((StyledText(message, "faint"),))])

    async def lines(self, key: str) -> Iterable[StyledLine]:
        """Return the passage in the row `key`, with the searched words marked."""
        passage = self._result.passages[int(key)]
        evidence = passage_evidence(passage)
        words = extract_search_words(split_chapters(self.query_one(Input).value)[0])
        place = sanitize_line(format_line_range(evidence.document, evidence.lines))
        remark = describe_passage_remark(passage, self._result)
        heading = (
            StyledText(place, "place"),
            f"  {describe_passage_chapter(passage)}{remark}",
        )
        paragraphs = (p for p in evidence.text.split("\n") if p.strip())
        return [
            StyledLine(heading, 0, evidence),
            *(
                StyledLine(tuple(highlight_words(paragraph, words)), 2, evidence)
                for paragraph in paragraphs
            ),
        ]

    def submit(self) -> None:
        """Search by words and meaning; after that, go to the passage."""
        text = self.query_one(Input).value.strip()
        if text and self._searched != text and split_chapters(text)[0]:
            self._search_fully(text)
        elif self.key:
            self.query_one(LineList).focus()

    @work(exclusive=True, group="extra", exit_on_error=False)
    async def _search_fully(self, text: str) -> None:
        self.set_note("Searching by meaning…")
        rows = await self.run_guarded(self._search(text, full=True))
        if rows is not None:
            self._searched = text
            self._show_choice()
            self.find(rows)

    async def _search(self, text: str, *, full: bool) -> list[ListRow]:
        choice = self._choice
        self._result = await self.room.room.service_thread.run(
            lambda workspace: search_passages(workspace, text, choice, full=full)
        )
        if not self._result.passages:
            self.find()
        words = extract_search_words(split_chapters(text)[0])
        return [
            ListRow(
                str(number),
                " ".join(
                    (
                        _name_place(passage),
                        *_bracket(describe_passage_remark(passage, self._result)),
                        _cut_at_match(_cut_heading(passage), words),
                    )
                ),
            )
            for number, passage in enumerate(self._result.passages)
        ]

    def _show_choice(self) -> None:
        """Show the filters, and which words were not found, below the lists."""
        choice = self._choice
        typed_chapters = split_chapters(self.query_one(Input).value)[1]
        phrases = [
            f"type: {choice.type or 'all'}",
            f"character: {choice.character or 'all'}",
            f"up to: {format_horizon(choice.as_of) if choice.as_of else 'the end'}",
            f"chapters: {typed_chapters or choice.chapters or 'all'}",
        ]
        missing = describe_missing_words(self._result, choice.as_of or None)
        self.set_note(" · ".join([*phrases, *missing]))

    def _choose(self, choice: SearchChoice) -> None:
        self._choice, self._searched = choice, ""
        self._show_choice()
        text = self.query_one(Input).value.strip()
        if split_chapters(text)[0]:
            self._search_fully(text)

    def action_type(self) -> None:
        """Search the next type of documents."""
        following = (*TYPES[1:], TYPES[0])
        kind = following[TYPES.index(self._choice.type)]
        self._choose(replace(self._choice, type=kind))

    @work(exclusive=True, group="choose", exit_on_error=False)
    async def action_character(self) -> None:
        """Choose the character that passages must mention."""
        chosen = await self.app.push_screen_wait(CharactersScreen(self.room))
        if chosen is not None:
            self._choose(replace(self._choice, character=chosen.name))

    @work(exclusive=True, group="choose", exit_on_error=False)
    async def action_horizon(self) -> None:
        """Choose up to which chapter passages are searched."""
        as_of = await self.app.push_screen_wait(HorizonScreen(self.room))
        if as_of is not None:
            self._choose(replace(self._choice, as_of=as_of))

    @work(exclusive=True, group="choose", exit_on_error=False)
    async def action_chapters(self) -> None:
        """Ask which chapters are searched."""
        dialog = TextInputScreen(
            "Search which chapters?",
            value=self._choice.chapters or ALL_CHAPTERS,
            is_selected=True,
            note="One as ch7, or several as ch5-ch8; all for the whole library.",
        )
        chapters = await self.app.push_screen_wait(dialog)
        if chapters is not None:
            is_all = chapters.casefold() == ALL_CHAPTERS
            self._choose(replace(self._choice, chapters="" if is_all else chapters))


def _name_place(passage: Passage) -> str:
    """Return the chapter of a passage as the user types it, or the type of a note."""
    return str(passage.type) if passage.chapter is None else f"ch{passage.chapter}"


def _bracket(remark: str) -> list[str]:
    return [f"({', '.join(remark.strip().split('  '))})"] if remark else []


def _cut_heading(passage: Passage) -> str:
    """Return the text of a passage without the heading that it begins with."""
    heading, _, text = passage.chunk.text.partition("\n")
    return text if heading.startswith("#") and text.strip() else passage.chunk.text


def _cut_at_match(text: str, words: Sequence[str]) -> str:
    """Return an excerpt of `text` on one line, from shortly before the first match."""
    line = " ".join(text.split())
    pieces = split_highlighted_words(line, words)
    before = "" if not pieces or pieces[0][1] or len(pieces) == 1 else pieces[0][0]
    start = line.rfind(" ", 0, max(0, len(before) - CHARACTERS_BEFORE)) + 1
    return shorten_excerpt(f"… {line[start:]}" if start else line)
