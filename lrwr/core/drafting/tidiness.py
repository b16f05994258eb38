"""What plans and drafts have that belongs to nothing, and names that may be one."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from lrwr.core.bible.name_lookup import match_people
from lrwr.core.bible.values import Bible, CharacterProfile
from lrwr.core.drafting.board import Board
from lrwr.core.model.cast import Gender
from lrwr.core.nlp.names.lookup import bounded_edit_distance

_LEAST_LETTERS = 5
"""Letters of the shorter of two names that may be misspellings of each other."""


@dataclass(frozen=True, slots=True)
class TidyHint:
    """Something that may be tidied up: a sentence, and the command or file to do so."""

    text: str
    remedy: str


def list_tidy_hints(
    board: Board, bible: Bible, sheets: Sequence[str], scenes: Collection[str]
) -> list[TidyHint]:
    """Return duplicates and orphans of the story and the plan.

    `sheets` are the names of sheets, `scenes` the ids of scenes with drafts.
    """
    return [
        *_find_duplicates(bible),
        *_find_orphaned_people(bible),
        *_find_orphaned_plans(board, bible, sheets, scenes),
    ]


def _find_duplicates(bible: Bible) -> Iterator[TidyHint]:
    for person, other in combinations(bible.characters, 2):
        genders = {person.gender, other.gender} - {Gender.UNKNOWN}
        if len(genders) < 2 and may_be_same_name(person.name, other.name):
            yield TidyHint(
                f"{person.name} ({person.mentions:,} mentions) and {other.name}"
                f" ({other.mentions:,}) may be one person",
                f'lrwr characters merge "{person.name}" "{other.name}"',
            )


def may_be_same_name(name: str, other: str) -> bool:
    """Return whether two names differ by one letter, or one has all words of the
    other.
    """
    words, others = set(name.casefold().split()), set(other.casefold().split())
    if words < others or others < words:
        return True
    shorter = min(len(name), len(other))
    if shorter < _LEAST_LETTERS:
        return False
    return bounded_edit_distance(name.casefold(), other.casefold(), 1) <= 1


def _find_orphaned_people(bible: Bible) -> Iterator[TidyHint]:
    related = {name for r in bible.relations for name in (r.source, r.target)}
    present = {name for scene in bible.scenes for name in scene.present}
    for person in bible.characters:
        if not _is_known(person) and person.name not in related | present:
            yield TidyHint(
                f"{person.name} is mentioned once, and nothing else is known",
                f'lrwr characters ignore "{person.name}"',
            )


def _is_known(person: CharacterProfile) -> bool:
    return person.mentions > 1 or bool(person.attributes or person.narrator)


def _find_orphaned_plans(
    board: Board, bible: Bible, sheets: Sequence[str], scenes: Collection[str]
) -> Iterator[TidyHint]:
    ids = {card.id for card in board.cards}
    cast = {name.casefold() for card in board.cards for name in card.cast}
    for scene in sorted(set(scenes) - ids):
        yield TidyHint(
            f"There are drafts for the scene {scene}, which is not on the board",
            f"scenes/{scene}",
        )
    for sheet in sheets:
        if sheet.casefold() not in cast and not match_people(sheet, bible):
            yield TidyHint(
                f"{sheet} has a sheet, but is in no scene of the board and not in the"
                " story",
                f"sheets/{sheet}.md",
            )
