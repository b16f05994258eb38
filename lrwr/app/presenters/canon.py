"""The user's decisions as text and JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lrwr.app.presenters.story import format_point_of_view, format_scene_point
from lrwr.app.presenters.text import (
    LinePiece,
    StyledLine,
    StyledTable,
    StyledText,
    sanitize_line,
    styled_line,
)
from lrwr.core.canon.decision import (
    CanonChange,
    Decision,
    NameDecision,
    NamesMerged,
    NamesSplit,
    PointOfViewSet,
    format_decision,
)
from lrwr.core.canon.model import Canon, resolve_canon_person

if TYPE_CHECKING:
    from lrwr.core.bible.values import SceneSummary
    from lrwr.core.canon.service import CanonService
    from lrwr.core.retrieval.story import StoryOrder


def render_decisions(canon: Canon, service: "CanonService") -> Iterator[StyledLine]:
    """Yield the decisions of `canon` by topic, then the last one and how to undo it.

    `service` provides the last one. Without any decision, two lines say so and name the
    command to use.
    """
    parts: list[tuple[str, list[tuple[str, str]]]] = [
        ("Document types", [(d, str(kind)) for d, kind in canon.types.items()]),
        ("Story order", [(d, "") for d in canon.order]),
        (
            "Points of view",
            [(str(p), character) for p, character in canon.points_of_view.items()],
        ),
        ("Names", _list_name_decisions(canon)),
        ("Answers", [(str(q), f"“{text}”") for q, text in canon.answers.items()]),
        ("Questions left open on purpose", [(str(q), "") for q in canon.unsaid]),
        (
            "Intended contradictions",
            [
                (str(contradiction), reason)
                for contradiction, reason in canon.intentional.items()
            ],
        ),
    ]
    if canon == Canon():
        yield styled_line("No decisions yet.")
        yield styled_line("Run `lrwr canon --help` to see what you can decide.")
    for title, rows in parts:
        if rows:
            yield from _render_part(title, rows)
    if last_decision := describe_last_decision(service):
        yield styled_line(
            f"Last decision: {last_decision}",
            StyledText(" To undo it: `lrwr canon undo`.", "faint"),
        )


def describe_last_decision(service: "CanonService") -> str:
    """Return the decision that `lrwr canon undo` would revert, as a sentence.

    Empty if there is none.
    """
    decisions = [record for record in service.history() if not record.undone]
    return format_decision(decisions[-1].decision) if decisions else ""


def decisions_as_json(canon: Canon, service: "CanonService") -> Mapping[str, object]:
    """Return the decisions of `canon` as a JSON object with one key for each topic.

    Topics are `types`, `order`, `points_of_view`, `names`, `answers`, `wont_say`
    (questions left open on purpose) and `intentional` (contradictions). `service` adds
    `file`, the path of the decisions, and `last`, the last one as text or None.
    """
    names = canon.names
    return {
        "file": service.path,
        "types": canon.types,
        "order": canon.order,
        "points_of_view": [
            {
                "place": str(location),
                "file": location.document,
                "chapter": location.chapter or None,
                "scene": location.scene,
                "character": character,
            }
            for location, character in canon.points_of_view.items()
        ],
        "names": {
            "merged": names.merged,
            "split": names.split,
            "renamed": names.renamed,
            "ignored": names.ignored,
            "confirmed": names.confirmed,
        },
        "answers": [
            {"about": q.about or None, "attribute": q.attribute, "answer": text}
            for q, text in canon.answers.items()
        ],
        "wont_say": [
            {"about": q.about or None, "attribute": q.attribute} for q in canon.unsaid
        ],
        "intentional": [
            {
                "about": contradiction.about,
                "attribute": contradiction.attribute,
                "one": contradiction.one,
                "other": contradiction.other,
                "because": reason or None,
            }
            for contradiction, reason in canon.intentional.items()
        ],
        "last": describe_last_decision(service) or None,
    }


def list_story_order(order: "StoryOrder") -> StyledTable:
    """Return a table of the story's files in order: chapter numbers, title, path."""
    rows: list[list[LinePiece]] = []
    for document in order.story:
        chapters = order.numbers[document]
        first, last = min(chapters, default=""), max(chapters, default="")
        numbers = f"{first}" if first == last else f"{first}-{last}"
        rows.append([numbers, order.title(document), document])
    return StyledTable(["Chapter", "Title", "File"], rows, right={"Chapter"})


def story_order_as_json(order: "StoryOrder") -> list[dict[str, object]]:
    """Return an object for each file of the story: `file`, `chapters` (the numbers of
    its chapters in the story, ascending) and `title`.
    """
    return [
        {
            "file": document,
            "chapters": sorted(set(order.numbers[document])),
            "title": order.title(document),
        }
        for document in order.story
    ]


def _render_part(title: str, rows: list[tuple[str, str]]) -> Iterator[StyledLine]:
    yield styled_line(StyledText(title, "strong"))
    name_width = max(len(name) for name, _ in rows)
    for name, meaning in rows:
        name_text = StyledText(name.ljust(name_width) if meaning else name, "place")
        yield styled_line(name_text, f"  {meaning}" if meaning else "", indent=2)
    yield styled_line()


def _list_name_decisions(canon: Canon) -> list[tuple[str, str]]:
    names = canon.names
    rows = [(name, f"also called {', '.join(o)}") for name, o in names.merged.items()]
    rows += [(old, f"renamed to {new}") for old, new in names.renamed.items()]
    rows += [
        (split_name, f"is not {other_name}") for split_name, other_name in names.split
    ]
    rows += [(name, "is not a character") for name in names.ignored]
    return rows + [(name, "is a character") for name in names.confirmed]


def render_points_of_view(scenes: "Sequence[SceneSummary]") -> Iterator[StyledLine]:
    """Yield the point of view of each scene that has one, then the number of others."""
    with_view = [scene for scene in scenes if scene.points_of_view]
    for scene in with_view:
        views = ", ".join(map(format_point_of_view, scene.points_of_view))
        yield styled_line(
            f"{format_scene_point(scene)}  {views}  ",
            StyledText(f"{sanitize_line(scene.document)}:{scene.lines.first}", "place"),
        )
    yield styled_line(
        f"Scenes without a known point of view: {len(scenes) - len(with_view)}"
    )


def describe_change(decision: Decision, change: CanonChange) -> str:
    """Return `decision`, which made `change`, with its effects, as sentences."""
    if isinstance(decision, NamesMerged):
        person = resolve_canon_person(change.after.names, decision.names[0])
        decision = replace(decision, canonical=person)
    pairs = (
        f" This replaces the decision that {name} and {other_name} are not the same character."
        for name, other_name in change.unsplit
    )
    next_step = describe_next_step(decision)
    if isinstance(decision, NamesSplit):
        next_step += " Each is then listed only if your text says enough about it."
    return f"{format_decision(decision)}{''.join(pairs)}{next_step}"


def describe_next_step(decision: Decision) -> str:
    """Return what to run for `decision` to take effect; "" if nothing."""
    needs_ingest = isinstance(decision, NameDecision | PointOfViewSet)
    return " Run `lrwr ingest` to apply it." if needs_ingest else ""
