import pytest

from lrwr.core.adapters.source.parser import parse_document
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.cast import Gender
from lrwr.core.model.documents import Document, DocumentId
from lrwr.core.model.facts import WRITER_KEEPER, Certainty, Fact, FactAbout
from lrwr.core.nlp.facts.notes import (
    NoteSubject,
    extract_note_facts,
    find_note_subjects,
)

NELL = """---
type: character
name: Nell Tallow
aliases: [Nell, Wren]
born: Thole
---

# Nell Tallow

Eleven. Daughter of [[Jack Tallow]]. Keeper of the lamp. <!-- what colour is her coat? -->

- **Eyes:** grey
- Sister: Mags
- **Voice:** literal, patient
- **Traits:** stubborn, exact
- Also known as: the Wren

She keeps a slate, and **nothing** else.
I have not decided what is in the tin.

Open: who taught her.
"""
CAST = """# Characters

## Corin Vale

- Gender: male
- Age: forty

## Mrs. Gannet

A widow. Also called Dot.
"""
FACTIONS = """---
type: worldbuilding
element: faction
---

# Factions

**The Level Company.** Of Thole. It wants a rail.

**The named.** Everyone with a pole.
"""
MILL = "# The Mill\n\nIt stands by the sea.\n\n| a | b |\n| - | - |\n\n- Two doors.\n"


def note(text: str, path: str = "characters/a.md") -> Document:
    return parse_document(DocumentId(path), text.encode())


def claims(document: Document, about: FactAbout) -> list[tuple[str, str, str, str]]:
    return [
        (f.subject, f.field, f.value, f.detail("attribute") or f.detail("kind"))
        for f in facts(document)
        if f.about is about
    ]


def facts(document: Document) -> list[Fact]:
    return extract_note_facts(document, find_sentence_spans)


def test_a_character_note_names_its_character_as_the_writer_does() -> None:
    assert find_note_subjects(note(NELL)) == [
        NoteSubject("Nell Tallow", ("Nell", "Wren", "the Wren"), Gender.FEMALE)
    ]


def test_a_note_without_front_matter_is_named_by_its_heading() -> None:
    (named,) = find_note_subjects(note("# Hob\n\nBrother of Mags.\n"))
    assert named == NoteSubject("Hob", (), Gender.MALE)


def test_a_list_of_characters_names_each_of_them() -> None:
    assert find_note_subjects(note(CAST)) == [
        NoteSubject("Corin Vale", (), Gender.MALE),
        NoteSubject("Mrs. Gannet", ("Dot",), Gender.FEMALE),
    ]
    assert ("Corin Vale", "attribute", "forty", "age") in claims(
        note(CAST), FactAbout.CHARACTER
    )


def test_labelled_lines_are_attributes_and_sentences_descriptions() -> None:
    said = claims(note(NELL), FactAbout.CHARACTER)
    assert set(said) >= {
        ("Nell Tallow", "attribute", "Thole", "born"),
        ("Nell Tallow", "attribute", "eleven", "age"),
        ("Nell Tallow", "attribute", "grey", "eyes"),
        ("Nell Tallow", "attribute", "Keeper of the lamp", "occupation"),
        ("Nell Tallow", "attribute", "She keeps a slate, and nothing else.",
         "description"),
        ("Nell Tallow", "relationship", "", "sister"),
        ("Jack Tallow", "relationship", "", "daughter"),
        ("Nell Tallow", "speech_pattern", "literal, patient", ""),
        ("Nell Tallow", "personality_trait", "stubborn", ""),
        ("Nell Tallow", "personality_trait", "exact", ""),
    }  # fmt: skip
    assert not any("decided" in value or "Open" in value for _, _, value, _ in said)


@pytest.mark.parametrize(
    "words", ["Leave it blank.", "Keep him vague.", "Don't explain the fire."]
)
def test_an_instruction_of_the_author_is_no_fact(words: str) -> None:
    document = note(f"---\ntype: character\n---\n# Hob\n\nHe is tall.\n\n{words}\n")
    assert [fact.value for fact in facts(document)] == ["He is tall."]


def test_what_a_note_leaves_open_is_a_gap() -> None:
    assert [
        (f.subject, f.value) for f in facts(note(NELL)) if f.about is FactAbout.GAP
    ] == [
        ("", "what colour is her coat?"),
        ("Nell Tallow", "I have not decided what is in the tin"),
        ("Nell Tallow", "Open: who taught her."),
    ]


def test_everything_in_a_note_is_the_writers_and_stands_in_it() -> None:
    for text, path in (
        (NELL, "characters/a.md"),
        (FACTIONS, "b.md"),
        (MILL, "places/c.md"),
    ):
        document = note(text, path)
        for fact in facts(document):
            assert (fact.keeper, fact.certainty) == (WRITER_KEEPER, Certainty.CONFIRMED)
            assert all(document.text[s.start : s.end].strip() for s in fact.spans)


def test_bold_names_of_a_world_note_are_its_elements() -> None:
    assert claims(note(FACTIONS, "b.md"), FactAbout.WORLD) == [
        ("The Level Company", "element_type", "faction", ""),
        ("The Level Company", "description", "Of Thole.", ""),
        ("The Level Company", "description", "It wants a rail.", ""),
        ("The named", "element_type", "faction", ""),
        ("The named", "description", "Everyone with a pole.", ""),
    ]


def test_a_setting_note_describes_a_setting_sentence_by_sentence() -> None:
    assert claims(note(MILL, "places/c.md"), FactAbout.WORLD) == [
        ("The Mill", "element_type", "setting", ""),
        ("The Mill", "description", "It stands by the sea.", ""),
        ("The Mill", "description", "Two doors.", ""),
    ]


def test_a_chapter_is_no_note() -> None:
    chapter = note("# One\n\nNell was eleven. Eyes: grey\n", "chapters/1.md")
    assert find_note_subjects(chapter) == []
    assert facts(chapter) == []


def test_an_empty_note_lays_nothing_down() -> None:
    assert facts(note("", "characters/hob.md")) == []
    assert [
        named.name for named in find_note_subjects(note("", "characters/hob.md"))
    ] == ["Hob"]


LISTED = """# Minor characters

- Mrs. Gannet, chapter 3
- Corin Vale (also The Ferryman, Corin), chapter 18
- [[Nell Tallow]]: keeper
  - Wary
- nobody else
"""


def test_a_plain_list_of_names_is_a_list_of_people() -> None:
    document = parse_document(DocumentId("characters/minor.md"), LISTED.encode())
    named = find_note_subjects(document)
    assert [(one.name, one.aliases) for one in named] == [
        ("Mrs. Gannet", ()),
        ("Corin Vale", ("The Ferryman", "Corin")),
        ("Nell Tallow", ()),
    ]
    told = {
        fact.subject: fact.value
        for fact in extract_note_facts(document, find_sentence_spans)
    }
    assert told["Mrs. Gannet"] == "Mrs. Gannet, chapter 3"
    assert not any("nobody" in value for value in told.values())


@pytest.mark.parametrize("text", ["# Characters\n", "# Cast\n\nNobody yet.\n"])
def test_a_note_on_several_may_name_nobody_yet(text: str) -> None:
    document = parse_document(DocumentId("characters/all.md"), text.encode())
    assert find_note_subjects(document) == []
    assert [
        fact
        for fact in extract_note_facts(document, find_sentence_spans)
        if fact.subject
    ] == []
