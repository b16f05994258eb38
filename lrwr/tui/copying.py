"""Whether what is copied gets to the clipboard. Pure."""

from collections.abc import Mapping


def may_not_arrive(env: Mapping[str, str], platform: str) -> str:
    """Return why a copy may not reach the clipboard, in a sentence; else nothing.

    Programs copy through the terminal, and nobody answers whether it was done.
    """
    who = _deaf(env, platform)
    if not who:
        return ""
    return (
        f"If it is not in your clipboard, {who} does not take copies from programs:"
        " hold Shift (on a Mac, Option), choose the text with the mouse, and copy it."
    )


def _deaf(env: Mapping[str, str], platform: str) -> str:
    if env.get("TERM_PROGRAM") == "Apple_Terminal":
        return "Terminal.app"
    if env.get("VTE_VERSION"):
        return "this terminal"
    if env.get("TERM") in ("linux", "dumb", "vt100"):
        return "this console"
    if env.get("TMUX"):
        return "tmux without `set-clipboard on`"
    if env.get("STY"):
        return "GNU screen"
    if platform == "win32" and not env.get("WT_SESSION"):
        return "this console"
    return ""
