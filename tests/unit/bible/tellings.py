"""Random books, and things known of them, true or not."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from lrwr.core.model.cast import (
    Alias,
    AttributionCue,
    Cast,
    Character,
    Gender,
    Quotation,
)
from lrwr.core.model.chunks import ChunkId
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.facts import (
    RULES_KEEPER,
    WRITER_KEEPER,
    Certainty,
    CharacterField,
    Fact,
    FactAbout,
    WorldField,
)
from lrwr.core.model.text import Span
from lrwr.core.ports.story_stores import (
    Appearance,
    AppearanceRole,
    DocumentFact,
    DocumentQuotation,
    FirstMention,
)
from tests.fakes.stories import Book, Stories

NAMES = ("Nella", "Corin", "Gannetta", "Hobbin", "Ochrana", "Vexa")
MARK = re.compile(r"\b[wcnv]\d+\b")
"""Every word of the book and every value is one of its own."""

FIELDS: dict[FactAbout, Sequence[str]] = {
    FactAbout.CHARACTER: list(CharacterField),
    FactAbout.WORLD: list(WorldField),
    FactAbout.SCENE: ["pov", "recap"],
    FactAbout.EVENT: ["event"],
    FactAbout.TOLD: ["told"],
    FactAbout.GAP: ["eyes", "note"],
}
DETAILS = ("target", "hearer", "involved", "kind", "attribute", "suggestion")


@dataclass(frozen=True)
class Word:
    """A word of the book, and where; `chapter` None stands in a note."""

    text: str
    document: DocumentId
    span: Span
    chapter: int | None
    scene: int

    def seen(self, horizon: Horizon) -> bool:
        """Say whether a reader has come to it, by a rule of this test's own."""
        if self.chapter is None or self.text.startswith("c"):
            return False
        if self.chapter != horizon.chapter:
            return self.chapter < horizon.chapter
        return horizon.scene is None or self.scene <= horizon.scene


@dataclass(frozen=True)
class Telling:
    """A book, its words, and what is known of it."""

    stories: Stories
    words: Sequence[Word]
    facts: Mapping[str, Sequence[Word]]
    horizon: Horizon


def telling(seed: int) -> Telling:
    """A book with up to nine chapters, and things known of it, true or not."""
    chance = Random(seed)
    shape = [
        [chance.randint(1, 2) for _ in range(chance.randint(1, 3))]
        for _ in range(chance.randint(1, 3))
    ]
    files, words = written(shape, chance)
    stories = Stories(Book(files))
    placed = [place(word, stories.book) for word in words]
    stories.people = a_cast(chance)
    for character in stories.people.characters:
        for alias in character.aliases:
            stories.seen += first_seen(character.name, alias.name, stories.book)
    facts = {}
    for number in range(chance.randint(1, 20)):
        known, over = a_fact(chance, placed, number)
        stories.known.append(known)
        facts[f"v{number}"] = over
    stories.said = [a_saying(chance, placed) for _ in range(chance.randint(0, 6))]
    stories.there = [a_presence(chance, placed) for _ in range(chance.randint(0, 6))]
    chapter = chance.randint(0, sum(len(file) for file in shape))
    scene = chance.choice([None, None, 1]) if chapter else None
    return Telling(stories, placed, facts, Horizon(chapter, scene))


def written(
    shape: Sequence[Sequence[int]], chance: Random
) -> tuple[dict[str, str], list[Word]]:
    """Write the book; where each word stands is found later."""
    files, words, chapter, n = {}, [], 0, 0
    for number, file in enumerate(shape, start=1):
        path, text = f"book/{number}.md", ""
        for scenes in file:
            chapter += 1
            text += f"# Chapter {chapter}\n\n"
            for scene in range(1, scenes + 1):
                text += "***\n\n" * (scene > 1) + a_scene(n, chance)
                words += [
                    Word(f"{'c' if at == 3 else 'w'}{n + at}", DocumentId(path),
                         Span(0, 0), chapter, scene)
                    for at in range(5)
                ]  # fmt: skip
                n += 5
        files[path] = text
    note = "notes/people.md"
    files[note] = "---\ntype: character\n---\n# People\n\nOf n1 and n2.\n"
    words += [Word(w, DocumentId(note), Span(0, 0), None, 0) for w in ("n1", "n2")]
    return files, words


def a_scene(n: int, chance: Random) -> str:
    name = chance.choice((*NAMES, "and"))
    comment = f"<!-- c{n + 3} -->"
    return f"W w{n} {name} w{n + 1} w{n + 2}.\n\n{comment}\n\nSo w{n + 4} went.\n\n"


def place(word: Word, book: Book) -> Word:
    text = book.documents[word.document].text
    found = re.search(rf"\b{word.text}\b", text)
    assert found
    return replace(word, span=Span(*found.span()))


def a_cast(chance: Random) -> Cast:
    """Everyone in the cast bears two names or three."""
    order, sure = chance.sample(NAMES, len(NAMES)), Certainty.VERIFIED
    cut = chance.randint(2, 3)
    return Cast(
        tuple(
            Character(
                order[at],
                tuple(Alias(name, 3, sure) for name in order[at : at + cut]),
                Gender.FEMALE,
                sure,
                sure,
                because=f"{order[at + 1]} and v99",
            )
            for at in range(0, len(order), cut)
        )
    )


def first_seen(who: str, alias: str, book: Book) -> Iterator[FirstMention]:
    for document in book.documents.values():
        start = document.text.find(alias)
        if start >= 0:
            span = Span(start, start + len(alias))
            yield FirstMention(
                who, alias, document.id, span, document.text.count(alias)
            )


def some_words(chance: Random, words: Sequence[Word]) -> tuple[Word, ...]:
    """One or two words of one document."""
    one = chance.choice(words)
    others = [w for w in words if w.document == one.document and w.span >= one.span]
    other = chance.choice(others)
    return (one,) if other == one else (one, other)


def a_fact(
    chance: Random, words: Sequence[Word], number: int
) -> tuple[DocumentFact, tuple[Word, ...]]:
    about = chance.choice(list(FIELDS))
    names = (*NAMES, f"v{number}")
    over = some_words(chance, words)
    details = [
        (name, chance.choice(names)) for name in DETAILS if chance.random() < 0.5
    ]
    fact = Fact(
        about,
        chance.choice((*names, "")),
        str(chance.choice(FIELDS[about])),
        chance.choice([f"it is v{number}", "", chance.choice(names)]),
        tuple(word.span for word in over),
        chance.choice([RULES_KEEPER, WRITER_KEEPER, "a-model"]),
        chance.choice(list(Certainty)),
        (*details, ("feels", f"{chance.choice(names)}: v{number}")),
    )
    return DocumentFact(over[0].document, fact), over


def a_saying(chance: Random, words: Sequence[Word]) -> DocumentQuotation:
    over = some_words(chance, words)
    quotation = Quotation(
        tuple(word.span for word in over),
        chance.choice((*NAMES, "")),
        Certainty.VERIFIED,
        AttributionCue.NAMED,
        chance.choice((*NAMES, "")),
        Certainty.PROBABLE,
    )
    return DocumentQuotation(over[0].document, quotation)


def a_presence(chance: Random, words: Sequence[Word]) -> Appearance:
    one, who = chance.choice(words), chance.choice(NAMES)
    role = chance.choice(list(AppearanceRole))
    at = words.index(one)
    return Appearance(ChunkId(one.text), one.document, one.span, at, who, role, 1)
