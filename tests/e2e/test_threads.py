"""`lrwr threads`, as the writer meets it."""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lrwr.app.container import open_workspace
from lrwr.cli.main import app
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.model.text import Span
from lrwr.core.model.turns import GapFlag, NarrativeState, ThreadId, TurnState
from lrwr.core.ports.threads import ThreadStore
from lrwr.core.settings.loader import load_settings
from tests.fakes.conversations import QUOTED, a_turn

FIRST, SECOND = ThreadId("7f3a01"), ThreadId("7f3b02")
FROG = NarrativeState(character="PurpleFrog", mode=AnswerMode.IN_CHARACTER, as_of="ch1")
STEERING = "\x1b[31mred\x1b]0;title\x07 [bold]x[/] \u202eright\x00"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


@pytest.fixture
def novel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "novel"
    (folder / "book").mkdir(parents=True)
    (folder / "lrwr.toml").write_text('[embedding]\nmodel = "off"\n')
    (folder / "book/1.md").write_text("# One\n\nThe sluice was shut.\n")
    monkeypatch.chdir(folder)
    run("ingest", "book")
    return folder


@pytest.fixture
def talks(novel: Path) -> Path:
    """Two conversations: an older one with the analyst, a newer one with the frog."""
    frog = a_turn("Are you shy?", "Only on *land*.", asked_at=2_000.0, state=FROG)
    stopped = replace(frog, state=TurnState.STOPPED)
    gap = GapFlag("Nell", "the colour of her eyes", "They are light.", "Say it once.")
    first = a_turn(gaps=(gap,))
    unsure = replace(
        first.output, unsupported=(Span(0, 4),), remarks=("The web was off.",)
    )
    keep(FIRST, "Tides and sluices", replace(first, output=unsure))
    keep(FIRST, "", a_turn("And the lamp?", "It burned.\n\n- low\n- long"))
    keep(SECOND, "Frogs", stopped, FROG)
    return novel


def with_store(work: Callable[[ThreadStore], Awaitable[Any]]) -> Any:
    async def done() -> Any:
        async with open_workspace(load_settings(Path.cwd(), {}, {})) as workspace:
            return await work(workspace.threads)

    return asyncio.run(done())


def keep(
    thread: ThreadId, title: str, turn: Any, state: NarrativeState | None = None
) -> None:
    state = state or NarrativeState()
    with_store(lambda store: store.save_turn(thread, title, turn, state))


def invoke(*args: str) -> Result:
    return CliRunner().invoke(app, args, catch_exceptions=False)


def run(*args: str) -> str:
    result = invoke(*args)
    assert result.exit_code == 0, result.output
    return result.stdout


def titles() -> list[str]:
    return [one["title"] for one in json.loads(run("threads", "--json"))]


def test_before_anything_is_said_the_list_is_empty(novel: Path) -> None:
    result = invoke("threads")
    assert (result.exit_code, result.stdout) == (0, "There are no threads yet.\n")
    assert run("threads", "--json") == "[]\n"


def test_where_nothing_was_ingested_there_is_nothing_to_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotFound, match="Nothing has been ingested"):
        invoke("threads")
    assert list(tmp_path.iterdir()) == []


def test_the_list_tells_title_turns_and_who_with_the_newest_first(talks: Path) -> None:
    heading, frogs, tides = run("threads").splitlines()
    assert heading.split() == ["Id", "Title", "Turns", "When", "In", "character"]
    assert re.fullmatch(r"7f3b02  Frogs +1  [\d -]+:\d\d  PurpleFrog", frogs)
    assert re.search(r"7f3a01  Tides and sluices +2  [\d -]+:\d\d", tides)
    told = json.loads(run("threads", "--json"))[0]
    assert (told["id"], told["turns"], told["updated"]) == ("7f3b02", 1, 2000.0)
    assert (told["character"], told["mode"], told["as_of"]) == (
        *("PurpleFrog", "in_character"),
        "ch1",
    )


def test_where_no_character_answers_the_list_does_not_name_one(talks: Path) -> None:
    run("threads", "delete", "1")
    heading, tides = run("threads").splitlines()
    assert heading.split() == ["Id", "Title", "Turns", "When"]
    assert re.search(r"7f3a01  Tides and sluices +2  [\d -]+:\d\d", tides)


@pytest.mark.parametrize(
    "name",
    ["2", "7f3a01", "7f3a", "7F3A", "Tides and sluices", "and  TIDES", " 2 "],
)
def test_a_conversation_goes_by_position_id_beginning_or_title(
    talks: Path, name: str
) -> None:
    assert json.loads(run("threads", "show", name, "--json"))["id"] == FIRST


@pytest.mark.parametrize("name", ["", "3", "0", "-", "Tide", "7f3c", "x" * 300, "²"])
def test_what_names_no_conversation_is_refused(talks: Path, name: str) -> None:
    with pytest.raises(NotFound) as caught:
        invoke("threads", "show", "--", name)
    assert "lrwr threads" in caught.value.hint


def test_what_may_mean_several_is_refused_with_their_ids(talks: Path) -> None:
    run("threads", "rename", "2", "frogs")
    assert json.loads(run("threads", "show", "Frogs", "--json"))["id"] == SECOND
    for name in ("7f3", "FROGS"):
        with pytest.raises(SettingsProblem) as caught:
            invoke("threads", "show", name)
        assert "7f3a01" in caught.value.hint
        assert "7f3b02" in caught.value.hint


def test_a_title_that_is_a_number_is_found_where_the_list_is_shorter(
    talks: Path,
) -> None:
    run("threads", "rename", "1", "1984")
    assert json.loads(run("threads", "show", "1984", "--json"))["id"] == SECOND


def test_a_conversation_is_shown_with_the_places_that_it_rests_on(talks: Path) -> None:
    shown = run("threads", "show", "2").splitlines()
    assert shown[0] == "Tides and sluices  7f3a01"
    assert shown[2].startswith("Who shut the sluice?  turn 1, ")
    assert shown[3:9] == [
        "Nell did [1].",
        "    [1] moved to book/1.md:3  “The sluice was shut.”",
        "    Open question: Nell, the colour of her eyes (They are light.)",
        "    Suggestion: Say it once.",
        "    Without a supporting citation: “Nell”",
        "    The web was off.",
    ]
    frog = run("threads", "show", "1")
    assert "PurpleFrog: Only on land." in frog
    assert "Stopped before the end" in frog


def test_a_script_gets_the_whole_conversation(talks: Path) -> None:
    told = json.loads(run("threads", "show", "2", "--json"))
    one, two = told["conversation"]
    assert (one["number"], two["number"]) == (1, 2)
    assert one["citations"] == [
        {
            "number": 1,
            "file": "manuscript/01.md",
            "lines": [3, 4],
            "chars": [20, 41],
            "chapter": 2,
            "text": "The sluice was shut.",
            "best": None,
            "freshness": "current",
            "now": {
                "document": "book/1.md",
                "lines": [3, 3],
                "chars": [7, 27],
                "text": "The sluice was shut.",
            },
        }
    ]
    assert one["gaps"][0]["undefined_attribute"] == "the colour of her eyes"
    assert (one["unsupported"], one["state"]) == ([[0, 4]], "complete")


def test_words_are_found_in_questions_and_answers(talks: Path) -> None:
    found = run("threads", "search", "lamps")
    assert "Tides and sluices  7f3a01  turn 2, " in found
    assert "  And the lamp?\n    It burned. - low - long\n" in found
    both = json.loads(run("threads", "search", "land", "sluice", "--json"))
    assert {one["thread"]["title"] for one in both} == {"Frogs", "Tides and sluices"}
    assert (
        len(json.loads(run("threads", "search", "land sluice", "-n1", "--json"))) == 1
    )
    nothing = invoke("threads", "search", "zebra")
    assert nothing.exit_code == 0
    assert "No thread contains" in nothing.stdout


@pytest.mark.parametrize(
    "words", ['"', "NEAR(", "a AND", "question:x", "*", "'", "--x"]
)
def test_no_words_can_break_a_search(talks: Path, words: str) -> None:
    try:
        assert invoke("threads", "search", "--", words).exit_code == 0
    except SettingsProblem as error:
        assert "No search words" in str(error)


def test_a_long_answer_is_shown_around_the_word(talks: Path) -> None:
    long = "It rained and rained. " * 40 + "Then the heron came. " + "It slept. " * 40
    keep(SECOND, "", a_turn("What then?", long))
    found = run("threads", "search", "heron").splitlines()[-1]
    assert found.startswith("    … ")
    assert "Then the heron came." in found
    assert len(found) < 300


def test_a_renamed_conversation_keeps_what_was_said(talks: Path) -> None:
    said = run("threads", "rename", "2", "  What Nell knows ")
    assert said == "Renamed “Tides and sluices” to “What Nell knows”.\n"
    assert titles() == ["Frogs", "What Nell knows"]
    with pytest.raises(SettingsProblem, match="title"):
        invoke("threads", "rename", "2", " ")


def test_what_came_from_anyone_cannot_steer_the_terminal(
    talks: Path, tmp_path: Path
) -> None:
    cited = replace(QUOTED, document=DocumentId(f"a\n{STEERING}.md"), text=STEERING)
    gap = GapFlag(STEERING, STEERING, STEERING, STEERING)
    state = NarrativeState(character=STEERING, mode=AnswerMode.IN_CHARACTER)
    turn = a_turn(STEERING, STEERING, citations=(cited,), gaps=(gap,), state=state)
    keep(ThreadId("7f3c03"), f"{STEERING}\nsecond", turn, state)
    for command in (
        ["threads"],
        ["threads", "show", "7f3c"],
        ["threads", "search", "bold"],
        ["threads", "export", "7f3c"],
        ["threads", "rename", "7f3c", f"{STEERING}2"],
        ["threads", "show", "7f3c", "--json"],
        ["threads", "delete", "7f3c"],
        ["threads", "undo"],
    ):
        shown = run(*command)
        assert not CONTROL.search(shown), command
        assert "right" in shown
        assert "[bold]x[/]" in shown.replace("\\", "")
    file = tmp_path / "talk.md"
    run("threads", "export", "7f3c", "--to", str(file))
    assert not CONTROL.search(file.read_text(encoding="utf-8"))
    assert [one for one in titles() if "\x1b" in one]


def test_an_exported_conversation_reads_as_markdown(talks: Path) -> None:
    text = run("threads", "export", "2")
    assert text.startswith("# Tides and sluices\n\n## Who shut the sluice?\n\n")
    assert "\nNell did \\[1\\].\n" in text
    assert "- **\\[1\\] moved to book/1.md:3**: “The sluice was shut.”\n" in text
    assert "- Open question: Nell, the colour of her eyes (They are light.)\n" in text
    assert "It burned.\n\n- low\n- long\n" in text
    frog = run("threads", "export", "1")
    assert "PurpleFrog, " in frog
    assert "Only on land." in frog


def test_a_file_is_only_replaced_when_that_is_asked_for(
    talks: Path, tmp_path: Path
) -> None:
    file = tmp_path / "talk.md"
    assert run("threads", "export", "1", "--to", str(file)) == f"{file}\n"
    before = file.read_bytes()
    with pytest.raises(SettingsProblem, match="already exists"):
        invoke("threads", "export", "2", "--to", str(file))
    assert file.read_bytes() == before
    run("threads", "export", "2", "--to", str(file), "--force")
    assert file.read_text(encoding="utf-8").startswith("# Tides")


def test_nothing_is_ever_written_into_the_manuscript(
    talks: Path, tmp_path: Path
) -> None:
    (tmp_path / "way").symlink_to(talks / "book", target_is_directory=True)
    before = sorted((p, p.read_bytes()) for p in talks.joinpath("book").iterdir())
    for file in ("book/talk.md", "book/1.md", "book/../book/x.md", "../way/x.md"):
        with pytest.raises(SettingsProblem, match="manuscript"):
            invoke("threads", "export", "1", "--to", file, "--force")
    with pytest.raises(SettingsProblem, match="must end in"):
        invoke("threads", "export", "1", "--to", "talk.docx")
    assert before == sorted((p, p.read_bytes()) for p in (talks / "book").iterdir())


def test_a_deleted_conversation_comes_back_the_last_one_first(talks: Path) -> None:
    said = run("threads", "delete", "Frogs")
    assert said == "Deleted “Frogs”. To restore it: `lrwr threads undo`.\n"
    run("threads", "delete", "1")
    assert titles() == []
    assert run("threads", "undo") == "Restored “Tides and sluices”.\n"
    assert run("threads", "undo") == "Restored “Frogs”.\n"
    assert titles() == ["Frogs", "Tides and sluices"]
    nothing = invoke("threads", "undo")
    assert nothing.exit_code == 0
    assert "no deleted thread" in nothing.stdout


def test_a_deletion_makes_those_of_long_ago_final(talks: Path) -> None:
    long_ago = time.time() - 31 * 86_400
    with_store(lambda store: store.delete(FIRST, long_ago))
    result = invoke("threads", "delete", "Frogs")
    assert "Also removed 1 thread deleted more than 30 days ago." in result.stderr
    assert run("threads", "undo") == "Restored “Frogs”.\n"
    assert "no deleted thread" in invoke("threads", "undo").stdout


@pytest.mark.parametrize(
    "command", ["", "show", "rename", "search", "export", "delete", "undo"]
)
def test_help_says_what_it_does_with_an_example(command: str) -> None:
    text = run("threads", *command.split(), "--help")
    assert command == "undo" or "lrwr threads" in text
