"""What is said where nothing is known of the story, or nobody could tell."""

from typing import TYPE_CHECKING

from lrwr.core.bible.telling import NO_READER

if TYPE_CHECKING:
    from lrwr.core.bible.values import Bible
    from lrwr.core.settings.values import Settings

READ_IT = (
    "Turn one on with `use` under [model] in lrwr.toml; `lrwr config show` says how it"
    " is set. Then run `lrwr ingest`."
)


def how_to_read(bible: "Bible", settings: "Settings") -> str:
    """Return how to have the story read; empty where it was read."""
    from lrwr.core.model.chunks import Pipeline

    if not bible.unread:
        return ""
    chosen = settings.pipeline is Pipeline.AGENTIC
    return f"`lrwr ingest{'' if chosen else ' --pipeline b'}` reads your story."


def nothing_known(what: str, as_of: str | None, remedy: str) -> str:
    """Say that there is nothing to show, and what to try; see `how_to_read`."""
    until = "" if as_of is None else f" up to {as_of}"
    return f"{what}{until}. {remedy}".rstrip()


def nobody_evaluated(bible: "Bible", what: str) -> str:
    """Say of what only a language model can tell that none has; empty where one has."""
    return "" if bible.readers else f"{what}: {NO_READER}"
