"""The contents of the manuscript as a tree: chapters with their scenes, and notes."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.message import Message
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from lrwr.app.presenters.text import sanitize_text, shorten_chapter_names
from lrwr.tui.queries.reader import ReaderContents

NodeKey = tuple[int, int]
"""Index of a part, and of its scene; the scene is -1 for the whole part."""


class ContentsTree(Tree[NodeKey]):
    """Shows chapters with their scenes, then the notes."""

    DEFAULT_CSS: ClassVar[str] = """
    ContentsTree {
        width: 34;
        height: 100%;
        background: $surface;
        border-right: solid $panel;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
        overflow-x: hidden;
    }
    """

    class Chosen(Message):
        """Posted when the user chooses a chapter, scene or note."""

        def __init__(self, part: int, scene: int) -> None:
            super().__init__()
            self.part = part
            self.scene = scene

    def __init__(self) -> None:
        super().__init__("", id="reader-tree")
        self.show_root = False
        self.auto_expand = False
        self.guide_depth = 2
        self._parts: dict[int, TreeNode[NodeKey]] = {}

    def show(self, contents: ReaderContents) -> None:
        """Show all chapters and notes; scenes follow with `open_part`."""
        self.clear()
        parent = self.root
        names = shorten_chapter_names([part.name for part in contents.parts])
        for number, part in enumerate(contents.parts):
            if part.chapter is None and parent is self.root:
                parent = self.root.add("Notes", expand=True)
            self._parts[number] = parent.add(
                _label(names[number]), (number, -1), allow_expand=len(part.scenes) > 1
            )

    def open_part(self, number: int, scenes: Sequence[str], scene: int) -> None:
        """Expand a part with one row for each of `scenes`, and move the cursor to one.

        `scene` is its index. Other parts are collapsed.
        """
        node = self._parts[number]
        if len(scenes) > 1 and not node.children:
            for index, words in enumerate(scenes):
                node.add_leaf(_label(f"{index + 1} {words}"), (number, index))
        for other in self._parts.values():
            if other is not node and other.is_expanded:
                other.collapse()
        node.expand()
        chosen = node.children[scene] if node.children else node
        if self.cursor_node is not chosen:
            self.move_cursor(chosen)

    @on(Tree.NodeSelected)
    def _selected(self, event: Tree.NodeSelected[NodeKey]) -> None:
        event.stop()
        if event.node.data is not None:
            self.post_message(self.Chosen(*event.node.data))


def _label(text: str) -> Text:
    return Text(" ".join(sanitize_text(text).split()))
