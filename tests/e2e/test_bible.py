"""The story bible's commands, as the writer meets them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lrwr.cli.main import app
from lrwr.core.model.errors import LrwrError, NotFound, SettingsProblem

FILES = {
    "lrwr.toml": '[embedding]\nmodel = "off"\n',
    "book/1.md": (
        "# One\n\n“Is it late?” said Nell Tallow.\n\n“Six strokes,” said Corin Vale."
        " Nell’s eyes were grey.\n\n“I am cold, Corin,” said Nell.\n"
    ),
    "book/2.md": (
        "# Two\n\n“So late,” said Mrs. Gannet to Nell. Nell’s sister Vexa came in.\n\n"
        "“TODO,” said Mrs. Gannet. TODO: what does Corin Vale want?\n"
    ),
    "book/notes/Corin Vale.md": (
        "---\ntype: character\nname: Corin Vale\naliases: [Corin]\n---\n"
        "# Corin Vale\n\n- **Eyes:** brown\n\nTODO: his age?\n"
    ),
}


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "novel"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    run("ingest", "book")
    before = manuscript(folder)
    yield folder
    assert manuscript(folder) == before


def manuscript(novel: Path) -> dict[Path, bytes]:
    return {p: p.read_bytes() for p in novel.joinpath("book").rglob("*") if p.is_file()}


def invoke(*args: str) -> Result:
    return CliRunner().invoke(app, args, catch_exceptions=False)


def run(*args: str) -> str:
    result = invoke(*args)
    assert result.exit_code == 0
    return result.stdout


def told(*args: str) -> Any:
    return json.loads(run(*args, "--json"))


def test_characters_are_listed_and_shown(library: Path) -> None:
    names = {one["name"]: one for one in told("characters")}
    assert "Corin Vale" in names
    assert names["Corin Vale"]["certainty"] == "confirmed"
    shown = told("characters", "corin")
    assert [
        one["value"] for one in shown["attributes"] if one["attribute"] == "eyes"
    ] == ["brown"]
    assert run("characters", "corin", "vale").startswith("Corin Vale")
    with pytest.raises(NotFound, match="No character"):
        invoke("characters", "Zebedee")


def test_a_horizon_hides_who_comes_later(library: Path) -> None:
    early = {one["name"] for one in told("characters", "--as-of", "ch1")}
    assert not any("Gannet" in name for name in early)
    assert all(one["chapter"] == 1 for one in told("quotes", "--as-of", "ch1"))
    assert all(one["chapter"] == 1 for one in told("recap", "--as-of", "1.md"))


def test_names_are_decided_about_and_undone(library: Path) -> None:
    assert run("characters", "confirm", "Mrs. Gannet").startswith(
        "Mrs. Gannet is a character."
    )
    sure = {one["name"]: one["certainty"] for one in told("characters")}
    assert sure["Mrs. Gannet"] == "confirmed"
    assert "Undone: Mrs. Gannet is a character." in run("characters", "undo")
    assert "are one character: Nell" in run("characters", "merge", "Nell", "Nellie")
    assert "Nellie" in run("canon")


def test_quotes_are_the_texts_own(library: Path) -> None:
    text = Path("book/1.md").read_text(encoding="utf-8")
    quotes = told("quotes", "--speaker", "Corin")
    assert [one["text"] for one in quotes] == ["Six strokes,"]
    ((start, end),) = quotes[0]["chars"]
    assert text[start:end] == "Six strokes,"


def test_last_scenes_tell_who_does_not_appear_any_more(library: Path) -> None:
    (library / "book" / "3.md").write_text("# Three\n\nNell slept. Nell woke.\n")
    run("ingest")
    last = {row["name"]: row["last_scene"] for row in told("characters")}
    assert last["Nell"] == "ch3:s1"
    assert last["Mrs. Gannet"] == "ch2:s1"
    names = [row["name"] for row in told("characters", "--absent-since", "ch2")]
    assert "Mrs. Gannet" in names
    assert "Nell" not in names
    assert "acts or speaks in ch2; last in ch2:s1" in run("characters", "gannet")
    with pytest.raises(SettingsProblem, match="is no chapter"):
        run("characters", "--absent-since", "one")
    everybody = run("characters", "--absent-since", "ch0")
    assert "Everybody appears after chapter 0." in everybody
    assert "No characters" not in everybody
    (library / "book" / "3.md").unlink()


def test_quotes_and_recaps_take_a_chapter_as_a_word(library: Path) -> None:
    said = told("quotes", "ch1")
    assert {quote["chapter"] for quote in said} == {1}
    own = told("quotes", "Corin", "Vale", "ch1")
    assert [quote["text"] for quote in own] == ["Six strokes,"]
    assert run("recap", "ch1") == run("recap", "--as-of", "ch1")


def test_quotes_are_those_said_to_somebody(library: Path) -> None:
    said = told("quotes", "--to", "Nell")
    assert {quote["text"] for quote in said} == {"Six strokes,", "So late,"}
    (late,) = told("quotes", "Mrs.", "Gannet", "to", "Nell", "ch2")
    assert late["text"] == "So late,"
    assert told("quotes", "Corin", "to", "Vexa") == []


def test_a_timeline_and_the_cast_of_one_chapter(library: Path) -> None:
    later = "# Three\n\n“So,” said Nell.\n\nMrs. Gannet died in the night.\n"
    (library / "book" / "3.md").write_text(later, encoding="utf-8")
    run("ingest")
    moments = told("timeline", "ch3")
    assert moments
    assert {moment["evidence"]["chapter"] for moment in moments} == {3}
    own = told("timeline", "Mrs.", "Gannet", "ch3")
    assert own
    assert all("Mrs. Gannet" in moment["characters"] for moment in own)
    assert told("timeline", "Corin", "ch3") == []
    names = {row["name"] for row in told("characters", "ch1")}
    assert "Corin Vale" in names
    assert "Mrs. Gannet" not in names
    assert "Nobody was found in chapter 7" in run("characters", "ch7")
    (library / "book" / "3.md").unlink()


def test_a_gap_is_answered_dismissed_and_reopened(library: Path) -> None:
    gaps = told("gaps")
    assert gaps
    id_ = gaps[0]["id"]
    assert "“sixty”" in run("gaps", "answer", id_, "sixty")
    assert id_ not in [gap["id"] for gap in told("gaps")]
    answered = {gap["id"]: gap for gap in told("gaps", "--all")}[id_]
    assert (answered["state"], answered["answer"]) == ("answered", "sixty")
    assert "[[answer]]" in Path("lrwr.canon.toml").read_text(encoding="utf-8")
    run("gaps", "undo")
    run("gaps", "dismiss", id_)
    assert "left open on purpose" in run("canon").lower()
    assert told("canon")["wont_say"][0]["attribute"] == gaps[0]["attribute"]
    run("gaps", "undo")
    assert told("gaps") == gaps
    with pytest.raises(NotFound, match="No open question has the id 'zzzz'"):
        invoke("gaps", "dismiss", "zzzz")


def test_the_other_surfaces_answer(library: Path) -> None:
    for command in ("world", "timeline", "relations", "recap"):
        assert isinstance(told(command), list)
        assert invoke(command).exit_code == 0
    assert [one["kind"] for one in told("relations", "Nell")] == ["sister"]
    assert isinstance(told("timeline", "--character", "Nell"), list)


def test_a_bible_is_written_outside_of_the_manuscript_and_never_over(
    library: Path,
) -> None:
    run("export", "bible", "--to", "bible.md", "--as-of", "ch1")
    text = Path("bible.md").read_text(encoding="utf-8")
    assert text.startswith("# Story bible, up to chapter 1")
    assert "Gannet" not in text
    run("export", "bible", "--to", "bible.docx")
    with pytest.raises(SettingsProblem, match="already exists"):
        invoke("export", "bible", "--to", "bible.md")
    run("export", "bible", "--to", "bible.md", "--force")
    assert "Gannet" in Path("bible.md").read_text(encoding="utf-8")
    assert "Gannet" in run("export", "bible")
    assert told("export", "bible")["as_of"] is None
    with pytest.raises(SettingsProblem, match="is in a manuscript folder"):
        invoke("export", "bible", "--to", "book/bible.md")
    with pytest.raises(SettingsProblem, match="cannot be written"):
        invoke("export", "bible", "--to", "bible.pdf")
    with pytest.raises(LrwrError, match="cannot be written"):
        invoke("export", "bible", "--to", "nowhere/bible.md")


def test_without_a_library_every_command_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (["characters"], ["world"], ["gaps"], ["recap"], ["export", "bible"]):
        with pytest.raises(NotFound) as caught:
            invoke(*words)
        assert "lrwr ingest" in caught.value.hint
