"""Comparison of two states of a manuscript: files, story bible, contradictions."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import zip_longest

from lrwr.core.bible.changes import (
    StoryChange,
    StoryState,
    align_casts,
    build_story_state,
    diff_story_states,
)
from lrwr.core.bible.profiles import normalize_value
from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.continuity.contradictions import find_contradictions, is_in_documents
from lrwr.core.continuity.statements import Contradiction
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import Span
from lrwr.core.ports.stores import DocumentSnapshot, DocumentText, DocumentVersion
from lrwr.pipeline.changes import match_renames
from lrwr.pipeline.watch.events import DocumentDelta, diff_documents

_BETWEEN_PARAGRAPHS = re.compile(r"\n\s*\n")
_PARAGRAPH = re.compile(r"\S(?:(?!\n\s*\n).)*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ManuscriptState:
    """The story bible and the contradictions, without intended ones, of one state of a
    manuscript.
    """

    story: StoryState
    contradictions: tuple[Contradiction, ...] = ()


@dataclass(frozen=True, slots=True)
class ParagraphEdit:
    """A paragraph of a document that is in both states: as it was, and as it is.

    `before` is empty for a new paragraph, `after` for a deleted one. `line` is the line
    of `after`, or the one where the deleted paragraph would be, in the later state.
    """

    document: DocumentId
    line: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class StoryDiff:
    """Differences between two states of a manuscript, in a deterministic order.

    `documents` lists only changed documents, counted in paragraphs. `changes` are those
    of the story bible. `appeared` and `vanished` are contradictions of the later and of
    the earlier state only. `edits` are the
    changed paragraphs of the documents that are in both states.
    """

    documents: tuple[DocumentDelta, ...] = ()
    changes: tuple[StoryChange, ...] = ()
    appeared: tuple[Contradiction, ...] = ()
    vanished: tuple[Contradiction, ...] = ()
    edits: tuple[ParagraphEdit, ...] = ()

    @property
    def same(self) -> bool:
        """Whether the two states have no difference."""
        return not (self.documents or self.changes or self.appeared or self.vanished)


def build_manuscript_state(
    knowledge: StoryKnowledge, without: Collection[DocumentId] = ()
) -> ManuscriptState:
    """Return the state of the manuscript, excluding the documents in `without`.

    Gaps found while answering questions are left out: they belong to no state of the
    text.
    """
    story_knowledge = _without(replace(knowledge, flagged_gaps=()), without)
    slips = (
        contradiction
        for contradiction in find_contradictions(story_knowledge, with_possible=True)
        if not contradiction.intended
    )
    return ManuscriptState(build_story_state(story_knowledge), tuple(slips))


def diff_states(before: ManuscriptState, after: ManuscriptState) -> StoryDiff:
    """Return the differences between two states in documents, story bible and
    contradictions.
    """
    old, new = before.story.known, after.story.known
    renamed = _renamed(old.texts, new.texts)
    old_aliases, new_aliases = align_casts(old.cast, new.cast)
    old_contradictions = {
        _key(contradiction, old_aliases): contradiction
        for contradiction in before.contradictions
    }
    new_contradictions = {
        _key(contradiction, new_aliases): contradiction
        for contradiction in after.contradictions
    }
    documents = diff_documents(
        _paragraphs(old.texts, new.texts),
        _paragraphs(new.texts, old.texts),
        renamed,
    )
    return StoryDiff(
        documents=tuple(document for document in documents if document.changed),
        changes=diff_story_states(before.story, after.story, renamed),
        appeared=tuple(
            contradiction
            for key, contradiction in new_contradictions.items()
            if key not in old_contradictions
        ),
        vanished=tuple(
            contradiction
            for key, contradiction in old_contradictions.items()
            if key not in new_contradictions
        ),
        edits=tuple(
            edit
            for document in sorted(new.texts)
            if (was := old.texts.get(renamed.get(document, document))) is not None
            for edit in _diff_paragraphs(document, was.text, new.texts[document])
        ),
    )


def filter_story_diff(
    story_diff: StoryDiff, documents: Collection[DocumentId]
) -> StoryDiff:
    """Return only those differences of `story_diff` that concern one of `documents`, by
    its earlier or later id.
    """
    return StoryDiff(
        tuple(d for d in story_diff.documents if {d.document, d.was} & {*documents}),
        tuple(
            change
            for change in story_diff.changes
            if any(place.document in documents for place in (*change.was, *change.now))
        ),
        tuple(
            contradiction
            for contradiction in story_diff.appeared
            if is_in_documents(contradiction, documents)
        ),
        tuple(
            contradiction
            for contradiction in story_diff.vanished
            if is_in_documents(contradiction, documents)
        ),
        tuple(edit for edit in story_diff.edits if edit.document in documents),
    )


def add_packed_texts(
    difference: StoryDiff,
    before: Mapping[DocumentId, str | None],
    after: Mapping[DocumentId, DocumentText],
) -> StoryDiff:
    """Return `difference` with the changed paragraphs of the documents `after`, of whose
    states only the texts are known; those without a text `before` are left out.
    """
    old, new = (
        dict[DocumentId, DocumentSnapshot](),
        dict[DocumentId, DocumentSnapshot](),
    )
    edits = [*difference.edits]
    for document, now in sorted(after.items()):
        if text := before.get(document):
            old[document] = _split_snapshot(text)
            new[document] = _split_snapshot(now.text)
            edits += _diff_paragraphs(document, text, now)
    changed = [delta for delta in diff_documents(old, new, {}) if delta.changed]
    documents = (*difference.documents, *changed)
    return replace(difference, documents=documents, edits=tuple(edits))


def _diff_paragraphs(
    document: DocumentId, before: str, after: DocumentText
) -> Iterator[ParagraphEdit]:
    """Yield the paragraphs that differ, in the order of the later text."""
    if before == after.text:
        return
    old = [text for _, text in _locate_paragraphs(before)]
    located = list(_locate_paragraphs(after.text))
    new = [text for _, text in located]
    starts = [start for start, _ in located] + [max(0, len(after.text) - 1)]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        if kind == "equal":
            continue
        pairs = zip_longest(old[i:i_end], new[j:j_end], fillvalue="")
        for number, (was, now) in enumerate(pairs):
            start = starts[min(j + number, j_end)]
            line = after.lines.lines_of(Span(start, start + 1)).first
            yield ParagraphEdit(document, line, was, now)


def _locate_paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield each paragraph of `text` with its offset."""
    for match in _PARAGRAPH.finditer(text):
        yield match.start(), match[0].rstrip()


def _without(
    knowledge: StoryKnowledge, without: Collection[DocumentId]
) -> StoryKnowledge:
    if not without:
        return knowledge
    order = knowledge.order
    outlines = {d: outline for d, outline in order.outlines.items() if d not in without}
    story = tuple(document for document in order.story if document not in without)
    texts = {d: text for d, text in knowledge.texts.items() if d not in without}
    return replace(
        knowledge, order=replace(order, outlines=outlines, story=story), texts=texts
    )


def _renamed(
    old: Mapping[DocumentId, DocumentText], new: Mapping[DocumentId, DocumentText]
) -> dict[DocumentId, DocumentId]:
    """Map the new id of each renamed document with unchanged text to its old id."""
    gone = sorted(old.keys() - new.keys())
    gone_versions = [
        DocumentVersion(document, "", old[document].text, "") for document in gone
    ]
    arrived = {document: new[document].text for document in new.keys() - old.keys()}
    return match_renames(gone, gone_versions, arrived)


def _paragraphs(
    texts: Mapping[DocumentId, DocumentText],
    other_texts: Mapping[DocumentId, DocumentText],
) -> dict[DocumentId, DocumentSnapshot]:
    """Return the documents of one state that differ in the other or are missing there."""
    snapshots = {}
    for document, document_text in texts.items():
        if (
            document not in other_texts
            or other_texts[document].text != document_text.text
        ):
            snapshots[document] = _split_snapshot(document_text.text)
    return snapshots


def _split_snapshot(text: str) -> DocumentSnapshot:
    parts = _BETWEEN_PARAGRAPHS.split(text)
    return DocumentSnapshot(tuple(part.strip() for part in parts if part.strip()))


def _key(contradiction: Contradiction, people: Mapping[str, str]) -> tuple[object, ...]:
    values = frozenset(
        map(normalize_value, (contradiction.canon.value, contradiction.found.value))
    )
    return (
        people.get(contradiction.about, contradiction.about),
        contradiction.attribute,
        values,
    )
