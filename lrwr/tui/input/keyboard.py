"""What keys a terminal is understood to send."""

from collections.abc import MutableMapping
from typing import cast


def enable_alt_number_keys() -> None:
    """Hear Alt with a number as that key, in every terminal.

    Older terminals send an escape before the number, which Textual takes for the sign
    that a Mac types there. That sign itself, typed, comes as it is and stays what it is.
    """
    from textual._ansi_sequences import ANSI_SEQUENCES_KEYS

    known = cast("MutableMapping[str, object]", ANSI_SEQUENCES_KEYS)
    for number in range(1, 10):
        known.pop(f"\x1b{number}", None)


def enable_alt_enter_key() -> None:
    """Let Alt+Enter begin a line in every terminal.

    Older terminals send an escape before the Enter, of which Textual makes Enter alone.
    """
    from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
    from textual.keys import Keys

    known = cast("MutableMapping[str, object]", ANSI_SEQUENCES_KEYS)
    for ending in ("\r", "\n"):
        known[f"\x1b{ending}"] = (Keys.ControlJ,)
