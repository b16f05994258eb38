"""Small books, read by the rules, and what contradicts what in them."""

from collections.abc import Mapping

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.canon.model import Canon
from lrwr.core.continuity.contradictions import find_contradictions
from lrwr.core.continuity.statements import Contradiction
from lrwr.core.model.cast import Gender
from lrwr.core.model.documents import DocumentType
from lrwr.core.nlp.facts.attributes import find_attribute_facts
from lrwr.core.nlp.facts.kinship import find_kinship_facts
from lrwr.core.nlp.facts.notes import extract_note_facts
from lrwr.core.nlp.text.prose import annotate_prose
from lrwr.core.ports.story_stores import DocumentFact
from tests.fakes.stories import Book, Stories

ONE, TWO, NOTE = "book/01.md", "book/02.md", "notes/Nell.md"

NELL = "---\ntype: character\n---\n# Nell Tallow\n\n"
PEOPLE = ("Nell Tallow", "Corin Vale", "Bram Ottley", "Mags")


def read(
    one: str = "Rain.", two: str = "Fog.", note: str = "", canon: Canon | None = None
) -> StoryKnowledge:
    """What the rules read in two chapters and in a note on Nell Tallow."""
    files = {ONE: f"# One\n\n{one}\n", TWO: f"# Two\n\n{two}\n"}
    files |= {NOTE: NELL + note + "\n"} if note else {}
    return known(files, canon)


def known(files: Mapping[str, str], canon: Canon | None = None) -> StoryKnowledge:
    """What the rules read in these files."""
    book = Book(files)
    stories = Stories(book)
    stories.name("Nell Tallow", "Nell", gender=Gender.FEMALE)
    stories.name("Corin Vale", "Corin", gender=Gender.MALE)
    stories.name("Bram Ottley", "Bram", gender=Gender.MALE)
    stories.name("Mags", gender=Gender.FEMALE)
    for document in book.documents.values():
        if document.type is DocumentType.SCENE:
            prose = annotate_prose(document.text, find_sentence_spans, PEOPLE)
            facts = [*find_attribute_facts(prose), *find_kinship_facts(prose)]
        else:
            facts = extract_note_facts(document, find_sentence_spans)
        stories.known += [DocumentFact(document.id, fact) for fact in facts]
    return stories.knowledge(canon)


def found(
    one: str = "Rain.", two: str = "Fog.", note: str = "", canon: Canon | None = None
) -> list[tuple[str, str, str, str]]:
    """Whose, which attribute, what counts, and what gainsays it."""
    return [told(c) for c in find_contradictions(read(one, two, note, canon))]


def told(one: Contradiction) -> tuple[str, str, str, str]:
    """A contradiction in four words."""
    return one.about, one.attribute, one.canon.value, one.found.value
