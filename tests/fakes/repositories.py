"""Git repositories for tests: real ones, with nobody's settings but their own."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

ALONE = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Nell",
    "GIT_AUTHOR_EMAIL": "nell@example.org",
    "GIT_COMMITTER_NAME": "Nell",
    "GIT_COMMITTER_EMAIL": "nell@example.org",
}


class Kept:
    """A folder that git keeps."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words: str, stdin: bytes = b"", **env: str) -> str:
        """Run git here; it must do well."""
        done = subprocess.run(
            ["git", *words],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], **ALONE, **env},
            input=stdin,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.decode().strip()

    def write(self, files: Mapping[str, str]) -> None:
        """Write files, by their paths."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def commit(self, at: str = "2026-03-01T12:00:00Z") -> str:
        """Commit all that is there, and return its id."""
        self.git("add", "--all")
        self.git(
            "commit",
            "--quiet",
            "--allow-empty",
            "--message=a day's work",
            GIT_COMMITTER_DATE=at,
            GIT_AUTHOR_DATE=at,
        )
        return self.git("rev-parse", "HEAD")


def files_below(folder: Path) -> dict[str, str]:
    """Return the texts below a folder, by their paths from there."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }
