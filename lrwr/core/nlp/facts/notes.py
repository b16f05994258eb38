"""Extraction of facts from the author's notes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType

from lrwr.core.model.cast import Gender
from lrwr.core.model.documents import Document, DocumentType
from lrwr.core.model.facts import (
    WRITER_KEEPER,
    Certainty,
    CharacterField,
    ElementType,
    Fact,
    FactAbout,
    WorldField,
)
from lrwr.core.model.text import SentenceSplitter, Span
from lrwr.core.nlp.facts.attribute_rules import NUMBER, OCCUPATION
from lrwr.core.nlp.facts.clauses import infer_title_possessive
from lrwr.core.nlp.facts.kinship import RELATIONSHIP_WORDS
from lrwr.core.nlp.facts.note_layout import (
    NoteEntry,
    is_note,
    parse_note_entries,
    split_name_list,
    strip_note_markdown,
)
from lrwr.core.nlp.text.prose import find_note_gaps, find_open_questions

_KIN = "|".join(sorted(RELATIONSHIP_WORDS, key=len, reverse=True))
# A paragraph or list item, without its bullet
_BLOCK = re.compile(
    r"(?:^|(?<=\*\*)|(?<=\*\*[.:]))[ \t]*(?:(?:[-*+]|"
    r"\d+[.)])[ \t]+)?(?P<words>[^\s#|>%<](?:[^\n]|\n(?![ \t]*(?:\n|#|\||>|"
    r"[-*+][ \t]|\d+[.)][ \t]|\Z)))*)",
    re.M,
)
# "Label: value", the label optionally bold
_LABEL = re.compile(
    r"(?P<open>\*\*|__)?(?P<label>[A-Za-z][\w'’-]*(?: [\w'’-]+){0,2})"
    r"(?(open)(?::(?:\*\*|__)|(?:\*\*|__):)|:)[ \t]+(?P<value>\S.*)",
    re.S,
)
_NAME = r"(?:\[\[[^\]\n]+\]\]|[A-Z][\w-]+(?: [A-Z][\w-]+)*)"
# "the younger sister of Nell and Mags"
_KIN_OF = re.compile(
    rf"(?:^|[.;,] |\band )(?:the |The )?(?:\w+ ){{0,2}}?(?P<kin>{_KIN}) (?:of|to) "
    rf"(?P<who>{_NAME})(?: and (?:of )?(?P<other>{_NAME}))?",
    re.I | re.M,
)
_AGE = re.compile(rf"(?P<age>{NUMBER})(?=[.;,]| when\b| years\b|$)", re.I)
_OCCUPATION = re.compile(
    rf"(?:The |the |An? )?(?P<value>{OCCUPATION}(?: (?:of|to|at|in) [^.,;\n]+?)?)"
    r"(?= for | since | until | and |[.,;]|$)",
    re.I,
)
_NO_FACT = re.compile(
    r"\*\*[^*\s]+(?: [^*\s]+){0,2}\*\*|(?:Open|Undecided|Unknown|TODO|TBD)\b.*|"
    r"(?:[^“\"]*[^\w“\"])?I(?:'|’|\b)[^”\"]*|"
    r"(?:(?:Leave|Keep) (?:it|this|that|him|her|them|in|as)\b|(?:Do not|Don['’]t|Make sure|"
    r"Remember to|Find out|Figure out|Look up|Think about|Decide|Check|Rewrite|Fix) ).*",
    re.S,
)
"""Blocks that state no fact: bold labels, open questions, the author's own remarks and
instructions ("Leave it blank.")."""

# A section "Notes to self", "To do" or "Questions", up to the next heading
_SELF_NOTES = re.compile(
    r"^#+[^\n]*\b(?:notes? to (?:self|me)|to ?do|questions?|open|ideas?)\b[^\n]*\n"
    r"(?:(?!#)[^\n]*\n?)*",
    re.M | re.I,
)
_FIELDS = MappingProxyType(
    {
        "voice": CharacterField.SPEECH_PATTERN,
        "speech": CharacterField.SPEECH_PATTERN,
        "speech patterns": CharacterField.SPEECH_PATTERN,
        "dialogue": CharacterField.SPEECH_PATTERN,
        "values": CharacterField.STATED_VALUE,
        "beliefs": CharacterField.STATED_VALUE,
        "believes": CharacterField.STATED_VALUE,
        "habits": CharacterField.BEHAVIOR,
        "habit": CharacterField.BEHAVIOR,
        "behaviour": CharacterField.BEHAVIOR,
        "behavior": CharacterField.BEHAVIOR,
        "mannerisms": CharacterField.BEHAVIOR,
        "quirks": CharacterField.BEHAVIOR,
        "traits": CharacterField.TRAIT,
        "trait": CharacterField.TRAIT,
        "personality": CharacterField.TRAIT,
        "temperament": CharacterField.TRAIT,
    }
)
_NAMING_TEXT = (
    "name title type aliases alias element order pov tags status nickname "
    "nicknames chapter volume id"
)
_NAMING_FIELDS = frozenset(_NAMING_TEXT.split()) | {
    "also known as",
    "also called",
    "other names",
}
_FEMALE_TEXT = (
    "she her female woman girl f daughter sister mother wife widow aunt niece "
    "grandmother granddaughter queen princess fiancée stepmother stepdaughter"
)
_FEMALE = frozenset(_FEMALE_TEXT.split())
_MALE_TEXT = (
    "he him his male man boy m son brother father husband widower uncle nephew "
    "grandfather grandson king prince fiancé stepfather stepson"
)
_MALE = frozenset(_MALE_TEXT.split())
_CLEAR, _LEAST = 3, 2
"""Minimum ratio and minimum number of pronouns of one gender to infer it."""


@dataclass(frozen=True, slots=True)
class NoteSubject:
    """The person or thing that a note, or an entry of a note, describes.

    `aliases` are its other names. `gender` is inferred from the note, unknown for a
    thing.
    """

    name: str
    aliases: tuple[str, ...]
    gender: Gender


@dataclass(frozen=True, slots=True)
class _NoteBlock:
    """A paragraph or a list item of a note."""

    span: Span
    words: str


def find_note_subjects(document: Document) -> list[NoteSubject]:
    """Return the people and things that a note describes, in text order; empty for
    story text.
    """
    if not is_note(document):
        return []
    return [
        NoteSubject(entry.name, entry.aliases, _infer_gender(document, entry))
        for entry in parse_note_entries(document)
    ]


def extract_note_facts(document: Document, split: SentenceSplitter) -> list[Fact]:
    """Return all facts of a note, sorted by span; all are confirmed.

    A labelled line ("Eyes: grey") is an attribute; every other sentence is a
    description, verbatim. Of story text, only the gaps in authors' comments are
    returned. `split` splits a text into the spans of its sentences.
    """
    facts = list(find_note_gaps(document))
    if is_note(document):
        for entry in parse_note_entries(document):
            facts += _entry_facts(document, entry, split)
    return sorted(facts, key=lambda fact: (fact.spans, fact.about, fact.field))


def _entry_facts(
    document: Document, entry: NoteEntry, split: SentenceSplitter
) -> Iterator[Fact]:
    text = document.text
    person = document.type is DocumentType.CHARACTER
    yield from _element_facts(document, entry)
    if person:
        yield from _front_matter_facts(entry)
    for block in _iter_blocks(document, entry):
        label = _LABEL.fullmatch(block.words)
        if label and person:
            yield from _labelled_facts(entry, block, label)
            continue
        for inner in split(block.words):
            span = Span(block.span.start + inner.start, block.span.start + inner.end)
            yield from _sentence_facts(entry, span, text, person=person)
    body = text[: entry.body.end]
    yield from find_open_questions(body, entry.name, entry.body.start)


def _element_facts(document: Document, entry: NoteEntry) -> Iterator[Fact]:
    element_type = (
        entry.fields["element"][0].lower() if "element" in entry.fields else ""
    )
    if document.type is DocumentType.SETTING:
        element_type = element_type or ElementType.SETTING
    if element_type in set(ElementType) and document.type is not DocumentType.CHARACTER:
        yield _build_fact(
            FactAbout.WORLD,
            entry.name,
            WorldField.ELEMENT_TYPE,
            element_type,
            entry.place,
        )


def _front_matter_facts(entry: NoteEntry) -> Iterator[Fact]:
    for key, (value, span) in entry.fields.items():
        if key not in _NAMING_FIELDS and value:
            yield from _field_facts(entry, key, value, span)


def _labelled_facts(
    entry: NoteEntry, block: _NoteBlock, label: re.Match[str]
) -> Iterator[Fact]:
    key = label["label"].lower()
    if key not in _NAMING_FIELDS and not key.startswith(("open", "undecided", "tbd")):
        yield from _field_facts(entry, key, label["value"], block.span)


def _field_facts(entry: NoteEntry, key: str, value: str, span: Span) -> Iterator[Fact]:
    kin = key if key in RELATIONSHIP_WORDS else key.removesuffix("s")
    if kin in RELATIONSHIP_WORDS:
        for name in split_name_list(value):
            tie = (("target", name), ("kind", kin))
            yield _build_fact(
                FactAbout.CHARACTER,
                entry.name,
                CharacterField.RELATIONSHIP,
                "",
                span,
                tie,
            )
        return
    field = _FIELDS.get(key, CharacterField.ATTRIBUTE)
    details = () if key in _FIELDS else (("attribute", key),)
    values = (
        split_name_list(value)
        if field is CharacterField.TRAIT
        else [strip_note_markdown(value)]
    )
    for item in values:
        yield _build_fact(FactAbout.CHARACTER, entry.name, field, item, span, details)


def _sentence_facts(
    entry: NoteEntry, span: Span, text: str, *, person: bool
) -> Iterator[Fact]:
    words = text[span.start : span.end]
    value = strip_note_markdown(words)
    if _NO_FACT.fullmatch(words) or not any(letter.isalnum() for letter in value):
        return
    if not person:
        yield _build_fact(
            FactAbout.WORLD, entry.name, WorldField.DESCRIPTION, value, span
        )
        return
    yield _attribute_fact(entry, "description", value, span)
    for match in _KIN_OF.finditer(words):
        for name in (match["who"], match["other"]):
            if name:
                details = (("target", entry.name), ("kind", match["kin"].lower()))
                yield _build_fact(
                    FactAbout.CHARACTER,
                    strip_note_markdown(name),
                    CharacterField.RELATIONSHIP,
                    "",
                    span,
                    details,
                )
    if age := _AGE.match(words):
        yield _attribute_fact(entry, "age", age["age"].lower(), span)
    if work := _OCCUPATION.match(words):
        yield _attribute_fact(
            entry, "occupation", strip_note_markdown(work["value"]), span
        )


def _attribute_fact(entry: NoteEntry, name: str, value: str, span: Span) -> Fact:
    details = (("attribute", name),)
    return _build_fact(
        FactAbout.CHARACTER, entry.name, CharacterField.ATTRIBUTE, value, span, details
    )


def _iter_blocks(document: Document, entry: NoteEntry) -> Iterator[_NoteBlock]:
    start, end = entry.body.start, entry.body.end
    text = document.text
    for note in document.notes:
        blank = re.sub(r"[^\n]", " ", text[note.start : note.end])
        text = text[: note.start] + blank + text[note.end :]
    aside = [Span(*m.span()) for m in _SELF_NOTES.finditer(text, start, end)]
    for match in _BLOCK.finditer(text, start, end):
        words = match["words"].rstrip()
        span = Span(match.start("words"), match.start("words") + len(words))
        if not any(span.overlaps(a) for a in aside):
            yield _NoteBlock(span, words)


def _build_fact(
    about: FactAbout,
    subject: str,
    field: str,
    value: str,
    span: Span,
    details: tuple[tuple[str, str], ...] = (),
) -> Fact:
    return Fact(
        about,
        subject,
        field,
        value,
        (span,),
        WRITER_KEEPER,
        Certainty.CONFIRMED,
        details,
    )


_STATED_GENDER = re.compile(
    r"\b(?:Gender|Pronouns?|Sex)\b[:*]+[ \t]*([^\n]+)", re.IGNORECASE
)
_QUOTED = re.compile(r"“[^”\n]*”|\"[^\"\n]*\"")


def _infer_gender(document: Document, entry: NoteEntry) -> Gender:
    """Return the gender by the note's statement, then by kinship nouns, then by
    pronouns. Quotations do not count: they may be about anybody.
    """
    if document.type is not DocumentType.CHARACTER:
        return Gender.UNKNOWN
    body = document.text[entry.body.start : entry.body.end]
    phrases = [
        entry.fields[k][0]
        for k in ("gender", "pronouns", "pronoun", "sex")
        if k in entry.fields
    ]
    phrases += _STATED_GENDER.findall(body)
    if phrases:
        return _gender_of_words(re.findall(r"\w+", phrases[0].lower())[:2])
    body = _QUOTED.sub("", body)
    for words in (m["kin"] for m in _KIN_OF.finditer(body)):
        gender = _gender_of_words(re.findall(r"\w+", words.lower())[:2])
        if gender is not Gender.UNKNOWN:
            return gender
    for name in (entry.name, *entry.aliases):
        if titled := infer_title_possessive(name):
            return Gender.FEMALE if titled == "her" else Gender.MALE
    words = re.findall(r"\b(?:she|he|her|his)\b", body.lower())
    she = sum(word in _FEMALE for word in words)
    he = len(words) - she
    if max(she, he) < _LEAST or max(she, he) < _CLEAR * min(she, he):
        return Gender.UNKNOWN
    return Gender.FEMALE if she > he else Gender.MALE


def _gender_of_words(words: list[str]) -> Gender:
    for word in words:
        if word in _FEMALE:
            return Gender.FEMALE
        if word in _MALE:
            return Gender.MALE
    return Gender.UNKNOWN
