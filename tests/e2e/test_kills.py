"""Watches and an ingestion, killed at random while a folder is edited."""

from pathlib import Path

import pytest

from bench.job_audit import AT_ONCE, DONE_TWICE
from bench.kills import KillPlan, run_kills
from tests.fakes.short_story import LAMP, LEDGER, NOTE, ROAD

BOOK = {
    "1.md": LAMP,
    "2.md": LEDGER,
    "3.txt": ROAD,
    "part/4.md": f"{LEDGER}\n\n* * *\n\n{ROAD}",
    "part/5.md": f"{ROAD}\n\n{LAMP}",
    "notes/characters/Nell Tallow.md": NOTE,
}
WORDS = {"LRWR_EMBEDDING_MODEL": "off"}


@pytest.mark.exhaustive
def test_after_kills_the_library_is_what_a_fresh_one_would_be(tmp_path: Path) -> None:
    for name, text in BOOK.items():
        path = tmp_path / "book" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "place").mkdir()
    asked = KillPlan(5, seed=4, more=WORDS, pause=2.0, roles=3, ingested=True)
    report = run_kills(tmp_path / "book", tmp_path / "place", asked)
    assert report.differ == {}
    assert report.harassed.complaints == ()
    assert (report.stuck, report.jobs[DONE_TWICE], report.jobs[AT_ONCE]) == (0, 0, 0)
    assert report.held
