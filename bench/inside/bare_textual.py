"""A Textual application with one text and one field: the least that any could cost."""

from textual.app import App, ComposeResult
from textual.widgets import Input, Static


class Bare(App[None]):
    def compose(self) -> ComposeResult:
        yield Static("Nothing to see")
        yield Input(placeholder="first frame")


if __name__ == "__main__":
    Bare().run()
