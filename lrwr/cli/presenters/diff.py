"""What differs between two states of the story: in words, and as JSON."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from lrwr.app.presenters.text import one_line
from lrwr.app.presenters.watch import passages_in_words, shift_in_words
from lrwr.cli.presenters import contradictions
from lrwr.cli.presenters.bible_json import evidence
from lrwr.cli.presenters.watch import document_as_json
from lrwr.cli.runtime.stream import Styled
from lrwr.core.bible.changes import Change, Kind
from lrwr.core.bible.phrases import place_of

if TYPE_CHECKING:
    from lrwr.app.diff import Compared, Point
    from lrwr.cli.runtime.output import Output
    from lrwr.core.bible.impact import Touched
    from lrwr.core.bible.values import Evidence
    from lrwr.pipeline.watch.changes import LearnedDocument

SCENES = 3
"""How many later scenes are named."""

PLACES = 3
"""How many places of one value are named."""


def show(compared: "Compared", output: "Output") -> None:
    """Show all that differs, each with its places; or that nothing does."""
    found, then = compared.difference, _called(compared.before)
    head = f"{then} -> {_called(compared.after)}"
    if found.same:
        output.answer(f"{head}: nothing is known otherwise.")
        return
    output.answer(Styled(head, "strong"))
    for document in found.documents:
        output.answer(one_line(_document(document)))
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
            contradictions.show(slips, output)


def show_left_out(compared: "Compared", output: "Output") -> None:
    """Say what was compared on neither side."""
    for one in compared.left_out:
        output.warn(one_line(f"{one.document} was not compared: {one.reason}"))


def as_json(compared: "Compared") -> dict[str, object]:
    """Return all of it for a script; see docs/diff.md."""
    found = compared.difference
    groups = {kind: [c for c in found.changes if c.kind is kind] for kind in Kind}
    facts = groups[Kind.NAME] + groups[Kind.FACT] + groups[Kind.MOMENT]
    return {
        "before": _point(compared.before),
        "after": _point(compared.after),
        "same": found.same,
        "documents": [document_as_json(one, "paragraphs") for one in found.documents],
        "gained": [_change(one) for one in facts if not one.shift.before],
        "changed": [_change(one) for one in facts if _is_changed(one)],
        "lost": [_change(one) for one in facts if not one.shift.after],
        "gaps": {
            "opened": [_change(one) for one in groups[Kind.GAP] if one.shift.after],
            "closed": [_change(one) for one in groups[Kind.GAP] if one.shift.before],
        },
        "contradictions": {
            "appeared": [contradictions.as_json(one) for one in found.appeared],
            "vanished": [contradictions.as_json(one) for one in found.vanished],
        },
        "not_compared": [
            {"file": one.document, "reason": one.reason} for one in compared.left_out
        ],
    }


def _called(point: "Point") -> str:
    name = one_line(point.name)
    return f"{name} ({point.commit[:7]})" if point.commit else name


def _point(point: "Point") -> dict[str, object]:
    return {"name": point.name, "commit": point.commit or None}


def _title(title: str, output: "Output") -> None:
    output.answer()
    output.answer(Styled(title, "strong"))


def _document(one: "LearnedDocument") -> str:
    name = f"{one.was} -> {one.document}" if one.was else one.document
    if one.gone:
        return f"{name}: gone"
    return f"{name}{passages_in_words([one], 'paragraph') or ': renamed'}"


def _groups(changes: Sequence[Change]) -> Iterator[tuple[str, list[Change]]]:
    """Yield the changes under what a writer calls them, the most telling first."""
    facts = [one for one in changes if one.kind is not Kind.GAP]
    gaps = [one for one in changes if one.kind is Kind.GAP]
    for title, some in (
        ("Changed", [one for one in facts if _is_changed(one)]),
        ("Gained", [one for one in facts if not one.shift.before]),
        ("Lost", [one for one in facts if not one.shift.after]),
        ("Gaps opened", [one for one in gaps if one.shift.after]),
        ("Gaps closed", [one for one in gaps if one.shift.before]),
    ):
        if some:
            yield title, some


def _is_changed(one: Change) -> bool:
    return bool(one.shift.before and one.shift.after)


def _show_change(one: Change, then: str, output: "Output") -> None:
    output.answer(one_line(shift_in_words(one.shift)), indent=2)
    for places, when in ((one.was, f" at {then}"), (one.now, "")):
        if places:
            place = one_line(_places(places))
            output.answer(Styled(place, "place"), Styled(when, "faint"), indent=6)
    if one.later:
        output.answer(
            Styled("later: ", "faint"), one_line(_scenes(one.later)), indent=6
        )


def _places(places: "Sequence[Evidence]") -> str:
    told = list(dict.fromkeys(map(place_of, places)))
    return _some(told, PLACES)


def _scenes(scenes: "Sequence[Touched]") -> str:
    """Return scenes, those first that still say the old value."""
    first = sorted(scenes, key=lambda one: not one.says)
    return _some(list(map(_scene, first)), SCENES)


def _scene(one: "Touched") -> str:
    still = ", which still says so" if one.says else ""
    return f"ch{one.chapter} scene {one.scene} ({one.document}:{one.line}{still})"


def _some(names: Sequence[str], most: int) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def _change(one: Change) -> dict[str, object]:
    shift = one.shift
    return {
        "kind": one.kind,
        "about": shift.about,
        "subject": shift.subject or None,
        "what": shift.what or None,
        "before": shift.before or None,
        "after": shift.after or None,
        "was": _all(one.was),
        "now": _all(one.now),
        "later": [
            {
                "file": scene.document,
                "line": scene.line,
                "chapter": scene.chapter,
                "scene": scene.scene,
                "still_says_before": scene.says,
            }
            for scene in one.later
        ],
    }


def _all(words: "Iterable[Evidence]") -> list[dict[str, object]]:
    return [evidence(one) for one in words]
