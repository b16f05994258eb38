"""`lrwr graph` on the sample."""

from pathlib import Path
from xml.etree import ElementTree

from lrwr.core.model.errors import ExitCode
from tests.fakes.terminal import Terminal, check_refusal


def test_who_is_near_is_listed_up_to_the_horizon(read_sample: Terminal) -> None:
    near = read_sample.run("graph", "near", "Nell", "--as-of", "ch4", "--json").json
    hob = next(row for row in near if row["name"] == "BrineHob")
    assert (hob["edge"], hob["distance"]) == ("TOGETHER_WITH", 1)
    assert all((row["chapter"] or 0) <= 4 for row in near)
    whole = read_sample.run("graph", "near", "Nell", "--json").json
    assert len(whole) > len(near)
    shown = read_sample.run("graph", "near", "Nell", "--steps", "2").out
    assert "together in" in shown and "(through " in shown


def test_a_place_is_a_name_too(read_sample: Terminal) -> None:
    near = read_sample.run("graph", "near", "Half House", "--json").json
    assert {row["edge"] for row in near} & {"SEEN_AT", "PART_OF"}
    check_refusal(read_sample.run("graph", "near", "Xanadu"), ExitCode.NOT_FOUND)


def test_an_export_is_read_by_other_programs(
    read_sample: Terminal, tmp_path: Path
) -> None:
    for name in ("story.graphml", "story.jsonl"):
        file = tmp_path / name
        done = read_sample.run("graph", "export", "--to", str(file))
        assert done.code == 0 and done.out.strip() == str(file)
    tree = ElementTree.parse(tmp_path / "story.graphml")
    names = {data.text for data in tree.iter() if data.get("key") == "node-name"}
    assert "Nell Tallow" in names
    lines = (tmp_path / "story.jsonl").read_text("utf-8").splitlines()
    assert any('"labels": ["Character"]' in line for line in lines)
    again = read_sample.run("graph", "export", "--to", str(tmp_path / "story.jsonl"))
    check_refusal(again, ExitCode.SETTINGS, "already exists")
    wrong = read_sample.run("graph", "export", "--to", str(tmp_path / "story.csv"))
    check_refusal(wrong, ExitCode.SETTINGS, ".graphml or .jsonl")
