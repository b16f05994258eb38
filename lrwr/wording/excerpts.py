"""A text cut short."""

EXCERPT = 200
"""Characters of a claim's words that are shown."""


def excerpt(text: str) -> str:
    """Return a text on one line, cut at a word."""
    line = " ".join(text.split())
    if len(line) <= EXCERPT:
        return line
    return line[:EXCERPT].rsplit(" ", 1)[0] + " …"
