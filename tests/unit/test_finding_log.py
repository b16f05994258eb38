"""When contradictions were first reported, over several checks."""

from pathlib import Path

from lrwr.app.history import KEEP_SECONDS, load_finding_log, log_findings
from lrwr.core.continuity.statements import (
    Contradiction,
    ContradictionSide,
    StatementSource,
)
from lrwr.core.settings.library import Library

RUNGS = Contradiction(
    "dshp",
    "ladder",
    "number of rungs",
    ContradictionSide("nineteen", StatementSource.TEXT, ()),
    ContradictionSide("twenty-one", StatementSource.TEXT, ()),
)


def test_a_contradiction_that_comes_back_within_a_day_is_not_new(
    tmp_path: Path,
) -> None:
    library = Library(tmp_path, tmp_path / ".lrwr")
    library.state_dir.mkdir()
    assert log_findings(library, [RUNGS], 1_000.0) == {"dshp": 1_000.0}
    log_findings(library, [], 2_000.0)
    assert load_finding_log(library).open_ids == []
    log_findings(library, [], 3_000.0)
    assert log_findings(library, [RUNGS], 4_000.0) == {"dshp": 1_000.0}


def test_a_contradiction_that_comes_back_later_is_new(tmp_path: Path) -> None:
    library = Library(tmp_path, tmp_path / ".lrwr")
    library.state_dir.mkdir()
    log_findings(library, [RUNGS], 1_000.0)
    log_findings(library, [], 2_000.0)
    log_findings(library, [], 3_000.0)
    later = 2_000.0 + KEEP_SECONDS
    assert log_findings(library, [RUNGS], later) == {"dshp": later}
