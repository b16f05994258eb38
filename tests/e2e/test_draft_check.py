"""`lrwr draft check`: a draft, at its place in the story, before it is part of it."""

from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.e2e.test_draft import add_plan, manuscript
from tests.fakes.terminal import Terminal, check_refusal

SLIP = "There were seventeen rungs in the ladder to Half House."
RUN = (
    "Above the Sluice, along the top of the bank, stood the poles of the drowned, driven"
    " in point downward with their names to the weather."
)
SCENE = f"Nell Tallow came into Half House.\n\n{SLIP}\n\n{RUN}\n"
PLAN = """

#### The new keeper ^new
- people: Nell, OchraMags
- place: the Pump Room
- words: 900
"""


@pytest.fixture
def desk(read_sample: Terminal) -> Terminal:
    assert read_sample.run("draft", "board", "--from-text").code == 0
    return read_sample


def propose(desk: Terminal, text: str, *, after: str = "ch3-s2") -> None:
    add_plan(desk, after=after, plan=PLAN)
    folder = desk.folder / "drafts" / "scenes" / "new"
    folder.mkdir(parents=True)
    (folder / "1.md").write_text(text, encoding="utf-8")


def library_bytes(folder: Path) -> bytes:
    return (folder / ".lrwr" / "library.db").read_bytes()


def test_a_slip_is_found_and_nothing_is_changed(desk: Terminal) -> None:
    propose(desk, SCENE)
    before, library = manuscript(desk.folder), library_bytes(desk.folder)
    ran = desk.run("draft", "check", "new", "--json")
    assert ran.code == ExitCode.CONTRADICTIONS
    (slip,) = ran.json["contradictions"]
    assert slip["about"] == "ladder"
    assert slip["found"]["evidence"][0]["text"] == SLIP
    places = {e["file"] for side in ("canon", "found") for e in slip[side]["evidence"]}
    assert "drafts/scenes/new/1.md" in places
    assert ran.json["chapter"] == 4
    assert manuscript(desk.folder) == before
    assert library_bytes(desk.folder) == library


def test_the_check_reports_what_check_reports_after_accepting(desk: Terminal) -> None:
    propose(desk, SCENE)
    target = "chapters/11-new.md"
    checked = desk.run("draft", "check", "new", "--to", target, "--json").json
    text = (desk.folder / "drafts/scenes/new/1.md").read_bytes()
    (desk.folder / target).write_bytes(text)
    assert desk.run("ingest", ".").code == 0
    accepted = desk.run("check", "--json").json

    for row in accepted:
        del row["first_reported"]  # nothing is recorded about a draft

    def involve(rows: list[dict[str, object]], name: str) -> list[str]:
        return [str(row).replace(name, "DRAFT") for row in rows if name in str(row)]

    before = involve(checked["contradictions"], "drafts/scenes/new/1.md")
    assert before
    assert before == involve(accepted, target)


def test_another_number_of_the_same_things_is_a_finding(desk: Terminal) -> None:
    propose(desk, "Nell Tallow wiped all six panes.\n")
    ran = desk.run("draft", "check", "new", "--json")
    (row,) = (row for row in ran.json["findings"] if row["kind"] == "number")
    assert row["text"].startswith("six panes, but elsewhere: “Four panes, each as tall")
    assert row["place"] == "chapters/01-lighting-up.md:92"
    assert (row["quote"], row["lines"]) == ("Nell Tallow wiped all six panes.", [1, 1])
    assert ran.json["compared_numbers"] == 1
    assert "and 1 number of things" in desk.run("draft", "check", "new").out


def test_a_number_that_contradicts_a_fact_is_reported_once(desk: Terminal) -> None:
    propose(desk, SCENE)
    ran = desk.run("draft", "check", "new", "--json")
    assert len(ran.json["contradictions"]) == 1
    assert "number" not in {row["kind"] for row in ran.json["findings"]}


def test_repeated_words_and_an_unmet_card_are_findings(desk: Terminal) -> None:
    propose(desk, SCENE)
    found = desk.run("draft", "check", "new", "--json").json["findings"]
    kinds = {row["kind"] for row in found}
    assert kinds == {"card", "place", "repetition"}
    (run,) = [row for row in found if row["kind"] == "repetition"]
    assert run["lines"] == [5, 5]
    assert run["place"].startswith("chapters/03-the-ledger-house.md:")
    cards = [row["text"] for row in found if row["kind"] == "card"]
    assert "OchraMags is not in the draft" in cards
    assert any("the card plans 900" in text for text in cards)


def test_a_name_that_comes_later_is_a_finding_only_before_it(desk: Terminal) -> None:
    later = "“Good evening,” said Dorothea Pell, and Nell Tallow let her in.\n"
    propose(desk, later, after="ch1-s1")
    found = desk.run("draft", "check", "new", "--json").json["findings"]
    texts = [row["text"] for row in found if row["kind"] == "from later"]
    assert any("Dorothea Pell" in text and "chapter" in text for text in texts)
    file = desk.folder / "end.md"
    file.write_text(later, encoding="utf-8")
    assert "numbered one higher" not in desk.run("draft", "check", "end.md").out
    ended = desk.run("draft", "check", "end.md", "--json")
    assert ended.json["findings"] == []
    assert ended.code == 0


def test_what_a_chapter_introduces_is_not_from_later(desk: Terminal) -> None:
    for name in ("01-lighting-up", "02-the-reeves-offer"):
        found = desk.run("draft", "check", f"chapters/{name}.md", "--json").json
        assert [row for row in found["findings"] if row["kind"] == "from later"] == []


def test_a_file_of_the_manuscript_is_checked_as_it_is_now(desk: Terminal) -> None:
    chapter = desk.folder / "chapters" / "06-fog.md"
    assert (
        desk.run("draft", "check", "chapters/06-fog.md", "--json").json["chapter"] == 6
    )
    text = chapter.read_text("utf-8").replace("twenty-one rungs", "nineteen rungs")
    chapter.write_text(text, encoding="utf-8")
    ran = desk.run("draft", "check", "chapters/06-fog.md", "--json")
    assert "ladder" not in {row["about"] for row in ran.json["contradictions"]}


def test_the_text_shows_findings_with_their_lines(desk: Terminal) -> None:
    propose(desk, SCENE)
    shown = desk.run("draft", "check", "new").out
    heading = "drafts/scenes/new/1.md, as chapter 4; later chapters are numbered one"
    assert heading in shown
    assert "ladder, number of rungs: nineteen in ch1, seventeen" in shown
    assert "drafts/scenes/new/1.md:5  repetition: 25 words in a row" in shown


def test_what_cannot_be_checked_is_refused(desk: Terminal) -> None:
    propose(desk, " \n\n* * *\n")
    check_refusal(desk.run("draft", "check", "new"), ExitCode.NOT_FOUND, "no words")
    check_refusal(desk.run("draft", "check", "new", "2"), ExitCode.NOT_FOUND)
    check_refusal(desk.run("draft", "check", "nothing"), ExitCode.NOT_FOUND)
    (desk.folder / "long.md").write_text("Nell lit it. " * 50_000)
    ran = desk.run("draft", "check", "long.md")
    check_refusal(ran, ExitCode.UNREADABLE, "larger than")


def test_a_library_without_story_data_says_what_to_do(sample: Terminal) -> None:
    assert sample.run("ingest", ".", "--pipeline", "a").code == 0
    ran = sample.run("draft", "check", "chapters/06-fog.md")
    check_refusal(ran, ExitCode.NOT_FOUND, "no story data", "--pipeline b")


WRONG = """\
Hob, deaf in his right ear, came in. Nell Tallow took the Reeve’s stick with the brass
collar from him, and Mrs Garrity laughed. TinToby, the baker, was asleep.

Edwin Sayle sat down by the stove.
"""


def test_what_the_story_says_otherwise_of_people_and_things_is_a_finding(
    desk: Terminal,
) -> None:
    propose(desk, WRONG, after="ch10-s4")
    found = desk.run("draft", "check", "new", "--json").json["findings"]
    texts: dict[str, list[str]] = {}
    for row in found:
        texts.setdefault(row["kind"], []).append(row["text"])
    details = "\n".join(texts["detail"])
    assert "“right”, but elsewhere: “Hob lowered his voice" in details
    assert "“brass”, but elsewhere:" in details
    assert "TinToby, baker, but elsewhere: clerk of GreyAnsel" in details
    (dead,) = texts["dead"]
    assert dead == "Edwin Sayle acts here, but is dead by then: “Drowned: Edwin Sayle.”"
    (name,) = texts["new name"]
    assert name.endswith("the plan: Mrs Garrity (line 2)")


def test_a_misspelled_name_is_shown_with_the_note_that_has_it(desk: Terminal) -> None:
    other = desk.folder / "notes" / "characters" / "Ada.md"
    other.write_text(
        "---\ntype: character\n---\n\n# Ada\n\nOne of the GreyAnselites.\n"
    )
    assert desk.run("ingest").code == 0
    file = desk.folder / "end.md"
    file.write_text("GreyAnsell came in. Nell Tallow wiped all six panes.\n")
    ran = desk.run("draft", "check", "end.md", "--json")
    (slip,) = ran.json["contradictions"]
    assert (slip["canon"]["value"], slip["canon"]["source"]) == ("GreyAnsel", "note")
    assert slip["canon"]["evidence"][0]["file"] == "notes/characters/GreyAnsel.md"
    assert "canon answer" not in desk.run("draft", "check", "end.md").out


def test_what_only_the_author_can_judge_is_marked(desk: Terminal) -> None:
    propose(desk, SCENE)
    shown = desk.run("draft", "check", "new").out.splitlines()
    marks = {line.partition("  ")[2]: line.endswith("  for you") for line in shown}
    (length,) = (text for text in marks if "the card plans 900" in text)
    assert marks[length]
    assert not marks["card: OchraMags is not in the draft"]


def test_a_place_that_is_not_named_is_no_finding_that_counts(desk: Terminal) -> None:
    add_plan(desk, after="ch3-s2", plan="\n\n#### Tea ^new\n- place: the Pump Room\n")
    folder = desk.folder / "drafts" / "scenes" / "new"
    folder.mkdir(parents=True)
    (folder / "1.md").write_text("Nell Tallow came in.\n", encoding="utf-8")
    ran = desk.run("draft", "check", "new")
    assert "place: the Pump Room is not named" in ran.out
    assert "0 findings." in ran.out
    assert ran.code == ExitCode.OK


def test_names_of_the_plan_are_not_new(desk: Terminal) -> None:
    propose(desk, "Mrs Garrity came to the Pump Room.\n")
    sheets = desk.folder / "drafts" / "sheets"
    sheets.mkdir()
    (sheets / "Mrs Garrity.md").write_text("# Mrs Garrity\n", encoding="utf-8")
    found = desk.run("draft", "check", "new", "--json").json["findings"]
    assert "new name" not in {row["kind"] for row in found}


def test_headings_and_adverbs_are_no_new_names(desk: Terminal) -> None:
    propose(
        desk,
        "# The Net Loft\n\nOchraMags came in. Afterwards she left. Presently Hob rang.\n",
    )
    found = desk.run("draft", "check", "new", "--json").json["findings"]
    assert "new name" not in {row["kind"] for row in found}


def test_chapters_of_the_book_have_no_wrong_people_and_details(desk: Terminal) -> None:
    kinds = {"detail", "dead", "new name"}
    for chapter in ("05-what-i-wrote.md", "09-the-reckoning.md"):
        checked = desk.run("draft", "check", f"chapters/{chapter}", "--json").json
        assert [row for row in checked["findings"] if row["kind"] in kinds] == []


AS_TOLD = """\
The kettle sang. GreyAnsel warmed his hands. He was OchraMags’s brother.

Nell Tallow was TallowJack’s daughter.

TinToby, twenty-three, held the door.

GreyAnsel leaned on a stick with a silver collar, as though nobody knew him. Beside the road
stood the oak post at the Dip.

BrineHob put his hand to his deaf left ear, as if it could hear.

OchraMags remembered the slate. TallowJack wiped it clean.
"""
OTHERWISE = AS_TOLD
for told, other in (
    ("OchraMags’s brother", "OchraMags’s uncle"),
    ("TallowJack’s daughter", "OchraMags’s daughter"),
    ("twenty-three", "thirty-nine"),
    ("silver collar", "brass collar"),
    ("oak post", "elm post"),
    ("left ear", "right ear"),
    ("remembered the slate", "had sent for the slate"),
):
    OTHERWISE = OTHERWISE.replace(told, other)


def test_kin_ages_materials_sides_and_the_dead_are_compared(desk: Terminal) -> None:
    def check(text: str) -> dict[int, str]:
        (desk.folder / "end.md").write_text(f"{text}\n")
        found = desk.run("draft", "check", "end.md", "--json").json["findings"]
        kinds = {"detail", "dead"}
        return {r["lines"][0]: r["text"] for r in found if r["kind"] in kinds}

    texts = check(OTHERWISE)
    assert texts.keys() == {1, 3, 5, 7, 8, 10, 12}
    assert texts[1].startswith("“uncle”, but elsewhere: “Younger brother of")
    assert texts[3].startswith("“daughter”, but elsewhere: “Daughter of TallowJack")
    assert texts[5].startswith("“thirty-nine”, but elsewhere: “Twenty-two")
    assert texts[7].startswith("“brass”, but elsewhere:")
    assert texts[8].startswith("“elm”, but elsewhere:")
    assert texts[10].startswith("“right”, but elsewhere:")
    assert texts[12].startswith("TallowJack acts here, but is dead by then")
    assert check(AS_TOLD) == {}


def test_a_day_before_that_of_the_story_is_a_remark(desk: Terminal) -> None:
    file = desk.folder / "end.md"
    for opening, days in (
        ("It was Day 1799.", ["Day 1799"]),
        ("She had come on Day 1799.", []),
        ("It was Day 1950, not Day 1799.", []),
    ):
        file.write_text(f"# Late\n\n{opening} Nell Tallow slept.\n")
        found = desk.run("draft", "check", "end.md", "--json").json["findings"]
        texts = [row["text"] for row in found if row["kind"] == "number"]
        assert [text.partition(",")[0] for text in texts] == days


@pytest.mark.parametrize(
    ("sentence", "other"),
    [
        ("GreyAnsel, her cousin, had written to OchraMags.", "Younger brother of"),
        ("Her cousin GreyAnsel had written to OchraMags.", "Younger brother of"),
        (
            "Beside the stove slept Remainder, the lame goat.",
            "The cat, whose name was Remainder",
        ),
    ],
)
def test_another_kinship_or_animal_of_the_name_is_a_finding(
    desk: Terminal, sentence: str, other: str
) -> None:
    propose(desk, f"{sentence}\n", after="ch10-s4")
    found = desk.run("draft", "check", "new", "--json").json["findings"]
    (detail,) = [row["text"] for row in found if row["kind"] == "detail"]
    assert f"but elsewhere: “{other}" in detail


@pytest.mark.parametrize(
    "sentence",
    [
        "GreyAnsel, her brother, had written to OchraMags.",
        "GreyAnsel, his cousin, had written to TinToby.",
        "Beside the stove slept Remainder, the lame cat.",
        "Beside the stove slept Biscuit, the lame goat.",
        "GreyAnsel, the Reeve, had written to OchraMags.",
    ],
)
def test_kin_and_animals_as_the_story_has_them_are_no_findings(
    desk: Terminal, sentence: str
) -> None:
    propose(desk, f"{sentence}\n", after="ch10-s4")
    found = desk.run("draft", "check", "new", "--json").json["findings"]
    assert [row for row in found if row["kind"] == "detail"] == []
