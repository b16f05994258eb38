"""A process that saves drafts until it is killed: `python -m tests.fakes.post_process`.

It prints the number of each draft that is saved.
"""

import sys
from itertools import count
from pathlib import Path

from lrwr.app.post_files import PostEvidence, PostFiles
from lrwr.core.evidence.kinds import PostKind
from lrwr.core.evidence.pack import EvidencePack
from lrwr.core.settings.library import Library

EVIDENCE = PostEvidence("The lantern", PostKind.ESSAY, EvidencePack())


def text_of(number: int) -> str:
    """Return the text of a draft, large enough that writing it takes a while."""
    return f"Draft {number}.\n\n" + "The fog came in over the marsh. " * 4_000


def open_files(root: Path) -> PostFiles:
    """Return the drafts of the library in a folder."""
    return PostFiles(Library(root, root / ".lrwr"))


if __name__ == "__main__":
    files = open_files(Path(sys.argv[1]))
    for number in count(int(sys.argv[2])):
        files.save("letter", text_of(number), EVIDENCE, force=True)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
