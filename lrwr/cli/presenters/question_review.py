"""The review of a file of test questions: list, show one by one, and change them."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from lrwr.app.container import open_workspace
from lrwr.app.presenters.citations import format_place
from lrwr.app.presenters.text import StyledText
from lrwr.cli.runtime.output import Output, is_terminal
from lrwr.cli.runtime.question_file import read_input_file
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError, NotFound, StoreProblem
from lrwr.core.ports.stores import DocumentText
from lrwr.core.settings.library import resolve_library, write_private_file
from lrwr.core.settings.model import Settings
from lrwr.pipeline.evaluation.questions import (
    EvalQuestion,
    GoldQuote,
    find_quote_places,
    parse_questions,
    serialize_questions,
)
from lrwr.pipeline.evaluation.review import (
    change_question,
    count_review_progress,
    drop_question,
    edit_question,
    keep_question,
    list_unreviewed_questions,
)
from lrwr.pipeline.evaluation.runs import locate_questions_file

QuestionChange: TypeAlias = Callable[[EvalQuestion], EvalQuestion]
ManuscriptTexts: TypeAlias = "Mapping[DocumentId, DocumentText]"

BACKUP = ".bak"
"""Suffix of the copy of the file before the last change."""

NO_QUESTIONS = "Run `lrwr eval --make 150`, or name a file with `--questions`."
"""The hint when the file of questions does not exist."""

PROMPT = "[k]eep  [d]rop  [e]dit  [n]ext  [u]ndo  [q]uit > "


async def load_manuscript_texts(settings: Settings, output: Output) -> ManuscriptTexts:
    """Return the texts of the ingested documents by document id.

    Empty if there is no library. `output` receives warnings of the library.
    """
    async with open_workspace(settings, say=output.warn) as workspace:
        try:
            passages = workspace.passages
        except NotFound:
            return {}
        outlines = await passages.outlines()
        return await passages.texts([outline.id for outline in outlines])


def resolve_question_file(settings: Settings, given_file: Path | None) -> Path:
    """Return `given_file`, or for None the file of questions in the library."""
    return given_file or locate_questions_file(resolve_library(settings))


@dataclass(frozen=True, slots=True)
class QuestionReview:
    """A review of one file of test questions.

    `book` has the manuscript's texts by document; they are only read.
    """

    file: Path
    book: ManuscriptTexts
    output: Output

    @property
    def interactive(self) -> bool:
        """Whether input and output are a terminal, so that questions can be asked."""
        return self.output.interactive and is_terminal(sys.stdin)

    def show(self, *, every: bool, as_json: bool) -> None:
        """Print the questions in the order of the file; dropped ones only with `every`.

        Without `as_json`, the counts of `show_progress` follow.
        """
        questions = [
            eval_question
            for eval_question in self._read()
            if every or not eval_question.dropped
        ]
        if as_json:
            self.output.json(
                [self._question_as_json(question) for question in questions]
            )
            return
        with self.output.paged():
            for displayed in questions:
                self._show(displayed)
        self.show_progress()

    def change(self, changes: Sequence[tuple[str, QuestionChange]]) -> None:
        """Apply all `changes`, pairs of a question's id and its change, or none.

        Raises:
            NotFound: A question does not exist.
            SettingsProblem: A change is not possible.
        """
        questions = self._read()
        for id_, change in changes:
            questions = change_question(questions, id_, change)
        self._write(questions)

    def undo(self) -> None:
        """Undo the last change of the file; a second call redoes it.

        Raises:
            NotFound: There is no change to undo.
        """
        before = self._backup()
        if not before.exists():
            raise NotFound(
                f"{self.file} has no change to undo",
                hint="Run `lrwr eval review` to change questions.",
            )
        previous, current = read_input_file(before), self._read_text()
        parse_questions(previous, str(before))
        self._keep(before, current)
        self._keep(self.file, previous)
        self.output.info("Undid the last change. Run `--undo` again to redo it.")

    def review(self, *, every: bool) -> None:
        """Show one question after another, and apply the commands that the user types.

        Questions that were reviewed before are shown only with `every`.
        """
        questions = self._read()
        todo = questions if every else list_unreviewed_questions(questions)
        if not todo:
            self.output.info(
                "All questions are reviewed. Use `--all` to see them again."
            )
        index = 0
        while index < len(todo):
            question = next(q for q in self._read() if q.id == todo[index].id)
            self.output.answer(StyledText(f"{index + 1} of {len(todo)}", "faint"))
            self._show(question)
            typed_command = _read_command(PROMPT)
            if typed_command is None or typed_command in ("q", "quit"):
                return
            index = max(0, index + self._apply_command(typed_command, question))

    def show_progress(self, *, as_json: bool = False) -> None:
        """Print how many questions are kept, dropped and not reviewed yet.

        With `as_json`, keys are `file`, `kept`, `dropped` and `waiting`; otherwise a
        sentence goes to stderr.
        """
        progress = count_review_progress(self._read())
        if as_json:
            counts = {
                "kept": progress.kept,
                "dropped": progress.dropped,
                "waiting": progress.waiting,
            }
            self.output.json({"file": str(self.file), **counts})
            return
        self.output.info(
            f"{progress.kept} kept, {progress.dropped} dropped, {progress.waiting} to review."
        )

    def _apply_command(self, typed_command: str, eval_question: EvalQuestion) -> int:
        """Apply a typed command; return how many questions to move forward."""
        try:
            match typed_command[:1]:
                case "k":
                    self.change([(eval_question.id, keep_question)])
                case "d":
                    self.change([(eval_question.id, drop_question)])
                case "e":
                    text = _read_command("question (empty: unchanged) > ") or ""
                    answer = _read_command("answer (empty: unchanged) > ") or ""
                    self.change(
                        [
                            (
                                eval_question.id,
                                lambda q: edit_question(q, text=text, answer=answer),
                            )
                        ]
                    )
                case "u":
                    self.undo()
                    return -1
                case "" | "n":
                    return 1
                case _:
                    self.output.info("Type k, d, e, n, u or q.")
                    return 0
        except LrwrError as problem:
            self.output.error(problem)
            return 0
        return 1

    def _show(self, eval_question: EvalQuestion) -> None:
        state = ", dropped" if eval_question.dropped else ""
        at = f", asked at {eval_question.as_of}" if eval_question.as_of else ""
        self.output.answer(
            StyledText(eval_question.id, "place"), StyledText(f"  {eval_question.kind}{at}, from {eval_question.made}{state}", "faint")
        )  # fmt: skip
        self.output.answer(StyledText(eval_question.text, "strong"), indent=2)
        if eval_question.answer:
            self.output.answer(f"Answer: {eval_question.answer}", indent=4)
        for gold in eval_question.gold:
            self._show_gold(gold, "")
        for gold in eval_question.spoilers:
            self._show_gold(gold, "spoiler: ")
        if not eval_question.gold and not eval_question.spoilers:
            self.output.answer(
                StyledText("The text does not answer this question.", "faint"), indent=4
            )
        self.output.answer()

    def _show_gold(self, gold: GoldQuote, label: str) -> None:
        self.output.answer(f"{label}{self._place(gold)}", indent=4)
        self.output.answer(f"“{gold.quote}”", indent=6)

    def _place(self, gold: GoldQuote) -> str:
        """Return the location of a quote, or why it has none."""
        path = gold.file.removeprefix("./")
        matches = [d for d in self.book if d == path or d.endswith(f"/{path}")]
        if len(matches) != 1:
            return f"{gold.file} (not in the library)"
        kept_text = self.book[matches[0]]
        places = find_quote_places(gold.quote, matches[0], kept_text.text)
        if not places:
            return f"{gold.file} (quote no longer in the text)"
        return format_place(matches[0], kept_text.lines.lines_of(places[0].span))

    def _question_as_json(self, eval_question: EvalQuestion) -> dict[str, object]:
        return {
            "id": eval_question.id,
            "question": eval_question.text,
            "kind": eval_question.kind.value,
            "answer": eval_question.answer,
            "as_of": eval_question.as_of,
            "made": eval_question.made,
            "dropped": eval_question.dropped,
            "gold": [self._gold_as_json(gold) for gold in eval_question.gold],
            "spoilers": [self._gold_as_json(gold) for gold in eval_question.spoilers],
        }

    def _gold_as_json(self, gold: GoldQuote) -> dict[str, str]:
        return {"file": gold.file, "quote": gold.quote, "place": self._place(gold)}

    def _read_text(self) -> str:
        return read_input_file(self.file, missing=NO_QUESTIONS)

    def _read(self) -> list[EvalQuestion]:
        return parse_questions(self._read_text(), str(self.file))

    def _write(self, questions: Sequence[EvalQuestion]) -> None:
        self._keep(self._backup(), self._read_text())
        self._keep(self.file, serialize_questions(questions))

    def _backup(self) -> Path:
        return self.file.with_name(f"{self.file.name}{BACKUP}")

    def _keep(self, path: Path, text: str) -> None:
        try:
            write_private_file(path, text)
        except OSError as error:
            raise StoreProblem(
                f"{path} cannot be written: {error.strerror}",
                hint="Check the free disk space and the permissions of the folder.",
            ) from error


def _read_command(prompt: str) -> str | None:
    """Return the typed line; None at the end of input."""
    try:
        return input(prompt).strip()
    except EOFError:
        return None
