import errno
from pathlib import Path

import pytest

from lrwr.core.settings import files
from lrwr.core.settings.files import FileLock


def test_a_lock_that_is_held_is_refused_and_one_that_is_released_is_not(
    tmp_path: Path,
) -> None:
    first, second = FileLock(tmp_path / "a.lock"), FileLock(tmp_path / "a.lock")
    assert first.acquire()
    assert not second.acquire()
    first.release()
    assert second.acquire()
    second.release()


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EIO, errno.ENOSPC])
def test_a_drive_without_locks_is_an_error_and_not_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def fail(file: int) -> None:
        raise OSError(code, "no locks here")

    monkeypatch.setattr(files, "_lock", fail)
    with pytest.raises(OSError, match="no locks here"):
        FileLock(tmp_path / "a.lock").acquire()
