"""A project that has less than it had, as one that was restored from a backup."""

from lrwr.core.adapters.records.supabase.binding import Binding
from lrwr.core.adapters.records.supabase.records import Page
from lrwr.core.model.errors import StoreProblem


def has_less(bound: Binding, page: Page) -> bool:
    """Say whether a project has lost something that a copy has from there.

    `bound` must have been read before the project was asked for `page`.
    """
    return page.version < bound.cursor or page.spoken < bound.spoken


def less_there() -> StoreProblem:
    """Return what the writer is told of it."""
    return StoreProblem(
        "The project has less than it had when it was last asked from here: was it"
        " restored from a backup?",
        hint="`lrwr push --over` takes what is here there again.",
    )
