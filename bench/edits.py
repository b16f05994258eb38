"""Random one-paragraph edits, the same for the same seed. Pure functions."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

_GAP = re.compile(r"\r?\n[ \t]*\r?\n\s*")
_WORD = re.compile(r"\S+")
LEAST_WORDS = 40
RUN = 6
"""Words on each side of changed words that are looked for with them."""

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_KINDS = ("patient", "crooked", "drowsy", "famous", "hollow", "muddy", "tidy")
_BEASTS = ("heron", "badger", "otter", "mule", "spaniel", "raven", "ferret", "goose")
_TOWNS = ("Whitby", "Ludlow", "Penzance", "Kendal", "Ripon", "Thetford", "Bodmin")
_THINGS = ("bandstand", "weathercock", "barometer", "harmonium", "sundial", "kiln")
_CLOTHES = ("waistcoat", "bonnet", "neckerchief", "mantle", "ruff", "apron", "shawl")
_COLOURS = ("saffron", "crimson", "turquoise", "mauve", "olive", "ivory", "indigo")


@dataclass(frozen=True, slots=True)
class Edit:
    """A text after an edit; `text` is the whole text.

    `kind` describes the edit. `sought` is text that the edit added, `gone` text that it
    removed; empty if it did not.
    """

    kind: str
    text: str
    sought: str = ""
    gone: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A paragraph of a text.

    `start` and `end` are its half-open range in characters.
    """

    start: int
    end: int


def sentence(number: int, random: Random) -> str:
    """Return a random sentence that is in no book, unique for each `number`."""
    say = random.choice
    town = f"{say(_TOWNS)} Road, number {number + 11}"
    return (
        f"On {say(_DAYS)} a {say(_KINDS)} {say(_BEASTS)} from {town}, was seen beside"
        f" the {say(_THINGS)}, and nobody could say who had given it a"
        f" {say(_COLOURS)} {say(_CLOTHES)}."
    )


def paragraphs(text: str) -> list[Place]:
    """Return the prose paragraphs of `text` to edit, in text order.

    They have at least `LEAST_WORDS` words, and are no headings, lists or tables.
    """
    places, start = [], 0
    for gap in [*_GAP.finditer(text), None]:
        end = gap.start() if gap else len(text.rstrip())
        words = text[start:end].split()
        if len(words) >= LEAST_WORDS and not text.startswith(("#", "-", "|"), start):
            places.append(Place(start, end))
        start = gap.end() if gap else end
    return places


def insert_sentence(text: str, place: Place, number: int, random: Random) -> Edit:
    """Return `text` with a new sentence in the paragraph at `place`.

    `number` makes the sentence unique; `random` chooses its words and its position.
    """
    new = sentence(number, random)
    ends = [m.end() for m in re.finditer(r"[.!?](?=\s)", text[place.start : place.end])]
    at = place.start + random.choice(ends) if ends else place.end
    return Edit("a sentence more", f"{text[:at]} {new}{text[at:]}", new)


def change_words(text: str, place: Place, number: int, random: Random) -> Edit:
    """Return `text` with three words of the paragraph at `place` replaced.

    `number` makes the new words unique; `random` chooses them and their position.
    """
    words = list(_WORD.finditer(text, place.start, place.end))
    at = random.randrange(RUN, len(words) - RUN - 3)
    other = f"{random.choice(_COLOURS)} {random.choice(_BEASTS)} {number + 11}"
    start, end = words[at].start(), words[at + 2].end()
    before = text[words[at - RUN].start() : start]
    after = text[end : words[at + 2 + RUN].end()]
    gone = text[words[at - RUN].start() : words[at + 2 + RUN].end()]
    changed = f"{text[:start]}{other}{text[end:]}"
    return Edit("words changed", changed, f"{before}{other}{after}", gone)


def add_paragraph(text: str, place: Place, number: int, random: Random) -> Edit:
    """Return `text` with a new paragraph after the one at `place`.

    `number` makes it unique; `random` chooses its words.
    """
    new = sentence(number, random)
    more = " ".join(sentence(number + 1000 * n, random) for n in (1, 2, 3))
    added = f"{text[: place.end]}\n\n{new} {more}{text[place.end :]}"
    return Edit("a paragraph more", added, new)


def delete_half(text: str, place: Place, number: int, random: Random) -> Edit:
    """Return `text` without the second half of the paragraph at `place`.

    `number` and `random` are ignored.
    """
    del number, random
    words = list(_WORD.finditer(text, place.start, place.end))
    cut = words[len(words) // 2].start()
    return Edit(
        "half a paragraph less",
        text[:cut].rstrip() + text[place.end :],
        gone=text[cut : place.end],
    )


def delete_paragraph(text: str, place: Place, number: int, random: Random) -> Edit:
    """Return `text` without the paragraph at `place`.

    `number` and `random` are ignored.
    """
    del number, random
    left = text[: place.start] + text[place.end :].lstrip()
    return Edit("a paragraph less", left, gone=text[place.start : place.end])


WAYS: tuple[Callable[[str, Place, int, Random], Edit], ...] = (
    insert_sentence,
    change_words,
    add_paragraph,
    delete_half,
    delete_paragraph,
)


def next_edit(
    texts: Mapping[str, str], number: int, random: Random
) -> tuple[str, Edit]:
    """Edit a random paragraph; return the name of its text, and the edit.

    `texts` maps names to texts, and is not changed. Texts with more paragraphs are
    chosen more often. `number` makes new words unique, and selects the kind of edit:
    the five kinds take turns.
    """
    names = sorted(texts)
    weights = [len(paragraphs(texts[name])) for name in names]
    name = random.choices(names, weights)[0]
    place = random.choice(paragraphs(texts[name]))
    return name, WAYS[number % len(WAYS)](texts[name], place, number, random)


def one_line(text: str) -> str:
    """Return `text` with each run of white space replaced by one space."""
    return " ".join(text.split())
