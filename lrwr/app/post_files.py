"""Drafts of texts about the story as files: the folder `posts/`, and earlier versions
in the state folder.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lrwr.core.evidence.kinds import PostKind
from lrwr.core.evidence.pack import EvidencePack
from lrwr.core.evidence.revision import SentenceRevision
from lrwr.core.model.codec import InvalidData, decode_json, encode_json, encode_value
from lrwr.core.model.errors import NotFound, SettingsProblem, StoreProblem
from lrwr.core.model.untrusted_text import parse_json, read_limited_file
from lrwr.core.ports.sources import WebPage, WebSearch
from lrwr.core.settings.files import OWN_FOLDER_MARKER, FileLock
from lrwr.core.settings.library import Library, prepare_state_dir, write_private_file

FOLDER_NAMES = ("posts", "lrwr-posts")
"""Names of the folder of drafts; the second if the author has a `posts/` of her own."""

EVIDENCE_ENDING = ".evidence.json"
MAX_FILE_BYTES = 4 * 1024 * 1024
MAX_NAME_CHARS = 60
CACHE_SECONDS = 24 * 60 * 60
LOCK_SECONDS = 10.0
"""How long to wait for another process that writes a draft."""

_NAME = re.compile(r"\w[\w-]*")
_VERSION = re.compile(r"(\d{4,})(\.undone)?\.json")


@dataclass(frozen=True, slots=True)
class PostEvidence:
    """What a draft rests on, as stored beside it.

    `as_of` is the horizon as typed, empty for the whole story. `created` is in seconds
    since 1970. `model` is the language model that wrote it, empty for an outline.
    `remarks` are sentences about what limits it.
    """

    brief: str
    kind: PostKind
    pack: EvidencePack
    as_of: str = ""
    notes: tuple[str, ...] = ()
    platform: str = ""
    created: float = 0.0
    model: str = ""
    revisions: tuple[SentenceRevision, ...] = ()
    remarks: tuple[str, ...] = ()
    format: int = 1


@dataclass(frozen=True, slots=True)
class StoredPost:
    """A draft: its name, its Markdown and its evidence.

    `changed` is when its file was written last, in seconds since 1970; `versions`
    counts its stored versions.
    """

    name: str
    text: str
    evidence: PostEvidence
    file: Path
    changed: float = 0.0
    versions: int = 0


def choose_post_name(brief: str) -> str:
    """Return a name for a draft from the first words of its brief."""
    words = re.findall(r"[^\W_]+", brief.casefold())[:6]
    return "-".join(words)[:MAX_NAME_CHARS].strip("-") or "post"


def check_post_name(name: str) -> str:
    """Return `name` without a `.md` at its end.

    Raises:
        SettingsProblem: It is not one word of letters, digits and hyphens.
    """
    plain = name.strip().removesuffix(".md")
    if not _NAME.fullmatch(plain) or len(plain) > MAX_NAME_CHARS:
        raise SettingsProblem(
            f"{name!r} cannot be the name of a draft",
            hint="Use letters, digits and hyphens, such as `spring-letter`.",
        )
    return plain


class PostFiles:
    """Reads and writes the drafts of one library; their only writer.

    Each saved state is first stored as a version in the state folder, then written to
    the folder of drafts; both atomically, so that an interruption loses neither.
    """

    def __init__(self, library: Library) -> None:
        self._library = library

    @property
    def folder(self) -> Path:
        """The folder of drafts, which may not exist.

        Raises:
            SettingsProblem: All its names belong to folders that lrwr did not create.
        """
        for name in FOLDER_NAMES:
            folder = self._library.root / name
            if folder.is_symlink():
                continue
            if not folder.exists() or (folder / OWN_FOLDER_MARKER).is_file():
                return folder
        raise SettingsProblem(
            f"{' and '.join(FOLDER_NAMES)} in {self._library.root} were not created by"
            " lrwr",
            hint=f"Rename the folder {FOLDER_NAMES[1]}.",
        )

    def list_names(self) -> list[str]:
        """Return the names of all drafts, sorted."""
        files = self.folder.glob(f"*{EVIDENCE_ENDING}") if self.folder.exists() else ()
        names = (file.name.removesuffix(EVIDENCE_ENDING) for file in files)
        return sorted(name for name in names if (self.folder / f"{name}.md").is_file())

    def exists(self, name: str) -> bool:
        """Return whether there is a file for a draft of this name."""
        return any(file.exists() for file in self._files(name))

    def load(self, name: str) -> StoredPost:
        """Return the draft `name` as it is in its folder now.

        Raises:
            NotFound: There is no such draft; the hint names others.
            StoreProblem: Its files cannot be read.
        """
        draft, evidence = self._files(check_post_name(name))
        if not draft.is_file() or not evidence.is_file():
            names = ", ".join(self.list_names()[:5])
            raise NotFound(
                f"There is no draft {name}",
                hint=f"Choose from: {names}." if names else "Run `lrwr post new`.",
            )
        with _translate_file_errors(draft):
            text, stored = _read(draft), _read(evidence)
            changed = draft.stat().st_mtime
        versions = len(self._list_versions(draft.stem, undone=False))
        return StoredPost(
            draft.stem, text, parse_evidence(stored, evidence), draft, changed, versions
        )

    def save(
        self, name: str, text: str, evidence: PostEvidence, *, force: bool = False
    ) -> StoredPost:
        """Store a new version of the draft `name` and write its files.

        Raises:
            SettingsProblem: It exists already, and `force` is False.
            StoreProblem: A file cannot be written.
        """
        draft, _ = self._files(check_post_name(name))
        if self.exists(name) and not force:
            raise SettingsProblem(
                f"{draft} already exists",
                hint="Choose another `--name`, or use `--force`: earlier versions are"
                " preserved.",
            )
        with self._lock(), _translate_file_errors(draft):
            self._store_hand_edits(name)
            content = json.dumps(encode_value(evidence), ensure_ascii=False, indent=1)
            self._store_version(name, text, content)
            self._write(name, text, content)
        return self.load(name)

    def pack(self) -> str:
        """Return all drafts, their evidence and stored versions as JSON, for a backup;
        empty without drafts.

        Raises:
            StoreProblem: A file cannot be read.
        """
        packed: dict[str, str] = {}
        for name in self.list_names():
            for file in (*self._files(name), *self._list_versions(name, undone=True)):
                is_version = file.parent != self.folder
                key = f"{name}/{file.name}" if is_version else file.name
                with _translate_file_errors(file):
                    packed[key] = _read(file)
        return json.dumps(packed, ensure_ascii=False) if packed else ""

    def list_packed(self, content: str) -> dict[Path, str]:
        """Return the files that `pack` turned into `content`: where each belongs, and
        its text.

        Raises:
            ValueError: `content` has anything else.
        """
        files: dict[Path, str] = {}
        for key, text in parse_json(content).items():
            name, slash, version = str(key).partition("/")
            ending = ".md" if name.endswith(".md") else EVIDENCE_ENDING
            if slash and _NAME.fullmatch(name) and _VERSION.fullmatch(version):
                target = self._versions_folder(name) / version
            elif not slash and _NAME.fullmatch(name.removesuffix(ending)):
                target = self.folder / name
            else:
                raise ValueError(f"{key!r} is no file of a draft")
            files[target] = str(text)
        return files

    def prepare_folder(self) -> None:
        """Create the folder of drafts with its marker, if it does not exist."""
        folder = self.folder
        if not folder.exists():
            folder.mkdir(0o755, parents=True)
            (folder / OWN_FOLDER_MARKER).touch()

    def undo(self, name: str) -> StoredPost:
        """Write the version before the present one, which is preserved as undone.

        Raises:
            NotFound: There is no such draft, or no earlier version.
            StoreProblem: A file cannot be written.
        """
        post = self.load(name)
        with self._lock(), _translate_file_errors(post.file):
            self._store_hand_edits(post.name)
            versions = self._list_versions(post.name, undone=False)
            if len(versions) < 2:
                raise NotFound(
                    f"There is no earlier version of {post.name}",
                    hint="A version is stored by each `lrwr post new --force`.",
                )
            *_, before, last = versions
            row = parse_json(_read(before))
            last.replace(last.with_name(f"{last.stem}.undone.json"))
            self._write(post.name, str(row["text"]), str(row["evidence"]))
        return self.load(post.name)

    def _files(self, name: str) -> tuple[Path, Path]:
        folder = self.folder
        return folder / f"{name}.md", folder / f"{name}{EVIDENCE_ENDING}"

    def _versions_folder(self, name: str) -> Path:
        return self._library.state_dir / "posts" / name

    def _list_versions(self, name: str, *, undone: bool) -> list[Path]:
        """Return the files of the versions of a draft, oldest first; with `undone`,
        those that were undone too.
        """
        folder = self._versions_folder(name)
        files = folder.iterdir() if folder.is_dir() else ()
        matches = [(m, file) for file in files if (m := _VERSION.fullmatch(file.name))]
        chosen = [(int(m[1]), file) for m, file in matches if undone or not m[2]]
        return [file for _, file in sorted(chosen)]

    def _store_hand_edits(self, name: str) -> None:
        """Store the present files as a version if they differ from the newest one."""
        draft, evidence = self._files(name)
        if not draft.is_file():
            return
        text = _read(draft)
        stored = _read(evidence) if evidence.is_file() else ""
        versions = self._list_versions(name, undone=False)
        newest = parse_json(_read(versions[-1])) if versions else {}
        if newest.get("text") != text:
            self._store_version(name, text, stored)

    def _store_version(self, name: str, text: str, evidence: str) -> None:
        folder = self._versions_folder(name)
        folder.mkdir(0o700, parents=True, exist_ok=True)
        files = self._list_versions(name, undone=True)
        last = int(files[-1].name.partition(".")[0]) if files else 0
        row = {"text": text, "evidence": evidence}
        write_private_file(
            folder / f"{last + 1:04}.json", json.dumps(row, ensure_ascii=False)
        )

    def _write(self, name: str, text: str, evidence: str) -> None:
        draft, evidence_file = self._files(name)
        self.prepare_folder()
        write_private_file(evidence_file, evidence)
        write_private_file(draft, text)

    @contextmanager
    def _lock(self) -> Iterator[None]:
        prepare_state_dir(self._library)
        lock = FileLock(self._library.state_dir / "posts" / ".lock")
        waited = 0.0
        while not lock.acquire():
            if waited >= LOCK_SECONDS:
                raise StoreProblem(
                    "Another lrwr process is writing a draft",
                    hint="Wait until it has finished, then try again.",
                )
            time.sleep(0.1)
            waited += 0.1
        try:
            yield
        finally:
            lock.release()


def parse_evidence(content: str, file: Path) -> PostEvidence:
    """Return the evidence in a file beside a draft.

    Raises:
        StoreProblem: It is no such file.
    """
    try:
        evidence = decode_json(content, PostEvidence)
    except InvalidData as error:
        raise StoreProblem(
            f"{file} is damaged or is no evidence of a draft",
            hint="Run `lrwr post undo` for its last version, or draft it again.",
        ) from error
    if evidence.format != 1:
        raise StoreProblem(
            f"{file} was written by a newer version of lrwr", hint="Upgrade lrwr."
        )
    return evidence


def read_evidence_file(file: Path) -> PostEvidence:
    """Return the evidence in `file`, a draft or the evidence beside it.

    Raises:
        NotFound: There is no such file.
        StoreProblem: It cannot be read.
    """
    if file.suffix == ".md":
        file = file.with_name(f"{file.stem}{EVIDENCE_ENDING}")
    if not file.is_file():
        raise NotFound(
            f"There is no file {file}",
            hint="Name a draft in `posts/`; its evidence is stored beside it.",
        )
    with _translate_file_errors(file):
        return parse_evidence(_read(file), file)


def _read(file: Path) -> str:
    return read_limited_file(file, MAX_FILE_BYTES).decode("utf-8")


@contextmanager
def _translate_file_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreProblem(
            f"{file} cannot be read or written: {error.strerror}",
            hint="Check the free disk space and the permissions of the folder.",
        ) from error
    except ValueError as error:
        raise StoreProblem(
            f"{file} or a stored version of it is damaged: {error}",
            hint="Move the file away and draft it again.",
        ) from error


@dataclass(frozen=True, slots=True)
class _StoredSearch:
    """The pages of a query, and when they were found, in seconds since 1970."""

    when: float
    pages: tuple[WebPage, ...]


class CachedWebSearch:
    """Wraps a web search and stores its pages for a day, so that drafting again sends
    nothing. `now` returns seconds since 1970.
    """

    def __init__(
        self, web: WebSearch, library: Library, now: Callable[[], float]
    ) -> None:
        self._web, self._library, self._now = web, library, now
        self._file = library.state_dir / "posts" / ".pages.json"

    async def search(self, query: str, limit: int) -> list[WebPage]:
        """Return stored pages of the same query, or search for it.

        Raises:
            ServiceUnavailable: The service did not answer usably.
        """
        stored = self._load()
        key = f"{limit} {query}"
        entry = stored.get(key)
        if entry is not None and 0 <= self._now() - entry.when < CACHE_SECONDS:
            return list(entry.pages)
        pages = await self._web.search(query, limit)
        self._store(key, pages)
        return pages

    def _load(self) -> dict[str, _StoredSearch]:
        try:
            return decode_json(_read(self._file), dict[str, _StoredSearch])
        except (OSError, ValueError):  # no cache, or a damaged one: search again
            return {}

    def _store(self, key: str, pages: Sequence[WebPage]) -> None:
        now = self._now()
        fresh = {
            name: entry
            for name, entry in self._load().items()
            if 0 <= now - entry.when < CACHE_SECONDS
        }
        fresh[key] = _StoredSearch(now, tuple(pages))
        with _translate_file_errors(self._file):
            prepare_state_dir(self._library)
            self._file.parent.mkdir(0o700, exist_ok=True)
            write_private_file(self._file, encode_json(fresh))
