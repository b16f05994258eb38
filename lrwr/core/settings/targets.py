"""What is to be read: files and folders that must be there."""

from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

from lrwr.core.model.errors import NotFound


def resolve_targets(paths: Sequence[Path]) -> list[Path]:
    """Return what is to be read, absolute.

    Raises:
        NotFound: Nothing was named, or it is not there.
    """
    targets = [path.absolute() for path in paths]
    if not targets:
        raise NotFound(
            "It is not known yet where your manuscript is",
            hint="Name its folder: lrwr ingest ./manuscript",
        )
    for target in targets:
        if not target.exists():
            raise NotFound(f"There is no file or folder {target}", hint=_near(target))
    return targets


def _near(target: Path) -> str:
    """Return what to try instead of a path that is not there."""
    near: list[str] = []
    with suppress(OSError):
        beside = [path.name for path in target.parent.iterdir()]
        near = get_close_matches(target.name, beside, n=1)
    offer = f"Did you mean {near[0]}? " if near else ""
    return f"{offer}Check the path; nothing was forgotten."
