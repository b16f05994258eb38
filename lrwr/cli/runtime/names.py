"""The character that several typed names mean."""

from collections.abc import Sequence

from lrwr.app.container import open_workspace
from lrwr.cli.runtime.output import Output
from lrwr.core.nlp.names.lookup import match_written_name, suggest_names
from lrwr.core.settings.model import Settings


async def find_most_mentioned_name(
    settings: Settings, output: Output, names: Sequence[str]
) -> str:
    """Return the character's name with the most mentions among those of `names`; empty
    if no character has any of them.

    Prints a notice about each name that nobody has, with the nearest names.
    """
    async with open_workspace(settings) as workspace:
        cast = await workspace.stories.cast()
    mentions = {character.name: character.mentions for character in cast.characters}
    people: list[str] = []
    for name in names:
        fits = match_written_name(name, cast)
        people += fits
        if cast.characters and not fits:
            nearest = suggest_names(name, cast)
            offer = f" Did you mean {' or '.join(nearest)}?" if nearest else ""
            output.info(f"No character is called {name}.{offer}")
    return max(people, key=lambda name: mentions.get(name, 0), default="")
