"""Which command opens a place, and that it is run as it should be."""

from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.tui.input.editor import (
    build_editor_command,
    build_opener_command,
    explain_clipboard_failure,
    find_editor,
    is_shell_unsafe,
)

FILE = PurePosixPath("/book/ch 1.md")


def nowhere(name: str) -> str | None:
    return None


@pytest.mark.parametrize(
    ("editor", "expected"),
    [
        ("vim", ["vim", "+12", "/book/ch 1.md"]),
        ("/usr/bin/nvim -R", ["/usr/bin/nvim", "-R", "+12", "/book/ch 1.md"]),
        ("emacsclient -t", ["emacsclient", "-t", "+12", "/book/ch 1.md"]),
        ("nano", ["nano", "+12", "/book/ch 1.md"]),
        ("hx", ["hx", "/book/ch 1.md:12"]),
        ("subl --wait", ["subl", "--wait", "/book/ch 1.md:12"]),
        ("code --wait", ["code", "--wait", "--goto", "/book/ch 1.md:12"]),
        ("kate", ["kate", "--line", "12", "/book/ch 1.md"]),
        ("gedit", ["gedit", "+12", "/book/ch 1.md"]),
        ("'My Editor' --fast", ["My Editor", "--fast", "/book/ch 1.md"]),
    ],
)
def test_each_editor_is_told_the_line_in_its_own_way(
    editor: str, expected: list[str]
) -> None:
    command = build_editor_command(editor, FILE, 12, windows=False)
    assert list(command.arguments) == expected


@pytest.mark.parametrize(
    ("editor", "has_line"),
    [("vim", True), ("/opt/zed", True), ("unheard-of -x", False)],
)
def test_an_editor_that_gets_no_line_is_known(editor: str, has_line: bool) -> None:
    assert build_editor_command(editor, FILE, 3, windows=False).has_line is has_line


@pytest.mark.parametrize(
    ("editor", "windowed"),
    [
        ("vi", False),
        ("emacs", False),
        ("unheard-of", False),
        ("code", True),
        ("gvim", True),
        ("/opt/zed/bin/zed", True),
    ],
)
def test_an_editor_that_is_not_known_gets_the_terminal(
    editor: str, windowed: bool
) -> None:
    assert build_editor_command(editor, FILE, 1, windows=False).windowed is windowed


def test_a_path_of_windows_keeps_its_backslashes() -> None:
    editor = r'"C:\Program Files\Microsoft VS Code\bin\code.cmd" --wait'
    file = PureWindowsPath(r"C:\book\ch1.md")
    command = build_editor_command(editor, file, 3, windows=True)
    assert command.arguments == (
        r"C:\Program Files\Microsoft VS Code\bin\code.cmd",
        "--wait",
        "--goto",
        r"C:\book\ch1.md:3",
    )
    assert command.windowed
    assert not is_shell_unsafe(command, command.arguments[0])


def test_a_batch_file_is_not_given_what_a_shell_would_read() -> None:
    file = PureWindowsPath(r"C:\book\a&calc.md")
    command = build_editor_command("code.cmd", file, 3, windows=True)
    assert is_shell_unsafe(command, r"C:\bin\code.cmd")
    assert not is_shell_unsafe(command, r"C:\bin\code.exe")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0/")))
def test_a_file_s_name_is_never_an_option(name: str) -> None:
    file = PurePosixPath("/book") / f"-{name}"
    for editor in ("vim", "hx", "code", "kate", "unheard-of"):
        arguments = build_editor_command(editor, file, 1, windows=False).arguments
        ours = {"--goto", "--line", "+1", "1", editor}
        (given_,) = set(arguments) - ours
        assert given_.startswith("/book/-")


def test_a_name_that_is_not_whole_is_refused() -> None:
    with pytest.raises(ValueError, match="absolute"):
        build_editor_command("vim", PurePosixPath("-c quit"), 1, windows=False)


@pytest.mark.parametrize("editor", ["vim 'x", "", "   "])
def test_what_cannot_be_read_is_refused(editor: str) -> None:
    with pytest.raises(ValueError, match=r"quotation|editor"):
        build_editor_command(editor, FILE, 1, windows=False)


def test_visual_goes_before_editor_and_both_before_what_is_usual() -> None:
    both = {"VISUAL": "code", "EDITOR": "vi"}
    assert find_editor(both, "linux", nowhere) == "code"
    assert find_editor({"VISUAL": " ", "EDITOR": "vi"}, "linux", nowhere) == "vi"
    assert find_editor({}, "linux", str) == "nano"
    assert find_editor({}, "linux", nowhere) == ""
    assert find_editor({}, "win32", nowhere) == "notepad"


def test_a_docx_is_opened_by_the_system() -> None:
    assert build_opener_command(FILE, "linux").arguments == ("xdg-open", str(FILE))
    assert build_opener_command(FILE, "darwin").arguments == ("open", str(FILE))


@pytest.mark.parametrize(
    ("env", "platform", "doubt"),
    [
        ({"TERM_PROGRAM": "iTerm.app"}, "darwin", ""),
        ({"TERM_PROGRAM": "Apple_Terminal"}, "darwin", "Terminal.app"),
        ({"VTE_VERSION": "7200"}, "linux", "this terminal"),
        ({"TERM": "xterm-kitty"}, "linux", ""),
        ({"TMUX": "/x"}, "linux", "tmux"),
        ({"WT_SESSION": "1"}, "win32", ""),
        ({}, "win32", "this console"),
    ],
)
def test_a_terminal_that_may_not_take_a_copy_is_named(
    env: dict[str, str], platform: str, doubt: str
) -> None:
    told = explain_clipboard_failure(env, platform)
    assert doubt in told
    assert bool(told) is bool(doubt)


def test_paths_are_those_of_this_machine() -> None:
    assert build_editor_command("vim", Path.cwd() / "a.md", 1, windows=False).arguments[
        2
    ]
