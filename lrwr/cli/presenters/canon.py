"""How decisions are made, shown and told on the command line."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.presenters.text import StyledText
from lrwr.cli.runtime.output import Output
from lrwr.core.canon.decision import CanonChange, Decision, NamesMerged, format_decision
from lrwr.core.canon.model import Canon, normalize_canon_path, resolve_canon_person
from lrwr.core.canon.resolver import resolve_document
from lrwr.core.canon.service import CanonService
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound
from lrwr.core.retrieval.story import StoryOrder, build_story_order
from lrwr.core.settings.library import SETTINGS_FILE_NAME, resolve_library
from lrwr.core.settings.model import Settings


@dataclass(frozen=True, slots=True)
class DecisionContext:
    """The writer's decisions, and the documents they are about.

    `order` is empty when nothing has been ingested yet.
    """

    service: CanonService
    root: Path
    canon: Canon
    order: StoryOrder

    @property
    def known(self) -> list[DocumentId]:
        """The library's documents, as the canon spells them."""
        return [normalize_canon_path(document) for document in self.order.outlines]

    def document(self, text: str) -> DocumentId:
        """Return the document that the writer calls `text`.

        Raises:
            NotFound: There is no such document.
        """
        return resolve_document(
            text, document_ids=self.known, root=self.root, working_directory=Path.cwd()
        )

    def has(self, document: DocumentId) -> bool:
        """Say whether the document's file is there; none is looked for elsewhere."""
        spelled = {
            normalize_canon_path(outline): outline for outline in self.order.outlines
        }
        path = self.root / spelled.get(document, document)
        is_in_root = path.resolve().is_relative_to(self.root)
        return (is_in_root or document in spelled) and path.exists()


@asynccontextmanager
async def open_decision_context(settings: Settings) -> AsyncIterator[DecisionContext]:
    """Lend out the decisions and the story as they make it.

    Raises:
        SettingsProblem: The canon file is broken.
        StoreProblem: The library cannot be read.
    """
    async with open_workspace(settings) as workspace:
        canon = workspace.canon.load()
        order = await _story(workspace, canon)
        yield DecisionContext(workspace.canon, workspace.library.root, canon, order)


async def _story(workspace: Workspace, canon: Canon) -> StoryOrder:
    if not workspace.library.database.exists():
        return build_story_order([], [], canon)
    outlines = await workspace.passages.outlines()
    return build_story_order(outlines, workspace.settings.manuscript.order, canon)


async def make_decision(
    settings: Settings,
    output: Output,
    choose: Callable[[DecisionContext], Decision],
) -> None:
    """Make the decision that is chosen at the desk, and say so in a line.

    Raises:
        NotFound: The folder is no library; one wrong folder must not become one.
    """
    async with open_decision_context(settings) as decision_context:
        _require_library(decision_context, settings)
        decision = choose(decision_context)
        change = decision_context.service.decide(decision)
    if not change:
        output.answer("That was decided already; nothing is changed.")
        return
    output.answer(
        _describe_change(decision, change),
        StyledText(" Take it back: lrwr canon undo", "faint"),
    )


def _require_library(decision_context: DecisionContext, settings: Settings) -> None:
    settings_file, state = (
        decision_context.root / SETTINGS_FILE_NAME,
        resolve_library(settings).state_dir,
    )
    if not any(
        path.exists() for path in (settings_file, decision_context.service.path, state)
    ):
        raise NotFound(
            f"{decision_context.root} is no library yet",
            hint="Go to the folder of your book, and run `lrwr ingest FOLDER` there.",
        )


def _describe_change(decision: Decision, change: CanonChange) -> str:
    if isinstance(decision, NamesMerged):
        person = resolve_canon_person(change.after.names, decision.names[0])
        decision = replace(decision, canonical=person)
    pairs = (
        f" {name} and {other_name} are no longer two."
        for name, other_name in change.unsplit
    )
    return format_decision(decision) + "".join(pairs)


def show_decisions(canon: Canon, service: CanonService, output: Output) -> None:
    """Show every decision, and the one that undo would take back."""
    parts: list[tuple[str, list[tuple[str, str]]]] = [
        ("Document types", [(d, str(kind)) for d, kind in canon.types.items()]),
        ("Story order", [(d, "") for d in canon.order]),
        (
            "Points of view",
            [(str(p), character) for p, character in canon.points_of_view.items()],
        ),
        ("Names", _names(canon)),
        ("Answers", [(str(q), f"“{text}”") for q, text in canon.answers.items()]),
        ("Left open on purpose", [(str(q), "") for q in canon.unsaid]),
        (
            "Contradictions that are meant",
            [
                (str(contradiction), reason)
                for contradiction, reason in canon.intentional.items()
            ],
        ),
    ]
    if canon == Canon():
        output.answer("Nothing is decided yet.")
        output.story("See `lrwr canon --help` for what may be decided.")
    for title, rows in parts:
        if rows:
            _show_part(title, rows, output)
    if last_decision := describe_last_decision(service):
        output.answer(
            f"Last decided: {last_decision}",
            StyledText(" Take it back: lrwr canon undo", "faint"),
        )


def _show_part(title: str, rows: list[tuple[str, str]], output: Output) -> None:
    output.answer(StyledText(title, "strong"))
    name_width = max(len(name) for name, _ in rows)
    for name, meaning in rows:
        name_text = StyledText(name.ljust(name_width) if meaning else name, "place")
        output.answer(name_text, f"  {meaning}" if meaning else "", indent=2)
    output.answer()


def _names(canon: Canon) -> list[tuple[str, str]]:
    names = canon.names
    rows = [(name, f"also {', '.join(o)}") for name, o in names.merged.items()]
    rows += [(old, f"is called {new}") for old, new in names.renamed.items()]
    rows += [
        (split_name, f"is not {other_name}") for split_name, other_name in names.split
    ]
    rows += [(name, "is nobody") for name in names.ignored]
    return rows + [(name, "is somebody") for name in names.confirmed]


def describe_last_decision(service: CanonService) -> str:
    """Return what undo would take back, as a sentence; empty for nothing."""
    decisions = [
        decision_record
        for decision_record in service.history()
        if not decision_record.undone
    ]
    return format_decision(decisions[-1].decision) if decisions else ""


def decisions_as_json(canon: Canon, service: CanonService) -> Mapping[str, object]:
    """Return every decision for a script."""
    names = canon.names
    return {
        "file": service.path,
        "types": canon.types,
        "order": canon.order,
        "points_of_view": [
            {
                "place": str(place),
                "file": place.document,
                "chapter": place.chapter or None,
                "scene": place.scene,
                "character": character,
            }
            for place, character in canon.points_of_view.items()
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
