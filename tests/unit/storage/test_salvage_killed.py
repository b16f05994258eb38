"""A repair that is killed at any operation on a file loses nothing."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lrwr.core.adapters.storage.sqlite.salvage import (
    merge_unfinished_salvage,
    salvage_library,
)
from tests.fakes.damaged import a_talkative_library, find_root, read_plainly, zero_page

KILLED = 9
MOST = 60
REPAIR = """
import os, sys
from pathlib import Path

path, left = Path(sys.argv[1]), int(sys.argv[2])
from lrwr.core.adapters.storage.sqlite.salvage import salvage_library

def kill(event, arguments):
    global left
    if event in {"open", "os.rename", "os.remove", "os.link", "sqlite3.connect"}:
        if str(path.parent) in str(arguments):
            if left == 0:
                os._exit(9)
            left -= 1

sys.addaudithook(kill)
salvage_library(path, ending="broken-1", expired_before=0.0)
"""


@pytest.mark.timeout(300)
@pytest.mark.exhaustive
@pytest.mark.parametrize("with_schema", [True, False])
def test_a_killed_repair_loses_nothing(tmp_path: Path, *, with_schema: bool) -> None:
    pristine, path = tmp_path / "pristine.db", tmp_path / "state" / "library.db"
    a_talkative_library(pristine, threads=2, turns=3)
    original = read_plainly(pristine)
    code, operations = KILLED, 0
    while code == KILLED and operations < MOST:
        shutil.rmtree(path.parent, ignore_errors=True)
        path.parent.mkdir()
        shutil.copyfile(pristine, path)
        zero_page(path, find_root(pristine, "quotation_by_speaker"))
        if not with_schema:
            zero_page(path, 1)
        command = [sys.executable, "-c", REPAIR, str(path), str(operations)]
        code = subprocess.run(command, check=False).returncode
        assert code in {0, KILLED}
        if code == KILLED:
            assert path.exists()
            salvage_library(path, ending="broken-2", expired_before=0.0)
        merge_unfinished_salvage(path, expired_before=0.0)
        assert read_plainly(path) == original, operations
        operations += 1
    assert code == 0
    assert operations > 8
