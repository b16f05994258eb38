"""Drafts as files: versions, present places of quotations, exports."""

import re
import shutil
from pathlib import Path

from lrwr.core.model.errors import ExitCode
from tests.fakes.terminal import Ran, Terminal, check_refusal

NEWSLETTER = ("--kind", "newsletter", "--as-of", "ch3")


def draft(
    terminal: Terminal, *words: str, brief: str = "How the lantern is lit"
) -> Ran:
    return terminal.run("post", "new", brief, *words)


def test_an_earlier_version_is_preserved_and_comes_back(read_sample: Terminal) -> None:
    draft(read_sample, *NEWSLETTER, "--name", "letter")
    file = read_sample.folder / "posts" / "letter.md"
    first = file.read_text("utf-8")
    file.write_text(f"{first}\nBy hand.\n", encoding="utf-8")
    check_refusal(
        draft(read_sample, *NEWSLETTER, "--name", "letter"),
        ExitCode.SETTINGS,
        "--force",
    )
    done = draft(
        read_sample, *NEWSLETTER, "--name", "letter", "--force", brief="The mule"
    )
    assert done.code == 0, done
    assert "# The mule" in file.read_text("utf-8")
    undone = read_sample.run("post", "undo", "letter")
    assert undone.code == 0
    assert "Undone: the newsletter “The mule”, an outline; " in undone.out
    assert file.read_text("utf-8").endswith("By hand.\n")
    undone = read_sample.run("post", "undo", "letter")
    assert undone.code == 0
    assert "Undone: your edits; 1 line removed, 0 lines restored." in undone.out
    assert "- By hand." in undone.out
    assert file.read_text("utf-8") == first
    check_refusal(read_sample.run("post", "undo", "letter"), ExitCode.NOT_FOUND)


def test_a_draft_is_shown_with_the_present_places_of_its_quotations(
    read_sample: Terminal,
) -> None:
    draft(read_sample, *NEWSLETTER, "--name", "letter")
    shown = read_sample.run("post", "show", "letter", "--json").json
    assert {fact["state"] for fact in shown["facts"]} == {"current"}
    moved = next(f for f in shown["facts"] if f["file"].endswith(".md"))
    chapter = read_sample.folder / moved["file"]
    text = chapter.read_text("utf-8")
    chapter.write_text(f"{text[:0]}A new first line.\n\n{text}", encoding="utf-8")
    assert read_sample.run("ingest", ".").code == 0
    again = read_sample.run("post", "show", "letter", "--json").json
    fact = next(f for f in again["facts"] if f["number"] == moved["number"])
    assert fact["state"] == "moved"
    assert fact["lines"][0] == moved["lines"][0] + 2
    check_refusal(read_sample.run("post", "show", "none"), ExitCode.NOT_FOUND, "letter")


def test_quotations_are_compared_with_the_files_as_they_are_now(
    read_sample: Terminal,
) -> None:
    draft(read_sample, *NEWSLETTER, "--name", "letter")
    shown = read_sample.run("post", "show", "letter", "--json").json
    assert shown["changed_files"] == []
    facts = (f for f in shown["facts"] if f["file"].endswith(".md"))
    fact = max(facts, key=lambda f: len(f["quote"]))
    chapter = read_sample.folder / fact["file"]
    words = fact["quote"].split()
    pattern = r"\s+".join(map(re.escape, words))
    text = re.sub(pattern, "Nobody came.", chapter.read_text("utf-8"))
    chapter.write_text(text, encoding="utf-8")

    again = read_sample.run("post", "show", "letter", "--json")
    assert again.json["changed_files"] == [fact["file"]]
    states = {f["number"]: f["state"] for f in again.json["facts"]}
    assert states[fact["number"]] in ("changed", "gone")
    for words in (("show", "letter"), ("export", "letter")):
        done = read_sample.run("post", *words)
        assert done.code == 0
        assert f"{fact['file']} has changed since the last ingest" in done.err
        assert f"The text has changed at the quotations [{fact['number']}]" in done.err
    check = read_sample.run("post", "check", "-", "--json", given=f"{fact['quote']}\n")
    (row, *_) = check.json["sentences"]
    assert row["result"] == "details differ"
    assert row["differences"][0]["kind"] == "quotation"
    assert check.json["changed_files"] == [fact["file"]]
    assert "Run `lrwr ingest`" in check.err


def test_drafts_are_part_of_a_backup(read_sample: Terminal, tmp_path: Path) -> None:
    draft(read_sample, *NEWSLETTER, "--name", "letter")
    draft(read_sample, *NEWSLETTER, "--name", "letter", "--force", brief="The mule")
    archive = tmp_path / "safe.zip"
    assert read_sample.run("backup", str(archive)).code == 0
    text = read_sample.run("post", "show", "letter", "--json").json["text"]
    shutil.rmtree(read_sample.folder / "posts")
    shutil.rmtree(read_sample.folder / ".lrwr")
    done = read_sample.run("restore", str(archive))
    assert done.code == 0, done
    assert "of drafts restored" in done.out + done.err
    again = read_sample.run("post", "show", "letter", "--json").json
    assert (again["text"], again["versions"]) == (text, 2)
    assert read_sample.run("post", "undo", "letter").code == 0

    file = read_sample.folder / "posts" / "letter.md"
    file.write_text("Mine.", encoding="utf-8")
    assert read_sample.run("restore", str(archive), "--force").code == 0
    assert file.read_text("utf-8") == text
    aside = [p for p in file.parent.iterdir() if "before-restore" in p.name]
    assert "Mine." in [path.read_text("utf-8") for path in aside]
    names = read_sample.run("post", "list", "--json").json
    assert [row["name"] for row in names] == ["letter"]


def test_a_draft_is_exported_in_each_form(
    read_sample: Terminal, tmp_path: Path
) -> None:
    draft(read_sample, *NEWSLETTER, "--name", "letter")
    for ending in ("md", "docx", "txt"):
        file = tmp_path / f"letter.{ending}"
        done = read_sample.run("post", "export", "letter", "--to", str(file))
        assert done.code == 0, done
        assert file.stat().st_size > 200
        again = read_sample.run("post", "export", "letter", "--to", str(file))
        check_refusal(again, ExitCode.SETTINGS, "--force")
    inside = read_sample.folder / "chapters" / "x.md"
    check_refusal(
        read_sample.run("post", "export", "letter", "--to", str(inside)),
        ExitCode.SETTINGS,
    )
    check_refusal(
        read_sample.run("post", "export", "letter", "--to", "x"), ExitCode.SETTINGS, "…"
    )
    bare = read_sample.run("post", "export", "letter", "--citations", "remove").out
    assert "[1]" not in bare
    assert "## Sources" not in bare


def test_a_folder_of_posts_of_the_authors_own_is_named_once_and_in_the_status(
    empty: Terminal,
) -> None:
    for name in ("chapters/1.md", "posts/spring.md"):
        file = empty.folder / name
        file.parent.mkdir()
        file.write_text(f"# {name}\n\nNell lit the lamp.\n", encoding="utf-8")
    remark = "posts/ is read as part of the manuscript (1 document)."
    first, second = empty.run("ingest", "."), empty.run("ingest", ".")
    assert remark in first.out + first.err
    assert remark not in second.out + second.err
    status = empty.run("status")
    assert remark in status.out + status.err
    (empty.folder / "lrwr.toml").write_text('[manuscript]\nexclude = ["posts/"]\n')
    assert empty.run("ingest").code == 0
    status = empty.run("status")
    assert remark not in status.out + status.err


def test_the_folder_of_drafts_is_not_named(read_sample: Terminal) -> None:
    draft(read_sample, *NEWSLETTER, "--name", "letter")
    done = read_sample.run("ingest")
    assert "is read as part of the manuscript" not in done.out + done.err
