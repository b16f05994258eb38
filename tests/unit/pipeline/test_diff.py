"""What `lrwr diff` compares is what a fresh reading of either state would know."""

import asyncio
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lrwr.app.container import open_workspace
from lrwr.app.diff import DiffRequest, ManuscriptDiff, diff_manuscript
from lrwr.app.ingestion import create_processing_service
from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.model.documents import DocumentId
from lrwr.core.settings.loader import load_settings
from lrwr.core.settings.model import Settings
from lrwr.pipeline.diff import (
    StoryDiff,
    build_manuscript_state,
    diff_states,
    filter_story_diff,
)
from tests.fakes.read_books import EXAMPLE
from tests.fakes.repositories import Kept

EDITS = {
    "chapters/02-the-reeves-offer.md": ("which were brown", "which were green"),
    "chapters/05-what-i-wrote.md": ("\n\n", "\n\nTODO: whose coat?\n\n"),
    "notes/characters/OchraMags.md": ("", "OchraMags has a limp.\n"),
}


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LRWR_EMBEDDING_MODEL", "off")
    yield


def settings_of(folder: Path) -> Settings:
    env = {"LRWR_EMBEDDING_MODEL": "off", "HOME": str(folder.parent / "home")}
    return load_settings(folder, env, {})


async def ingested(folder: Path) -> StoryKnowledge:
    async with open_workspace(settings_of(folder)) as workspace:
        await create_processing_service(workspace, [folder]).process(lambda event: None)
        return replace(await workspace.bible().knowledge(), flagged_gaps=())


async def compared(folder: Path, asked: DiffRequest) -> ManuscriptDiff:
    place = folder.parent / "place"
    place.mkdir()
    async with open_workspace(settings_of(folder)) as workspace:
        found = await diff_manuscript(
            workspace, [folder], asked, place, lambda event: None
        )
    shutil.rmtree(place)
    return found


def edit(folder: Path) -> None:
    for name, (old, new) in EDITS.items():
        path = folder / name
        text = path.read_text(encoding="utf-8")
        changed = text.replace(old, new, 1) if old else text + new
        assert changed != text
        path.write_text(changed, encoding="utf-8")
    (folder / "chapters/08-the-line.md").rename(folder / "chapters/08-line.md")
    (folder / "chapters/01-lighting-up.md").unlink()
    new = "# Eleven\n\n“No,” said Corin Vale. Corin Vale’s eyes were blue.\n"
    (folder / "chapters/11-new.md").write_text(new, encoding="utf-8")


def fresh(folder: Path, to: Path) -> StoryKnowledge:
    shutil.copytree(folder, to, ignore=shutil.ignore_patterns(".git", ".lrwr*"))
    return asyncio.run(ingested(to))


@pytest.mark.exhaustive
def test_a_diff_is_that_of_two_fresh_readings(tmp_path: Path) -> None:
    book = tmp_path / "book"
    others = shutil.ignore_patterns(".lrwr*", "0[34679]*", "10*", "[P-Z]*")
    shutil.copytree(EXAMPLE, book, ignore=others)
    kept = Kept(book)
    kept.commit()
    old = fresh(book, tmp_path / "old")
    edit(book)
    kept.commit()
    new = fresh(book, tmp_path / "new")
    wanted = diff_states(build_manuscript_state(old), build_manuscript_state(new))
    assert {change.kind.value for change in wanted.changes} >= {"name", "fact", "gap"}
    assert len(wanted.documents) == len(EDITS) + 3
    # With no library at all, with one of the old state, and with one of the new.
    assert run(book, "HEAD~1") == wanted
    assert run(book, "HEAD~1..HEAD") == wanted
    back = diff_states(build_manuscript_state(new), build_manuscript_state(old))
    kept.git("checkout", "--quiet", "HEAD~1")
    asyncio.run(ingested(book))
    assert run(book, "main~1..main") == wanted
    assert run(book, "main..main~1") == back
    kept.git("checkout", "--quiet", "main")
    assert run(book) == wanted
    asyncio.run(ingested(book))
    assert run(book, "HEAD~1") == wanted
    assert run(book).same
    assert run(book, "HEAD").same


def run(book: Path, revision: str | None = None) -> StoryDiff:
    found = asyncio.run(compared(book, DiffRequest(revision)))
    assert found.left_out == ()
    return found.difference


def test_documents_narrow_what_is_told(tmp_path: Path) -> None:
    def known(name: str, grey: str) -> StoryKnowledge:
        folder = tmp_path / name
        folder.mkdir()
        for number in ("1", "2"):
            text = (
                f"# {number}\n\n“No,” said Corin Vale. Corin Vale’s eyes were {grey}."
            )
            (folder / f"{number}.md").write_text(text, encoding="utf-8")
        return asyncio.run(ingested(folder))

    whole = diff_states(
        build_manuscript_state(known("a", "grey")),
        build_manuscript_state(known("b", "brown")),
    )
    narrow = filter_story_diff(whole, {DocumentId("1.md")})
    assert [one.document for one in narrow.documents] == ["1.md"]
    assert narrow.changes == whole.changes
    assert filter_story_diff(whole, {DocumentId("3.md")}).same


def test_what_cannot_be_read_on_one_side_is_compared_on_neither(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "book")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
    said = "# One\n\n“No,” said Corin Vale. Corin Vale’s eyes were grey.\n"
    kept.write({"1.md": pointer, "2.md": said.replace("Corin", "Pip")})
    kept.commit()
    kept.write({"1.md": said})
    found = asyncio.run(compared(kept.folder, DiffRequest("HEAD")))
    assert [one.document for one in found.left_out] == ["1.md"]
    assert found.difference.documents == ()
    assert not [c for c in found.difference.changes if c.now and c.kind != "name"]


SCENES = {
    "1.md": "# One\n\n“No,” said Corin Vale.\n",
    "2.md": "# Two\n\n“Go,” said Corin Vale. Corin Vale’s eyes were grey. He sang.\n",
    "3.md": "# Three\n\n“Stay,” said Corin Vale.\n\n***\n\nThe frog sat still.\n",
    "4.md": "# Four\n\n“Rain,” said Corin Vale.\n",
}
NOTE = "---\ntype: character\n---\n\n# Corin Vale\n\n- Hair: red\n"


def later(folder: Path, without: dict[str, str | None]) -> dict[str, list[str]]:
    """Return for each fact that is lost the scenes that touch it."""
    kept = Kept(folder)
    kept.write({**SCENES, "corin.md": NOTE})
    kept.commit()
    for name, text in without.items():
        (folder / name).unlink()
        kept.write({} if text is None else {name: text})
    found = asyncio.run(compared(folder, DiffRequest("HEAD"))).difference
    return {
        one.shift.before: [f"{s.document} {s.scene}" for s in one.later]
        for one in found.changes
        if one.kind == "fact" and not one.shift.after
    }


def test_what_is_lost_touches_the_scenes_after_its_place(tmp_path: Path) -> None:
    text = SCENES["2.md"].replace("Corin Vale’s eyes were grey. ", "")
    lost = later(tmp_path / "edited", {"2.md": text})
    assert lost == {"grey": ["3.md 1", "4.md 1"]}
    lost = later(tmp_path / "gone", {"2.md": None})
    assert lost == {"grey": ["3.md 1", "4.md 1"]}


def test_what_a_note_no_longer_says_touches_every_scene(tmp_path: Path) -> None:
    lost = later(tmp_path / "book", {"corin.md": NOTE.replace("- Hair: red\n", "")})
    assert lost == {"red": ["1.md 1", "2.md 1", "3.md 1", "4.md 1"]}


async def test_changed_paragraphs_are_told_with_their_lines(tmp_path: Path) -> None:
    folder = tmp_path / "novel"
    folder.mkdir()
    one, two = folder / "1.md", folder / "2.md"
    one.write_text("# One\n\nNell slept.\n\nThe lamp burned.\n\nHob left.\n")
    two.write_text("# Two\n\nNobody came.\n")
    old = build_manuscript_state(await ingested(folder))
    one.write_text(
        "# One\n\nNell woke.\n\nThe lamp burned.\n\nIt rained.\n\nHob left.\n"
    )
    two.write_text("# Two\n\nNobody came.\n\nIt snowed.\n")
    (folder / "3.md").write_text("# Three\n\nA new chapter.\n")
    new = build_manuscript_state(await ingested(folder))
    difference = diff_states(old, new)
    assert [(e.document, e.line, e.before, e.after) for e in difference.edits] == [
        ("1.md", 3, "Nell slept.", "Nell woke."),
        ("1.md", 7, "", "It rained."),
        ("2.md", 5, "", "It snowed."),
    ]
    appended = difference.documents[1]
    assert (appended.passages_new, appended.passages_changed) == (1, 0)
    back = diff_states(new, old).edits
    assert [(e.line, e.before, e.after) for e in back if e.document == "1.md"] == [
        (3, "Nell woke.", "Nell slept."),
        (7, "It rained.", ""),
    ]
    assert filter_story_diff(difference, [DocumentId("3.md")]).edits == ()
