import subprocess
import sys
from pathlib import Path

from tests.fakes.canons import a_service

ROOT = Path(__file__).parents[3]
PROCESSES, EACH = 3, 8


def test_processes_that_decide_at_once_lose_nothing(tmp_path: Path) -> None:
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.fakes.canons", tmp_path, letter, str(EACH)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for letter in "abc"[:PROCESSES]
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in started:
        process.communicate()
        assert process.returncode == 0

    service = a_service(tmp_path)
    every = {f"{letter}{n}" for letter in "abc"[:PROCESSES] for n in range(EACH)}
    assert set(service.load().names.ignored) == every
    assert len(service.history()) == len(every)
    for _ in every:
        assert service.undo() is not None
    assert not service.path.exists()
