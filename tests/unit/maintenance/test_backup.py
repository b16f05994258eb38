import json
import sqlite3
import zipfile
from collections.abc import Callable, Mapping
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from lrwr.app.maintenance.backup import (
    CALIBRATION_JSON,
    DECISIONS,
    MANIFEST,
    QUESTIONS,
    SETTINGS,
    backup_library,
    choose_backup_folder,
    unpack_archive,
)
from lrwr.app.maintenance.restore import restore_library
from lrwr.core.adapters.storage.sqlite.database import SCHEMA_VERSION, SqliteDatabase
from lrwr.core.model.errors import (
    LrwrError,
    NotFound,
    StoreProblem,
    UnreadableDocument,
)
from lrwr.core.retrieval.confidence import (
    SHIPPED_CALIBRATIONS,
    get_calibration_path,
    load_calibrations,
    save_calibrations,
)
from lrwr.core.settings.library import Library, load_ingested_paths
from lrwr.pipeline.evaluation.runs import (
    locate_evaluations_folder,
    locate_questions_file,
)
from tests.fakes.libraries import over
from tests.fakes.records import ONE, Clock

NOW = 1_000_000.0
ASKED = '{"question": "Who sat?", "kind": "unanswerable"}\n'
Change = Callable[[dict[str, bytes]], None]


@pytest.fixture
async def library(tmp_path: Path) -> Library:
    root = tmp_path / "novel"
    database = SqliteDatabase(root / ".lrwr" / "library.db")
    await over(database, Clock()).keep_texts(ONE, ["The frog sat.", "It rained."])
    await database.aclose()
    made = Library(root, root / ".lrwr")
    made.memory.write_text('{"folders": ["manuscript"]}')
    (root / SETTINGS).write_text("[search]\nlimit = 3\n")
    (root / DECISIONS).write_text("# decided\n")
    save_calibrations(made, list(SHIPPED_CALIBRATIONS.values()))
    locate_questions_file(made).write_text(ASKED, encoding="utf-8")
    locate_evaluations_folder(made).mkdir()
    return made


@pytest.fixture
def elsewhere(tmp_path: Path) -> Library:
    root = tmp_path / "elsewhere"
    root.mkdir()
    return Library(root, root / ".lrwr")


@pytest.fixture
def archive(library: Library, tmp_path: Path) -> Path:
    return backup_library(library, tmp_path / "b.zip", now=NOW).file


def rows(library: Library) -> list[str]:
    with closing(sqlite3.connect(library.database)) as connection:
        return list(connection.iterdump())


def changed(archive: Path, change: Change, *, honest: bool = False) -> Path:
    """Write the archive again with a change; `honest` corrects the manifest."""
    with zipfile.ZipFile(archive) as old:
        content = {name: old.read(name) for name in old.namelist()}
    change(content)
    if honest:
        manifest = json.loads(content[MANIFEST])
        manifest["files"] = {
            name: {"size": len(part), "sha256": sha256(part).hexdigest()}
            for name, part in content.items()
            if name != MANIFEST
        }
        content[MANIFEST] = json.dumps(manifest).encode()
    made = archive.with_name("changed.zip")
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name, part in content.items():
            new.writestr(name, part)
    return made


def said(**changes: object) -> Change:
    def change(content: dict[str, bytes]) -> None:
        manifest = {**json.loads(content[MANIFEST]), **changes}
        content[MANIFEST] = json.dumps(manifest).encode()

    return change


def put(name: str, part: bytes) -> Change:
    def change(content: dict[str, bytes]) -> None:
        content[name] = part

    return change


def drop(name: str) -> Change:
    def change(content: dict[str, bytes]) -> None:
        del content[name]

    return change


def test_a_backup_holds_the_library_the_settings_and_the_decisions(
    library: Library, tmp_path: Path
) -> None:
    report = backup_library(library, tmp_path / "b.zip", now=NOW)
    assert report.manifest.schema == SCHEMA_VERSION
    with zipfile.ZipFile(report.file) as packed:
        assert set(packed.namelist()) == {
            *("library.db", "library.json", CALIBRATION_JSON, QUESTIONS),
            *(SETTINGS, DECISIONS, MANIFEST),
        }
        for name, kept in report.manifest.files.items():
            assert sha256(packed.read(name)).hexdigest() == kept.sha256
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b.zip", "novel"]


def test_what_was_backed_up_comes_back_row_by_row(
    library: Library, elsewhere: Library, archive: Path
) -> None:
    report = restore_library(elsewhere, archive, force=False, now=NOW)
    assert rows(elsewhere) == rows(library)
    for name in (SETTINGS, DECISIONS):
        assert (elsewhere.root / name).read_bytes() == (
            library.root / name
        ).read_bytes()
    assert elsewhere.memory.read_bytes() == library.memory.read_bytes()
    assert load_calibrations(get_calibration_path(elsewhere)) == load_calibrations(
        get_calibration_path(library)
    )
    assert locate_questions_file(elsewhere).read_text(encoding="utf-8") == ASKED
    assert len(report.steps) == 6
    names = {path.name for path in elsewhere.state_dir.iterdir()}
    assert names == {
        ".gitignore",
        "library.db",
        "library.json",
        CALIBRATION_JSON,
        QUESTIONS,
    }


def test_a_backup_without_a_name_gets_the_day_and_then_the_second(
    library: Library,
) -> None:
    files = [backup_library(library, None, now=NOW).file for _ in range(2)]
    assert {file.parent for file in files} == {library.root}
    assert files[0].name.startswith("lrwr-backup-1970-01-1")
    assert len(files[1].name) > len(files[0].name)


def test_a_backup_without_a_name_is_never_in_the_manuscript(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    inside = library.root / "manuscript"
    assert choose_backup_folder(library, [inside]) == library.root
    assert choose_backup_folder(library, [library.root]) == tmp_path
    monkeypatch.chdir(library.root)
    made = backup_library(library, None, now=NOW, manuscript=[library.root])
    assert not made.file.is_relative_to(library.root)
    assert made.file.parent.name == "novel"
    assert made.file.parent.stat().st_mode & 0o077 == 0


def test_no_file_is_overwritten_by_a_backup(library: Library, archive: Path) -> None:
    before = archive.read_bytes()
    with pytest.raises(StoreProblem, match="already exists"):
        backup_library(library, archive, now=NOW)
    assert archive.read_bytes() == before


def test_what_a_link_leads_to_is_not_packed(library: Library, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("mine")
    (library.root / DECISIONS).unlink()
    (library.root / DECISIONS).symlink_to(secret)
    report = backup_library(library, tmp_path / "b.zip", now=NOW)
    assert DECISIONS not in report.manifest.files


def test_a_damaged_library_is_not_backed_up(library: Library, tmp_path: Path) -> None:
    content = library.database.read_bytes()
    library.database.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    with pytest.raises(StoreProblem, match="damaged") as caught:
        backup_library(library, tmp_path / "b.zip", now=NOW)
    assert "lrwr repair" in caught.value.hint
    assert not (tmp_path / "b.zip").exists()


def test_where_no_library_is_nothing_is_backed_up(
    elsewhere: Library, tmp_path: Path
) -> None:
    with pytest.raises(NotFound, match="no library"):
        backup_library(elsewhere, tmp_path / "b.zip", now=NOW)


def test_a_folder_that_is_not_there_takes_no_backup(
    library: Library, tmp_path: Path
) -> None:
    with pytest.raises(StoreProblem, match="There is no folder"):
        backup_library(library, tmp_path / "no" / "b.zip", now=NOW)


def test_a_missing_or_wrong_backup_is_named_before_an_existing_library(
    library: Library, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("no backup", encoding="utf-8")
    with pytest.raises(NotFound, match="There is no file"):
        restore_library(library, tmp_path / "nope.zip", force=False, now=NOW)
    with pytest.raises(UnreadableDocument, match="not a valid backup"):
        restore_library(library, tmp_path / "a.txt", force=False, now=NOW)


def test_a_library_is_only_replaced_by_force_and_then_kept(
    library: Library, archive: Path
) -> None:
    with closing(sqlite3.connect(library.database)) as connection:
        connection.execute("delete from chunk")
        connection.commit()
    emptied = rows(library)
    with pytest.raises(StoreProblem, match="already") as caught:
        restore_library(library, archive, force=False, now=NOW)
    assert "--force" in caught.value.hint
    assert rows(library) == emptied
    (library.root / SETTINGS).write_text("# newer\n")
    restore_library(library, archive, force=True, now=NOW)
    assert rows(library) != emptied
    assert "limit" in (library.root / SETTINGS).read_text()
    (kept,) = library.state_dir.glob("library.db.before-restore-*")
    assert rows(Library(library.root, library.state_dir)) != emptied
    with closing(sqlite3.connect(kept)) as connection:
        assert list(connection.iterdump()) == emptied
    (old,) = library.root.glob("lrwr.toml.before-restore-*")
    assert old.read_text() == "# newer\n"


def test_a_restore_that_fails_on_the_way_leaves_all_as_it_was(
    library: Library, archive: Path
) -> None:
    before = rows(library)
    (library.root / SETTINGS).write_text("# newer\n")
    (library.root / DECISIONS).unlink()
    (library.root / DECISIONS).mkdir()
    names = {path.name for path in library.state_dir.iterdir()}
    with pytest.raises(StoreProblem, match="could not be restored") as caught:
        restore_library(library, archive, force=True, now=NOW)
    assert "Your library was not changed" in caught.value.hint
    assert rows(library) == before
    assert {path.name for path in library.state_dir.iterdir()} == names
    assert (library.root / SETTINGS).read_text() == "# newer\n"
    assert not list(library.root.glob("*before-restore*"))


def test_a_restore_records_where_the_manuscript_is_now(
    elsewhere: Library, archive: Path, tmp_path: Path
) -> None:
    report = restore_library(elsewhere, archive, force=False, now=NOW)
    said = report.steps[-1]
    assert "The manuscript was in" in said
    assert f"was in {elsewhere.root}" not in said
    texts = tmp_path / "texts"
    texts.mkdir()
    report = restore_library(
        elsewhere, archive, force=True, now=NOW, manuscript=[texts]
    )
    assert load_ingested_paths(elsewhere) == (texts,)
    assert report.steps[-1] == f"The manuscript is in {texts}."


def test_settings_and_decisions_that_are_there_stay_without_force(
    elsewhere: Library, archive: Path
) -> None:
    (elsewhere.root / DECISIONS).write_text("# mine\n")
    report = restore_library(elsewhere, archive, force=False, now=NOW)
    assert (elsewhere.root / DECISIONS).read_text() == "# mine\n"
    assert any("not changed" in step for step in report.steps)


@pytest.mark.parametrize(
    "content", [b'state_dir = "elsewhere"\n', b"[[[", b'api_key = "x"']
)
def test_settings_that_would_hide_the_library_are_put_beside(
    elsewhere: Library, archive: Path, content: bytes
) -> None:
    made = changed(archive, put(SETTINGS, content), honest=True)
    restore_library(elsewhere, made, force=False, now=NOW)
    assert not (elsewhere.root / SETTINGS).exists()
    assert (elsewhere.root / f"{SETTINGS}.from-backup").read_bytes() == content


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"format": 99}'])
def test_a_fit_that_cannot_be_used_is_told_and_left_out(
    elsewhere: Library, archive: Path, content: bytes
) -> None:
    made = changed(archive, put(CALIBRATION_JSON, content), honest=True)
    report = restore_library(elsewhere, made, force=False, now=NOW)
    assert any(
        CALIBRATION_JSON in step and "not restored" in step for step in report.steps
    )
    assert not get_calibration_path(elsewhere).exists()
    assert rows(elsewhere)


def test_a_fit_that_is_there_is_kept_beside(library: Library, archive: Path) -> None:
    get_calibration_path(library).write_text("newer")
    restore_library(library, archive, force=True, now=NOW)
    assert load_calibrations(get_calibration_path(library))[1] == ""
    (old,) = library.state_dir.glob(f"{CALIBRATION_JSON}.before-restore-*")
    assert old.read_text() == "newer"


def test_a_backup_from_before_there_was_a_fit_is_taken(
    elsewhere: Library, archive: Path
) -> None:
    made = changed(archive, drop(CALIBRATION_JSON), honest=True)
    restore_library(elsewhere, made, force=False, now=NOW)
    assert rows(elsewhere)
    assert not get_calibration_path(elsewhere).exists()


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b'{"question": ""}'])
def test_questions_that_cannot_be_used_are_told_and_left_out(
    elsewhere: Library, archive: Path, content: bytes
) -> None:
    made = changed(archive, put(QUESTIONS, content), honest=True)
    report = restore_library(elsewhere, made, force=False, now=NOW)
    assert any(QUESTIONS in step and "not restored" in step for step in report.steps)
    assert not locate_questions_file(elsewhere).exists()


def test_questions_that_are_there_are_kept_beside(
    library: Library, archive: Path
) -> None:
    locate_questions_file(library).write_text("newer")
    restore_library(library, archive, force=True, now=NOW)
    assert locate_questions_file(library).read_text(encoding="utf-8") == ASKED
    (old,) = library.state_dir.glob(f"{QUESTIONS}.before-restore-*")
    assert old.read_text() == "newer"


def test_a_library_in_use_is_not_replaced(library: Library, archive: Path) -> None:
    with closing(sqlite3.connect(library.database, isolation_level=None)) as other:
        other.execute("pragma journal_mode = wal")
        other.execute("begin")
        other.execute("select count(*) from chunk").fetchone()
        with pytest.raises(StoreProblem, match="locked"):
            restore_library(library, archive, force=True, now=NOW)
    assert rows(library)
    assert not list(library.state_dir.glob("restoring-*"))


@pytest.mark.parametrize(
    ("change", "honest", "word"),
    [
        (drop(MANIFEST), False, "no manifest"),
        (put(MANIFEST, b"{"), False, "cannot be read"),
        (put(MANIFEST, b"[]"), False, "cannot be read"),
        (put(MANIFEST, b" " * 100_000), False, "too large"),
        (said(format=2), False, "newer"),
        (said(files={}), False, "files"),
        (drop("library.db"), False, "files"),
        (drop("library.db"), True, "files"),
        (put("../evil.txt", b"x"), True, "files"),
        (put("/evil.txt", b"x"), True, "files"),
        (put("notes.md", b"x"), False, "files"),
        (put("library.json", b"{}"), False, "size of"),
        (put(DECISIONS, b"# denied!\n"), False, "has changed since"),
        (put("library.json", b" " * 5_000_000), True, "size of"),
        (put("library.db", b"\0" * 50_000_000), True, "size of"),
        (put("library.db", b"Chapter One. " * 1000), True, "cannot be opened"),
        (put("library.db", b""), True, "no library"),
    ],
)
def test_what_is_not_as_its_manifest_says_is_refused_whole(
    elsewhere: Library, archive: Path, change: Change, honest: bool, word: str
) -> None:
    made = changed(archive, change, honest=honest)
    before = sorted(elsewhere.root.parent.rglob("*"))
    with pytest.raises(LrwrError, match=word) as caught:
        restore_library(elsewhere, made, force=True, now=NOW)
    assert caught.value.hint
    assert not elsewhere.database.exists()
    new = set(elsewhere.root.parent.rglob("*")) - set(before)
    assert {path.name for path in new} <= {".lrwr", ".gitignore"}


def test_a_backup_of_a_newer_lrwr_is_refused(
    elsewhere: Library, archive: Path, tmp_path: Path
) -> None:
    newer = tmp_path / "newer.db"
    with zipfile.ZipFile(archive) as packed:
        newer.write_bytes(packed.read("library.db"))
    with closing(sqlite3.connect(newer)) as connection:
        connection.execute(f"pragma user_version = {SCHEMA_VERSION + 1}")
    made = changed(archive, put("library.db", newer.read_bytes()), honest=True)
    with pytest.raises(StoreProblem, match="newer version of lrwr"):
        restore_library(elsewhere, made, force=False, now=NOW)
    assert not elsewhere.database.exists()


@pytest.mark.parametrize("content", [b"", b"no zip at all", b"PK\x03\x04" + b"x" * 99])
def test_what_is_no_archive_is_refused(
    elsewhere: Library, tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "x.zip"
    file.write_bytes(content)
    with pytest.raises(UnreadableDocument, match="not a valid backup"):
        restore_library(elsewhere, file, force=False, now=NOW)
    with pytest.raises(NotFound, match="no file"):
        restore_library(elsewhere, tmp_path / "none.zip", force=False, now=NOW)


def test_every_byte_that_is_turned_is_noticed_or_means_nothing(
    elsewhere: Library, archive: Path, tmp_path: Path
) -> None:
    content = archive.read_bytes()
    turned = tmp_path / "turned.zip"
    index = range(len(content) - 200, len(content))
    places = [*range(0, len(content), len(content) // 40), *index]
    for number, place in enumerate(places):
        harmed = bytearray(content)
        harmed[place] ^= 0xFF
        turned.write_bytes(bytes(harmed))
        folder = tmp_path / f"out{number}"
        folder.mkdir()
        try:
            manifest = unpack_archive(turned, folder)
        except UnreadableDocument:
            continue
        assert hashes(folder) == {n: k.sha256 for n, k in manifest.files.items()}


def hashes(folder: Path) -> Mapping[str, str]:
    return {
        path.name: sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()
    }


def test_a_named_file_in_a_manuscript_folder_is_refused(
    library: Library, tmp_path: Path
) -> None:
    notes = library.root / "notes"
    notes.mkdir(exist_ok=True)
    with pytest.raises(StoreProblem, match="in a manuscript folder"):
        backup_library(library, notes / "b.zip", now=NOW, manuscript=[notes])
    assert list(notes.iterdir()) == []
    outside = tmp_path / "elsewhere.zip"
    assert backup_library(library, outside, now=NOW, manuscript=[notes]).file == outside
