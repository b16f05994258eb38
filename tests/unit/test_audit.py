import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.loopback import Line, Loopback
from tools.audit import ACCEPTED, list_pinned_packages, main

REPO = Path(__file__).parents[2]


@dataclass
class VulnerabilityList(Loopback):
    """Knows one vulnerability of `bad`, version 1.0."""

    answer: bytes | None = None
    asked: list[Any] = field(default_factory=list)

    def serve(self, line: Line) -> None:
        body = json.loads(line.rfile.read(int(line.headers["Content-Length"])))
        self.asked.append(body)
        bad = {"name": "bad", "ecosystem": "PyPI"}
        results = [
            {"vulns": [{"id": "GHSA-1"}]} if query["package"] == bad else {}
            for query in body["queries"]
        ]
        content = self.answer or json.dumps({"results": results}).encode()
        line.send_response(200)
        line.send_header("Content-Length", str(len(content)))
        line.end_headers()
        line.wfile.write(content)


@pytest.fixture
def osv() -> Iterator[VulnerabilityList]:
    with VulnerabilityList() as server:
        yield server


def write(folder: Path, text: str) -> list[str]:
    (folder / "base.txt").write_text(text, encoding="utf-8")
    return ["--folder", str(folder)]


def test_a_known_vulnerability_fails_with_its_address(
    osv: VulnerabilityList, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pins = "bad==1.0 ; sys_platform == 'win32' \\\n    --hash=sha256:00\ngood==2.0\n"
    assert main([*write(tmp_path, pins), "--url", osv.origin]) == 1
    assert "bad 1.0: https://osv.dev/GHSA-1" in capsys.readouterr().out
    (sent,) = osv.asked
    assert [query["version"] for query in sent["queries"]] == ["1.0", "2.0"]


def test_an_accepted_one_does_not_fail(osv: VulnerabilityList, tmp_path: Path) -> None:
    (tmp_path / ACCEPTED).write_text("# why\nGHSA-1 lrwr does not use it\n")
    assert main([*write(tmp_path, "bad==1.0\n"), "--url", osv.origin]) == 0


@pytest.mark.parametrize("answer", [b"<html>", b"[]", b'{"results": []}', b"\xff"])
def test_another_answer_is_said_and_does_not_fail(
    osv: VulnerabilityList,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    answer: bytes,
) -> None:
    osv.answer = answer
    assert main([*write(tmp_path, "bad==1.0\n"), "--url", osv.origin]) == 0
    assert "were not checked" in capsys.readouterr().out


def test_a_list_out_of_reach_is_said_and_does_not_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with VulnerabilityList() as closed:
        origin = closed.origin
    assert main([*write(tmp_path, "bad==1.0\n"), "--url", origin]) == 0
    assert "were not checked" in capsys.readouterr().out


def test_every_pinned_package_has_hashes_and_no_host_is_named() -> None:
    files = sorted((REPO / "requirements").glob("*.txt"))
    assert files
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert "://" not in text, file.name
        assert "-url" not in text, file.name
        for entry in text.replace("\\\n", "").splitlines():
            assert entry.startswith("#") or "--hash=sha256:" in entry, entry
    assert {"hatchling", "editables", "ragas"} <= {
        package.name for package in list_pinned_packages(REPO / "requirements")
    }
