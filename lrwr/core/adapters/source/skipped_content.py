"""Files that are skipped for what they contain: conflict copies of sync programs, and
files marked `lrwr: ignore`.
"""

import io
import os
import re
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath

from lrwr.core.ports.sources import SkipCause, SkippedFile

NAME_CACHE_SIZE = 16_384
"""Cached file names. Watch lists the same files after each save."""

CERTAIN_SIMILARITY = 0.0
"""Similarity from which a file is a copy if only a program writes such a name: the
conflict has a date. So a half-synced copy is not a chapter."""
STRONG_SIMILARITY = 0.3
"""Similarity from which a file is a copy if its name says that there was a conflict.

Different chapters of the same novel have at most .04 (19 novels)."""
WEAK_SIMILARITY = 0.5
"""Similarity from which a file is a copy if its name only looks like a copy's, such as
"fog 2.md", which may be a chapter's name.

Not higher, so that an old copy does not become a chapter when its original is
revised."""
DEVICE_SIMILARITY = 0.9
"""Similarity from which a file is a copy if its name ends in capitals that may be the
name of a computer, such as "fog-ANN.md", or an abbreviation."""
COPIED_SHARE = 0.5
"""Share of a folder's files that must be copies for the folder to be one."""
COMPARED_BYTES = 256 * 1024
"""Bytes at the start of a text that are compared."""
COMPARED_LIMIT = 32 * 1024 * 1024
"""Bytes that one listing compares; further candidates are read as other files are."""
_DOCX_BYTES = 16 * 1024 * 1024
_XML_BYTES = 4 * 1024 * 1024
_SHINGLE_WORDS = 3

_DEVICE = (
    r"(?:(?:DESKTOP|LAPTOP|WIN|MININT)-[A-Z0-9-]{2,12}"
    r"|[\w-]{0,20}(?:Mac|iPad|iPhone|PC|Laptop|Desktop|Surface)(?:Book)?(?:-[\w-]{0,20})?)"
)
_CERTAIN_NAMES = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"(?P<base>.+?)[._-]sync-conflict-\d{8}-\d{6}(?:[._-].*)?",  # Syncthing
        # Dropbox, Nextcloud, Obsidian Sync
        r"(?P<base>.+?) ?\([^()]*conflicted copy [^()]*\d{4}-?\d\d-?\d\d"
        r"[^()]*(?:\(\d+\))?\)",
    )
)
_STRONG_NAMES = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        # Dropbox, Nextcloud, Obsidian Sync, Seafile, Google Drive; "onfli" in any
        # western language: "conflicted copy", "en conflit", "Konfliktkopie".
        r"(?P<base>.+?) ?[(\[](?=[^()\[\]]*(?:onfli|case clash))[^()\[\]]*(?:\(\d+\))?[)\]]",
        # Synology Drive: name_HOST_Nov-23-101500-2026_Conflict
        r"(?P<base>.+?)_[^_]+_[a-z]{3}-\d\d-\d{4,6}-\d{4}_conflict",
        # Syncthing, ownCloud, Resilio Sync, rclone
        r"(?P<base>.+?)[._-](?:sync-)?conflict(?:ed)?\d*(?:[._-].*)?",
    )
)
_WEAK_NAMES = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?P<base>.+?) ?\(\d{1,3}\)",  # Google Drive, Windows
        r"(?P<base>.+?) \d{1,3}",  # iCloud, Finder
        r"(?P<base>.+?) copy(?: \d{1,3})?",  # Finder
        r"(?P<base>.+?) - Copy(?: \(\d{1,3}\))?",  # Windows
        r"Copy (?:\(\d{1,3}\) )?of (?P<base>.+)",  # Google Drive, Windows XP
        rf"(?P<base>.+?)-{_DEVICE}",  # OneDrive appends the name of the computer
    )
)
_DEVICE_NAMES = tuple(
    # OneDrive; NetBIOS names have at most 15 characters. The first pattern leaves as
    # much as possible to the original, the second as little.
    re.compile(rf"(?P<base>.+{more})-(?=[A-Z0-9-]*[A-Z])[A-Z0-9][A-Z0-9-]{{1,14}}")
    for more in ("", "?")
)
_HINT = re.compile(r"onfli|lash|[)\]]$| \d{1,3}$|copy|-\w", re.I)
"""What every name of a copy has; most names have not, and need no other look."""


@dataclass(frozen=True, slots=True)
class OriginalName:
    """The file name that the name of a conflict copy is derived from.

    `similarity` is the least similarity of the texts that makes the file a copy.
    """

    name: str
    similarity: float


@lru_cache(maxsize=NAME_CACHE_SIZE)
def list_original_names(name: str) -> tuple[OriginalName, ...]:
    """Return the names of which the file name `name` may be a conflict copy's.

    None for most names. The schemes are those of Syncthing, Dropbox, OneDrive, iCloud,
    Google Drive, Nextcloud, Seafile, Obsidian Sync and others, and of copies made in
    Finder and Windows.
    """
    stem, dot, ending = name.rpartition(".")
    if not _HINT.search(stem):
        return ()
    return tuple(_match_originals(stem, dot + ending))


def _match_originals(stem: str, ending: str) -> Iterator[OriginalName]:
    for patterns, similarity in (
        (_CERTAIN_NAMES, CERTAIN_SIMILARITY),
        (_STRONG_NAMES, STRONG_SIMILARITY),
        (_WEAK_NAMES, WEAK_SIMILARITY),
        (_DEVICE_NAMES, DEVICE_SIMILARITY),
    ):
        for pattern in patterns:
            match = pattern.fullmatch(stem)
            if match and match["base"].strip():
                yield OriginalName(match["base"] + ending, similarity)


def find_conflict_copies(root: Path, revisions: Mapping[str, str]) -> dict[str, str]:
    """Return the paths that are conflict copies, each with the path of its original.

    A file is one if its name is derived from that of a file in the same folder, and
    their texts are similar (see `measure_similarity`) or the name has the date of the
    conflict, which only a program writes. `revisions` maps the paths of
    all files, relative to `root`, to texts that change when the file changes. Other
    files are not opened; at most `COMPARED_LIMIT` bytes are compared.
    """
    copies: dict[str, str] = {}
    remaining = COMPARED_LIMIT
    for path in sorted(revisions):
        for original, least in _list_originals(path, revisions):
            if least == CERTAIN_SIMILARITY:
                copies[path] = original
                break
            versions = revisions[path], revisions[original]
            similarity, size = _compare(root, path, original, versions)
            if similarity >= least:
                copies[path] = original
            remaining -= size
        if remaining <= 0:
            break
    return copies


def find_orphaned_copies(
    root: Path, revisions: Mapping[str, str], copies: Collection[str]
) -> dict[str, str]:
    """Return the conflict copies whose original does not exist, except the one of each
    original that is read in its place; each with the path of that one.

    A copy is one if the name of it or of the other says that there was a conflict, both
    names derive from the same file, and the texts are similar. The one with the most
    ordinary name is read, of several the newest. `copies` are known copies, which are
    left out. For `revisions`, see `find_conflict_copies`.
    """
    groups: dict[str, dict[str, float]] = {}
    for path in sorted(revisions.keys() - copies):
        folder, slash, name = path.rpartition("/")
        for original in list_original_names(name):
            group = groups.setdefault(f"{folder}{slash}{original.name}", {})
            group.setdefault(path, original.similarity)
    orphans: dict[str, str] = {}
    seeds = [
        (group, path)
        for original, group in sorted(groups.items())
        for path, least in group.items()
        if original not in revisions and least in _CONFLICTS
    ]
    remaining = COMPARED_LIMIT
    for group, seed in seeds:
        others = sorted(group.keys() - {seed, *orphans})
        alike = [seed]
        for path in others if seed not in orphans and remaining > 0 else ():
            versions = revisions[seed], revisions[path]
            similarity, size = _compare(root, seed, path, versions)
            remaining -= size
            if similarity >= max(group[path], STRONG_SIMILARITY):
                alike.append(path)
        read = max(alike, key=partial(_rank_copy, root, group))
        orphans |= {path: read for path in alike if path != read}
    return orphans


_CONFLICTS = (CERTAIN_SIMILARITY, STRONG_SIMILARITY)


def _rank_copy(
    root: Path, group: Mapping[str, float], path: str
) -> tuple[float, float, str]:
    """Return a key that is greatest for the most ordinary name, then for the newest."""
    try:
        time = (root / path).stat().st_mtime
    except OSError:
        time = 0.0
    return group[path], time, path


def find_folder_copies(
    root: Path, revisions: Mapping[str, str], named: Collection[Path] = ()
) -> dict[str, str]:
    """Return the folders that are conflict copies, each with its original's path.

    A folder is one if its name is derived from that of a folder beside it, and at least
    `COPIED_SHARE` of its files are similar to the files with the same names there.
    Folders inside a copy are left out, and so are `named` folders (absolute), which
    the user asked to read. For `revisions`, see `find_conflict_copies`.
    """
    folders = {
        parent.as_posix()
        for folder in {path.rpartition("/")[0] for path in revisions}
        for parent in (PurePosixPath(folder), *PurePosixPath(folder).parents)
        if parent.name
    }
    copies: dict[str, str] = {}
    for folder in sorted(folders):
        inside = any(folder.startswith(f"{copy}/") for copy in copies)
        if inside or root / folder in named:
            continue
        # The patterns are those of files: a folder has an empty ending.
        for original, least in _list_originals(folder, folders, dot="."):
            files = [path for path in revisions if path.startswith(f"{folder}/")]
            pairs = {path: f"{original}{path.removeprefix(folder)}" for path in files}
            if _count_similar(root, pairs, revisions, least) >= COPIED_SHARE * len(
                files
            ):
                copies[folder] = original
                break
    return copies


def _count_similar(
    root: Path, pairs: Mapping[str, str], revisions: Mapping[str, str], least: float
) -> int:
    """Return how many pairs of a file and an original are similar, in the first files
    that `COMPARED_LIMIT` allows to compare.
    """
    similar, remaining = 0, COMPARED_LIMIT
    for path, original in sorted(pairs.items()):
        if original in revisions and remaining > 0:
            versions = revisions[path], revisions[original]
            similarity, size = _compare(root, path, original, versions)
            similar += similarity >= least
            remaining -= size
    return similar


def _list_originals(
    path: str, existing: Collection[str], dot: str = ""
) -> Iterator[tuple[str, float]]:
    """Yield the paths of which `path` may be a copy, with the least similarity.

    `dot` is added to the name before it is parsed, and taken from the originals' names.
    """
    folder, slash, name = path.rpartition("/")
    for original in list_original_names(f"{name}{dot}"):
        original_path = f"{folder}{slash}{original.name.removesuffix(dot)}"
        if original_path in existing and original_path != path:
            yield original_path, original.similarity


@lru_cache(maxsize=512)
def _compare(
    root: Path, path: str, original: str, versions: tuple[str, str]
) -> tuple[float, int]:
    """Return the similarity of two files, and how many bytes were compared.

    `versions` are part of the key of the cache, which `lrwr watch` uses.
    """
    del versions
    try:
        contents = _read_start(root / path), _read_start(root / original)
    except OSError:
        return 0.0, 0
    size = sum(min(len(content), COMPARED_BYTES) for content in contents)
    if contents[0] == contents[1]:
        return 1.0, size
    try:
        texts = [_extract_text(content, path) for content in contents]
    except (ValueError, zipfile.BadZipFile, zlib.error, KeyError, EOFError, OSError):
        return 0.0, size
    return measure_similarity(*texts), size


def _read_start(path: Path) -> bytes:
    is_docx = path.suffix.lower() == ".docx"
    with path.open("rb") as file:
        return file.read(_DOCX_BYTES if is_docx else COMPARED_BYTES)


def _extract_text(content: bytes, path: str) -> str:
    """Return the text at the start of a file, approximately: for comparison only."""
    if PurePosixPath(path).suffix.lower() != ".docx":
        is_utf16 = content[:2] in (b"\xff\xfe", b"\xfe\xff")
        return content.decode("utf-16" if is_utf16 else "utf-8-sig", errors="replace")
    with (
        zipfile.ZipFile(io.BytesIO(content)) as archive,
        archive.open("word/document.xml") as part,
    ):
        xml = part.read(_XML_BYTES).decode(errors="replace")
    return re.sub(r"<[^>]*>", "", xml.replace("</w:p>", "\n"))[:COMPARED_BYTES]


def describe_copy(path: str, original: str, *, is_orphan: bool = False) -> SkippedFile:
    """Return the conflict copy `path` as a skipped file.

    With `is_orphan`, `original` is itself a copy, read because the true original is
    missing.
    """
    reason = f"looks like a copy of {original}"
    if is_orphan:
        reason += (
            ", which is read because the file that both are copies of is missing; keep"
            " one of them under the old name"
        )
    else:
        reason += ", made by a sync program or by hand; merge what differs and delete the copy"
    return SkippedFile(path, reason, SkipCause.CONFLICT_COPY)


def measure_similarity(one: str, other: str) -> float:
    """Return the share of word triples of the longer text that the other has, too.

    0.0 to 1.0. The longer text is the one with more different triples of consecutive
    words. Texts of fewer than three words are compared as a whole.
    """
    shingles, others = _split_into_shingles(one), _split_into_shingles(other)
    longest = max(len(shingles), len(others))
    return len(shingles & others) / longest if longest else 1.0


def _split_into_shingles(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text)
    if len(words) < _SHINGLE_WORDS:
        return {tuple(words)} if words else set()
    return set(zip(words, words[1:], words[2:], strict=False))


_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_MARK_BYTES = 65_536
_HEAD_BYTES = 4_096
_MARK = re.compile(rb"^lrwr[ \t]*:[ \t]*([\"']?)ignore\1[ \t]*(?:#.*)?$", re.M | re.I)
_FRONT_MATTER = re.compile(
    rb"(?:\xef\xbb\xbf)?---[ \t]*\n(.*?\n)??(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S
)


def is_marked_ignored(path: "Path | str") -> bool:
    """Return whether the front matter of a Markdown file has `lrwr: ignore`.

    Reads the first 4 KB of a file, and of one with a long front matter at most 64 KB.
    False if the file cannot be read.
    """
    try:
        descriptor = os.open(path, _OPEN_FLAGS)  # a tenth of the time of Path.open
    except OSError:
        return False
    try:
        head = os.read(descriptor, _HEAD_BYTES)
        if not head.startswith((b"---", b"\xef\xbb\xbf---")):
            return False
        if len(head) == _HEAD_BYTES:
            head += os.read(descriptor, _MARK_BYTES - _HEAD_BYTES)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    head = head.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    front_matter = _FRONT_MATTER.match(head)
    return bool(front_matter and _MARK.search(front_matter[1] or b""))


def is_encodable(name: str) -> bool:
    """Return whether a file name is valid Unicode; a file system may allow any
    bytes.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
