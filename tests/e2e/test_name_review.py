"""`lrwr characters review` and `merge`: the writer decides who is who."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lrwr.cli.commands import name_review
from lrwr.cli.main import app
from lrwr.cli.runtime.output import Output

TALK = (
    "“Come here, Sophy,” said Admiral Croft. He sat down.\n\n"
    "“I come,” said Mrs. Croft. Mrs. Croft smiled at the Admiral.\n\n"
    "“It is late, Sophy.”\n\n“It is, Admiral,” said Mrs. Croft.\n\n"
)
FILES = {
    "lrwr.toml": '[embedding]\nmodel = "off"\n',
    "1.md": f"# One\n\n{TALK}“Sophy is my wife,” said Admiral Croft.\n",
    "2.md": "# Two\n\n“I will,” said Nell, taking the lamp, “go alone.” Nell went.\n\n"
    "“Go, Nell,” said Mrs. Croft.\n\n“I go,” said Nell.\n",
}


@pytest.fixture(autouse=True)
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "novel"
    folder.mkdir()
    for name, text in FILES.items():
        folder.joinpath(name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    run("ingest", ".")
    yield folder


def run(*args: str, keys: str = "") -> str:
    result = CliRunner().invoke(app, args, input=keys, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def proposed() -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(run("characters", "review", "--json"))
    return found


@pytest.fixture
def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Review with these keys, as on a terminal."""
    monkeypatch.setattr(Output, "interactive", True)

    def press(keys: str) -> str:
        rest = iter(keys)
        monkeypatch.setattr(name_review, "getchar", lambda: next(rest, "q"))
        return run("characters", "review")

    return press


def test_a_review_lists_two_names_that_may_be_one_with_their_lines() -> None:
    (proposal,) = proposed()

    assert proposal["kind"] == "merge"
    assert {proposal["first"], proposal["second"]} == {"Mrs. Croft", "Sophy"}
    assert proposal["reason"] == "Mrs. Croft answers when somebody says Sophy"
    assert {line["file"] for line in proposal["lines"]} == {"1.md"}  # type: ignore[attr-defined]


def test_a_review_is_a_list_of_questions_without_a_terminal() -> None:
    shown = run("characters", "review")

    assert "one character?" in shown
    assert "1.md:3" in shown


def test_an_accepted_proposal_merges_and_can_be_undone(
    on_a_terminal: Callable[[str], str],
) -> None:
    assert "are one character: Mrs. Croft" in on_a_terminal("y")
    assert proposed() == []
    run("canon", "undo")
    assert len(proposed()) == 1


def test_a_declined_proposal_is_not_made_again(
    on_a_terminal: Callable[[str], str],
) -> None:
    assert "are not the same character" in on_a_terminal("n")
    assert proposed() == []
    assert "No names to review." in run("characters", "review")


def test_a_skipped_proposal_stays_and_a_wrong_key_does_nothing(
    on_a_terminal: Callable[[str], str],
) -> None:
    on_a_terminal("xs")

    assert len(proposed()) == 1


def test_merge_keeps_the_most_mentioned_name() -> None:
    assert ": Mrs. Croft." in run("characters", "merge", "Sophy", "Mrs. Croft")


def test_merge_uses_the_name_given_with_as() -> None:
    command = ("characters", "merge", "Sophy", "Mrs. Croft", "--as", "Sophia Croft")

    assert ": Sophia Croft." in run(*command)


def test_merge_says_that_nobody_has_a_name_and_offers_the_nearest() -> None:
    result = CliRunner().invoke(app, ["characters", "merge", "Sofy", "Mrs. Croft"])

    assert "No character is called Sofy. Did you mean Sophy?" in result.stderr


def test_words_left_out_of_an_utterance_are_marked() -> None:
    texts = [one["text"] for one in json.loads(run("quotes", "--json"))]

    assert "I will, … go alone." in texts


def test_search_offers_the_nearest_name_for_one_that_nobody_has() -> None:
    shown = run("search", "What does Croftt say?")

    assert "Not found in the text: “croftt”" in shown
    assert "Did you mean Mrs. Croft?" in shown
    result = json.loads(run("search", "What does Croftt say?", "--json"))
    assert result["similar_names"]


WEDDING = (
    "# One\n\n“I will,” said Nell Vale. She sat. Nell smiled. “So,” said Mrs. Tallow. She "
    "sat.\n\n# Two\n\n“I shall marry,” said Mr. Tallow. He sat. Nell Vale was engaged to "
    "Mr. Tallow. The marriage of Nell and Mr. Tallow was told.\n\n“Good,” said Mrs. "
    "Tallow. “Well,” said Mr. Tallow. “Yes,” said Nell.\n"
)
FATHER = (
    "# One\n\n“I,” said Mr. Corin Vale. He sat. “No,” said Corin. Corin lost his hat. “So,” "
    "said Mr. Vale. He sat. Corin went with Mr. Vale to the quay. “Well,” said Corin. "
    "“Good,” said Corin Vale.\n\n“Yes,” said Corin.\n"
)
SISTERS = (
    "# One\n\n“I,” said Nell Vale. She sat. “No,” said Orla Vale. She sat. “Miss Vale!” "
    "said Tom. “Yes,” said Nell. “Well,” said Orla. “Good, Miss Vale,” said Tom.\n"
)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (WEDDING, "merge Nell Mrs. Tallow"),
        (FATHER, "split Corin Mr. Vale"),
        (SISTERS, "merge Nell Miss Vale"),
    ],
)
def test_a_review_asks_what_names_alone_leave_open(
    library: Path, text: str, question: str
) -> None:
    for name in FILES:
        library.joinpath(name).unlink()
    library.joinpath("1.md").write_text(text, encoding="utf-8")
    library.joinpath("lrwr.toml").write_text(FILES["lrwr.toml"], encoding="utf-8")
    run("ingest", ".")

    found = {f"{p['kind']} {p['first']} {p['second']}": p for p in proposed()}

    assert question in {key.replace("Nell Vale", "Nell") for key in found}
    assert all(proposal["lines"] for proposal in found.values())


def test_a_review_asks_about_a_full_name_far_from_its_given_name(library: Path) -> None:
    often = "“Yes,” said Orla. She sat. Orla smiled. "
    seldom = "“I am late,” said Miss Vale. She sat down, and Orla Vale took her hat.\n"
    library.joinpath("1.md").write_text(f"# One\n\n{often * 12}\n", encoding="utf-8")
    for number in (2, 3):
        library.joinpath(f"{number}.md").write_text(
            f"# Part {number}\n\n{seldom}", encoding="utf-8"
        )
    run("ingest", ".")

    splits = [p for p in proposed() if p["kind"] == "split"]

    assert [p["reason"] for p in splits] == [
        "“Orla” and “Miss Vale” are seldom in one file"
    ]


def test_a_review_asks_once_about_two_given_names(library: Path) -> None:
    text = (
        "# One\n\n“I,” said Corin Vale, otherwise Bram Pell. He sat. “No,” said Mr. Corin "
        "Vale. “So,” said Mr. Bram Pell. “Well,” said Corin Vale. “Yes,” said Bram Pell.\n"
    )
    library.joinpath("1.md").write_text(text, encoding="utf-8")
    run("ingest", ".")

    assert len([p for p in proposed() if "two given names" in str(p["reason"])]) == 1


def test_a_name_in_capitals_is_no_name_of_its_own(library: Path) -> None:
    library.joinpath("2.md").write_text(
        FILES["2.md"] + "\n“DEAR NELL, come.”\n\n“NELL!” said Mrs. Croft.\n",
        encoding="utf-8",
    )
    run("ingest", ".")

    shown = json.loads(run("characters", "Nell", "--json"))

    assert "NELL" not in shown["aliases"]
