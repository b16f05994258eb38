"""The canon: all decisions of the user, and the rules that keep them consistent."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from lrwr.core.model.documents import DocumentId, DocumentType
from lrwr.core.model.errors import SettingsProblem

_PLACE = (
    r"(?P<document>.+?\.(?:md|markdown|docx|txt|epub))"
    r"(?:#(?P<chapter>.+?))?"
    r"(?::s(?P<scene>[1-9]\d{0,5}))?"
)


@dataclass(frozen=True, slots=True)
class ManuscriptLocation:
    """A document, or a chapter or scene of it, written `file.md#The Mill:s2`.

    `chapter` is the chapter's heading, or its number in the file such as "ch3"; empty
    means the whole document. `scene` is the number of a scene in the chapter, from 1;
    None means all.
    """

    document: DocumentId
    chapter: str = ""
    scene: int | None = None

    def __str__(self) -> str:
        chapter = f"#{self.chapter}" if self.chapter else ""
        return f"{self.document}{chapter}{f':s{self.scene}' if self.scene else ''}"

    @classmethod
    def read(cls, text: str) -> "ManuscriptLocation | None":
        """Parse a location such as `file.md#ch3:s2`; None if `text` is not one.

        Whether the document exists is not checked.
        """
        match = re.fullmatch(_PLACE, text.strip(), re.IGNORECASE)
        if match is None:
            return None
        scene = int(match["scene"]) if match["scene"] else None
        document = normalize_canon_path(match["document"])
        return cls(document, normalize_canon_text(match["chapter"] or ""), scene)


@dataclass(frozen=True, slots=True)
class CanonNames:
    """Decisions about names, free of conflicts (see `find_name_conflicts`).

    `merged` maps a character's main name to the other names of the same character.
    `split` holds pairs of names of two different characters, each pair in alphabetical
    order. `renamed` maps a name to the name to display. `ignored` are words that are
    not characters, `confirmed` are certainly characters.
    """

    merged: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    split: tuple[tuple[str, str], ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UndefinedAttribute:
    """An attribute that the text leaves undefined.

    `about` is the character or thing that has the attribute; empty if none has.
    """

    about: str
    attribute: str

    def __str__(self) -> str:
        return f"{self.about}, {self.attribute}" if self.about else self.attribute


@dataclass(frozen=True, slots=True)
class IntendedContradiction:
    """Two values of an attribute, `one` and `other`, that contradict each other on
    purpose.

    `about` is the character or thing that has the attribute.
    """

    about: str
    attribute: str
    one: str
    other: str

    def __str__(self) -> str:
        return f"{self.about}, {self.attribute}: {self.one} and {self.other}"


@dataclass(frozen=True, slots=True)
class Canon:
    """All decisions of the user; they override everything that lrwr infers.

    `types` are types of documents. `order` lists documents in story order, not
    necessarily all of them. `points_of_view` maps documents, chapters and scenes to
    names of characters. `answers` maps gaps to the user's answers; `unsaid` are gaps
    left undefined on purpose. `intentional` maps intended contradictions to a reason,
    which may be empty.
    """

    types: Mapping[DocumentId, DocumentType] = field(default_factory=dict)
    order: tuple[DocumentId, ...] = ()
    points_of_view: Mapping[ManuscriptLocation, str] = field(default_factory=dict)
    names: CanonNames = field(default_factory=CanonNames)
    answers: Mapping[UndefinedAttribute, str] = field(default_factory=dict)
    unsaid: tuple[UndefinedAttribute, ...] = ()
    intentional: Mapping[IntendedContradiction, str] = field(default_factory=dict)


def normalize_canon_text(text: str) -> str:
    """Return `text`, a name or heading, in Unicode NFC, trimmed, with single spaces."""
    return unicodedata.normalize("NFC", " ".join(text.split()))


def normalize_canon_path(text: str) -> DocumentId:
    """Return `text`, a path in the manuscript, as a document id.

    It is in Unicode NFC, because file systems may use other forms, and without leading
    "./".
    """
    return DocumentId(unicodedata.normalize("NFC", text).removeprefix("./"))


def normalize_canon_name(text: str) -> str:
    """Return `text`, a name, in Unicode NFC, trimmed, with single spaces; case is
    preserved.

    Raises:
        SettingsProblem: It is empty or contains control characters.
    """
    name = normalize_canon_text(text)
    if not name or not name.isprintable():
        raise SettingsProblem(
            f"{text!r} is not a valid name",
            hint="Write the name as in your text, in quotes.",
        )
    return name


def normalize_canon_answer(text: str) -> str:
    """Return `text`, the user's answer to an open question, as one line.

    It is in Unicode NFC, trimmed, with single spaces instead of any white space.

    Raises:
        SettingsProblem: It is empty or contains control characters.
    """
    answer = normalize_canon_text(text)
    if not answer or not answer.isprintable():
        raise SettingsProblem(
            f"{text!r} is not a valid answer",
            hint="Write the answer as one line of text, in quotes.",
        )
    return answer


def resolve_canon_person(names: CanonNames, name: str) -> str:
    """Return the main name of the character called `name`, as it was before any
    renaming.

    `name` may be a main name, an alias that was merged, or the name after a renaming. A
    name without such decisions is returned unchanged. Case matters.
    """
    for person, new in names.renamed.items():
        if new == name:
            return person
    for canonical, others in names.merged.items():
        if name in others:
            return canonical
    return name


def find_name_conflicts(names: CanonNames) -> Iterator[tuple[str, str]]:
    """Yield a name and a sentence for the user for each contradiction between
    decisions.

    Contradictions are a name merged twice, merged and split, or renamed to a name that
    is taken, and an ignored word that is used as a name. A name may occur several
    times.
    """
    groups = [(canonical, *others) for canonical, others in names.merged.items()]
    merged_names: set[str] = set()
    for name in chain(*groups):
        if name in merged_names:
            yield name, f"{name} is merged twice."
        merged_names.add(name)
    yield from _rename_conflicts(names)
    for split_name, other in names.split:
        if resolve_canon_person(names, split_name) == resolve_canon_person(
            names, other
        ):
            yield split_name, f"{split_name} and {other} are both merged and split."
    used_names = {
        *merged_names,
        *names.renamed,
        *names.renamed.values(),
        *chain(*names.split),
    }
    used_names.update(names.confirmed)
    for name in names.ignored:
        if name in used_names:
            yield name, f"{name} is both ignored and used as a name."


def find_answer_conflicts(canon: Canon) -> Iterator[tuple[UndefinedAttribute, str]]:
    """Yield each attribute that the canon both answers and leaves undefined on purpose,
    with a sentence for the user that says so.
    """
    for question in canon.unsaid:
        if question in canon.answers:
            yield question, f"{question} is both answered and left open."


def _rename_conflicts(names: CanonNames) -> Iterator[tuple[str, str]]:
    new_names: set[str] = set()
    for old, new in names.renamed.items():
        if any(old in others for others in names.merged.values()):
            yield old, f"{old} is merged into another name; rename that name instead."
        if old == new:
            yield old, f"{old} is renamed to itself."
        if new in new_names or belongs_to_other_person(names, old, new):
            yield old, f"{new} is the name of two characters; merge them instead."
        new_names.add(new)


def belongs_to_other_person(names: CanonNames, person: str, name: str) -> bool:
    """Return whether the decisions `names` give `name` to a character other than
    `person`.

    `person` is a main name. True if `name` is the main name or a merged alias of
    another character, or the old name of one that was renamed.
    """
    if name != person and name in names.renamed:
        return True
    return any(
        canonical != person and name in (canonical, *others)
        for canonical, others in names.merged.items()
    )
