"""The character that several typed names mean."""

from collections.abc import Sequence

from lrwr.app.container import open_workspace
from lrwr.cli.runtime.output import Output
from lrwr.core.model.cast import Cast
from lrwr.core.nlp.names.lexicon import fold_name
from lrwr.core.nlp.names.lookup import match_written_name, suggest_names
from lrwr.core.settings.model import Settings


async def find_most_mentioned_name(
    settings: Settings, output: Output, names: Sequence[str]
) -> str:
    """Return the character's name with the most mentions among those of `names`; empty
    if no character has any of them.

    A name that the user has split from a character since the last ingest is no longer
    that character's.
    Prints a notice about each name that nobody has, with the nearest names.
    """
    async with open_workspace(settings) as workspace:
        cast = await workspace.stories.cast()
        split = workspace.canon_file.load().names.split
    mentions = {character.name: character.mentions for character in cast.characters}
    people: list[str] = []
    for name in names:
        fits = match_written_name(name, cast)
        people += [
            person for person in fits if not _is_split(name, person, split, cast)
        ]
        if cast.characters and not fits:
            nearest = suggest_names(name, cast)
            offer = f" Did you mean {' or '.join(nearest)}?" if nearest else ""
            output.info(f"No character is called {name}.{offer}")
    return max(people, key=lambda name: mentions.get(name, 0), default="")


def _is_split(
    name: str, person: str, split: Sequence[tuple[str, str]], cast: Cast
) -> bool:
    """Return whether `name`, an alias of `person`, was split from another name of
    `person`.
    """
    alias = fold_name(name)
    pairs = [pair for pair in split if alias in map(fold_name, pair)]
    others = [other for pair in pairs for other in pair if fold_name(other) != alias]
    return alias != fold_name(person) and any(
        person in match_written_name(other, cast) for other in others
    )
