"""The actions of the screens over the chat screen: lists, reader, dialogs."""

from lrwr.tui.actions.keys_and_commands import Action

CLOSE_ACTION = Action(
    "list.close",
    "escape",
    "Close",
    "Close this screen",
    "close",
    is_shown_in_footer=True,
)
"""Closes a modal screen."""

HELP_ACTION = Action(
    "list.help", "question_mark,f1", "Help", "Show the keys of this screen", "app.help",
    is_priority=False,
)  # fmt: skip
"""Opens the help from any other screen; where text is typed, only F1 does."""

LIST_ACTIONS: tuple[Action, ...] = (
    Action(
        "list.choose", "enter", "Choose",
        "Choose the row, or open the file at the line's location", "enter",
        is_shown_in_footer=True,
    ),
    Action(
        "list.read", "alt+m", "Reader", "Show the line's location in the reader", "read",
        is_shown_in_footer=True,
    ),
    Action("list.up", "up", "Up", "Go to the previous row", "step(-1)"),
    Action("list.down", "down", "Down", "Go to the next row", "step(1)"),
    Action("list.back", "pageup", "Page up", "Go up a page", "page(-1)"),
    Action("list.on", "pagedown", "Page down", "Go down a page", "page(1)"),
    Action(
        "list.rows", "left", "To the list", "Return from the details to the list",
        "back", is_priority=False,
    ),
    HELP_ACTION,
    CLOSE_ACTION,
)  # fmt: skip
"""Actions of every list screen."""

ANSWER_GAP_ACTION = Action(
    "list.choose", "enter", "Answer",
    "Answer the question, or open the file at the line's location", "enter",
    is_shown_in_footer=True,
)  # fmt: skip
"""Enter on an open question."""

OPEN_THREAD_ACTION = Action(
    "list.choose",
    "enter",
    "Open",
    "Open this thread",
    "enter",
    is_shown_in_footer=True,
)
"""Enter on a thread."""

OPEN_ROW_ACTION = Action(
    "list.choose", "enter", "Open",
    "Show the details, or open the file at the line's location", "enter",
    is_shown_in_footer=True,
)  # fmt: skip
"""Enter on a row of the story screens."""

FIND_ACTION = Action(
    "list.find", "slash", "Find", "Search the list (in lists where letter keys run commands)", "find",
    is_shown_in_footer=True, is_priority=False,
)  # fmt: skip
"""Focuses the filter in lists where letter keys run actions."""

GAP_ACTIONS: tuple[Action, ...] = (
    Action(
        "gaps.answer", "a", "Answer", "Answer the question", "answer", is_priority=False,
    ),
    Action(
        "gaps.dismiss", "d", "Leave open", "Leave the question open on purpose",
        "decline",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "gaps.postpone", "p", "Later", "Move the question to the end of the list",
        "postpone",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "gaps.undo", "u", "Undo", "Undo the last decision made here", "undo",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "gaps.all", "s", "Show all", "Show answered and closed questions too", "show_all",
        is_shown_in_footer=True, is_priority=False,
    ),
)  # fmt: skip
"""Actions of the open questions screen."""

SEARCH_ACTIONS: tuple[Action, ...] = (
    Action(
        "search.character", "f2", "Character", "Find only passages with a character",
        "character", is_shown_in_footer=True,
    ),
    Action(
        "search.horizon", "f3", "Up to", "Search only up to a chapter or scene",
        "horizon", is_shown_in_footer=True,
    ),
    Action(
        "search.type", "f4", "Type", "Search the next type of document", "type",
        is_shown_in_footer=True,
    ),
    Action(
        "search.chapters", "f5", "Chapters", "Search only in some chapters",
        "chapters", is_shown_in_footer=True,
    ),
)  # fmt: skip
"""Actions of the search screen."""

CHECK_ACTIONS: tuple[Action, ...] = (
    Action(
        "check.left", "1", "Left", "Open the left passage in your editor", "side(1)",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "check.right", "2", "Right", "Open the right passage in your editor", "side(2)",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "check.intend", "i", "Intended", "Mark the contradiction as intended", "intend",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "check.undo", "u", "Undo", "Undo the last decision made here", "undo",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "check.new", "n", "New", "Show only what is new since yesterday, or all again",
        "show_new", is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "check.all", "s", "Show all", "Show intended contradictions too", "show_all",
        is_shown_in_footer=True, is_priority=False,
    ),
)  # fmt: skip
"""Actions of the check screen."""

DRAFT_ACTIONS: tuple[Action, ...] = (
    *(
        Action(
            f"drafts.{view}", key, title, help_text, f"show('{view}')",
            is_shown_in_footer=True, is_priority=False,
        )
        for view, key, title, help_text in (
            ("card", "k", "Card", "Show the card of the scene"),
            ("brief", "b", "Brief", "Show what the scene needs"),
            ("text", "t", "Text", "Show the latest draft of the scene"),
            ("diff", "f", "Diff", "Show what differs from the draft before"),
            ("check", "c", "Check", "Check the latest draft at its place in the story"),
        )
    ),
    Action(
        "drafts.accept", "a", "Accept",
        "Make the latest draft a new file of the manuscript", "accept",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "drafts.reject", "x", "Reject", "Reject the latest draft; its file stays",
        "reject", is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "drafts.undo", "u", "Undo", "Remove the file of the accepted draft", "undo",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "drafts.make", "m", "Make board", "Write a board of your manuscript", "make",
        is_shown_in_footer=True, is_priority=False,
    ),
)  # fmt: skip
"""Actions of the drafts screen."""

PEOPLE_ACTIONS: tuple[Action, ...] = (
    Action(
        "people.merge", "f2", "Merge", "Make another character the same as this one",
        "merge", is_shown_in_footer=True,
    ),
    Action(
        "people.split", "f3", "Split", "Make a name of this character another character",
        "split", is_shown_in_footer=True,
    ),
    Action(
        "people.rename", "f5", "Rename", "Change the main name of this character",
        "rename", is_shown_in_footer=True,
    ),
    Action(
        "people.undo", "f4", "Undo", "Undo the last decision", "undo",
        is_shown_in_footer=True,
    ),
)  # fmt: skip
"""Actions of the characters screen."""

REVIEW_ACTIONS: tuple[Action, ...] = (
    Action(
        "review.accept", "y", "Yes", "Answer the question with yes", "decide('yes')",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "review.decline", "n", "No", "Answer with no: it is not asked again",
        "decide('no')", is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "review.undo", "u", "Undo", "Undo the last decision made here", "undo",
        is_shown_in_footer=True, is_priority=False,
    ),
)  # fmt: skip
"""Actions of the review screen."""

THREAD_ACTIONS: tuple[Action, ...] = (
    Action(
        "threads.rename", "r", "Rename", "Change the title of the thread", "rename",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "threads.export", "e", "Export", "Save the thread as a Markdown file", "export",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "threads.delete", "d", "Delete", "Delete the thread (you can undo this)",
        "delete",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "threads.undo", "u", "Undo", "Restore the thread deleted last", "undo",
        is_shown_in_footer=True, is_priority=False,
    ),
)  # fmt: skip
"""Actions of the threads screen."""

READER_ACTIONS: tuple[Action, ...] = (
    Action(
        "reader.contents", "tab", "Contents", "Go to the contents, or back to the text",
        "contents", is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "reader.edit", "enter,e", "Edit", "Open the file in your editor at this line",
        "edit", is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "reader.character", "c", "Character", "Choose whose names are highlighted",
        "character", is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "reader.find", "slash", "Find", "Find text", "find",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "reader.next", "n", "Next", "Go to the next mention, or to the next found text",
        "match(1)", is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "reader.before", "N,p", "Previous",
        "Go to the previous mention, or to the previous found text",
        "match(-1)", is_priority=False,
    ),
    Action(
        "reader.finding", "f", "Finding", "Go to the next finding of `check`",
        "finding(1)", is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "reader.finding_before", "F", "Previous finding",
        "Go to the previous finding of `check`", "finding(-1)", is_priority=False,
    ),
    Action(
        "reader.chapter", "right_square_bracket", "Next chapter",
        "Open the next chapter or note", "part(1)", is_priority=False,
    ),
    Action(
        "reader.chapter_before", "left_square_bracket", "Previous chapter",
        "Open the previous chapter or note", "part(-1)", is_priority=False,
    ),
    Action(
        "reader.close", "escape", "Close", "Close the reader", "close",
        is_shown_in_footer=True,
    ),
    Action("reader.page", "space", "Page down", "Go down a page", "page(1)", is_priority=False),
    Action("reader.page_up", "b", "Page up", "Go up a page", "page(-1)", is_priority=False),
)  # fmt: skip
"""Actions of the reader."""

CHARACTER_CHOICE_ACTIONS: tuple[Action, ...] = (
    Action(
        "characters.talk", "f4,ctrl+enter", "Talk with",
        "Choose the character and let the character answer", "talk",
        is_shown_in_footer=True,
    ),
)  # fmt: skip
"""Actions of the dialog that chooses a character."""

LIBRARY_ACTIONS: tuple[Action, ...] = (
    Action(
        "library.complete", "tab", "Complete", "Complete the path of the folder",
        "complete",
    ),
    Action(
        "library.read", "r", "Read", "Read files that have changed", "ingest",
        is_shown_in_footer=True, is_priority=False,
    ),
)  # fmt: skip
"""Actions of the library screen."""

TEXT_INPUT_ACTIONS: tuple[Action, ...] = (
    Action(
        "line.done",
        "enter",
        "OK",
        "Accept the text",
        "submit",
        is_shown_in_footer=True,
    ),
    Action(
        "line.leave",
        "escape",
        "Cancel",
        "Close without a change",
        "close",
        is_shown_in_footer=True,
    ),
)
"""Actions of the dialog that asks for one line of text."""

BOOK_ACTIONS: tuple[Action, ...] = (
    Action(
        "book.on", "space,pagedown", "Next page",
        "Read on: scroll, then show the next page, which moves your position", "on",
        is_shown_in_footer=True, is_priority=False, short_title="Next",
    ),
    Action(
        "book.back", "b,pageup", "Page up", "Scroll back a page", "back",
        is_priority=False,
    ),
    Action(
        "book.down", "down,j", "Next paragraph", "Select the next paragraph", "step(1)",
        is_priority=False,
    ),
    Action(
        "book.up", "up,k", "Previous paragraph", "Select the previous paragraph",
        "step(-1)", is_priority=False,
    ),
    Action(
        "book.sentence", "right", "Sentence", "Select the next sentence", "sentence(1)",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "book.sentence_before", "left", "Previous sentence",
        "Select the previous sentence", "sentence(-1)", is_priority=False,
    ),
    Action(
        "book.yellow", "1,h", "Highlight", "Highlight the selection in yellow",
        "highlight('yellow')", is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "book.green", "2", "Green", "Highlight the selection in green",
        "highlight('green')", is_priority=False,
    ),
    Action(
        "book.blue", "3", "Blue", "Highlight the selection in blue",
        "highlight('blue')", is_priority=False,
    ),
    Action(
        "book.pink", "4", "Pink", "Highlight the selection in pink",
        "highlight('pink')", is_priority=False,
    ),
    Action(
        "book.note", "e", "Note", "Write a note on the selection", "note",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "book.delete", "d,delete", "Delete", "Delete the highlight or note here",
        "delete", is_priority=False,
    ),
    Action(
        "book.undo", "u", "Undo", "Restore the highlight or note deleted last", "undo",
        is_priority=False,
    ),
    Action(
        "book.answer_down", "s,ctrl+down", "Scroll answer",
        "Scroll the answer below the text", "scroll_answer(1)", is_priority=False,
    ),
    Action(
        "book.answer_up", "S,ctrl+up", "Scroll answer back",
        "Scroll the answer below the text back", "scroll_answer(-1)",
        is_priority=False,
    ),
    Action(
        "book.citation", "o", "Citation",
        "Go to the next citation of the answer; after the last one, back",
        "citation(1)", is_priority=False,
    ),
    Action(
        "book.citation_back", "O", "Back",
        "Go back to where you were before the citations", "citation(-1)",
        is_priority=False,
    ),
    Action(
        "book.ask", "a", "Ask", "Ask about the selection, or the book", "ask",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "book.find", "slash", "Find", "Find text in what you have read", "find",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "book.next", "n", "Next match", "Go to the next found text", "match(1)",
        is_priority=False,
    ),
    Action(
        "book.before", "N,p", "Previous match", "Go to the previous found text",
        "match(-1)", is_priority=False,
    ),
    Action(
        "book.contents", "tab", "Contents",
        "Go to the contents and annotations, or back to the text", "contents",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "book.help", "question_mark", "Help", "Show all keys; F1 does so, too", "help",
        is_shown_in_footer=True, is_priority=False,
    ),
    Action(
        "book.close", "escape,q", "Close",
        "Close the answer, the note, the search or the contents; then the book",
        "close",
        is_shown_in_footer=True,  is_priority=False,
    ),
)  # fmt: skip
"""Actions of the reading screen of an e-book (`lrwr read`)."""

SCREEN_ACTIONS: tuple[tuple[str, tuple[Action, ...]], ...] = (
    ("Lists", (*LIST_ACTIONS, FIND_ACTION)),
    ("Reader", READER_ACTIONS),
    ("E-book (lrwr read)", BOOK_ACTIONS),
    ("Search", SEARCH_ACTIONS),
    ("Contradictions", CHECK_ACTIONS),
    ("Drafts", DRAFT_ACTIONS),
    ("Characters", PEOPLE_ACTIONS),
    ("Names to review", REVIEW_ACTIONS),
    ("Open questions", GAP_ACTIONS),
    ("Threads", THREAD_ACTIONS),
    ("Choose a character", CHARACTER_CHOICE_ACTIONS),
    ("Library", LIBRARY_ACTIONS),
    ("Text input", TEXT_INPUT_ACTIONS),
)
"""Actions of the other screens, with the title of their help section."""
