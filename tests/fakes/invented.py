"""A book that nobody wrote: chapters, notes and a Word file, the same every time."""

import random
from pathlib import Path

from tests.unit.source.word_files import paragraphs

PEOPLE = ("Nell Tallow", "Corin Vale", "Mrs. Gannet", "OchraMags")
SENTENCES = (
    "{a} climbed the ladder to the lamp room, and the wind went with her.",
    "The tide had taken the lower path, so {b} came round by the weir.",
    '"You never told me about the ledger," said {a}.',
    '"I told you twice," {b} answered, and looked at the water.',
    "{a} thought of the marsh in the year of the long frost.",
    "Nobody in the village had seen the ferry since Tuesday.",
    "{b} put the letter on the table and did not open it.",
    "The bell rang once over the mud, and then it was quiet.",
    "{a} had grey eyes, and a coat that was made for somebody taller.",
    '"Then we go tonight," said {b}. "Before the Reeve counts the boats."',
    "Rain came in from the estuary and stayed for three days.",
    "{a} asked what the key was for, and {b} only shook a head.",
)


def chapter(number: int, paragraphs_of: int = 8) -> str:
    """Return a chapter of two scenes, some pages long."""
    dice = random.Random(number)
    told = []
    for _ in range(paragraphs_of):
        a, b = dice.sample(PEOPLE, 2)
        some = (dice.choice(SENTENCES).format(a=a, b=b) for _ in range(5))
        told.append(" ".join(some))
    half = paragraphs_of // 2
    scenes = ["\n\n".join(told[:half]), "\n\n".join(told[half:])]
    return f"# Chapter {number}\n\n" + "\n\n* * *\n\n".join(scenes) + "\n"


def write_book(folder: Path, chapters: int = 12) -> int:
    """Write the book into `folder`, and return how many files it has."""
    (folder / "characters").mkdir(parents=True)
    for number in range(1, chapters + 1):
        path = folder / f"{number:02}.md"
        path.write_text(chapter(number), encoding="utf-8")
    note = "# Nell Tallow\n\n- age: 34\n- eyes: grey\n\nNell keeps the lamp.\n"
    (folder / "characters/nell.md").write_text(note, encoding="utf-8")
    words = [sentence.format(a=PEOPLE[0], b=PEOPLE[1]) for sentence in SENTENCES]
    (folder / "99.docx").write_bytes(paragraphs(*words))
    return chapters + 2
