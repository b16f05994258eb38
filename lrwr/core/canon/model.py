"""What the writer has decided, whom a name stands for, and where names conflict."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from lrwr.core.model.documents import DocumentId, DocumentType
from lrwr.core.model.errors import SettingsProblem

_PLACE = (
    r"(?P<document>.+?\.(?:md|markdown|docx|txt))"
    r"(?:#(?P<chapter>.+?))?"
    r"(?::s(?P<scene>[1-9]\d{0,5}))?"
)


@dataclass(frozen=True, slots=True)
class ManuscriptLocation:
    """A document, or a chapter or scene of it.

    `chapter` is the chapter's heading, or its number among the file's own chapters as
    in `ch3`; empty means the whole document. `scene` counts the chapter's scenes from
    1; None means all of them. Written `file.md#The Mill:s2`.
    """

    document: DocumentId
    chapter: str = ""
    scene: int | None = None

    def __str__(self) -> str:
        chapter = f"#{self.chapter}" if self.chapter else ""
        return f"{self.document}{chapter}{f':s{self.scene}' if self.scene else ''}"

    @classmethod
    def read(cls, text: str) -> "ManuscriptLocation | None":
        """Return the place that `text` names; None when it names none."""
        match = re.fullmatch(_PLACE, text.strip(), re.IGNORECASE)
        if match is None:
            return None
        scene = int(match["scene"]) if match["scene"] else None
        document = normalize_canon_path(match["document"])
        return cls(document, normalize_canon_text(match["chapter"] or ""), scene)


@dataclass(frozen=True, slots=True)
class CanonNames:
    """Who is who. Nobody stands in two groups, and no name contradicts another.

    `merged` gives for one name of a person all of the others. `split` holds pairs of
    names that belong to two people. `renamed` says how a person is to be called.
    `ignored` are words that name nobody, `confirmed` those that surely name somebody.
    """

    merged: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    split: tuple[tuple[str, str], ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UndefinedAttribute:
    """What the text leaves undefined: an attribute, and whose, empty for nobody's."""

    about: str
    attribute: str

    def __str__(self) -> str:
        return f"{self.about}, {self.attribute}" if self.about else self.attribute


@dataclass(frozen=True, slots=True)
class IntendedContradiction:
    """Two values of somebody's attribute that are meant to contradict each other."""

    about: str
    attribute: str
    one: str
    other: str

    def __str__(self) -> str:
        return f"{self.about}, {self.attribute}: {self.one} and {self.other}"


@dataclass(frozen=True, slots=True)
class Canon:
    """All that the writer has decided; every machine's opinion yields to it.

    `order` names documents in the order they are told, not necessarily all of them.
    `answers` define what the text leaves open; `unsaid` stays open on purpose.
    `intentional` are contradictions that are no slip, with the reason, maybe empty.
    """

    types: Mapping[DocumentId, DocumentType] = field(default_factory=dict)
    order: tuple[DocumentId, ...] = ()
    points_of_view: Mapping[ManuscriptLocation, str] = field(default_factory=dict)
    names: CanonNames = field(default_factory=CanonNames)
    answers: Mapping[UndefinedAttribute, str] = field(default_factory=dict)
    unsaid: tuple[UndefinedAttribute, ...] = ()
    intentional: Mapping[IntendedContradiction, str] = field(default_factory=dict)


def normalize_canon_text(text: str) -> str:
    """Return a name or a heading in NFC, with single spaces."""
    return unicodedata.normalize("NFC", " ".join(text.split()))


def normalize_canon_path(text: str) -> DocumentId:
    """Return a document's id as the canon keeps it; a disk may spell it otherwise."""
    return DocumentId(unicodedata.normalize("NFC", text).removeprefix("./"))


def normalize_canon_name(text: str) -> str:
    """Return a name as the canon keeps it.

    Raises:
        SettingsProblem: It is empty, or holds what is no text.
    """
    name = normalize_canon_text(text)
    if not name or not name.isprintable():
        raise SettingsProblem(
            f"{text!r} is no name", hint="Write the name as your text does, in quotes."
        )
    return name


def normalize_canon_answer(text: str) -> str:
    """Return the writer's answer as the canon keeps it: one line of text.

    Raises:
        SettingsProblem: It is empty, or holds what is no text.
    """
    answer = normalize_canon_text(text)
    if not answer or not answer.isprintable():
        raise SettingsProblem(
            f"{text!r} is no answer", hint="Write it as one line of text, in quotes."
        )
    return answer


def resolve_canon_person(names: CanonNames, name: str) -> str:
    """Return the name that stands for whoever is called `name`."""
    for person, new in names.renamed.items():
        if new == name:
            return person
    for canonical, others in names.merged.items():
        if name in others:
            return canonical
    return name


def find_name_conflicts(names: CanonNames) -> Iterator[tuple[str, str]]:
    """Yield each name that is used in two ways, and a sentence that says how."""
    groups = [(canonical, *others) for canonical, others in names.merged.items()]
    merged_names: set[str] = set()
    for name in chain(*groups):
        if name in merged_names:
            yield name, f"{name} is merged twice."
        merged_names.add(name)
    yield from _of_renames(names)
    for split_name, other in names.split:
        if resolve_canon_person(names, split_name) == resolve_canon_person(
            names, other
        ):
            yield split_name, f"{split_name} and {other} are one person and two."
    used_names = {
        *merged_names,
        *names.renamed,
        *names.renamed.values(),
        *chain(*names.split),
    }
    used_names.update(names.confirmed)
    for name in names.ignored:
        if name in used_names:
            yield name, f"{name} is ignored, and a name."


def find_answer_conflicts(canon: Canon) -> Iterator[tuple[UndefinedAttribute, str]]:
    """Yield each question that is decided in two ways, and a sentence that says how."""
    for question in canon.unsaid:
        if question in canon.answers:
            yield question, f"{question} is answered, and left open on purpose."


def _of_renames(names: CanonNames) -> Iterator[tuple[str, str]]:
    new_names: set[str] = set()
    for old, new in names.renamed.items():
        if any(old in others for others in names.merged.values()):
            yield old, f"{old} is merged into another name; rename that one."
        if old == new:
            yield old, f"{old} is renamed to itself."
        if new in new_names or belongs_to_other_person(names, old, new):
            yield old, f"{new} is the name of two people; merge them instead."
        new_names.add(new)


def belongs_to_other_person(names: CanonNames, person: str, name: str) -> bool:
    """Say whether `name` belongs to anybody but `person`."""
    if name != person and name in names.renamed:
        return True
    return any(
        canonical != person and name in (canonical, *others)
        for canonical, others in names.merged.items()
    )
