"""`lrwr check` on the sample, as the writer meets it."""

import json
import tomllib

from lrwr.core.model.errors import ExitCode
from tests.fakes.read_books import EXAMPLE
from tests.fakes.terminal import Terminal

SLIPS = tomllib.loads(
    (EXAMPLE.parent / "marsh-lantern.features.toml").read_text(encoding="utf-8")
)["slip"]


def test_the_sample_holds_its_planted_slips_and_no_third(read_sample: Terminal) -> None:
    done = read_sample.run("check", "--json")
    assert done.code == ExitCode.CONTRADICTIONS
    found = json.loads(done.out)
    said = [one["found"]["evidence"][0]["text"] for one in found]
    assert len(said) == len(SLIPS)
    for slip in SLIPS:
        assert any(slip["b"]["quote"] in text for text in said)


def test_a_slip_is_marked_as_intended_once_and_for_good(read_sample: Terminal) -> None:
    shown = read_sample.run("check")
    assert "chapters/06-fog.md:32  ch6" in shown.out
    assert "number of rungs: nineteen in ch1, twenty-one in ch6" in shown.out
    assert "lrwr check intend" in shown.out
    ids = [one["id"] for one in json.loads(read_sample.run("check", "--json").out)]
    done = read_sample.run("check", "intend", ids[0], "--because", "the fog miscounts")
    assert done.out.startswith("Marked as intended: ")
    assert "(the fog miscounts)" in done.out
    read_sample.run("check", "intend", ids[1])
    after = read_sample.run("check")
    assert after.code == 0
    assert "2 more marked as intended" in after.out
    every = json.loads(read_sample.run("check", "--all", "--json").out)
    assert [one["id"] for one in every] == ids
    assert every[0]["because"] == "the fog miscounts"
    assert "the fog miscounts" in read_sample.run("canon").out
    read_sample.run("check", "undo")
    assert read_sample.run("check").code == ExitCode.CONTRADICTIONS


def test_only_a_file_or_a_place_is_checked(read_sample: Terminal) -> None:
    (one,) = json.loads(read_sample.run("check", "chapters/06-fog.md", "--json").out)
    assert one["attribute"] == "number of rungs"
    assert read_sample.run("check", "chapters/03-the-ledger-house.md").code == 0
    assert read_sample.run("check", "--as-of", "ch5").code == 0
    assert read_sample.run("check", "nowhere.md").code == ExitCode.NOT_FOUND
    assert read_sample.run("check", "intend", "zzzz").code == ExitCode.NOT_FOUND


def test_without_facts_to_compare_it_says_so(empty: Terminal) -> None:
    story = "Nell's eyes were blue. “Yes,” said Nell. Nell sat down. Nell slept.\n"
    (empty.folder / "1.md").write_text(f"# One\n\n{story}", encoding="utf-8")
    assert empty.run("ingest", "1.md").code == 0
    nothing = "No contradictions found, but nothing could be compared: 1 fact read"
    assert nothing in empty.run("check").out
    (empty.folder / "2.md").write_text(f"# Two\n\n{story}", encoding="utf-8")
    assert empty.run("ingest", "1.md", "2.md").code == 0
    shown = empty.run("check").out
    assert "No contradictions found among the 2 facts" in shown
