"""Speaker attribution of one document, and the state after that of all documents."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from itertools import chain
from typing import Any

from lrwr.core.canon.model import Canon, ManuscriptLocation, normalize_canon_path
from lrwr.core.model.cast import Cast, Character, Gender, Mention, Quotation
from lrwr.core.model.chunks import ChunkId
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.speakers import (
    NarratorEvidence,
    attribute_quotations,
    gather_narrator_evidence,
)
from lrwr.core.nlp.names.inference import NotePerson
from lrwr.core.nlp.names.lexicon import fold_name
from lrwr.core.nlp.names.lookup import CastIdentity
from lrwr.core.nlp.names.mentions import CAPITALIZED_WORD, find_mentions
from lrwr.core.ports.story_stores import (
    AttributionResult,
    AttributionSnapshot,
    ChunkSpan,
    DocumentEvidence,
    DocumentRevision,
)
from lrwr.pipeline.stages.appearances import RoleCounts, count_appearances

NameForms = tuple[tuple[str, tuple[str, ...]], ...]
"""Name forms, each with the characters that it may mean."""

_BEGINNING = re.compile(r"[^\W_]+")
_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class SceneSpans:
    """The spans of a document's story text, one tuple for each scene."""

    parts: tuple[tuple[Span, ...], ...]

    @property
    def spans(self) -> list[Span]:
        """All spans in text order."""
        return [part for scene in self.parts for part in scene]


@dataclass(frozen=True, slots=True)
class DocumentAttribution:
    """Quotations and mentions of one document, and who appears in each chunk.

    `appearances` maps each chunk to counts by character and role. `names` maps each
    chunk to one text with all name words of the characters in it, for search.
    """

    quotations: tuple[Quotation, ...]
    mentions: tuple[Mention, ...]
    appearances: RoleCounts
    names: Mapping[ChunkId, str]

    def build_result(
        self, document: DocumentId, content: str, revision: str
    ) -> AttributionResult:
        """Return the result for storage.

        `content` is the SHA-256 of the document's file, in hex; `revision` a hash of
        everything that the result depends on.
        """
        return AttributionResult(
            document,
            content,
            revision,
            self.quotations,
            self.mentions,
            self.appearances,
            self.names,
        )


def attribute_document(
    text: str,
    scenes: SceneSpans,
    places: Sequence[ChunkSpan],
    cast: Cast,
    *,
    narrator: str = "",
) -> DocumentAttribution:
    """Find the mentions and quotations in `text`, and assign characters to chunks.

    `scenes` are the spans of its story text. `places` are the spans of the document's
    chunks, which must not overlap. `narrator` is the name of a first-person narrator,
    or empty.
    """
    mentions = find_mentions(text, scenes.spans, cast)
    quotations = attribute_quotations(
        text, scenes.parts, cast, mentions, narrator=narrator
    )
    appearances = count_appearances(
        text, places, scenes.parts, mentions, quotations, narrator=narrator
    )
    return DocumentAttribution(
        tuple(quotations),
        tuple(mentions),
        appearances.roles,
        _collect_name_words(appearances.names, cast),
    )


def _collect_name_words(
    names: Mapping[ChunkId, Collection[str]], cast: Cast
) -> dict[ChunkId, str]:
    """Return all name words of the characters in each chunk, each word once."""
    forms = {
        character.name: [
            character.name,
            *sorted(alias.name for alias in character.aliases),
        ]
        for character in cast.characters
    }
    named = {}
    for chunk, people in names.items():
        words = dict.fromkeys(
            word
            for person in sorted(people)
            for form in forms.get(person, {person: None})
            for word in form.split()
        )
        named[chunk] = " ".join(words)
    return named


NOTED_CACHE_SIZE = 1_024
"""Cached declarations of documents; nearly all documents declare nothing."""
_WORD = re.compile(r"[^\W_]+")
_ARTICLES = frozenset({"the", "a", "an"})
_Form = tuple[frozenset[str], str]
"""The words that must occur for a name form to match, and its character or form."""


class CastLookup:
    """Selects the characters of a cast that may occur in one text."""

    def __init__(self, cast: Cast) -> None:
        self._people = {character.name: character for character in cast.characters}
        self._shared = cast.shared
        self._owned_forms = _by_last_word(
            (alias.name, character.name)
            for character in cast.characters
            for alias in character.aliases
        )
        self._shared_forms = _by_last_word((form, form) for form in cast.shared)
        self._descriptions = describe_cast(cast)

    def of(self, text: str, narrator: str) -> Cast:
        """Return the characters that `text` may name and its narrator, sorted by name.

        May include a few characters that the text does not name. Attribution with this
        cast gives the same result as with the whole cast.
        """
        words = _words(text)
        names = sorted(
            {*_matching_forms(self._owned_forms, words), narrator} & self._people.keys()
        )
        forms = sorted(_matching_forms(self._shared_forms, words))
        return Cast(
            tuple(self._people[name] for name in names),
            {form: self._shared[form] for form in forms},
        )

    def revision(self, rules: str, content: str, narrator: str, own: Cast) -> str:
        """Return a hash of everything that the attribution of a text depends on.

        `rules` is the version of the rules, `content` the SHA-256 of the document's
        file in hex, `narrator` the narrator's name or empty, `own` the cast returned by
        `of`.
        """
        people = tuple(
            self._descriptions[character.name] for character in own.characters
        )
        shared = tuple((form, *names) for form, names in own.shared.items())
        return _revision(rules, content, narrator, people, shared)


_FEW_FORMS = 64
"""Up to so many forms, searching a text for each is faster than splitting it."""


class FormFilter:
    """Selects the texts in which any of some forms of names may occur."""

    def __init__(self, forms: Collection[str]) -> None:
        self._forms = _by_last_word((form, form) for form in forms)

    def __bool__(self) -> bool:
        return bool(self._forms)

    def may_occur_in(self, text: str) -> bool:
        """Return whether `text` has all words of one of the forms."""
        if len(self._forms) <= _FEW_FORMS:
            folded = _fold(text)
            if not any(last in folded for last in self._forms):
                return False
        return bool(_matching_forms(self._forms, _words(text)))


def _by_last_word(forms: Iterable[tuple[str, str]]) -> dict[str, list[_Form]]:
    forms_by_word: dict[str, list[_Form]] = {}
    for form, whose in forms:
        words = _WORD.findall(_fold(form))
        if len(words) > 1 and words[0] in _ARTICLES:
            words = words[1:]
        last = words[-1] if words else ""
        forms_by_word.setdefault(last, []).append((frozenset(words), whose))
    return forms_by_word


def _matching_forms(forms: dict[str, list[_Form]], words: frozenset[str]) -> set[str]:
    return {
        whose
        for last in words.intersection(forms)
        for needed, whose in forms[last]
        if needed <= words
    }


def _words(text: str) -> frozenset[str]:
    """Return the casefolded words of a text, and "" for names without letters."""
    once = " ".join(set(_fold(text).split()))
    return frozenset({"", *_WORD.findall(once)})


def _fold(text: str) -> str:
    """Casefold, and unify dotted and dotless i as `re.IGNORECASE` does."""
    return text.casefold().replace("i\u0307", "i").replace("\u0131", "i")


def _revision(
    rules: str,
    content: str,
    narrator: str,
    people: tuple[tuple[str, ...], ...],
    shared: tuple[tuple[str, ...], ...],
) -> str:
    parts = [rules, content, narrator, people, shared]
    return sha256(json.dumps(parts).encode()).hexdigest()


def describe_character(character: Character) -> tuple[str, ...]:
    """Return what attribution depends on: a character's name and gender, then each form
    of the name, a line break and its certainty.
    """
    forms = sorted(
        f"{alias.name}\n{alias.certainty.value}" for alias in character.aliases
    )
    return (character.name, character.gender.value, *forms)


@dataclass(frozen=True, slots=True)
class AttributionState:
    """What the last complete attribution was made from.

    `digest` is that of `digest_inputs`. `people` maps each character's name to its
    description, `shared` each shared form to the names of its characters. `documents`
    maps documents of the story to the hash of their data, `narrators` to their
    narrator.
    """

    digest: str = ""
    people: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    documents: Mapping[DocumentId, str] = field(default_factory=dict)
    narrators: Mapping[DocumentId, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, text: str) -> "AttributionState | None":
        """Parse JSON that `to_json` returned; None if it is empty or something else."""
        try:
            fields = json.loads(text)
            people, shared = (
                {name: tuple(forms) for name, forms in fields.pop(key).items()}
                for key in ("people", "shared")
            )
            return cls(people=people, shared=shared, **fields)
        except (ValueError, TypeError, LookupError, AttributeError):
            return None

    def to_json(self) -> str:
        """Return the state as a JSON object with the field names as keys."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))

    def find_changes(self, cast: Cast) -> tuple[frozenset[str], FormFilter]:
        """Return the names of characters that differ in `cast`, and a filter for texts
        with a form of a name that may mean something else.
        """
        people, shared = describe_cast(cast), cast.shared
        names = {
            name
            for name in self.people.keys() | people.keys()
            if self.people.get(name) != people.get(name)
        }
        forms = {
            form
            for form in self.shared.keys() | shared.keys()
            if self.shared.get(form) != shared.get(form)
        }
        for name in names:
            descriptions = (*self.people.get(name, ())[2:], *people.get(name, ())[2:])
            forms.update(form.partition("\n")[0] for form in descriptions)
        return frozenset(names), FormFilter(forms)


def describe_cast(cast: Cast) -> Mapping[str, tuple[str, ...]]:
    """Return the description of each character by name."""
    return _describe_cast(CastIdentity(cast))


@lru_cache(maxsize=2)
def _describe_cast(identity: CastIdentity) -> Mapping[str, tuple[str, ...]]:
    characters = identity.cast.characters
    return {c.name: describe_character(c) for c in characters}


@lru_cache(maxsize=2)
def create_cast_lookup(identity: CastIdentity) -> CastLookup:
    """Return the lookup of a cast; the same one again for the same cast."""
    return CastLookup(identity.cast)


def hash_revision(revision: DocumentRevision) -> str:
    """Return a short hash of what identifies a document's data."""
    parts = f"{revision.inputs}\n{revision.attributed}"
    return sha256(parts.encode("utf-8", "backslashreplace")).hexdigest()[:24]


def digest_inputs(
    snapshot: AttributionSnapshot, canon: Canon, patterns: Sequence[str], rules: str
) -> str:
    """Return a hash of everything that attribution reads and stores.

    `patterns` is the setting `manuscript.order`, `rules` the version of the rules.
    """
    names = canon.names
    parts = [
        rules,
        list(patterns),
        sorted(canon.types.items()),
        canon.order,
        [[str(place), name] for place, name in canon.points_of_view.items()],
        [list(names.merged.items()), names.split, list(names.renamed.items())],
        [*names.ignored, *(f"is {name}" for name in names.confirmed)],
        snapshot.cast,
        [[d, r.inputs, r.attributed] for d, r in snapshot.documents.items()],
    ]
    # A damaged value may have another type, such as bytes.
    return sha256(json.dumps(parts, default=repr).encode()).hexdigest()


def narration_to_json(evidence: NarratorEvidence) -> str:
    """Return the signs of a narrator as JSON text, for storage."""
    fields = {name: getattr(evidence, name) for name in evidence.__slots__}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def narration_from_json(text: str) -> NarratorEvidence | None:
    """Parse JSON that `narration_to_json` returned; None if it is something else."""
    try:
        return NarratorEvidence(**json.loads(text))
    except (ValueError, TypeError):
        return None


def find_non_people(
    evidence: Iterable[DocumentEvidence], noted: Iterable[NotePerson], canon: Canon
) -> list[str]:
    """Return the names that a model read as no person in one document, and as a person
    in none, unless notes or the user's decisions have them.
    """
    names = canon.names
    person_names = {form for person in noted for form in (person.name, *person.aliases)}
    person_names |= {*names.confirmed, *names.merged, *chain(*names.merged.values())}
    person_names |= {*names.renamed, *names.renamed.values(), *chain(*names.split)}
    excluded_names: set[str] = set()
    for item in evidence:
        declared = _parse_noted(item.noted)
        person_names.update(declared.get("read_as_people", ()))
        excluded_names.update(declared.get("not_people", ()))
    folded = {fold_name(name) for name in person_names}
    return sorted(name for name in excluded_names if fold_name(name) not in folded)


def iter_note_people(evidence: Iterable[DocumentEvidence]) -> Iterator[NotePerson]:
    """Yield the people that the author's notes describe."""
    for item in evidence:
        for person in _parse_noted(item.noted).get("people", ()):
            yield NotePerson(
                person["name"], tuple(person["aliases"]), Gender(person["gender"])
            )


def iter_narrator_people(
    evidence: Iterable[DocumentEvidence], canon: Canon
) -> Iterator[NotePerson]:
    """Yield the narrators set by the user: they are certainly people."""
    names = [
        *canon.points_of_view.values(),
        *(find_set_narrator(item, canon) for item in evidence),
    ]
    for name in dict.fromkeys(name for name in names if name):
        yield NotePerson(name, (), Gender.UNKNOWN)


def find_set_narrator(item: DocumentEvidence, canon: Canon) -> str:
    """Return the document's narrator as set by the user; empty if not set.

    A canon decision on the whole document outranks its front matter.
    """
    decided = ""
    if canon.points_of_view:
        location = ManuscriptLocation(normalize_canon_path(item.document))
        decided = canon.points_of_view.get(location, "")
    return decided or str(_parse_noted(item.noted).get("pov", ""))


@lru_cache(maxsize=NOTED_CACHE_SIZE)
def _parse_noted(noted: str) -> Mapping[str, Any]:
    noted_values: Mapping[str, Any] = json.loads(noted)
    return noted_values


def index_name_forms(cast: Cast) -> dict[str, NameForms]:
    """Return all names (forms) of the characters in `cast`, grouped by their first
    word.

    The key is that word in lower case, without a leading article and only up to a
    punctuation mark: "o" for "O'Neil". Each form is a pair: the name, and the full
    names of the characters that it may mean. Forms that begin with a lower-case word
    are under "" and may match anywhere.
    """
    owned = {
        alias.name: (character.name,)
        for character in cast.characters
        for alias in character.aliases
    }
    forms_by_letter: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for form, owners in {**cast.shared, **owned}.items():
        forms_by_letter.setdefault(_key(form), []).append((form, tuple(owners)))
    return {key: tuple(forms) for key, forms in forms_by_letter.items()}


def _key(form: str) -> str:
    name = _ARTICLE.sub("", form, count=1) if form[:1].islower() else form
    letters = _BEGINNING.match(name)
    return letters[0].lower() if letters and name[0].isupper() else ""


def find_narrator_signs(
    text: str, scenes: SceneSpans, forms: Mapping[str, NameForms]
) -> NarratorEvidence:
    """Return the evidence for a first-person narrator in a document.

    `scenes` has the spans of each scene; `forms` is a result of `index_name_forms`, of
    which only forms that can occur in `text` are looked for.
    """
    words = (_BEGINNING.match(word) for word in CAPITALIZED_WORD.findall(text))
    first_words = {word[0].lower() for word in words if word}
    keys = sorted(forms.keys() & {"", *first_words})
    shared = dict(form for key in keys for form in forms[key])
    mentions = find_mentions(text, scenes.spans, Cast(shared=shared))
    return gather_narrator_evidence(text, scenes.parts, mentions)
