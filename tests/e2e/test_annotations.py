"""`lrwr annotations`: highlights, notes, their files, and notes on the manuscript."""

import json

import pytest

from lrwr.core.model.errors import ExitCode
from tests.e2e.test_reading import BODIES, NAV, run
from tests.fakes.terminal import Terminal
from tests.unit.source.epub_files import build_epub


@pytest.fixture
def reader(empty: Terminal) -> Terminal:
    """A reader on the first page of Lanterns."""
    (empty.folder / "lanterns.epub").write_bytes(build_epub(BODIES, nav=NAV))
    run(empty, "read", "lanterns.epub")
    return empty


def test_words_are_marked_listed_and_deleted(reader: Terminal) -> None:
    marked = run(
        reader, "annotations", "add", "lanterns", "counted 3 lamps", "--note", "Why?"
    )
    identifier = marked.out.split()[-1].strip(".")
    listed = run(reader, "annotations", "list", "lanterns")
    assert identifier in listed.out
    assert "paragraph 4" in listed.out
    assert "Why?" in listed.out
    run(reader, "annotations", "delete", "lanterns", identifier)
    assert "No annotations" in run(reader, "annotations", "list", "lanterns").out


@pytest.mark.parametrize("words", ["betrayed Nell", "nowhere", "Nell counted"])
def test_only_words_that_were_read_and_stand_once_can_be_marked(
    reader: Terminal, words: str
) -> None:
    refused = reader.run("annotations", "add", "lanterns", words)
    assert refused.code == ExitCode.NOT_FOUND


def test_words_are_marked_whatever_their_capitals_with_those_of_the_book(
    reader: Terminal,
) -> None:
    assert reader.run("annotations", "add", "lanterns", "nell COUNTED 3").code == 0
    listed = reader.run("annotations", "list", "lanterns", "--json").json
    assert [a["quote"] for a in listed["annotations"]] == ["Nell counted 3"]


def read_text(terminal: Terminal, name: str) -> str:
    return (terminal.folder / name).read_text(encoding="utf-8")


def test_annotations_go_out_and_come_back(reader: Terminal) -> None:
    run(reader, "annotations", "add", "lanterns", "counted 3 lamps", "--note", "Why?")
    before = run(reader, "annotations", "list", "lanterns", "--json").json
    for ending in ("json", "md", "csv"):
        run(reader, "annotations", "export", "lanterns", "--to", f"out.{ending}")
    assert "## Chapter 1. Ebb\n\n> counted 3 lamps" in read_text(reader, "out.md")
    assert "\nChapter 1. Ebb,paragraph 4,counted 3" in read_text(reader, "out.csv")
    run(reader, "books", "remove", "lanterns", "--yes")
    run(reader, "read", "lanterns.epub")
    imported = ("annotations", "import", "out.json", "--book", "lanterns")
    assert "1 annotation added" in run(reader, *imported).out
    assert "0 annotations added" in run(reader, *imported).out
    assert run(reader, "annotations", "list", "lanterns", "--json").json == before


def test_annotations_go_to_readest_and_come_back(reader: Terminal) -> None:
    run(reader, "annotations", "add", "lanterns", "counted 3 lamps", "--note", "Why?")
    run(reader, "annotations", "export", "lanterns", "--to", "r.json", "--readest")
    notes = json.loads((reader.folder / "r.json").read_text(encoding="utf-8"))
    assert notes["booknotes"][0]["text"] == "counted 3 lamps"
    before = run(reader, "annotations", "list", "lanterns", "--json").json
    identifier = before["annotations"][0]["id"].replace("-", "")[-6:]
    run(reader, "annotations", "delete", "lanterns", identifier)
    run(reader, "annotations", "import", "r.json", "--book", "lanterns")
    assert run(reader, "annotations", "list", "lanterns", "--json").json == before


def test_a_new_edition_takes_over_the_annotations_that_it_has_words_for(
    reader: Terminal,
) -> None:
    for quote in ("counted 3 lamps", "counted 5 lamps"):
        run(reader, "annotations", "add", "lanterns", quote)
    bodies = {**BODIES, "one": BODIES["one"].replace("5 lamps", "five lamps")}
    (reader.folder / "second.epub").write_bytes(build_epub(bodies, nav=NAV))
    added = run(reader, "books", "add", "second.epub")
    assert "1 annotation of your earlier edition" in added.err
    assert "Not in this edition, or several times: “counted 5 lamps”" in added.err
    run(reader, "read", "second.epub", "--next")
    listed = run(reader, "annotations", "list", "second.epub", "--json").json
    assert [a["quote"] for a in listed["annotations"]] == ["counted 3 lamps"]
    assert "taken over" not in run(reader, "books", "add", "second.epub").err


def test_annotations_after_the_position_are_not_shown(reader: Terminal) -> None:
    selector = {"type": "TextQuoteSelector", "exact": "Hob betrayed Nell"}
    notes = [{"target": {"selector": selector}, "body": {"value": "Gasp"}}]
    (reader.folder / "late.json").write_text(json.dumps(notes), encoding="utf-8")
    run(reader, "annotations", "import", "late.json", "--book", "lanterns")
    listed = run(reader, "annotations", "list", "lanterns").out
    assert "etrayed" not in listed
    assert "Gasp" not in listed
    assert "1 annotation after your position" in listed
    assert "Gasp" in run(reader, "annotations", "list", "lanterns", "--whole").out


def test_notes_of_beta_readers_are_shown_in_the_manuscript(
    read_sample: Terminal,
) -> None:
    quotes = {
        "“I was about to say nine,” says": "no such words",
        "counted the cans aloud": "Lovely",
    }
    notes = [
        {
            "target": {"selector": {"type": "TextQuoteSelector", "exact": quote}},
            "body": {"value": note},
            "creator": {"name": "Bea"},
        }
        for quote, note in quotes.items()
    ]
    (read_sample.folder / "beta.json").write_text(json.dumps(notes), encoding="utf-8")
    words = ("annotations", "import", "beta.json", "--manuscript")
    shown = run(read_sample, *words, "--json").json["annotations"]
    assert [entry["found"] for entry in shown] == [True, False]
    assert shown[0]["place"].startswith("chapters/01-lighting-up.md:")
    assert "Lovely (Bea)" in run(read_sample, *words).out


def test_an_import_needs_a_target_and_a_file_of_annotations(reader: Terminal) -> None:
    (reader.folder / "x.json").write_text("no json", encoding="utf-8")
    assert reader.run("annotations", "import", "x.json").code == ExitCode.SETTINGS
    broken = reader.run("annotations", "import", "x.json", "--book", "lanterns")
    assert broken.code == ExitCode.UNREADABLE


def test_words_are_marked_in_a_colour(reader: Terminal) -> None:
    words = ("counted 3 lamps", "--note", "Irony", "--color", "green")
    run(reader, "annotations", "add", "lanterns", *words)
    (entry,) = run(reader, "annotations", "list", "lanterns", "--json").json[
        "annotations"
    ]
    assert (entry["color"], entry["note"]) == ("green", "Irony")


def test_an_import_of_another_books_file_adds_only_what_is_placed_and_reports_the_rest(
    reader: Terminal,
) -> None:
    (reader.folder / "other.json").write_text(
        json.dumps(
            {
                "about": {"dc:title": "Anchors", "dc:identifier": ["urn:isbn:2"]},
                "items": [
                    {"target": {"selector": {"type": "TextQuoteSelector", "exact": q}}}
                    for q in ("counted 3 lamps", "weighed anchor", "Nell counted")
                ],
            }
        ),
        encoding="utf-8",
    )
    words = ("annotations", "import", "other.json", "--book", "lanterns")
    imported = run(reader, *words)
    assert "1 annotation added to Lanterns" in imported.out
    assert "“Anchors”, another book" in imported.err
    assert "2 of its 3 annotations have no place in Lanterns" in imported.err
    assert "were not added" in imported.err
    again = run(reader, *words, "--json").json
    assert again == {
        "title": "Lanterns",
        "made_for": "Anchors",
        "another_book": True,
        "annotations": 3,
        "placed": 1,
        "added": 0,
        "not_added": 2,
    }
    listed = run(reader, "annotations", "list", "lanterns", "--whole", "--json").json
    assert [a["quote"] for a in listed["annotations"]] == ["counted 3 lamps"]


def test_an_import_of_which_nothing_is_in_the_book_is_refused(reader: Terminal) -> None:
    notes = {"title": "Anchors", "booknotes": [{"text": "weighed anchor", "cfi": ""}]}
    (reader.folder / "other.json").write_text(json.dumps(notes), encoding="utf-8")
    refused = reader.run("annotations", "import", "other.json", "--book", "lanterns")
    assert refused.code == ExitCode.NOT_FOUND
    assert "No annotation in other.json has a place in Lanterns" in refused.err
    assert "made for “Anchors”" in refused.err
    assert "No annotations" in run(reader, "annotations", "list", "lanterns").out


def test_an_import_for_the_same_book_keeps_what_has_no_place_and_counts_it(
    reader: Terminal,
) -> None:
    run(reader, "annotations", "add", "lanterns", "counted 3 lamps")
    exported = run(reader, "annotations", "export", "lanterns", "--to", "own.json")
    assert "whole book" not in exported.err
    own = json.loads((reader.folder / "own.json").read_text(encoding="utf-8"))
    selector = {"type": "TextQuoteSelector", "exact": "a cut scene"}
    own["items"].append({"target": {"selector": selector}})
    (reader.folder / "own.json").write_text(json.dumps(own), encoding="utf-8")
    imported = run(reader, "annotations", "import", "own.json", "--book", "lanterns")
    assert "1 annotation added to Lanterns; 1 was there already." in imported.out
    assert "another book" not in imported.err
    assert "1 of its 2 annotations has no place in Lanterns" in imported.err
    assert "list lanterns --whole" in imported.err
