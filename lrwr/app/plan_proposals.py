"""Suggestions of a language model for a plan, inserted where the plan leaves something open."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from lrwr.app.container import Workspace
from lrwr.app.draft_prompts import load_prompt_texts
from lrwr.app.drafts import load_plan_material
from lrwr.app.judge_parts import JudgeParts
from lrwr.app.proposals import create_writer_parts, hold_writing_lock
from lrwr.core.adapters.storage.sqlite.draft_journal import SqliteDraftJournal
from lrwr.core.bible.name_lookup import match_people
from lrwr.core.bible.values import format_relation
from lrwr.core.drafting.board import render_board
from lrwr.core.drafting.folder import BOARD_FILE, SHEETS_FOLDER, DraftFile, DraftFolder
from lrwr.core.drafting.model_steps import ModelSteps, StepPrompt
from lrwr.core.drafting.plan_questions import (
    MAX_PLAN_CHARS,
    MAX_QUESTIONS,
    PlanAnswer,
    PlanInsertion,
    PlanMaterial,
    PlanQuestion,
    PlanStep,
    build_plan_prompt,
    insert_answers,
    list_plan_questions,
    parse_answers,
    render_sheet,
)
from lrwr.core.model.language_model import Usage

CARDS_BEFORE, CARDS_AFTER = 12, 3
"""Cards of a long board that are sent, before and after each planned one."""
MAX_PEOPLE, MAX_FACTS = 12, 6
"""People of the story that are described to the model, and facts about each."""


@dataclass(frozen=True, slots=True)
class PlanProposal:
    """What was inserted into the plan, and what the language model used.

    `open_questions` is the number of questions that are still open. `cost` is in US
    dollars, None if unknown.
    """

    insertions: tuple[PlanInsertion, ...]
    open_questions: int
    model: str
    usage: Usage
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """The questions that a language model would get, the prompt, and its price in US
    dollars, None if unknown; `enough` is a budget with which it is not refused. `prompt`
    is None if nothing is open.
    """

    questions: tuple[PlanQuestion, ...]
    prompt: StepPrompt | None
    model: str
    cost: float | None = None
    enough: float | None = None


async def plan_suggestions(
    workspace: Workspace, folder: DraftFolder, step: PlanStep
) -> PlanRequest:
    """Return what `suggest_plan` would ask; nothing is sent.

    Raises:
        NotFound: There is no board.
        SettingsProblem: No language model is configured, or a prompt is invalid.
    """
    parts = create_writer_parts(workspace, may_ask=False)
    return await _build_request(workspace, folder, step, parts)


async def suggest_plan(
    workspace: Workspace,
    folder: DraftFolder,
    step: PlanStep,
    emit: Callable[[str], None] = lambda _: None,
) -> PlanProposal:
    """Let a language model answer what a step of the plan leaves open, and insert the
    answers into the writer's files; what these say stays.

    Raises:
        NotFound: There is no board.
        ServiceUnavailable: The language model did not answer usably.
        SettingsProblem: No language model is configured, a prompt is invalid, or a file
            was changed meanwhile.
        LrwrError: A file cannot be written.
    """
    with hold_writing_lock(workspace):
        parts = create_writer_parts(workspace)
        request = await _build_request(workspace, folder, step, parts)
        if request.prompt is None:
            return PlanProposal((), 0, parts.chat.name, Usage(), 0.0)
        journal = SqliteDraftJournal(workspace.database)
        scene = f"plan {step}"
        steps = ModelSteps(
            parts.chat, parts.budget, journal, scene, workspace.now, emit
        )
        emit("Planning")
        answers = await steps.request(
            request.prompt, partial(parse_answers, questions=request.questions)
        )
        insertions = tuple(_insert(folder, answers))
    return PlanProposal(
        insertions,
        len(request.questions) - len(answers),
        steps.name,
        steps.usage,
        parts.budget.price(steps.usage),
    )


async def _build_request(
    workspace: Workspace, folder: DraftFolder, step: PlanStep, parts: JudgeParts
) -> PlanRequest:
    texts = load_prompt_texts(folder)
    material = await load_plan_material(workspace, folder)
    questions = list_plan_questions(step, material)[:MAX_QUESTIONS]
    if not questions:
        return PlanRequest((), None, parts.chat.name)
    plan = {
        "intent": material.intent.text,
        "board": _excerpt_board(folder, material),
        "people": "\n".join(_describe_people(material, step)),
    }
    for sheet in folder.read_all(SHEETS_FOLDER)[:MAX_PEOPLE]:
        plan[sheet.path] = sheet.text
    prompt = build_plan_prompt(texts, step, questions, plan)
    price = parts.budget.price
    return PlanRequest(
        tuple(questions),
        prompt,
        parts.chat.name,
        price(prompt.estimate()),
        price(prompt.bound()),
    )


def _excerpt_board(folder: DraftFolder, material: PlanMaterial) -> str:
    """Return the board; of a long one, the cards around those that are planned."""
    file, cards = folder.read(BOARD_FILE), material.board.cards
    if file is None or len(file.text) <= MAX_PLAN_CHARS:
        return file.text if file else ""
    planned = [n for n, card in enumerate(cards) if card.id not in material.written]
    near = (
        card
        for n, card in enumerate(cards)
        if any(n - CARDS_AFTER <= at <= n + CARDS_BEFORE for at in planned)
    )
    return render_board(replace(material.board, cards=tuple(near)))


def _describe_people(material: PlanMaterial, step: PlanStep) -> Iterator[str]:
    """Yield lines about the people of planned scenes; for another step than scenes and
    sheets, about the people with most mentions.
    """
    bible = material.bible
    names = [name for card in material.planned for name in card.cast]
    people = [person for name in names for person in match_people(name, bible)]
    if step not in (PlanStep.SCENES, PlanStep.SHEETS) or not people:
        people += bible.characters[:MAX_PEOPLE]
    for person in list(dict.fromkeys(people))[:MAX_PEOPLE]:
        claims = (*person.attributes, *person.personality_traits)[:MAX_FACTS]
        facts = [
            f"{claim.label.rstrip(' .:')} {claim.value}".strip() for claim in claims
        ]
        relations = [
            ": ".join(format_relation(relation))
            for relation in bible.relations
            if person.name in (relation.source, relation.target)
        ]
        yield "; ".join([person.name, *facts, *relations[:MAX_FACTS]])


def _insert(
    folder: DraftFolder, answers: tuple[PlanAnswer, ...]
) -> Iterator[PlanInsertion]:
    """Insert the answers into their files, and yield what was inserted."""
    by_file: dict[str, list[PlanAnswer]] = {}
    for answer in answers:
        place = answer.question.place
        path = place.rpartition(":")[0] if place[-1:].isdigit() else place
        by_file.setdefault(path, []).append(answer)
    for path, entries in by_file.items():
        inner = path.removeprefix(folder.name_of("") + "/")
        file = folder.read(inner)
        if file is None:
            yield _create(folder, inner, entries)
            continue
        text, inserted = insert_answers(file.text, file.path, entries)
        folder.amend(file, text)
        yield from inserted


def _create(
    folder: DraftFolder, inner: str, answers: list[PlanAnswer]
) -> PlanInsertion:
    """Write a new sheet, or `intent.md` with answers."""
    if inner.startswith(f"{SHEETS_FOLDER}/"):
        text = render_sheet(answers[0].question.about, answers)
    else:
        empty = DraftFile(folder.name_of(inner), "")
        text, _ = insert_answers(empty.text, empty.path, answers)
    folder.create()
    return PlanInsertion(folder.write(inner, text), 1, text.strip())
