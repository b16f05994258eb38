from collections.abc import Iterator
from io import StringIO
from types import SimpleNamespace
from typing import Any, cast

from lrwr.cli.chat.plain import LEAVING, LineReader, PlainChat
from lrwr.cli.chat.state import PlainChatState
from lrwr.cli.runtime.output import Output


class Hasty(str):
    """An empty line; Ctrl-C comes while it is looked at."""

    __slots__ = ()

    def strip(self, chars: str | None = None, /) -> str:
        raise KeyboardInterrupt


class Typed(LineReader):
    """Lines of somebody at a terminal."""

    def __init__(self, lines: Iterator[str]) -> None:
        super().__init__(terminal=True)
        object.__setattr__(self, "lines", lines)

    lines: Iterator[str]

    def next(self) -> str | None:
        return next(self.lines, None)


def nothing_is_asked(work: Any) -> Any:
    raise AssertionError(work)


def test_ctrl_c_at_an_empty_line_is_heard_as_at_the_prompt() -> None:
    told = StringIO()
    output = Output(color="never", env={}, stdout=StringIO(), stderr=told)
    talk = cast("PlainChatState", SimpleNamespace(output=output))
    lines = Typed(iter([Hasty(""), "", Hasty(""), "Never asked?"]))
    PlainChat(talk, lines, nothing_is_asked).run()
    assert told.getvalue().count(LEAVING) == 1
    assert next(lines.lines) == "Never asked?"
