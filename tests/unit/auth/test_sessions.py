import stat
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backends import fail

from lrwr.core.adapters.auth.sessions import KeyringSessionStore, SessionLocation
from lrwr.core.model.errors import ServiceUnavailable, StoreProblem
from tests.fakes.keyrings import LockedKeyring, MemoryKeyring

HERE, ELSEWHERE = "https://here.example.org", "https://elsewhere.example.org"


@pytest.fixture(autouse=True)
def before() -> Iterator[None]:
    kept = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())  # type: ignore[no-untyped-call]
    yield
    keyring.set_keyring(kept)


@pytest.fixture
def ring() -> MemoryKeyring:
    made = MemoryKeyring()
    keyring.set_keyring(made)
    return made


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "session.json"


def test_a_session_is_kept_in_the_keyring_and_in_no_file(
    ring: MemoryKeyring, file: Path
) -> None:
    KeyringSessionStore(file).write(HERE, "secret")
    assert KeyringSessionStore(file).read(HERE) == "secret"
    assert KeyringSessionStore(file).place(HERE) is SessionLocation.KEYRING
    assert len(ring.kept) == 1
    assert not file.exists()


def test_without_a_keyring_it_is_kept_in_a_file_of_the_owners_alone(
    file: Path,
) -> None:
    KeyringSessionStore(file).write(HERE, "secret")
    assert KeyringSessionStore(file).read(HERE) == "secret"
    assert KeyringSessionStore(file).place(HERE) is SessionLocation.FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("with_ring", [True, False])
def test_a_session_is_never_shown_to_another_project(
    request: pytest.FixtureRequest, file: Path, with_ring: bool
) -> None:
    if with_ring:
        request.getfixturevalue("ring")
    sessions = KeyringSessionStore(file)
    sessions.write(HERE, "secret")
    assert sessions.read(ELSEWHERE) is None
    assert sessions.place(ELSEWHERE) is SessionLocation.NOWHERE
    assert not sessions.clear(ELSEWHERE)
    assert sessions.read(HERE) == "secret"


@pytest.mark.parametrize("with_ring", [True, False])
def test_what_is_forgotten_is_gone(
    request: pytest.FixtureRequest, file: Path, with_ring: bool
) -> None:
    if with_ring:
        request.getfixturevalue("ring")
    sessions = KeyringSessionStore(file)
    assert not sessions.clear(HERE)
    sessions.write(HERE, "secret")
    assert sessions.clear(HERE)
    assert sessions.read(HERE) is None
    assert not file.exists()


def test_a_session_moves_into_a_keyring_that_is_there_now(file: Path) -> None:
    sessions = KeyringSessionStore(file)
    sessions.write(HERE, "old")
    keyring.set_keyring(MemoryKeyring())
    assert sessions.read(HERE) == "old"
    sessions.write(HERE, "new")
    assert sessions.read(HERE) == "new"
    assert not file.exists()


def test_a_locked_keyring_is_not_gone_round(file: Path) -> None:
    keyring.set_keyring(LockedKeyring())
    for deed in (
        lambda: KeyringSessionStore(file).write(HERE, "secret"),
        lambda: KeyringSessionStore(file).read(HERE),
        lambda: KeyringSessionStore(file).clear(HERE),
    ):
        with pytest.raises(ServiceUnavailable) as caught:
            deed()
        assert "Unlock" in caught.value.hint
    assert not file.exists()


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"project": 1}', "\x00", "ÿ"])
def test_a_file_that_is_none_of_ours_holds_no_session(file: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text, encoding="latin-1")
    assert KeyringSessionStore(file).read(HERE) is None
    KeyringSessionStore(file).write(HERE, "secret")
    assert KeyringSessionStore(file).read(HERE) == "secret"


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("", encoding="utf-8")
    with pytest.raises(StoreProblem):
        KeyringSessionStore(tmp_path / "state" / "session.json").write(HERE, "secret")
