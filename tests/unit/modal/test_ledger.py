import threading
from dataclasses import replace
from pathlib import Path

import pytest

from lrwr.core.adapters.modal.calls import ModalCallKey, ModalCallLedger
from lrwr.core.model.errors import StoreProblem

ERRAND = ModalCallKey(
    "ferry/01.md", "reading", "c1", "recipe", "https://m.example/lrwr"
)


@pytest.fixture
def ledger(tmp_path: Path) -> ModalCallLedger:
    return ModalCallLedger(tmp_path / "calls")


@pytest.mark.parametrize("field", ["document", "part", "content", "recipe", "place"])
def test_a_call_is_found_for_just_what_it_was_made_for(
    tmp_path: Path, ledger: ModalCallLedger, field: str
) -> None:
    ledger.store(ERRAND, "fc-1")
    other = replace(ERRAND, **{field: "another"})
    assert ModalCallLedger(tmp_path / "calls").find(ERRAND) == "fc-1"
    assert ledger.find(other) is None
    is_outdated = field in ("content", "recipe", "place")
    assert ledger.find_outdated(other) == ("fc-1" if is_outdated else None)
    assert ledger.find_outdated(ERRAND) is None


def test_the_newest_call_of_a_document_is_kept_and_can_be_dropped(
    tmp_path: Path, ledger: ModalCallLedger
) -> None:
    ledger.store(ERRAND, "fc-1")
    newer = replace(ERRAND, content="c2")
    ledger.store(newer, "fc-2")
    assert (ledger.find(ERRAND), ledger.find(newer)) == (None, "fc-2")
    ledger.drop(ERRAND.document, ERRAND.part)
    ledger.drop(ERRAND.document, ERRAND.part)
    assert ledger.find(newer) is None
    assert list((tmp_path / "calls").iterdir()) == []


def test_a_call_is_kept_while_another_task_drops_its_own(
    tmp_path: Path, ledger: ModalCallLedger
) -> None:
    stop = threading.Event()

    def drop_others() -> None:
        others = ModalCallLedger(tmp_path / "calls")
        while not stop.is_set():
            others.drop("ferry/02.md", ERRAND.part)

    dropping = threading.Thread(target=drop_others)
    dropping.start()
    try:
        for number in range(300):
            ledger.store(ERRAND, f"fc-{number}")
            assert ledger.find(ERRAND) == f"fc-{number}"
            ledger.drop(ERRAND.document, ERRAND.part)
    finally:
        stop.set()
        dropping.join()


def test_no_name_of_a_file_and_nobody_else_is_let_in(
    tmp_path: Path, ledger: ModalCallLedger
) -> None:
    ledger.store(ERRAND, "fc-1")
    (path,) = (tmp_path / "calls").iterdir()
    assert "ferry" not in path.name + path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "content",
    ["", "[", "[]", "{}", '{"call": 1, "errand": "x"}', '{"call": "a\\u0007"}'],
)
def test_a_damaged_entry_is_none(
    tmp_path: Path, ledger: ModalCallLedger, content: str
) -> None:
    ledger.store(ERRAND, "fc-1")
    (path,) = (tmp_path / "calls").iterdir()
    path.write_text(content, encoding="utf-8")
    assert ledger.find(ERRAND) is None
    assert ledger.find_outdated(ERRAND) is None


def test_a_call_that_cannot_be_kept_is_said(tmp_path: Path) -> None:
    (tmp_path / "calls").write_text("a file", encoding="utf-8")
    with pytest.raises(StoreProblem, match="cannot be written"):
        ModalCallLedger(tmp_path / "calls").store(ERRAND, "fc-1")
