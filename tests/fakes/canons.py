"""Canons, decisions and services over them, for tests."""

import itertools
import sys
import time
from functools import partial
from pathlib import Path

from hypothesis import strategies as st

from lrwr.core.canon.decision import (
    Decision,
    DocumentMoved,
    DocumentTypeSet,
    GapAnswered,
    GapDeclined,
    NameConfirmed,
    NameIgnored,
    NameRenamed,
    NamesMerged,
    NamesSplit,
    PointOfViewSet,
    SlipIntended,
    StoryOrderSet,
)
from lrwr.core.canon.model import ManuscriptLocation
from lrwr.core.canon.service import CanonService
from lrwr.core.model.documents import DocumentId, DocumentType
from lrwr.core.settings.files import FileLock
from lrwr.core.settings.library import CANON_FILE_NAME

NAMES = ["Nell", "Nell Tallow", "Wren", "Mags", "O'Hara", "Żółw", 'the "Reeve"', "a#b"]
DOCUMENTS = [
    DocumentId(path)
    for path in ("ch/1.md", "ch 2.docx", "Draft #3.txt", "notes/é.md", "[x] = 'y'.md")
]

names = st.sampled_from(NAMES)
documents = st.sampled_from(DOCUMENTS)
places = st.builds(
    ManuscriptLocation,
    documents,
    st.sampled_from(["", "ch2", "The Mill", 'Of "Water" = #1']),
    st.none() | st.integers(1, 9),
)
pairs = st.lists(names, min_size=2, max_size=2, unique=True)
name_decisions: st.SearchStrategy[Decision] = st.one_of(
    st.builds(
        NamesMerged,
        st.lists(names, min_size=2, max_size=4, unique=True).map(tuple),
        st.just("") | names,
    ),
    pairs.map(lambda pair: NamesSplit(*pair)),
    pairs.map(lambda pair: NameRenamed(*pair)),
    st.builds(NameIgnored, names),
    st.builds(NameConfirmed, names),
)
nobody_or_names = st.just("") | names
attributes = st.sampled_from(["eyes", "age", 'what "she" wants', "TODO: #1 = x"])
gap_decisions: st.SearchStrategy[Decision] = st.one_of(
    st.builds(GapAnswered, nobody_or_names, attributes, st.sampled_from(["grey", "é"])),
    st.builds(GapDeclined, nobody_or_names, attributes),
)
slips_meant: st.SearchStrategy[Decision] = st.builds(
    SlipIntended,
    names,
    attributes,
    st.sampled_from(["grey", "é"]),
    st.sampled_from(["green", 'a "reason"']),
    st.sampled_from(["", "she lies", "ch 2 = true"]),
)
decisions: st.SearchStrategy[Decision] = st.one_of(
    st.builds(DocumentTypeSet, documents, st.sampled_from(list(DocumentType))),
    st.builds(StoryOrderSet, st.lists(documents, unique=True).map(tuple)),
    st.builds(PointOfViewSet, places, names),
    st.builds(DocumentMoved, documents, documents),
    name_decisions,
    gap_decisions,
    slips_meant,
)


def a_service(root: Path) -> CanonService:
    """The decisions of the library in `root`."""
    state = root / ".lrwr"
    return CanonService(
        root / CANON_FILE_NAME,
        history=state / "canon-history.jsonl",
        lock=partial(FileLock, state / "canon.lock"),
        prepare=partial(state.mkdir, exist_ok=True),
        now=partial(next, itertools.count(1_700_000_000)),
    )


def ignore_names(root: Path, prefix: str, count: int) -> None:
    """Decide `count` times, as one process among several."""
    service = a_service(root)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    for number in range(count):
        service.decide(NameIgnored(f"{prefix}{number}"))
        time.sleep(0)


if __name__ == "__main__":
    ignore_names(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
