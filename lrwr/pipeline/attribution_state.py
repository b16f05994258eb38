"""The state of a complete speaker attribution, and which documents it still fits.

Two runs give the same result for a document if its data, its narrator and the cast
entries that may occur in its text are the same, so a run computes only the others.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from lrwr.core.canon.model import Canon
from lrwr.core.model.cast import Cast
from lrwr.core.model.documents import DocumentId
from lrwr.core.nlp.dialogue.speakers import NarratorEvidence
from lrwr.core.ports.story_stores import AttributionSnapshot, DocumentRevision
from lrwr.pipeline.stages.speakers import FormFilter, describe_character


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


def describe_cast(cast: Cast) -> dict[str, tuple[str, ...]]:
    """Return the description of each character by name."""
    return {c.name: describe_character(c) for c in cast.characters}


def hash_revision(revision: DocumentRevision) -> str:
    """Return a short hash of what identifies a document's data."""
    parts = f"{revision.inputs}\n{revision.attributed}"
    return sha256(parts.encode()).hexdigest()[:24]


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
        names.ignored,
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
