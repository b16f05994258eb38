"""`lrwr draft` on the sample: the board and the briefs of its scenes."""

from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.terminal import Terminal, check_refusal

PLAN = """

#### The new keeper ^new
- pov: Nell
- people: OchraMags, Perdita Vane
- place: Half House
- words: 900

Nell shows the lamp to a stranger.

##### The stranger lies
"""


@pytest.fixture
def desk(read_sample: Terminal) -> Terminal:
    assert read_sample.run("draft", "board", "--from-text").code == 0
    return read_sample


def manuscript(folder: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for name in ("chapters", "notes")
        for path in sorted((folder / name).rglob("*"))
        if path.is_file()
    }


def add_plan(desk: Terminal, *, after: str = "ch3-s2", plan: str = PLAN) -> None:
    board = desk.folder / "drafts" / "board.md"
    blocks = board.read_text("utf-8").split("\n#### ")
    at = next(n for n, block in enumerate(blocks) if f"^{after}\n" in block)
    blocks[at] += plan.rstrip("\n") + "\n"
    board.write_text("\n#### ".join(blocks), encoding="utf-8")


def test_without_a_board_it_is_said_how_to_make_one(read_sample: Terminal) -> None:
    check_refusal(read_sample.run("draft"), ExitCode.NOT_FOUND, "--from-text")
    assert not (read_sample.folder / "drafts").exists()


def test_the_board_of_a_book_has_a_card_for_each_scene(read_sample: Terminal) -> None:
    before = manuscript(read_sample.folder)
    made = read_sample.run("draft", "board", "--from-text", "--json")
    rows = read_sample.run("draft", "--json").json
    assert made.json["scenes"] == len(rows) == 26
    (first, *_) = rows
    assert (first["id"], first["state"]) == ("ch1-s1", "in the manuscript")
    assert first["file"] == "chapters/01-lighting-up.md"
    assert "BrineHob" in first["people"]
    text = before[str(read_sample.folder / first["file"])].decode().split("\n")
    shown = "\n".join(text[first["lines"][0] - 1 : first["lines"][1]])
    assert first["summary"].strip("“”") in shown
    assert manuscript(read_sample.folder) == before


def test_what_is_in_the_folder_is_no_manuscript(desk: Terminal) -> None:
    ran = desk.run("ingest", ".")
    assert "27 documents" in ran.out + ran.err
    assert desk.run("search", "Perdita", "--exact", "--json").json["passages"] == []


def test_a_board_that_the_writer_changed_is_not_overwritten(desk: Terminal) -> None:
    add_plan(desk)
    check_refusal(
        desk.run("draft", "board", "--from-text"), ExitCode.SETTINGS, "was changed"
    )
    printed = desk.run("draft", "board", "--from-text", "--print").out
    assert printed.startswith("# Board") and "^new" not in printed
    rows = {row["id"]: row for row in desk.run("draft", "--json").json}
    assert rows["new"]["state"] == "planned"


def test_a_folder_of_the_writers_own_is_not_taken(read_sample: Terminal) -> None:
    (read_sample.folder / "drafts").mkdir()
    (read_sample.folder / "drafts" / "old.md").write_text("It rained.")
    made = read_sample.run("draft", "board", "--from-text")
    check_refusal(made, ExitCode.SETTINGS, 'folder = "lrwr-drafts"')
    env = {"LRWR_DRAFT_FOLDER": "lrwr-drafts"}
    assert read_sample.run("draft", "board", "--from-text", **env).code == 0
    assert (read_sample.folder / "lrwr-drafts" / "board.md").is_file()


@pytest.mark.parametrize("name", ["../out", "/etc", ".", "~/x", "a/../../b"])
def test_the_folder_is_inside_the_library(read_sample: Terminal, name: str) -> None:
    made = read_sample.run("draft", "board", "--from-text", LRWR_DRAFT_FOLDER=name)
    check_refusal(made, ExitCode.SETTINGS)


def test_a_brief_has_what_a_scene_to_come_needs(desk: Terminal) -> None:
    add_plan(desk)
    brief = desk.run("draft", "brief", "new", "--json").json
    assert brief["horizon"] == "ch3:s2"
    assert brief["tokens"] <= brief["limit"] == 4000
    texts = [(item["section"], item["text"]) for item in brief["items"]]
    assert any(s == "The scene" and "Nell shows the lamp" in t for s, t in texts)
    assert any("beat 1: The stranger lies" in t for _, t in texts)
    assert any("OchraMags was last there in chapter 3" in t for _, t in texts)
    assert ("People", "Perdita Vane: not in the story up to here") in texts
    assert any(s == "The end of the scene before" for s, _ in texts)
    assert any(s == "How the text sounds" for s, _ in texts)
    assert [item["number"] for item in brief["items"]] == list(range(1, len(texts) + 1))
    shown = desk.run("draft", "brief", "The new keeper").out
    assert shown.startswith("# The new keeper (new)\nThe story up to ch3:s2.")


def test_the_writers_rules_stand_in_the_brief(desk: Terminal) -> None:
    add_plan(desk)
    intent = desk.folder / "drafts" / "intent.md"
    text = intent.read_text("utf-8").replace("- style:", "- style: plain")
    intent.write_text(text + "\n- no dreams\n", encoding="utf-8")
    (desk.folder / "drafts" / "world").mkdir()
    (desk.folder / "drafts" / "world" / "tides.md").write_text("# Tides\nTwo a day.\n")
    items = desk.run("draft", "brief", "new", "--json").json["items"]
    rules = {i["text"]: i["place"] for i in items if i["section"] == "Rules"}
    line = text.split("\n").index("- style: plain") + 1
    assert rules["style: plain"] == f"drafts/intent.md:{line}"
    assert rules["never: no dreams"].startswith("drafts/intent.md:")
    assert rules["plan: Tides Two a day."] == "drafts/world/tides.md:1"


@pytest.mark.parametrize("tokens", [100, 180, 400, 1_000, 20_000])
def test_a_brief_has_at_most_the_tokens_that_are_asked_for(
    desk: Terminal, tokens: int
) -> None:
    ran = desk.run("draft", "brief", "ch9-s2", "--tokens", str(tokens))
    assert len(ran.out) <= 4 * tokens
    assert ("left out" in ran.out + ran.err) is (tokens < 20_000)


def test_nothing_in_any_brief_is_from_after_the_scene(desk: Terminal) -> None:
    for row in desk.run("draft", "--json").json:
        brief = desk.run("draft", "brief", row["id"], "--json").json
        chapter, scene = (int(part[1:]) for part in row["id"][1:].split("-"))
        places = [(i["chapter"], i["scene"]) for i in brief["items"] if i["chapter"]]
        assert all(place < (chapter, scene) for place in places), row["id"]


def test_a_quotation_in_a_brief_stands_at_its_place(desk: Terminal) -> None:
    items = desk.run("draft", "brief", "ch6-s2", "--json").json["items"]
    quoted = [i for i in items if i["section"] == "How the text sounds"]
    assert quoted
    for item in quoted:
        file, _, lines = item["place"].partition(":")
        if not file.endswith(".md"):
            continue
        first, _, last = lines.partition("-")
        text = (desk.folder / file).read_text("utf-8").split("\n")
        shown = " ".join(" ".join(text[int(first) - 1 : int(last or first)]).split())
        assert item["text"].removeprefix("“").removesuffix("”") in shown


def test_briefs_need_a_known_scene(desk: Terminal) -> None:
    ran = desk.run("draft", "brief", "ch99-s1")
    check_refusal(ran, ExitCode.NOT_FOUND, "no scene ch99-s1")
    assert desk.run("draft", "brief", "ch1-s1", "--json").json["horizon"] == "the start"


def test_what_the_plan_leaves_open_is_asked(desk: Terminal) -> None:
    add_plan(desk, plan="\n\n#### The stranger ^new\n- people: Perdita Vane\n")
    rows = desk.run("draft", "plan", "scenes", "--json").json
    assert [row["about"] for row in rows] == [
        f"The stranger, {name}"
        for name in ("pov", "place", "words", "summary", "beats")
    ]
    shown = desk.run("draft", "plan", "sheets").out
    assert "Perdita Vane: Who is this" in shown
    assert "drafts/sheets/Perdita Vane.md" in shown
    check_refusal(
        desk.run("draft", "plan", "plot"), ExitCode.SETTINGS, "intent, sheets"
    )


def test_drafts_of_no_scene_are_listed(desk: Terminal) -> None:
    folder = desk.folder / "drafts" / "scenes" / "gone"
    folder.mkdir(parents=True)
    (folder / "1.md").write_text("It rained.\n")
    hints = desk.run("draft", "tidy", "--json").json
    assert "scenes/gone" in {hint["remedy"] for hint in hints}
    assert "scene gone, which is not on the board" in desk.run("draft", "tidy").out


def test_the_brief_has_the_paragraphs_that_the_card_is_about(desk: Terminal) -> None:
    plan = """

#### Wet letters ^wet

PurpleFrog asks who repainted the pole of TallowJack, and whose saucer it was.
"""
    for after, is_told in (("ch9-s2", False), ("ch10-s4", True)):
        (desk.folder / "drafts" / "board.md").unlink()
        desk.run("draft", "board", "--from-text")
        add_plan(desk, after=after, plan=plan)
        items = desk.run("draft", "brief", "wet", "--json").json["items"]
        about = [i for i in items if i["section"] == "What the story says about it"]
        assert about
        assert is_told == any("A saucer lay in the grass" in i["text"] for i in about)


NEXT = PLAN.replace("^new", "^next").replace("The new keeper", "The stranger")


def test_a_draft_that_is_not_accepted_is_named_in_the_next_brief_without_its_words(
    desk: Terminal,
) -> None:
    add_plan(desk, plan=PLAN + NEXT)
    scene = desk.folder / "drafts" / "scenes" / "new"
    scene.mkdir(parents=True)
    (scene / "1.md").write_text("Perdita had nine sisters.\n", encoding="utf-8")
    shown = desk.run("draft", "brief", "next").out
    line = "“The new keeper” comes before, as a draft that is not accepted yet"
    assert f"{line} (drafts/scenes/new/1.md:1)" in shown
    assert "sisters" not in shown
    assert (
        desk.run("draft", "accept", "new", "--to", "chapters/11.md", "--yes").code == 0
    )
    accepted = desk.run("draft", "brief", "next").out
    assert "comes before, in a file that was not ingested yet" in accepted
    assert desk.run("ingest", ".").code == 0
    assert "comes before" not in desk.run("draft", "brief", "next").out
