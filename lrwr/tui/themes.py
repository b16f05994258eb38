"""The writing room's own colours: a dark one and a light one."""

from collections.abc import Mapping

from textual.theme import Theme

DARK, LIGHT = "little-red-dark", "little-red-light"


def build_themes() -> tuple[Theme, ...]:
    """Return both, to be registered."""
    return (
        Theme(
            name=DARK,
            dark=True,
            primary="#e0675c",
            secondary="#d9a766",
            accent="#e8b04a",
            foreground="#e9e2d8",
            background="#1b1714",
            surface="#231e1a",
            panel="#2d2621",
            success="#8fb573",
            warning="#e0a44f",
            error="#ee6a5f",
            variables=_bars("#231e1a", "#51443a", "#6b5a4d", "#e0675c"),
        ),
        Theme(
            name=LIGHT,
            dark=False,
            primary="#a8322a",
            secondary="#8a5a1e",
            accent="#9a4a12",
            foreground="#2b2420",
            background="#faf6ee",
            surface="#f3ecdf",
            panel="#e8dfce",
            success="#4b7a34",
            warning="#92600f",
            error="#b3261e",
            variables=_bars("#f3ecdf", "#cfc1aa", "#b9a88c", "#a8322a"),
        ),
    )


def _bars(ground: str, bar: str, touched: str, grabbed: str) -> dict[str, str]:
    """Return the colours of scroll bars, muted until they are hovered or dragged."""
    return {
        "scrollbar": bar,
        "scrollbar-hover": touched,
        "scrollbar-active": grabbed,
        "scrollbar-background": ground,
        "scrollbar-background-hover": ground,
        "scrollbar-background-active": ground,
        "scrollbar-corner-color": ground,
    }


def resolve_theme(name: str, env: Mapping[str, str]) -> str:
    """Return the theme that a setting means; auto asks the terminal's COLORFGBG."""
    if name == "light":
        return LIGHT
    if name == "dark":
        return DARK
    if name != "auto":
        return name
    background = env.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT if background in {"7", "15"} else DARK
