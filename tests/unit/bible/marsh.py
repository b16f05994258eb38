"""A small book about a marsh, and what is known of it."""

from lrwr.core.model.cast import Gender
from lrwr.core.model.facts import (
    DIRECTED_DETAIL,
    WRITER_KEEPER,
    Certainty,
    CharacterField,
    FactAbout,
    WorldField,
)
from lrwr.core.ports.story_stores import AppearanceRole
from tests.fakes.stories import Book, Stories

ONE = "book/1.md"
TWO = "book/2.md"
NOTE = "notes/Nell Tallow.md"
MODEL = "a-model"

FILES = {
    ONE: (
        "# Lighting up\n\n"
        "Wren climbed nineteen rungs. Her eyes were grey.\n\n"
        "“Is it late?” said Wren.\n\n"
        "***\n\n"
        "Mags kept the ledger. She was a proud woman.\n"
        "<!-- TODO: where is her boat? It sinks. -->\n\n"
        "“Six strokes,” said Mags to Wren.\n"
    ),
    TWO: (
        "# The ledger house\n\n"
        "Nell Tallow came in. OchraMags shut the Ledger House door.\n\n"
        "“You are my aunt,” said Nell Tallow.\n\n"
        "Her eyes had gone brown. Wren was proud, and Corin Vale drowned.\n\n"
        "# Fog\n\n"
        "The fog came. Corin Vale's lantern burned in the Ledger House.\n"
    ),
    NOTE: "---\ntype: character\n---\n# Nell Tallow\n\nShe is twelve.\n",
}


def marsh() -> Stories:
    """What two readers, the rules and a model, and the writer's notes say of it."""
    stories = Stories(Book(FILES))
    stories.name("Nell Tallow", "Wren", gender=Gender.FEMALE)
    stories.name("OchraMags", "Mags", gender=Gender.FEMALE)
    stories.name("Corin Vale", gender=Gender.MALE)
    _of_people(stories)
    _of_the_story(stories)
    stories.says(ONE, "Is it late?", "Nell Tallow")
    stories.says(ONE, "Six strokes,", "OchraMags", "Nell Tallow")
    stories.says(TWO, "You are my aunt,", "Nell Tallow", "OchraMags")
    stories.appears(
        ONE, "Wren climbed nineteen rungs.", "Nell Tallow", AppearanceRole.SPEAKS, 2
    )
    stories.appears(
        ONE, "Mags kept the ledger.", "OchraMags", AppearanceRole.PRESENT, 1
    )
    stories.appears(ONE, "Six strokes", "Nell Tallow", AppearanceRole.HEARS, 3)
    for words in ("Wren climbed nineteen rungs.", "Six strokes"):
        stories.appears(ONE, words, "Nell Tallow", AppearanceRole.PRESENT, 1)
    stories.appears(
        TWO, "Nell Tallow came in.", "Corin Vale", AppearanceRole.MENTIONED, 9
    )
    return stories


def _of_people(stories: Stories) -> None:
    character, eyes = FactAbout.CHARACTER, (("attribute", "eyes"),)
    attribute, trait = CharacterField.ATTRIBUTE, CharacterField.TRAIT
    stories.fact(
        ONE, "eyes were grey", character, attribute, "grey", "Wren", details=eyes
    )
    stories.fact(
        TWO, "eyes had gone brown", character, attribute, "brown", "Nell Tallow",
        details=eyes,
    )  # fmt: skip
    stories.fact(
        NOTE, "She is twelve.", character, attribute, "twelve", "Nell Tallow",
        keeper=WRITER_KEEPER, certainty=Certainty.CONFIRMED, details=(("attribute", "age"),),
    )  # fmt: skip
    stories.fact(
        ONE, "a proud woman", character, trait, "proud", "Mags", keeper=MODEL,
        certainty=Certainty.PROBABLE,
    )  # fmt: skip
    stories.fact(TWO, "Wren was proud", character, trait, "Proud", "Wren", keeper=MODEL)
    stories.fact(
        TWO, "You are my aunt", character, CharacterField.RELATIONSHIP, "complex",
        "Nell Tallow", keeper=MODEL,
        details=(("target", "OchraMags"), ("kind", "aunt"), DIRECTED_DETAIL),
    )  # fmt: skip


def _of_the_story(stories: Stories) -> None:
    world, element = FactAbout.WORLD, WorldField.ELEMENT_TYPE
    house = "the Ledger House"
    stories.fact(TWO, "shut the Ledger House", world, element, "setting", house)
    stories.fact(
        TWO, "burned in the Ledger House", world, WorldField.CONNECTED, "Corin Vale",
        "Ledger House",
    )  # fmt: skip
    stories.fact(
        TWO, "Corin Vale drowned", FactAbout.EVENT, "event", "Corin drowns.",
        keeper=MODEL,
        details=(
            ("involved", "Corin Vale"), ("feels", "Wren: afraid"),
            ("story_grid_tag", "crisis"),
        ),
    )  # fmt: skip
    stories.fact(
        ONE, "Six strokes", FactAbout.TOLD, "told", "that it is six", "Mags",
        details=(("hearer", "Wren"),),
    )  # fmt: skip
    stories.fact(ONE, "Wren climbed nineteen rungs.", FactAbout.SCENE, "recap", "")
    stories.fact(
        TWO,
        "Nell Tallow came in.",
        FactAbout.SCENE,
        "recap",
        "They meet.",
        keeper=MODEL,
    )
    stories.fact(ONE, "Wren climbed", FactAbout.SCENE, "pov", "Nell Tallow")
    stories.fact(
        ONE, "nineteen rungs", FactAbout.GAP, "eye colour", "She squints.", "Wren",
        keeper=MODEL, details=(("suggestion", "Say it early."),),
    )  # fmt: skip
    stories.fact(
        ONE,
        "kept the ledger",
        FactAbout.GAP,
        "age",
        "She is old.",
        "Mags",
        keeper=MODEL,
    )
    stories.fact(ONE, "TODO: where is her boat?", FactAbout.GAP, "note",
                 "TODO: where is her boat?", "Mags")  # fmt: skip
