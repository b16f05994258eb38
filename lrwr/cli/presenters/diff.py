"""What differs between two states of the story: in words, and as JSON."""

from collections.abc import Iterable, Iterator, Sequence

from lrwr.app.diff import DiffPoint, ManuscriptDiff
from lrwr.app.presenters.text import StyledText, sanitize_line
from lrwr.app.presenters.watch import describe_passage_changes, describe_shift
from lrwr.cli.presenters import contradictions
from lrwr.cli.presenters.bible_json import evidence_as_json
from lrwr.cli.presenters.watch import document_delta_as_json
from lrwr.cli.runtime.output import Output
from lrwr.core.bible.changes import StoryChange, StoryChangeKind
from lrwr.core.bible.impact import AffectedScene
from lrwr.core.bible.values import TextEvidence, format_evidence_location
from lrwr.pipeline.watch.events import DocumentDelta

SCENES = 3
"""How many later scenes are named."""

PLACES = 3
"""How many places of one value are named."""


def show_story_diff(manuscript_diff: ManuscriptDiff, output: Output) -> None:
    """Show all that differs, each with its places; or that nothing does."""
    difference, before_name = (
        manuscript_diff.difference,
        _name_revision(manuscript_diff.before),
    )
    head = f"{before_name} -> {_name_revision(manuscript_diff.after)}"
    if difference.same:
        output.answer(f"{head}: nothing is known otherwise.")
        return
    output.answer(StyledText(head, "strong"))
    for document in difference.documents:
        output.answer(sanitize_line(_document(document)))
    if not (difference.changes or difference.appeared or difference.vanished):
        output.answer("Nothing is known otherwise.")
    for title, changes in _groups(difference.changes):
        _title(title, output)
        for change in changes:
            _show_change(change, before_name, output)
    for title, group in (
        ("Contradictions that appeared", difference.appeared),
        ("Contradictions that vanished", difference.vanished),
    ):
        if group:
            _title(title, output)
            contradictions.show_contradictions(group, output)


def show_skipped_documents(manuscript_diff: ManuscriptDiff, output: Output) -> None:
    """Say what was compared on neither side."""
    for skipped in manuscript_diff.left_out:
        output.warn(
            sanitize_line(f"{skipped.document} was not compared: {skipped.reason}")
        )


def story_diff_as_json(manuscript_diff: ManuscriptDiff) -> dict[str, object]:
    """Return all of it for a script; see docs/diff.md."""
    difference = manuscript_diff.difference
    groups = {
        kind: [c for c in difference.changes if c.kind is kind]
        for kind in StoryChangeKind
    }
    facts = (
        groups[StoryChangeKind.NAME]
        + groups[StoryChangeKind.FACT]
        + groups[StoryChangeKind.MOMENT]
    )
    return {
        "before": _point(manuscript_diff.before),
        "after": _point(manuscript_diff.after),
        "same": difference.same,
        "documents": [
            document_delta_as_json(document, "paragraphs")
            for document in difference.documents
        ],
        "gained": [_change(fact) for fact in facts if not fact.shift.before],
        "changed": [_change(fact) for fact in facts if _is_changed(fact)],
        "lost": [_change(fact) for fact in facts if not fact.shift.after],
        "gaps": {
            "opened": [
                _change(gap) for gap in groups[StoryChangeKind.GAP] if gap.shift.after
            ],
            "closed": [
                _change(gap) for gap in groups[StoryChangeKind.GAP] if gap.shift.before
            ],
        },
        "contradictions": {
            "appeared": [
                contradictions.contradiction_as_json(contradiction)
                for contradiction in difference.appeared
            ],
            "vanished": [
                contradictions.contradiction_as_json(contradiction)
                for contradiction in difference.vanished
            ],
        },
        "not_compared": [
            {"file": skipped.document, "reason": skipped.reason}
            for skipped in manuscript_diff.left_out
        ],
    }


def _name_revision(point: DiffPoint) -> str:
    name = sanitize_line(point.name)
    return f"{name} ({point.commit[:7]})" if point.commit else name


def _point(point: DiffPoint) -> dict[str, object]:
    return {"name": point.name, "commit": point.commit or None}


def _title(title: str, output: Output) -> None:
    output.answer()
    output.answer(StyledText(title, "strong"))


def _document(document_delta: DocumentDelta) -> str:
    name = (
        f"{document_delta.was} -> {document_delta.document}"
        if document_delta.was
        else document_delta.document
    )
    if document_delta.gone:
        return f"{name}: gone"
    return f"{name}{describe_passage_changes([document_delta], 'paragraph') or ': renamed'}"


def _groups(changes: Sequence[StoryChange]) -> Iterator[tuple[str, list[StoryChange]]]:
    """Yield the changes under what a writer calls them, the most telling first."""
    facts = [change for change in changes if change.kind is not StoryChangeKind.GAP]
    gaps = [change for change in changes if change.kind is StoryChangeKind.GAP]
    for title, group in (
        ("Changed", [fact for fact in facts if _is_changed(fact)]),
        ("Gained", [fact for fact in facts if not fact.shift.before]),
        ("Lost", [fact for fact in facts if not fact.shift.after]),
        ("Gaps opened", [gap for gap in gaps if gap.shift.after]),
        ("Gaps closed", [gap for gap in gaps if gap.shift.before]),
    ):
        if group:
            yield title, group


def _is_changed(story_change: StoryChange) -> bool:
    return bool(story_change.shift.before and story_change.shift.after)


def _show_change(story_change: StoryChange, before_name: str, output: Output) -> None:
    output.answer(sanitize_line(describe_shift(story_change.shift)), indent=2)
    for places, state_text in (
        (story_change.was, f" at {before_name}"),
        (story_change.now, ""),
    ):
        if places:
            place = sanitize_line(_places(places))
            output.answer(
                StyledText(place, "place"), StyledText(state_text, "faint"), indent=6
            )
    if story_change.later:
        output.answer(
            StyledText("later: ", "faint"),
            sanitize_line(_scenes(story_change.later)),
            indent=6,
        )


def _places(places: Sequence[TextEvidence]) -> str:
    locations = list(dict.fromkeys(map(format_evidence_location, places)))
    return _some(locations, PLACES)


def _scenes(scenes: Sequence[AffectedScene]) -> str:
    """Return scenes, those first that still say the old value."""
    ordered = sorted(scenes, key=lambda affected_scene: not affected_scene.says)
    return _some(list(map(_scene, ordered)), SCENES)


def _scene(affected_scene: AffectedScene) -> str:
    still = ", which still says so" if affected_scene.says else ""
    return f"ch{affected_scene.chapter} scene {affected_scene.scene} ({affected_scene.document}:{affected_scene.line}{still})"


def _some(names: Sequence[str], limit: int) -> str:
    left_out = len(names) - limit
    return ", ".join(names[:limit]) + (
        f" and {left_out:,} more" if left_out > 0 else ""
    )


def _change(story_change: StoryChange) -> dict[str, object]:
    shift = story_change.shift
    return {
        "kind": story_change.kind,
        "about": shift.about,
        "subject": shift.subject or None,
        "what": shift.what or None,
        "before": shift.before or None,
        "after": shift.after or None,
        "was": _all(story_change.was),
        "now": _all(story_change.now),
        "later": [
            {
                "file": scene.document,
                "line": scene.line,
                "chapter": scene.chapter,
                "scene": scene.scene,
                "still_says_before": scene.says,
            }
            for scene in story_change.later
        ],
    }


def _all(words: Iterable[TextEvidence]) -> list[dict[str, object]]:
    return [evidence_as_json(word) for word in words]
