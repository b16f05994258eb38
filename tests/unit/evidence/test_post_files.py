"""Drafts as files: nothing is lost, whatever interrupts lrwr or edits the files."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from lrwr.app.post_files import (
    CachedWebSearch,
    check_post_name,
    choose_post_name,
    read_evidence_file,
)
from lrwr.core.model.errors import NotFound, SettingsProblem, StoreProblem
from lrwr.core.ports.sources import WebPage
from lrwr.core.settings.library import Library
from tests.fakes.post_process import EVIDENCE, open_files, text_of
from tests.fakes.web_search import ScriptedWeb

REPO = Path(__file__).parents[3]


def stored_texts(root: Path) -> set[str]:
    files = (root / ".lrwr" / "posts" / "letter").glob("*.json")
    return {json.loads(file.read_text("utf-8"))["text"] for file in files}


@pytest.mark.parametrize("seed", range(3))
def test_no_saved_version_is_lost_if_it_is_killed(tmp_path: Path, seed: int) -> None:
    chance, saved = random.Random(seed), 0
    for _ in range(3):
        words = [sys.executable, "-m", "tests.fakes.post_process", str(tmp_path)]
        process = subprocess.Popen(
            [*words, str(saved + 1)], cwd=REPO, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        for _ in range(chance.randint(1, 6)):
            saved = int(process.stdout.readline())
        process.kill()
        saved = max([saved, *map(int, process.stdout.read().split())])
        process.wait()
        process.stdout.close()
        assert {text_of(n) for n in range(1, saved + 1)} <= stored_texts(tmp_path)
        post = open_files(tmp_path).load("letter")
        assert post.text in stored_texts(tmp_path)
    assert open_files(tmp_path).undo("letter").text in stored_texts(tmp_path)


def test_an_edit_by_hand_is_a_version(tmp_path: Path) -> None:
    files = open_files(tmp_path)
    post = files.save("letter", "First.\n", EVIDENCE)
    post.file.write_text("Mine.\n", encoding="utf-8")
    files.save("letter", "Second.\n", EVIDENCE, force=True)
    assert files.undo("letter").text == "Mine.\n"
    assert files.undo("letter").text == "First.\n"
    with pytest.raises(NotFound):
        files.undo("letter")
    assert stored_texts(tmp_path) == {"First.\n", "Mine.\n", "Second.\n"}


def test_a_link_out_of_the_library_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / ".lrwr-folder").touch()
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "posts").symlink_to(outside)
    post = open_files(tmp_path / "book").save("letter", "First.\n", EVIDENCE)
    assert post.file.parent.name == "lrwr-posts"
    assert [path.name for path in outside.iterdir()] == [".lrwr-folder"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"brief": 1}', "\x00", "null"])
def test_damaged_evidence_is_an_error_with_a_hint(tmp_path: Path, content: str) -> None:
    post = open_files(tmp_path).save("letter", "First.\n", EVIDENCE)
    post.file.with_name("letter.evidence.json").write_text(content, encoding="utf-8")
    with pytest.raises(StoreProblem) as caught:
        open_files(tmp_path).load("letter")
    assert caught.value.hint
    with pytest.raises(StoreProblem):
        read_evidence_file(post.file)


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\\b", ".x", "x" * 61, "a b", "-"])
def test_a_name_is_one_word(name: str) -> None:
    with pytest.raises(SettingsProblem):
        check_post_name(name)


@pytest.mark.parametrize(
    ("brief", "name"),
    [
        ("How the lantern is lit", "how-the-lantern-is-lit"),
        ("../../etc/passwd", "etc-passwd"),
        ("?!", "post"),
        ("x" * 200, "x" * 60),
    ],
)
def test_the_brief_gives_a_name(brief: str, name: str) -> None:
    assert choose_post_name(brief) == name
    assert check_post_name(name) == name


async def test_pages_are_searched_for_again_after_a_day(tmp_path: Path) -> None:
    web = ScriptedWeb(WebPage("Lamps", "https://a.example/", "A lamp."))
    moment = 1_000.0
    cached = CachedWebSearch(web, Library(tmp_path, tmp_path / ".lrwr"), lambda: moment)
    assert [page.title for page in await cached.search("oil lamps", 3)] == ["Lamps"]
    await cached.search("oil lamps", 3)
    assert web.asked == ["oil lamps"]
    moment += 25 * 60 * 60
    await cached.search("oil lamps", 3)
    assert len(web.asked) == 2
