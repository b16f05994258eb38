import hashlib
import os
import zlib
from pathlib import Path, PurePosixPath

import pytest

from lrwr.core.adapters.source.git_revisions import (
    LFS_REASON,
    MISSING_OBJECT_REASON,
    GitRepository,
    UnreadableFile,
)
from lrwr.core.model.errors import LrwrError, NotFound, SettingsProblem
from tests.fakes.repositories import Kept, files_below

ALL = [PurePosixPath()]
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "book")


async def written(kept: Kept, to: Path, rev: str = "HEAD") -> dict[str, str]:
    repository = await GitRepository.around(kept.folder)
    commit = (await repository.revision(rev)).commit
    assert await repository.write_out(commit, ALL, to) == ()
    return files_below(to)


async def test_a_revision_is_written_out_as_it_was(kept: Kept, tmp_path: Path) -> None:
    kept.write({"one.md": "old", "part/two.md": "two"})
    kept.commit()
    kept.write({"one.md": "new"})
    kept.commit()
    old = await written(kept, tmp_path / "old", "HEAD~1")
    assert old == {"one.md": "old", "part/two.md": "two"}
    assert (await written(kept, tmp_path / "new"))["one.md"] == "new"


async def test_names_may_hold_blanks_letters_of_any_kind_and_line_ends(
    kept: Kept, tmp_path: Path
) -> None:
    names = ["a b.md", "Kapitel Ä “1”.md", "line\nend.md", "-n.md", "tab\t;$(x).md"]
    for name in names:
        (kept.folder / name).write_text(name, encoding="utf-8")
    kept.commit()
    assert await written(kept, tmp_path / "out") == {name: name for name in names}


async def test_only_what_may_be_a_manuscript_is_written(
    kept: Kept, tmp_path: Path
) -> None:
    kept.write({"one.md": "1", ".hidden/two.md": "2", "~$three.md": "3"})
    (kept.folder / "picture.png").write_bytes(b"png")
    (kept.folder / "link.md").symlink_to("/etc/hostname")
    kept.commit()
    kept.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub.md")
    kept.git("commit", "--quiet", "--message=a module")
    assert set(await written(kept, tmp_path / "out")) == {"one.md"}


async def test_the_mark_of_a_folder_that_lrwr_created_is_written_too(
    kept: Kept, tmp_path: Path
) -> None:
    kept.write({"drafts/.lrwr-folder": "lrwr", "drafts/1.md": "1"})
    kept.commit()
    assert set(await written(kept, tmp_path / "out")) == {
        "drafts/.lrwr-folder",
        "drafts/1.md",
    }


async def test_only_what_is_inside_is_written(kept: Kept, tmp_path: Path) -> None:
    kept.write({"in/1.md": "1", "inside/2.md": "2", "n.md": "n", "other.md": "o"})
    commit = kept.commit()
    repository = await GitRepository.around(kept.folder)
    inside = [PurePosixPath("in"), PurePosixPath("n.md")]
    await repository.write_out(commit, inside, tmp_path / "out")
    assert files_below(tmp_path / "out") == {"in/1.md": "1", "n.md": "n"}


async def test_a_pointer_of_lfs_and_a_lost_text_are_named(
    kept: Kept, tmp_path: Path
) -> None:
    kept.write({"one.md": POINTER, "two.md": "lost"})
    commit = kept.commit()
    lost = kept.git("rev-parse", "HEAD:two.md")
    (kept.folder / ".git/objects" / lost[:2] / lost[2:]).unlink()
    repository = await GitRepository.around(kept.folder)
    unread = await repository.write_out(commit, ALL, tmp_path / "out")
    assert unread == (
        UnreadableFile("one.md", LFS_REASON),
        UnreadableFile("two.md", MISSING_OBJECT_REASON),
    )


def stored(kept: Kept, kind: str, content: bytes) -> bytes:
    """Store an object that git itself would refuse to make."""
    whole = f"{kind} {len(content)}\0".encode() + content
    digest = hashlib.sha1(whole).hexdigest()
    path = kept.folder / ".git/objects" / digest[:2] / digest[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(whole))
    return bytes.fromhex(digest)


async def test_a_tree_made_by_hand_cannot_lead_out(kept: Kept, tmp_path: Path) -> None:
    blob = stored(kept, "blob", b"evil")
    tree = blob_tree = b""
    for name in (b"evil.md", b"../evil.md"):
        blob_tree += b"100644 " + name + b"\0" + blob
    tree = b"40000 ..\0" + stored(kept, "tree", b"100644 evil.md\0" + blob)
    whole = stored(kept, "tree", blob_tree + tree)
    who = b"N <n@example.org> 1772366400 +0000\n"
    said = b"tree " + whole.hex().encode() + b"\nauthor " + who + b"committer " + who
    commit = stored(kept, "commit", said + b"\nevil\n").hex()
    to = tmp_path / "deep/out"
    to.mkdir(parents=True)
    repository = await GitRepository.around(kept.folder)
    await repository.write_out((await repository.revision(commit)).commit, ALL, to)
    assert files_below(tmp_path) == {"deep/out/evil.md": "evil"}


async def test_what_a_folder_has_in_its_settings_does_not_run(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap, sprung = tmp_path / "trap.sh", tmp_path / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch '{sprung}'\ncat\n", encoding="utf-8")
    trap.chmod(0o755)
    kept.write({"one.md": "plain"})
    (kept.folder / ".gitattributes").write_text(
        "*.md filter=evil diff=evil text eol=crlf\n", encoding="utf-8"
    )
    commit = kept.commit()
    hooks = kept.folder / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (hooks / name).symlink_to(trap)
    for key, value in {
        "core.fsmonitor": str(trap),
        "core.hooksPath": str(hooks),
        "core.pager": str(trap),
        "core.sshCommand": str(trap),
        "core.alternateRefsCommand": str(trap),
        "filter.evil.smudge": str(trap),
        "filter.evil.clean": str(trap),
        "filter.evil.process": str(trap),
        "diff.evil.textconv": str(trap),
        "diff.external": str(trap),
        "gpg.program": str(trap),
        "log.showSignature": "true",
        "alias.rev-parse": f"!{trap}",
    }.items():
        kept.git("config", key, value)
    assert await written(kept, tmp_path / "out", commit) == {"one.md": "plain"}
    repository = await GitRepository.around(kept.folder)
    await repository.before("2030-01-01")
    with pytest.raises(NotFound):
        await repository.revision("nowhere")
    assert not sprung.exists()


@pytest.mark.parametrize("address", ["ext::{}", "{}.git", "ssh://host/x"])
async def test_nothing_is_fetched_where_objects_are_missing(
    kept: Kept, tmp_path: Path, address: str
) -> None:
    trap, sprung = tmp_path / "trap.sh", tmp_path / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch '{sprung}'\n", encoding="utf-8")
    trap.chmod(0o755)
    Kept(tmp_path / "trap.sh.git")
    kept.write({"one.md": "lost"})
    commit = kept.commit()
    lost = kept.git("rev-parse", "HEAD:one.md")
    (kept.folder / ".git/objects" / lost[:2] / lost[2:]).unlink()
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": address.format(trap),
        "remote.origin.uploadpack": str(trap),
        "core.sshCommand": str(trap),
        "protocol.allow": "always",
    }.items():
        kept.git("config", key, value)
    repository = await GitRepository.around(kept.folder)
    try:
        unread = await repository.write_out(commit, ALL, tmp_path / "out")
        assert unread == (UnreadableFile("one.md", MISSING_OBJECT_REASON),)
    except LrwrError as error:
        assert error.hint
    assert not sprung.exists()


async def test_the_variables_of_a_hook_do_not_lead_elsewhere(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Kept(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other.folder / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", "nowhere")
    repository = await GitRepository.around(kept.folder)
    assert repository.top == kept.folder.resolve()


async def test_a_git_that_lies_in_the_folder_is_not_run(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = kept.folder / "git"
    fake.write_text("#!/bin/sh\ntouch sprung\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.chdir(kept.folder)
    monkeypatch.setenv("PATH", f".{os.pathsep}")
    with pytest.raises(NotFound, match="git is not installed"):
        await GitRepository.around(kept.folder)
    assert not (kept.folder / "sprung").exists()


@pytest.mark.parametrize(
    "text", ["nowhere", "", " ", "--all", "-n1", "--output=x", "HEAD:one.md", "a\0b"]
)
async def test_a_revision_that_is_none_is_named_and_is_no_option(
    kept: Kept, text: str
) -> None:
    kept.write({"one.md": "1"})
    kept.commit()
    with pytest.raises(NotFound, match="This repository has no revision") as caught:
        await (await GitRepository.around(kept.folder)).revision(text)
    assert "git log" in caught.value.hint


async def test_a_revision_goes_by_every_name_that_git_takes(kept: Kept) -> None:
    kept.write({"one.md": "1"})
    first = kept.commit()
    kept.git("tag", "--annotate", "draft-1", "--message=first")
    kept.commit()
    repository = await GitRepository.around(kept.folder)
    for text in ("draft-1", "HEAD~1", "main^", first[:9], "@~1"):
        assert (await repository.revision(text)).commit == first


async def test_a_time_means_the_last_revision_before_it(kept: Kept) -> None:
    first, second = kept.commit("2026-03-01T12:00Z"), kept.commit("2026-03-05T12:00Z")
    repository = await GitRepository.around(kept.folder)
    assert (await repository.before("2026-03-05")).commit == first
    assert (await repository.before("2026-03-06")).commit == second
    assert (await repository.before("yesterday")).commit
    with pytest.raises(NotFound, match="no revision before 2020-01-01"):
        await repository.before("2020-01-01")
    for text in ("bananas", "", "a\0b"):
        with pytest.raises(SettingsProblem) as caught:
            await repository.before(text)
        assert "2 days ago" in caught.value.hint


async def test_a_shallow_clone_says_what_is_wrong(kept: Kept, tmp_path: Path) -> None:
    kept.commit("2026-03-01T12:00Z")
    kept.commit("2026-03-05T12:00Z")
    kept.git(
        "clone",
        "--quiet",
        "--depth=1",
        f"file://{kept.folder}",
        str(tmp_path / "clone"),
    )
    repository = await GitRepository.around(tmp_path / "clone")
    for work in (repository.revision("HEAD~1"), repository.before("2026-03-02")):
        with pytest.raises(NotFound) as caught:
            await work
        assert "git fetch --unshallow" in caught.value.hint


async def test_a_folder_without_a_repository_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="is not in a git repository"):
        await GitRepository.around(tmp_path)
