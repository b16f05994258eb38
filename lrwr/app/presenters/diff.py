"""The comparison of two states of the story as lines of text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import cast

from lrwr.app.diff import DiffPoint, ManuscriptDiff
from lrwr.app.presenters.contradictions import render_contradictions
from lrwr.app.presenters.text import (
    LinePiece,
    StyledLine,
    StyledText,
    Tone,
    sanitize_line,
    sanitize_text,
    styled_line,
)
from lrwr.app.presenters.watch import describe_passage_changes, describe_shift
from lrwr.core.bible.changes import StoryChange, StoryChangeKind
from lrwr.core.bible.later_scenes import AffectedScene
from lrwr.core.bible.values import TextEvidence, format_evidence_location
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import format_chapter_title
from lrwr.pipeline.diff import ParagraphEdit
from lrwr.pipeline.watch.events import DocumentDelta

SCENES = 3
"""Maximum number of later scenes listed for one change."""

NEW_CONTRADICTIONS = "New contradictions"
RESOLVED_CONTRADICTIONS = "Resolved contradictions"

CONTEXT_WORDS = 6
"""Unchanged words shown on each side of changed ones."""

_WORDS = re.compile(r"\S+\s*")
_SPACES = re.compile(r"\s+")

PLACES = 3
"""Maximum number of locations listed for one value."""


def render_manuscript_diff(
    manuscript_diff: ManuscriptDiff, *, with_words: bool = False
) -> Iterator[StyledLine]:
    """Yield what differs between two states: documents, facts and contradictions.

    `with_words` adds the changed paragraphs below their documents.
    """
    difference = manuscript_diff.difference
    before_name = name_diff_point(manuscript_diff.before)
    head = f"{before_name} -> {name_diff_point(manuscript_diff.after)}"
    if difference.same:
        others = " in the other documents" if manuscript_diff.missing else ""
        yield styled_line(f"{head}: no changes{others}.")
        return
    yield styled_line(StyledText(head, "strong"))
    edits = difference.edits if with_words else ()
    for document in difference.documents:
        yield styled_line(sanitize_line(describe_document_change(document)))
        yield from render_edits(edits, document.document)
    if not (difference.changes or difference.appeared or difference.vanished):
        yield styled_line("No facts changed.")
    for title, changes in group_changes(difference.changes):
        yield from _title(title)
        for change in changes:
            yield from render_change(change, before_name)
    for title, group in (
        (NEW_CONTRADICTIONS, difference.appeared),
        (RESOLVED_CONTRADICTIONS, difference.vanished),
    ):
        if group:
            yield from _title(title)
            yield from render_contradictions(group)


def _title(title: str) -> Iterator[StyledLine]:
    yield StyledLine(())
    yield styled_line(StyledText(title, "strong"))


def name_diff_point(point: DiffPoint) -> str:
    """Return the name of a state of the manuscript, with a short commit hash."""
    name = sanitize_line(point.name)
    return f"{name} ({point.commit[:7]})" if point.commit else name


def describe_document_change(document_delta: DocumentDelta) -> str:
    """Return how a document changed, such as "ch1.md: 2 paragraphs changed"."""
    name = (
        f"{document_delta.was} -> {document_delta.document}"
        if document_delta.was
        else document_delta.document
    )
    if document_delta.gone:
        return f"{name}: deleted"
    return f"{name}{describe_passage_changes([document_delta], 'paragraph') or ': renamed'}"


def render_edits(
    edits: Iterable[ParagraphEdit], document: DocumentId
) -> Iterator[StyledLine]:
    """Yield those of `edits` that are in a document, each with its location first."""
    for edit in edits:
        if edit.document == document:
            yield from _render_edit(edit)


def _render_edit(edit: ParagraphEdit) -> Iterator[StyledLine]:
    """Yield the location of a changed paragraph, then its words before and after.

    Unchanged words are shown only next to changed ones.
    """
    place = f"{edit.document}:{edit.line}"
    yield styled_line(StyledText(sanitize_line(place), "place"))
    before, after = _WORDS.findall(edit.before), _WORDS.findall(edit.after)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    blocks = matcher.get_matching_blocks()
    for sign, words, tone, same in (
        ("-", before, "bad", [(block.a, block.size) for block in blocks]),
        ("+", after, "good", [(block.b, block.size) for block in blocks]),
    ):
        if words:
            pieces = _mark_changed_words(words, same, cast("Tone", tone))
            yield StyledLine((StyledText(f"{sign} ", cast("Tone", tone)), *pieces), 4)


def _mark_changed_words(
    words: Sequence[str], same: Sequence[tuple[int, int]], tone: Tone
) -> Iterator[LinePiece]:
    """Yield `words` in pieces: changed ones in `tone`, few of the unchanged beside them.

    `same` are the runs of unchanged words: index of the first, and their number.
    """
    position = 0
    for start, size in same:
        if changed := words[position:start]:
            yield StyledText(_join_words(changed), tone)
        run = words[start : start + size]
        is_first, is_last = start == 0, start + size == len(words)
        if run:
            yield StyledText(_shorten_run(run, is_first, is_last), "plain")
        position = start + size


def _shorten_run(words: Sequence[str], is_first: bool, is_last: bool) -> str:
    """Return unchanged words, only those next to a change if they are many."""
    if len(words) <= 2 * CONTEXT_WORDS:
        return _join_words(words)
    head = "" if is_first else _join_words(words[:CONTEXT_WORDS])
    tail = "" if is_last else f" {_join_words(words[-CONTEXT_WORDS:])}"
    return f"{head}…{tail}"


def _join_words(words: Sequence[str]) -> str:
    return _SPACES.sub(" ", sanitize_text("".join(words)))


def group_changes(
    changes: Sequence[StoryChange],
) -> Iterator[tuple[str, list[StoryChange]]]:
    """Yield a title and its changes for each kind of change that occurs."""
    facts = [change for change in changes if change.kind is not StoryChangeKind.GAP]
    gaps = [change for change in changes if change.kind is StoryChangeKind.GAP]
    for title, group in (
        ("Changed", [fact for fact in facts if is_changed_fact(fact)]),
        ("Gained", [fact for fact in facts if not fact.shift.before]),
        ("Lost", [fact for fact in facts if not fact.shift.after]),
        ("New open questions", [gap for gap in gaps if gap.shift.after]),
        ("Closed questions", [gap for gap in gaps if gap.shift.before]),
    ):
        if group:
            yield title, group


def is_changed_fact(story_change: StoryChange) -> bool:
    """Return whether a value was replaced, and not only gained or lost."""
    return bool(story_change.shift.before and story_change.shift.after)


def render_change(story_change: StoryChange, before_name: str) -> Iterator[StyledLine]:
    """Yield the values of a change, their locations, and later scenes that it affects.

    `before_name` is the name of the earlier state.
    """
    yield styled_line(sanitize_line(describe_shift(story_change.shift)), indent=2)
    for places, state_text in (
        (story_change.was, f" at {before_name}"),
        (story_change.now, ""),
    ):
        if places:
            place = sanitize_line(_places(places))
            yield StyledLine(
                (StyledText(place, "place"), StyledText(state_text, "faint")),
                6,
                places[0],
            )
    if story_change.later:
        yield styled_line(
            StyledText("later: ", "faint"),
            sanitize_line(_scenes(story_change.later)),
            indent=6,
        )


def _places(places: Sequence[TextEvidence]) -> str:
    locations = list(dict.fromkeys(map(format_evidence_location, places)))
    return _some(locations, PLACES)


def _scenes(scenes: Sequence[AffectedScene]) -> str:
    # Scenes that still state the old value come first: they need an edit.
    ordered = sorted(scenes, key=lambda affected_scene: not affected_scene.says)
    return _some(list(map(_scene, ordered)), SCENES)


def _scene(affected_scene: AffectedScene) -> str:
    still = ", still has the old value" if affected_scene.says else ""
    chapter = affected_scene.chapter
    title = format_chapter_title(chapter, affected_scene.chapter_title)
    location = f"{affected_scene.document}:{affected_scene.line}"
    return f"ch{chapter}{title} scene {affected_scene.scene} ({location}{still})"


def _some(names: Sequence[str], limit: int) -> str:
    left_out = len(names) - limit
    return ", ".join(names[:limit]) + (
        f" and {left_out:,} more" if left_out > 0 else ""
    )
