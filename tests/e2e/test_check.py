"""`lrwr check` on the sample, as the writer meets it."""

import json
import time
import tomllib

from lrwr.app.history import FindingLog, LoggedFinding
from lrwr.core.model.codec import decode_json, encode_json
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


def test_values_that_rules_are_not_sure_of_are_possible_contradictions(
    empty: Terminal,
) -> None:
    for name, line in (
        ("1.md", "Nell's eyes were blue. “Yes,” said Nell. Nell sat down."),
        ("2.md", "“So it is,” said Nell, her brown eyes going round. Nell slept."),
    ):
        (empty.folder / name).write_text(f"# Part\n\n{line}\n", encoding="utf-8")
    assert empty.run("ingest", "1.md", "2.md").code == 0
    shown = empty.run("check")
    assert shown.code == 0, "only those that are certain count"
    assert "possible: Nell, eyes: blue in ch1, brown in ch2" in shown.out
    assert "rules are not sure" in shown.out
    (finding,) = json.loads(empty.run("check", "--json").out)
    assert finding["possible"] is True
    assert empty.run("check", "intend", finding["id"]).code == 0
    assert "1 more marked as intended" in empty.run("check").out


def test_an_intended_contradiction_stays_so_when_its_character_is_renamed(
    empty: Terminal,
) -> None:
    for name, line in (
        ("1.md", "Nell's eyes were blue. “Yes,” said Nell. Nell sat down."),
        ("2.md", "Nell's eyes were brown. “So it is,” said Nell. Nell slept."),
    ):
        (empty.folder / name).write_text(f"# Part\n\n{line}\n", encoding="utf-8")
    assert empty.run("ingest", "1.md", "2.md").code == 0
    empty.run("characters", "rename", "Nell", "Sophia Croft")
    assert empty.run("ingest", "1.md", "2.md").code == 0
    (finding,) = json.loads(empty.run("check", "--json").out)
    assert finding["about"] == "Sophia Croft"
    assert empty.run("check", "intend", finding["id"]).code == 0
    for old, new in (("Sophia Croft", "Sophie Croft"), ("Sophie Croft", "Nell")):
        assert empty.run("characters", "rename", old, new).code == 0
        assert "1 more marked as intended" in empty.run("check").out, "before reading"
        assert empty.run("ingest", "1.md", "2.md").code == 0
        assert "1 more marked as intended" in empty.run("check").out
        (finding,) = json.loads(empty.run("check", "--all", "--json").out)
        assert finding["about"] == new
    empty.run("canon", "undo")
    assert 'about = "Sophie Croft"' in (empty.folder / "lrwr.canon.toml").read_text(
        encoding="utf-8"
    )


def test_findings_new_since_a_day_are_listed_and_marked(read_sample: Terminal) -> None:
    first = read_sample.run("check", "--json").json
    assert [finding["first_reported"] > time.time() - 600 for finding in first] == [
        True
    ] * len(first)
    assert "first reported" not in read_sample.run("check").out
    report_earlier(read_sample, first[0]["id"], days=9)
    shown = read_sample.run("check").out
    assert shown.count("first reported today") == len(first) - 1
    new = read_sample.run("check", "--since", "yesterday", "--json")
    assert new.code == ExitCode.CONTRADICTIONS
    assert [finding["id"] for finding in new.json] == [f["id"] for f in first[1:]]
    assert len(
        read_sample.run("check", "--since", "2 weeks ago", "--json").json
    ) == len(first)
    for finding in first:
        report_earlier(read_sample, finding["id"], days=9)
    nothing = read_sample.run("check", "--since", "3 days ago")
    assert nothing.code == 0
    assert f"No new contradictions; {len(first)} contradictions" in nothing.out
    read_sample.run("check", "intend", first[0]["id"], "--because", "she lies")
    others = read_sample.run("check", "--since", "3 days ago").out
    assert f"No new contradictions; {len(first) - 1} contradiction" in others
    every = read_sample.run("check", "--since", "3 days ago", "--all").out
    assert f"No new contradictions; {len(first)} contradictions" in every
    refused = read_sample.run("check", "--since", "someday")
    assert refused.code == ExitCode.SETTINGS
    assert "someday" in refused.err


def report_earlier(book: Terminal, id_: str, *, days: int) -> None:
    """Let a contradiction have been reported some days earlier."""
    file = book.folder / ".lrwr" / "findings.json"
    log = decode_json(file.read_bytes(), FindingLog)
    earlier = LoggedFinding(time.time() - days * 86_400)
    findings = {**log.findings, id_: earlier}
    file.write_text(encode_json(FindingLog(log.checked, findings)), encoding="utf-8")


def test_a_contradiction_that_comes_back_is_new_again(read_sample: Terminal) -> None:
    ids = [finding["id"] for finding in read_sample.run("check", "--json").json]
    report_earlier(read_sample, ids[0], days=9)
    report_earlier(read_sample, "gone", days=9)
    read_sample.run("check", "--as-of", "ch2")
    file = read_sample.folder / ".lrwr" / "findings.json"
    assert "gone" in decode_json(file.read_bytes(), FindingLog).findings
    read_sample.run("check")
    log = decode_json(file.read_bytes(), FindingLog)
    assert [*log.findings] == ids
    assert log.findings[ids[0]].first < time.time() - 8 * 86_400


def test_lrwr_alone_names_open_findings_changes_and_what_to_do_next(
    read_sample: Terminal,
) -> None:
    shown = read_sample.run().out
    assert "look for contradictions in what you wrote" in shown
    read_sample.run("check")
    shown = read_sample.run().out
    assert "Last check" in shown
    assert "2 open contradictions, 2 of them new since yesterday" in shown
    assert "lrwr check --since yesterday" in shown
    assert "lrwr diff" not in shown
    read_sample.run("ask", "Who keeps the ledger?")
    (read_sample.folder / "chapters" / "11-new.md").write_text(
        "# Eleven\n\nNell slept."
    )
    shown = read_sample.run().out
    assert "chapters/11-new.md" in shown
    assert "lrwr diff" in shown
    assert "go on with “Who keeps the ledger?”" in shown
