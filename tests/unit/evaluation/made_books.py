"""A small book, and what is known of it, from which questions can be made."""

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.cast import Gender
from lrwr.core.model.facts import WRITER_KEEPER, Certainty, CharacterField, FactAbout
from lrwr.pipeline.evaluation.question_generation.source_material import (
    SourceMaterial,
    build_source_material,
)
from tests.fakes.stories import Book, Stories

FIRST = (
    "# Chapter 1\n\n"
    "Nell Tallow hid the kettle under the red blanket. Corin Vale came in from the"
    " marsh before the evening bell.\n\n"
    '"You may keep the anchor until the spring tide turns again," said Nell to Corin'
    " Vale.\n\n"
    '"I have never once been afraid of the gander in all my years," said Corin Vale.\n'
)
SECOND = (
    "# Chapter 2\n\n"
    "Mrs. Gannet opened the trunk with a brass key that nobody had seen before. Nell"
    " Tallow counted the spoons on the table twice.\n\n"
    '"Somebody has hung the anchor on the wall since we were here last," said Mrs.'
    " Gannet.\n\n"
    '"Corin Vale owes me for the ferry and will never pay for it," said Mrs. Gannet.\n'
)
THIRD = (
    "# Chapter 3\n\n"
    "Corin Vale put the ticket in the drawer. It rained on Day 7, and the whole"
    " of Thole stayed at home.\n\n"
    '"There is a hole in the bucket, and there always was a hole," said Nell Tallow.\n'
)
NOTE = (
    "---\ntype: character\n---\n# Nell Tallow\n\n"
    "Nell Tallow is nineteen years old. She is the keeper of the lamp.\n"
)
FILES = {"1.md": FIRST, "2.md": SECOND, "3.md": THIRD, "notes/Nell.md": NOTE}
PEOPLE = ("Nell Tallow", "Corin Vale", "Mrs. Gannet")


def a_material(extra: dict[str, str] | None = None) -> SourceMaterial:
    """What is known of the book, and of other files that nothing is known of."""
    book = Book({**FILES, **(extra or {})})
    stories = Stories(book)
    stories.name("Nell Tallow", "Nell", gender=Gender.FEMALE)
    stories.name("Corin Vale", "Corin", gender=Gender.MALE)
    stories.name("Mrs. Gannet", gender=Gender.FEMALE)
    for path, words, speaker, hearer in (
        ("1.md", "You may keep the anchor until the spring tide turns again,", 0, 1),
        ("1.md", "I have never once been afraid of the gander in all my years,", 1, 0),
        (
            "2.md",
            "Somebody has hung the anchor on the wall since we were here last,",
            2,
            0,
        ),
        ("2.md", "Corin Vale owes me for the ferry and will never pay for it,", 2, 0),
        ("3.md", "There is a hole in the bucket, and there always was a hole,", 0, 1),
    ):
        stories.says(path, words, PEOPLE[speaker], PEOPLE[hearer])
    stories.fact(
        "notes/Nell.md",
        "Nell Tallow is nineteen years old.",
        FactAbout.CHARACTER,
        CharacterField.ATTRIBUTE,
        "nineteen",
        "Nell Tallow",
        keeper=WRITER_KEEPER,
        certainty=Certainty.CONFIRMED,
        details=(("attribute", "age"),),
    )
    return build_source_material(stories.knowledge(), find_sentence_spans)
