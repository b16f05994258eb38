import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrwr.core.canon import service as service_module
from lrwr.core.canon.decision import (
    Decision,
    DocumentTypeSet,
    NameIgnored,
    NamesMerged,
    NamesSplit,
)
from lrwr.core.canon.file import MAX_CANON_BYTES
from lrwr.core.canon.model import Canon
from lrwr.core.canon.service import CanonService
from lrwr.core.model.documents import DocumentId, DocumentType
from lrwr.core.model.errors import SettingsProblem, StoreProblem
from lrwr.core.settings.files import FileLock
from tests.fakes.canons import a_service, decisions
from tests.fakes.suite import examples

MONDAY, THOLE = NameIgnored("Monday"), NameIgnored("Thole")
MILL = DocumentTypeSet(DocumentId("mill.md"), DocumentType.SETTING)


@pytest.fixture
def service(tmp_path: Path) -> CanonService:
    return a_service(tmp_path)


def history_file(service: CanonService) -> Path:
    return service.path.parent / ".lrwr" / "canon-history.jsonl"


def content(service: CanonService) -> bytes | None:
    return service.path.read_bytes() if service.path.exists() else None


def decide_all(service: CanonService, made: Sequence[Decision]) -> list[bytes | None]:
    """Decide, and return the file after each decision that changed it."""
    seen = [content(service)]
    for decision in made:
        try:
            changed = service.decide(decision)
        except SettingsProblem:
            continue  # it says nothing, or gives two people one name
        if changed:
            seen.append(content(service))
    return seen


def test_nothing_is_decided_at_first_and_reading_makes_no_file(tmp_path: Path) -> None:
    service = a_service(tmp_path)
    assert service.load() == Canon()
    assert service.history() == ()
    assert service.undo() is None
    assert service.redo() is None
    assert list(tmp_path.iterdir()) == []


def test_a_decision_is_in_the_file_and_in_the_history(service: CanonService) -> None:
    change = service.decide(MILL)
    assert change
    assert service.load() == change.after
    assert service.load().types == {"mill.md": DocumentType.SETTING}
    assert [one.decision for one in service.history()] == [MILL]


def test_a_decision_that_changes_nothing_is_not_written(service: CanonService) -> None:
    service.decide(MILL)
    assert not service.decide(MILL)
    assert len(service.history()) == 1


def test_a_change_tells_which_pairs_are_one_person_now(service: CanonService) -> None:
    service.decide(NamesSplit("Mags", "Maggie"))
    change = service.decide(NamesMerged(("Mags", "Maggie")))
    assert change.unsplit == (("Maggie", "Mags"),)


def test_undoing_the_first_decision_takes_the_file_away(service: CanonService) -> None:
    service.decide(MONDAY)
    assert service.undo() == MONDAY
    assert not service.path.exists()
    assert service.redo() == MONDAY
    assert service.load().names.ignored == ("Monday",)


@settings(max_examples=examples(50))
@given(st.lists(decisions, max_size=8), st.sampled_from(["", "# mine\r\n", "\ufeff"]))
def test_undo_and_redo_walk_through_every_file_byte_for_byte(
    made: list[Decision], start: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        service = a_service(Path(folder))
        if start:
            service.path.write_bytes(start.encode())
        seen = decide_all(service, made)
        for before in reversed(seen[:-1]):
            assert service.undo() is not None
            assert content(service) == before
        assert service.undo() is None
        for after in seen[1:]:
            assert service.redo() is not None
            assert content(service) == after
        assert service.redo() is None


def test_a_new_decision_ends_what_could_be_redone(service: CanonService) -> None:
    service.decide(MONDAY)
    service.undo()
    service.decide(THOLE)
    assert service.redo() is None
    assert service.load().names.ignored == ("Thole",)


def test_a_service_opened_later_undoes_what_an_earlier_one_decided(
    service: CanonService, tmp_path: Path
) -> None:
    service.decide(MONDAY)
    service.decide(THOLE)
    later = a_service(tmp_path)
    assert later.undo() == THOLE
    assert [one.undone for one in later.history()] == [False, True]


def test_undo_does_not_lose_what_was_written_by_hand(service: CanonService) -> None:
    service.decide(MONDAY)
    with service.path.open("a", encoding="utf-8") as file:
        file.write('\n[types]\n"a.md" = "scene"\n')
    edited = content(service)
    with pytest.raises(SettingsProblem, match="undo would discard") as caught:
        service.undo()
    assert "Monday" in str(caught.value)
    assert caught.value.hint
    assert content(service) == edited
    service.decide(THOLE)
    assert service.undo() == THOLE
    assert content(service) == edited


def test_redo_does_not_lose_what_was_written_by_hand(service: CanonService) -> None:
    service.decide(MONDAY)
    service.undo()
    service.path.write_text("# mine now\n", encoding="utf-8")
    with pytest.raises(SettingsProblem, match="redo would discard"):
        service.redo()
    assert service.path.read_text(encoding="utf-8") == "# mine now\n"


def test_a_decision_that_a_crash_kept_from_the_file_can_be_redone(
    service: CanonService,
) -> None:
    service.decide(MONDAY)
    before = service.path.read_bytes()
    service.decide(THOLE)
    service.path.write_bytes(before)  # as if the power had gone after the log's line
    assert [one.undone for one in service.history()] == [False, True]
    assert service.redo() == THOLE
    service.path.write_bytes(before)
    service.decide(MILL)
    assert service.undo() == MILL
    assert service.undo() == MONDAY


def test_an_undo_that_a_crash_kept_from_the_file_can_be_done_again(
    service: CanonService,
) -> None:
    service.decide(MONDAY)
    after = service.path.read_bytes()
    service.undo()
    service.path.write_bytes(after)
    assert service.undo() == MONDAY
    assert not service.path.exists()


def test_half_a_line_at_the_end_of_the_history_never_happened(
    service: CanonService,
) -> None:
    service.decide(MONDAY)
    with history_file(service).open("ab") as file:
        file.write(b'{"decided":"NameIg')
    service.decide(THOLE)
    assert service.undo() == THOLE
    assert service.undo() == MONDAY


@pytest.mark.parametrize("line", ["{", "[]", '{"what":"undone"}', '{"decided":"X"}'])
def test_a_damaged_history_keeps_the_decisions(
    service: CanonService, line: str
) -> None:
    service.decide(MONDAY)
    history_file(service).write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(StoreProblem, match="jsonl:1") as caught:
        service.undo()
    assert "decisions remain" in caught.value.hint
    assert service.load().names.ignored == ("Monday",)


@pytest.mark.parametrize("broken", [b"[types\n", b"[tpyes]\n", b"\xff\xfe", b"\0"])
def test_a_broken_file_is_never_overwritten(
    service: CanonService, broken: bytes
) -> None:
    service.path.write_bytes(broken)
    for attempt in (service.load, lambda: service.decide(MONDAY)):
        with pytest.raises(SettingsProblem, match=r"lrwr\.canon\.toml") as caught:
            attempt()
        assert caught.value.hint
    assert service.path.read_bytes() == broken
    assert not history_file(service).exists()


def test_a_file_beyond_all_reason_is_not_read(service: CanonService) -> None:
    service.path.write_bytes(b"#" * (MAX_CANON_BYTES + 1))
    with pytest.raises(SettingsProblem, match="larger than 4 MB"):
        service.load()


def test_a_folder_or_a_pipe_in_its_place_is_refused(service: CanonService) -> None:
    os.mkfifo(service.path)
    with pytest.raises(SettingsProblem, match="not a regular file"):
        service.load()


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("[types]\n", encoding="utf-8")
    (tmp_path / "novel").mkdir()
    service = a_service(tmp_path / "novel")
    service.path.symlink_to(secret)
    with pytest.raises(SettingsProblem, match="link to a file outside its folder"):
        service.decide(MONDAY)
    assert secret.read_text(encoding="utf-8") == "[types]\n"


def test_a_link_inside_the_folder_stays_a_link(service: CanonService) -> None:
    target = service.path.parent / "canon.toml"
    target.touch(mode=0o600)
    service.path.symlink_to(target)
    service.decide(MONDAY)
    assert service.path.is_symlink()
    assert "Monday" in target.read_text(encoding="utf-8")
    assert target.stat().st_mode & 0o777 == 0o600


def test_nothing_is_left_behind_when_the_folder_takes_no_file(
    service: CanonService, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.decide(MONDAY)
    before = content(service)

    def no_space(file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(StoreProblem, match="No space left"):
        service.decide(THOLE)
    monkeypatch.undo()
    assert content(service) == before
    assert service.undo() == MONDAY
    assert sorted(path.name for path in service.path.parent.iterdir()) == [".lrwr"]


def test_a_lock_that_is_never_let_go_is_told(
    service: CanonService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_module, "LOCK_TIMEOUT", 0.03)
    lock = FileLock(service.path.parent / ".lrwr" / "canon.lock")
    assert lock.acquire()
    with pytest.raises(StoreProblem, match="Another lrwr process"):
        service.decide(MONDAY)
    lock.release()
    assert service.decide(MONDAY)
