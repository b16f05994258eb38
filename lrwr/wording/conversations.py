"""How conversations are called, and who speaks in them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from lrwr.core.model.turns import Mode, NarrativeState, Thread, Turn, TurnId
from lrwr.wording.cleaning import clean
from lrwr.wording.excerpts import excerpt

if TYPE_CHECKING:
    from lrwr.core.retrieval.anchoring import Anchored

ANALYST = "the analyst"
"""Who speaks where no character does."""

FROM_THE_WEB = "From the web, not from your book"
"""What stands over pages of the web, wherever they are shown."""

KEPT_DAYS = 30
"""How long a deleted conversation can be had back."""

BEFORE = 60
"""Characters that stand before the first word that was looked for."""

SHORTEST_ID = 6
"""Characters of an id that are shown at least."""


def title_of(thread: Thread) -> str:
    """Return a title on one line, fit to be shown."""
    return " ".join(clean(thread.title).split()) or "(no title)"


def who_speaks(state: NarrativeState) -> str:
    """Return who answers: a character, or the analyst."""
    in_character = state.mode is Mode.IN_CHARACTER
    return state.character if in_character and state.character else ANALYST


def moment(seconds: float) -> str:
    """Return a time as a writer reads it, in local time."""
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def short_ids(threads: Sequence[Thread]) -> dict[str, str]:
    """Return the beginning of each id that tells it from all others."""
    length = SHORTEST_ID
    while len({thread.id[:length] for thread in threads}) < len(threads):
        length += 1
    return {thread.id: thread.id[:length] for thread in threads}


def places_of(
    turn: Turn, places: "Mapping[TurnId, Sequence[Anchored]]"
) -> "Sequence[Anchored]":
    """Return what became of what a turn rests on; not evaluated where nobody looked."""
    from lrwr.core.retrieval.anchoring import not_evaluated

    unknown = [not_evaluated(citation) for citation in turn.output.citations]
    return places.get(turn.id, unknown)


def near_words(text: str, words: Sequence[str]) -> str:
    """Return a text cut short, around the first of the words that it holds."""
    from lrwr.core.retrieval.evidence import highlights

    line, at = " ".join(text.split()), 0
    for piece, hit in highlights(line, words):
        if hit:
            break
        at += len(piece)
    if at <= BEFORE or at == len(line):
        return excerpt(line)
    return f"… {excerpt(line[at - BEFORE :].partition(' ')[2])}"
