"""What the writer has decided."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

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
        found = re.fullmatch(_PLACE, text.strip(), re.IGNORECASE)
        if found is None:
            return None
        scene = int(found["scene"]) if found["scene"] else None
        document = normalize_canon_path(found["document"])
        return cls(document, normalize_canon_text(found["chapter"] or ""), scene)


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
