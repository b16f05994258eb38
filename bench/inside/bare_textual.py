"""A Textual application with one text and one field: a lower bound for the first frame."""

from textual.app import App, ComposeResult
from textual.widgets import Input, Static


class Bare(App[None]):
    def compose(self) -> ComposeResult:
        yield Static("Nothing to see")
        yield Input(placeholder="first frame")


if __name__ == "__main__":
    Bare().run()
