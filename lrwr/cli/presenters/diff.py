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
from lrwr.core.bible.phrases import format_evidence_location
from lrwr.core.bible.values import TextEvidence
from lrwr.pipeline.watch.changes import DocumentDelta

SCENES = 3
"""How many later scenes are named."""

PLACES = 3
"""How many places of one value are named."""


def show_story_diff(compared: ManuscriptDiff, output: Output) -> None:
    """Show all that differs, each with its places; or that nothing does."""
    found, then = compared.difference, _called(compared.before)
    head = f"{then} -> {_called(compared.after)}"
    if found.same:
        output.answer(f"{head}: nothing is known otherwise.")
        return
    output.answer(StyledText(head, "strong"))
    for document in found.documents:
        output.answer(sanitize_line(_document(document)))
    if not (found.changes or found.appeared or found.vanished):
        output.answer("Nothing is known otherwise.")
    for title, changes in _groups(found.changes):
        _title(title, output)
        for change in changes:
            _show_change(change, then, output)
    for title, slips in (
        ("Contradictions that appeared", found.appeared),
        ("Contradictions that vanished", found.vanished),
    ):
        if slips:
            _title(title, output)
            contradictions.show_contradictions(slips, output)


def show_skipped_documents(compared: ManuscriptDiff, output: Output) -> None:
    """Say what was compared on neither side."""
    for one in compared.left_out:
        output.warn(sanitize_line(f"{one.document} was not compared: {one.reason}"))


def story_diff_as_json(compared: ManuscriptDiff) -> dict[str, object]:
    """Return all of it for a script; see docs/diff.md."""
    found = compared.difference
    groups = {
        kind: [c for c in found.changes if c.kind is kind] for kind in StoryChangeKind
    }
    facts = (
        groups[StoryChangeKind.NAME]
        + groups[StoryChangeKind.FACT]
        + groups[StoryChangeKind.MOMENT]
    )
    return {
        "before": _point(compared.before),
        "after": _point(compared.after),
        "same": found.same,
        "documents": [
            document_delta_as_json(document, "paragraphs")
            for document in found.documents
        ],
        "gained": [_change(fact) for fact in facts if not fact.shift.before],
        "changed": [_change(fact) for fact in facts if _is_changed(fact)],
        "lost": [_change(fact) for fact in facts if not fact.shift.after],
        "gaps": {
            "opened": [
                _change(one) for one in groups[StoryChangeKind.GAP] if one.shift.after
            ],
            "closed": [
                _change(one) for one in groups[StoryChangeKind.GAP] if one.shift.before
            ],
        },
        "contradictions": {
            "appeared": [
                contradictions.contradiction_as_json(one) for one in found.appeared
            ],
            "vanished": [
                contradictions.contradiction_as_json(one) for one in found.vanished
            ],
        },
        "not_compared": [
            {"file": one.document, "reason": one.reason} for one in compared.left_out
        ],
    }


def _called(point: DiffPoint) -> str:
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
    for title, some in (
        ("Changed", [fact for fact in facts if _is_changed(fact)]),
        ("Gained", [fact for fact in facts if not fact.shift.before]),
        ("Lost", [fact for fact in facts if not fact.shift.after]),
        ("Gaps opened", [gap for gap in gaps if gap.shift.after]),
        ("Gaps closed", [gap for gap in gaps if gap.shift.before]),
    ):
        if some:
            yield title, some


def _is_changed(story_change: StoryChange) -> bool:
    return bool(story_change.shift.before and story_change.shift.after)


def _show_change(story_change: StoryChange, then: str, output: Output) -> None:
    output.answer(sanitize_line(describe_shift(story_change.shift)), indent=2)
    for places, when in ((story_change.was, f" at {then}"), (story_change.now, "")):
        if places:
            place = sanitize_line(_places(places))
            output.answer(
                StyledText(place, "place"), StyledText(when, "faint"), indent=6
            )
    if story_change.later:
        output.answer(
            StyledText("later: ", "faint"),
            sanitize_line(_scenes(story_change.later)),
            indent=6,
        )


def _places(places: Sequence[TextEvidence]) -> str:
    told = list(dict.fromkeys(map(format_evidence_location, places)))
    return _some(told, PLACES)


def _scenes(scenes: Sequence[AffectedScene]) -> str:
    """Return scenes, those first that still say the old value."""
    first = sorted(scenes, key=lambda one: not one.says)
    return _some(list(map(_scene, first)), SCENES)


def _scene(affected_scene: AffectedScene) -> str:
    still = ", which still says so" if affected_scene.says else ""
    return f"ch{affected_scene.chapter} scene {affected_scene.scene} ({affected_scene.document}:{affected_scene.line}{still})"


def _some(names: Sequence[str], most: int) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


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
