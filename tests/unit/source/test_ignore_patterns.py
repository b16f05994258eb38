"""Patterns of files to skip mean what they mean to git, and never take long."""

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from lrwr.core.adapters.source.ignore_patterns import IgnorePatterns, InvalidPattern

PATHS = (
    "a", "b", "ab", "aab", "abb", "-", "a-b", "]", "[", "!a", "#a", "a b", "a ", "*",
    "a/a", "a/b", "a/ab", "b/a", "a/a/b", "a/b/ab", "a/b/a/b", "aab/ab", "b/a-b/a",
    "[a]/b", "a\\b",
)  # fmt: skip
"""Files below folders; `a` is a folder in some and a file in others."""


@pytest.mark.parametrize(
    ("lines", "path", "verdict"),
    [
        (["*.old.md"], "part/1.old.md", True),
        (["drafts/"], "drafts/1.md", True),
        (["drafts/"], "drafts", None),
        (["drafts/"], "part/drafts/", True),
        (["/drafts"], "part/drafts", None),
        (["part/drafts"], "part/drafts/1.md", True),
        (["part/drafts"], "a/part/drafts", None),
        (["drafts/", "!drafts/1.md"], "drafts/1.md", True),
        (["drafts/*", "!drafts/1.md"], "drafts/1.md", False),
        (["a/**"], "a/", None),
        (["a/**"], "a/b/c", True),
        (["a/**/c"], "a/c", True),
        (["a/**/c"], "a/b/b/c", True),
        (["**/c"], "c", True),
        (["a**c"], "abbc", True),
        (["[0-9]?.md"], "1x.md", True),
        (["[!0-9].md"], "1.md", None),
        (["[[:digit:]].md"], "1.md", True),
        (["[a"], "[a", None),
        (["\\#1.md", "\\!2.md"], "#1.md", True),
        (["# comment", "", "a\\ "], "a ", True),
        (["été?.md"], "étéé.md", True),
    ],
)
def test_a_pattern_matches_as_in_git(
    lines: list[str], path: str, verdict: bool | None
) -> None:
    assert IgnorePatterns(lines).find_verdict(path) is verdict


@pytest.mark.parametrize("line", ["!", "! ", "a\\", "!a\\", "\\", "[z-a]"])
def test_a_line_that_is_no_pattern_is_named(line: str) -> None:
    with pytest.raises(InvalidPattern) as caught:
        IgnorePatterns(["a", line])
    assert str(caught.value) == line


def ignored_by_git(repository: Path, lines: Sequence[str]) -> set[str]:
    """Return those of `PATHS` that git ignores, without looking at any file."""
    (repository / ".gitignore").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=repository,
        input="\0".join(PATHS),
        capture_output=True,
        text=True,
        check=False,
        env={"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"},
    )
    assert done.returncode in (0, 1), done.stderr
    return set(done.stdout.split("\0")) - {""}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("git"):
        pytest.skip("needs git")
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


PATTERN = st.text("ab/*?[]!^-\\# :", min_size=1, max_size=9) | st.lists(
    st.sampled_from(
        [
            "a",
            "b",
            "/",
            "**",
            "*",
            "?",
            "[ab]",
            "[!a]",
            "[a-b]",
            "\\",
            "!",
            "**/",
            "/**",
        ]
    ),
    min_size=1,
    max_size=6,
).map("".join)


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(lines=st.lists(PATTERN, min_size=1, max_size=3))
def test_git_ignores_the_same_paths(repository: Path, lines: list[str]) -> None:
    # In `a**/b` git 2.39 takes `**` for a part of the path, unlike its documentation,
    # and in `**\/b` it does not.
    assume(not any(re.search(r"[^/*!]\*\*|\\/", line) for line in lines))
    try:
        patterns = IgnorePatterns(lines)
    except InvalidPattern:
        return
    skipped = {path for path in PATHS if patterns.find_verdict(path)}
    assert skipped == ignored_by_git(repository, lines)


HARD = """
import random, resource, sys
from lrwr.core.adapters.source.ignore_patterns import IgnorePatterns, InvalidPattern

resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
random.seed(int(sys.argv[1]))
pieces = ["*", "*a", "a*", "**", "**/", "/**/", "a", "[a]*", "[!b]*", "?", "*?", "/", "b"]
path = "/".join(["a" * 200] * 20) + ".md"
for _ in range(500):
    length = random.choice((5, 40, 400))
    chosen = random.sample(pieces, random.randint(1, 3))
    line = "".join(random.choice(chosen) for _ in range(length)) + random.choice("ab/")
    try:
        patterns = IgnorePatterns([line])
    except InvalidPattern:
        continue
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    patterns.find_verdict(path)
    took = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    assert took < 1, (took, line)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of CPU time")
@pytest.mark.parametrize("seed", ["1", "2"])
def test_no_pattern_takes_a_second(seed: str) -> None:
    """1,000 patterns that a backtracking matcher may never finish."""
    command = [sys.executable, "-c", HARD, seed]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-400:]
