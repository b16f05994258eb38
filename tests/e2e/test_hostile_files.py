"""Settings and state files that somebody else wrote end in a sentence, never in a fault."""

import json
import stat
import sys
import time
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes import restricted_process
from tests.fakes.terminal import LRWR, Ran, Terminal, check_refusal

DEEP = 100_000
TOML = {
    "deep arrays": "a = " + "[" * DEEP,
    "a long key": ".".join(["a"] * DEEP) + " = 1",
    "many digits": "[search]\nlimit = " + "9" * DEEP,
    "big": "# " + "x" * 5_000_000,
    "infinite": "[search]\nlimit = inf",
}
JSON = {
    "deep arrays": "[" * DEEP,
    "closed arrays": "[" * 500 + "]" * 500,
    "many digits": '{"folders": ' + "9" * DEEP + "}",
    "no list": '{"folders": {"a": 1}}',
    "no paths": '{"folders": ["\\u0000", "\\ud800"]}',
    "big": '{"folders": ["' + "x" * 5_000_000 + '"]}',
    "no UTF-8": "\udcff",
}
LOOKS = (["status"], ["doctor"], ["search", "frog"], ["ingest"], ["canon", "undo"])


@pytest.fixture
def book(empty: Terminal) -> Terminal:
    (empty.folder / "1.md").write_text("# One\n\nThe frog is shy.", encoding="utf-8")
    assert empty.run("ingest", ".").code == 0
    return empty


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))


def check_sentences(ran: Ran) -> None:
    """Check that a command failed with a sentence, or did its work all the same."""
    if ran.code:
        assert ran.err.startswith("lrwr: ") or ran.out
        assert len(ran.err) < 2000


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["lrwr.toml", "lrwr.canon.toml", "home"])
@pytest.mark.parametrize("text", TOML.values(), ids=TOML)
def test_a_hostile_toml_file_is_refused_in_a_sentence(
    book: Terminal, name: str, text: str
) -> None:
    file = book.folder / name
    if name == "home":
        file = Path(book.env["XDG_CONFIG_HOME"]) / "lrwr" / "lrwr.toml"
    write(file, text)
    for words in LOOKS:
        check_sentences(book.run(*words))
    ran = book.run("ingest")
    check_refusal(ran, ExitCode.SETTINGS, str(file))


@pytest.mark.exhaustive
@pytest.mark.parametrize("text", JSON.values(), ids=JSON)
@pytest.mark.parametrize(
    "name",
    [
        "library.json",
        "canon-history.jsonl",
        "confidence.json",
        "questions.jsonl",
        "forgetting.json",
    ],
)
def test_a_hostile_state_file_ends_no_command_in_a_fault(
    book: Terminal, name: str, text: str
) -> None:
    write(book.folder / ".lrwr" / name, f"{text}\n")
    for words in (*LOOKS, ["repair"], ["ask", "Who is shy?"]):
        check_sentences(book.run(*words))
    if name == "library.json":
        assert book.run("repair").code == 0
        assert book.run("ingest", ".").code == 0
        assert book.run("status").code == 0


def crafted(archive: Path, library_json: str) -> None:
    """Replace `library.json` in a backup, and its hash in the manifest."""
    with zipfile.ZipFile(archive) as old:
        files = {name: old.read(name) for name in old.namelist()}
    files["library.json"] = library_json.encode("utf-8", "surrogateescape")
    manifest = json.loads(files["manifest.json"])
    manifest["files"]["library.json"] = {
        "size": len(files["library.json"]),
        "sha256": sha256(files["library.json"]).hexdigest(),
    }
    files["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as new:
        for name, content in files.items():
            new.writestr(name, content)


@pytest.mark.parametrize("text", JSON.values(), ids=JSON)
def test_a_crafted_backup_replaces_nothing(
    book: Terminal, tmp_path: Path, text: str
) -> None:
    archive = tmp_path / "safe.zip"
    assert book.run("backup", str(archive)).code == 0
    crafted(archive, text)
    state = book.folder / ".lrwr"
    before = {
        path.name: path.read_bytes() for path in state.iterdir() if path.is_file()
    }
    ran = book.run("restore", str(archive), "--force")
    check_refusal(ran, ExitCode.UNREADABLE, "library.json")
    for name, content in before.items():
        assert (state / name).read_bytes() == content
    assert book.run("status").code == 0


POSIX = pytest.mark.skipif(sys.platform == "win32", reason="no modes of files")


def open_to_others(folder: Path) -> Iterator[str]:
    for path in (folder, *folder.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            yield f"{mode:o} {path.relative_to(folder)}"


@POSIX
def test_everything_in_the_library_belongs_to_its_owner_alone(
    book: Terminal, tmp_path: Path
) -> None:
    state = book.folder / ".lrwr"
    assert book.run("search", "frog").code == 0
    assert book.run("ask", "Who is shy?").code == 0
    assert book.run("canon", "rename", "Frog", "Toad").code in {0, 3}
    assert book.run("canon", "type", "1.md", "scene").code == 0
    archive = tmp_path / "safe.zip"
    assert book.run("backup", str(archive)).code == 0
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    assert book.run("restore", str(archive), "--force").code == 0
    assert book.run("ingest").code == 0
    assert {"library.db", "library.json", "canon.lock"} <= {
        path.name for path in state.iterdir()
    }
    assert list(open_to_others(state)) == []


@POSIX
def test_the_library_is_private_while_it_is_open(book: Terminal) -> None:
    (book.folder / "2.md").write_text("# Two\n\nThe toad.", encoding="utf-8")
    watching = book.start("watch")
    try:
        state = book.folder / ".lrwr"
        for _ in range(400):
            if (state / "library.db-wal").exists():
                break
            time.sleep(0.05)
        assert list(open_to_others(state)) == []
    finally:
        watching.terminate()
        watching.wait()


@POSIX
def test_a_library_that_others_can_read_is_closed_to_them_once(book: Terminal) -> None:
    state = book.folder / ".lrwr"
    assert book.run("search", "frog").code == 0
    for path in (state, *state.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    ignore = (state / ".gitignore").stat().st_ctime_ns
    assert book.run("status").code == 0
    (state / ".gitignore").chmod(0o600)
    assert list(open_to_others(state)) == []
    assert ignore <= (state / ".gitignore").stat().st_ctime_ns
    # Only the folder's mode is read from then on.
    (state / "library.json").chmod(0o644)
    assert book.run("status").code == 0
    assert list(open_to_others(state)) == ["644 library.json"]


@POSIX
def test_a_deleted_folder_is_named_in_a_sentence(empty: Terminal) -> None:
    script = 'cd "$0" && rmdir "$0" && shift 0 && exec "$@"'
    for words in (["status"], ["ingest"], ["ask", "Who?"], ["init"], ["doctor"]):
        gone = empty.folder / "gone"
        gone.mkdir()
        ran = empty.command(["bash", "-c", script, str(gone), str(LRWR), *words])
        check_refusal(ran, ExitCode.NOT_FOUND, "does not exist any more")


@POSIX
@pytest.mark.exhaustive
@pytest.mark.parametrize("megabytes", [150, 200, 300, 400])
def test_too_little_memory_is_named_in_a_sentence(
    book: Terminal, megabytes: int
) -> None:
    for words in (["search", "frog"], ["ingest"], ["status"]):
        limit = f"ulimit -v {megabytes * 1024}; exec {LRWR} " + '"$@"'
        ran = book.command(["bash", "-c", limit, "bash", *words])
        if ran.code:
            check_refusal(ran, ExitCode.FAILED, "memory")


def test_init_on_a_full_disk_leaves_no_file(empty: Terminal) -> None:
    command = [sys.executable, restricted_process.__file__, "1000", str(LRWR), "init"]
    ran = empty.command(command)
    check_refusal(ran, ExitCode.FAILED, "lrwr.toml cannot be written")
    assert list(empty.folder.iterdir()) == []
