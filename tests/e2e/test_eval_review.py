"""`lrwr eval review`: questions are shown with their places, and changed safely."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from lrwr.cli.commands.eval_review import eval_review_command
from lrwr.core.model.errors import LrwrError, NotFound, SettingsProblem
from lrwr.pipeline.evaluation.questions import (
    EvalQuestion,
    GoldQuote,
    QuestionKind,
    parse_questions,
    serialize_questions,
)
from tests.fakes.terminal import Terminal

LIT = "Nell Tallow lit the lamp at dusk."
QUESTIONS = (
    EvalQuestion(
        "fact-aa",
        "Who lights it?",
        (GoldQuote("1.md", LIT),),
        kind=QuestionKind.FACT,
        answer="Nell.",
        made="a name",
    ),
    EvalQuestion(
        "fact-bb",
        "Who is late?",
        (GoldQuote("1.md", "Words that are gone."),),
        kind=QuestionKind.FACT,
        made="a name",
    ),
    EvalQuestion(
        "unanswerable-cc", "Who swims?", (), kind=QuestionKind.UNANSWERABLE, made="none"
    ),
)


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("review")
    folder = place / "book"
    folder.mkdir()
    (folder / "1.md").write_text(f"# 1\n\n{LIT}\n", encoding="utf-8")
    terminal = Terminal(folder, home=place / "home", LRWR_EMBEDDING_MODEL="off")
    assert terminal.run("ingest", ".").code == 0
    return folder


@pytest.fixture
def book(ingested: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(ingested)
    kept(ingested).write_text(serialize_questions(QUESTIONS), encoding="utf-8")
    kept(ingested).with_name("questions.jsonl.bak").unlink(missing_ok=True)
    return ingested


def kept(book: Path) -> Path:
    return book / ".lrwr/questions.jsonl"


def run(*words: str) -> Result:
    app = typer.Typer()
    app.command()(eval_review_command)
    return CliRunner().invoke(app, list(words), obj={})


def read(book: Path) -> dict[str, EvalQuestion]:
    text = kept(book).read_text(encoding="utf-8")
    return {one.id: one for one in parse_questions(text, "kept")}


def test_without_a_terminal_they_are_listed_with_their_places(book: Path) -> None:
    ran = run()
    assert ran.exit_code == 0
    assert "1.md:3" in ran.stdout
    assert LIT in ran.stdout
    assert "no longer in the text" in ran.stdout
    assert "The text does not answer this question." in ran.stdout
    assert "3 to review" in ran.stderr


def test_json_tells_all_of_it(book: Path) -> None:
    told = json.loads(run("--json").stdout)
    assert [one["id"] for one in told] == [one.id for one in QUESTIONS]
    assert told[0]["gold"][0]["place"] == "1.md:3"


def test_what_is_dropped_is_not_shown_and_comes_back(book: Path) -> None:
    before = (book / "1.md").read_text(encoding="utf-8")
    assert run("--drop", "fact-aa").exit_code == 0
    assert read(book)["fact-aa"].dropped
    assert "fact-aa" not in run().stdout
    assert "fact-aa" in run("--all").stdout
    assert run("--undo").exit_code == 0
    assert not read(book)["fact-aa"].dropped
    assert run("--undo").exit_code == 0
    assert read(book)["fact-aa"].dropped
    assert (book / "1.md").read_text(encoding="utf-8") == before


def test_several_changes_are_one_and_a_mistake_makes_none(book: Path) -> None:
    told = json.loads(run("--keep", "aa", "--drop", "cc", "--json").stdout)
    assert (told["kept"], told["dropped"], told["waiting"]) == (1, 1, 1)
    before = kept(book).read_bytes()
    ran = run("--keep", "fact-bb", "--drop", "nothing")
    assert isinstance(ran.exception, NotFound)
    assert kept(book).read_bytes() == before


def test_a_question_is_put_in_other_words(book: Path) -> None:
    ran = run("--edit", "aa", "--question", "Who lights the lamp?", "--answer", "N.")
    assert ran.exit_code == 0
    mine = read(book)["fact-aa"]
    assert (mine.text, mine.answer) == ("Who lights the lamp?", "N.")


@pytest.mark.parametrize(
    "words",
    [
        ["--edit", "fact-aa"],
        ["--question", "Who?"],
        ["--undo", "--keep", "fact-aa"],
    ],
)
def test_options_that_do_not_fit_are_refused(book: Path, words: list[str]) -> None:
    assert isinstance(run(*words).exception, SettingsProblem)


def test_a_file_of_their_own_may_be_named(book: Path, tmp_path: Path) -> None:
    own = tmp_path / "mine.jsonl"
    own.write_text(serialize_questions(QUESTIONS[:1]), encoding="utf-8")
    before = kept(book).read_bytes()
    assert run("--questions", str(own), "--drop", "fact-aa").exit_code == 0
    assert '"dropped": true' in own.read_text(encoding="utf-8")
    assert kept(book).read_bytes() == before


def test_with_nothing_made_it_says_how_to_make_some(book: Path) -> None:
    kept(book).unlink()
    for words in ([], ["--drop", "fact-aa"], ["--undo"]):
        ran = run(*words)
        assert isinstance(ran.exception, LrwrError)
        assert ran.exception.hint


def test_on_a_terminal_they_come_one_by_one(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from io import StringIO

    from lrwr.cli.presenters.question_review import QuestionReview
    from lrwr.cli.runtime.output import Output

    typed = StringIO("x\nk\nd\nu\nd\ne\nWho can swim?\n\nk\n")
    monkeypatch.setattr("sys.stdin", typed)
    output = Output(stdout=StringIO(), stderr=StringIO(), env={})
    QuestionReview(kept(book), {}, output).review(every=False)
    now = read(book)
    assert now["fact-aa"].made == "a name, kept"
    assert now["fact-bb"].dropped
    assert now["unanswerable-cc"].text == "Who can swim?"
