from textual._xterm_parser import XTermParser
from textual.events import Key

from lrwr.tui.input.keymap import enable_alt_number_keys


def keys_of(sent: str) -> list[str]:
    parser = XTermParser(debug=False)
    came = [*parser.feed(sent), *parser.feed("")]
    return [one.key for one in came if isinstance(one, Key)]


def test_alt_with_a_number_is_heard_as_older_and_newer_terminals_send_it() -> None:
    enable_alt_number_keys()
    enable_alt_number_keys()
    assert keys_of("\x1b1") == keys_of("\x1b[49;3u") == ["alt+1"]
    assert keys_of("\x1b9") == ["alt+9"]


def test_a_sign_that_is_typed_stays_that_sign() -> None:
    enable_alt_number_keys()
    assert keys_of("£") == ["pound_sign"]
