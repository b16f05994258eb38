"""The library: its folders and files, and the folders of the manuscript."""

import json
import os
import stat
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from lrwr.core.model.errors import LrwrError, NotFound, SettingsProblem, StoreProblem
from lrwr.core.model.untrusted_text import InvalidText, parse_json, read_limited_file
from lrwr.core.settings.model import Settings, SettingSource

SETTINGS_FILE_NAME = "lrwr.toml"
CANON_FILE_NAME = "lrwr.canon.toml"
STATE_FOLDER_NAME = ".lrwr"
READER_FILE_NAME, UNSENT_FILE_NAME = "reader.json", "unsent.txt"
"""Files in the state folder: where the reader was closed, and the unsent question."""
KEPT_DAYS = 30
"""Days during which a deleted thread can be restored."""


def get_user_settings_path() -> Path:
    """Return the path of the user's own settings file, which may not exist."""
    return _user_folder("config") / SETTINGS_FILE_NAME


def get_consent_folder() -> Path:
    """Return the folder that stores the user's consents, which may not exist."""
    return _user_folder("state") / "consent"


def get_session_path() -> Path:
    """Return the path of the file that stores a Supabase session on a machine without a
    keyring.

    The file may not exist.
    """
    return _user_folder("state") / "session.json"


def get_backups_folder() -> Path:
    """Return the folder for backups that have no other place, which may not exist."""
    return _user_folder("data") / "backups"


def get_books_folder() -> Path:
    """Return the folder of the books that the user reads, which may not exist."""
    return _user_folder("data") / "books"


def get_models_folder() -> Path:
    """Return the folder of downloaded embedding models, which may not exist."""
    return _user_folder("data") / "models"


def _user_folder(kind: Literal["config", "data", "state"]) -> Path:
    # Imported here: most commands need no user folder.
    from platformdirs import PlatformDirs

    folders = PlatformDirs("lrwr", appauthor=False)
    return Path(getattr(folders, f"user_{kind}_dir"))


def find_library_root(start: Path, *, user: Path, home: Path) -> Path:
    """Return the nearest library folder, from `start` upward; `start` if there is none.

    A library has an `lrwr.toml`, an `lrwr.canon.toml` or a `.lrwr/`. The folder of
    `user`, the user's own settings file, is never a library. A `.lrwr/` in the folder
    `home` counts only if `start` is `home`: otherwise one ingestion there by mistake
    would claim every later manuscript below it.
    """
    start = start.resolve()
    home, user_folder = home.resolve(), user.parent.resolve()
    for folder in (start, *start.parents):
        if folder != user_folder and _is_library(folder, with_state=folder != home):
            return folder
    return start


def _is_library(folder: Path, *, with_state: bool) -> bool:
    # os.path returns False for a folder without read permission; Path raises.
    names = (SETTINGS_FILE_NAME, CANON_FILE_NAME)
    if any(os.path.isfile(folder / name) for name in names):  # noqa: PTH113
        return True
    return with_state and os.path.isdir(folder / STATE_FOLDER_NAME)  # noqa: PTH112


_PRIVATE_FOLDER, _PRIVATE_FILE, _OTHERS = 0o700, 0o600, 0o077
_MAX_MEMORY_BYTES = 4 * 1024 * 1024
_IGNORE_FILE = ".gitignore"
_IGNORE = "# Made by lrwr: nothing in this folder belongs in version control.\n*\n"


@dataclass(frozen=True, slots=True)
class Library:
    """The two folders of one library, both absolute.

    `root` holds the settings file and usually the manuscript. `state_dir` belongs to
    lrwr alone; it can be built again from the manuscript, except for threads and other
    work of the user in lrwr.
    """

    root: Path
    state_dir: Path

    @property
    def database(self) -> Path:
        """The path of the SQLite file with all records."""
        return self.state_dir / "library.db"

    @property
    def index_dir(self) -> Path:
        """The path of the folder with the vector index, a cache that may be deleted."""
        return self.state_dir / "index"

    @property
    def memory(self) -> Path:
        """The path of the JSON file that lists the ingested folders and files."""
        return self.state_dir / "library.json"

    def resolve(self, path: str) -> Path:
        """Return the absolute path for a path from the settings.

        A relative one is relative to `root`; `~` is the user's home folder.
        """
        return (self.root / _expand(path)).resolve()

    def name_of(self, path: Path) -> str:
        """Return `path` relative to `root`, with `/` separators; absolute if it is
        outside.
        """
        path = path.resolve()
        if path.is_relative_to(self.root):
            return path.relative_to(self.root).as_posix()
        return path.as_posix()

    def name_of_document(self, path: Path) -> str:
        """Return the absolute `path` as ids of documents are written: relative to
        `root`, also if it is outside, with `/` separators.
        """
        try:
            return Path(os.path.relpath(path, self.root)).as_posix()
        except ValueError:  # another drive
            return path.as_posix()


def resolve_library(settings: Settings) -> Library:
    """Return the library that the settings describe; nothing is created or written.

    Raises:
        SettingsProblem: `state_dir` contains the library's folder, belongs to another
            library, or is a link out of the library's folder.
    """
    root = settings.root.resolve()
    state_dir = root / _expand(settings.state_dir)
    state = state_dir.resolve()
    if root.is_relative_to(state):
        raise SettingsProblem(
            f"`state_dir` is {state}, which also holds the manuscript",
            hint='Choose a folder for lrwr alone, such as ".lrwr".',
        )
    if not state.is_relative_to(root):
        _check_outside(settings, Path(os.path.normpath(state_dir)), state)
    return Library(root, state)


def _check_outside(settings: Settings, state_dir: Path, state: Path) -> None:
    if state_dir.is_relative_to(settings.root.resolve()):
        raise SettingsProblem(
            f"{state_dir} is a link to a folder outside the library, which lrwr does not follow",
            hint="If you created the link, delete it and set `state_dir` to its target.",
        )
    is_library_setting = settings.origin("state_dir").source is SettingSource.LIBRARY
    if is_library_setting and STATE_FOLDER_NAME in state.parts:
        raise SettingsProblem(
            f"`state_dir` is {state}, which belongs to another library",
            hint="Choose a folder for this library alone.",
        )


def list_manuscript_folders(settings: Settings, library: Library) -> tuple[Path, ...]:
    """Return the absolute paths of the manuscript's folders and files.

    They come from `manuscript.folders`; if that is empty, from earlier ingestions.

    Raises:
        SettingsProblem: The library's own `lrwr.toml` names a folder outside the
            library, which a downloaded file must not do.
        StoreProblem: The list of ingested folders cannot be read.
    """
    folders = tuple(library.resolve(path) for path in settings.manuscript.folders)
    origin = settings.origin("manuscript.folders")
    away = next(
        (path for path in folders if not path.is_relative_to(library.root)), None
    )
    if away is not None and origin.source is SettingSource.LIBRARY:
        raise SettingsProblem(
            f"{origin.where}: `manuscript.folders` names a folder outside the library, {away}",
            hint="To read that folder, run `lrwr ingest` with its path, or move lrwr.toml"
            " to a folder that contains both.",
        )
    return folders or load_ingested_paths(library)


def check_state_dir(library: Library) -> None:
    """Check that the state folder and the index folder contain no links.

    Folders that do not exist pass.

    Raises:
        StoreProblem: There is a link, through which other files could be overwritten.
    """
    for folder in (library.state_dir, library.index_dir):
        with suppress(OSError), os.scandir(folder) as entries:
            linked = next((entry.path for entry in entries if entry.is_symlink()), "")
            if linked:
                raise StoreProblem(
                    f"{linked} is a link that lrwr did not create",
                    hint="Delete the link. If you received this folder from somebody else,"
                    f" delete its {library.state_dir.name} too.",
                )


def prepare_state_dir(library: Library) -> None:
    """Create the state folder, private to its owner, with a `.gitignore`. Idempotent.

    Raises:
        StoreProblem: It cannot be created, or holds files that lrwr did not write.
    """
    state, ignore = library.state_dir, library.state_dir / _IGNORE_FILE
    with _translate_errors(state):
        state.mkdir(_PRIVATE_FOLDER, parents=True, exist_ok=True)
        restrict_state_dir(library)
        if ignore.exists() or library.database.exists() or library.memory.exists():
            return
        # Another process may be writing the ignore file under a temporary name.
        entries = [entry for entry in state.iterdir() if _IGNORE_FILE not in entry.name]
        if entries and not ignore.exists():
            raise StoreProblem(
                f"{state} contains files that lrwr did not write",
                hint="Set `state_dir` to a new or empty folder.",
            )
        _write_whole(ignore, _IGNORE)


def restrict_state_dir(library: Library) -> None:
    """Withdraw the access of other users of this machine to the state folder.

    If the folder's mode allows others anything, it becomes 0700, and every file in it
    0600; what its owner may do stays. Else nothing but this mode is read. A folder that
    lrwr did not make, and one on a drive without modes, stays as it is.
    """
    state = library.state_dir
    with suppress(OSError):
        if os.name == "nt" or not stat.S_IMODE(state.stat().st_mode) & _OTHERS:
            return
        files = (state / _IGNORE_FILE, library.database, library.memory)
        if not any(file.exists() for file in files):
            return
        _restrict(state)
        if not stat.S_IMODE(state.stat().st_mode) & _OTHERS:
            restrict_folder(state)


def restrict_folder(folder: Path) -> None:
    """Withdraw the access of other users to all files and folders in `folder`.

    Links are left alone, and what cannot be changed is skipped.
    """
    for place, folder_names, file_names in os.walk(folder):
        for name in (*folder_names, *file_names):
            path = Path(place, name)
            # The time of the last change of this file identifies the library.
            if name == _IGNORE_FILE or path.is_symlink():
                continue
            with suppress(OSError):
                _restrict(path)


def _restrict(path: Path) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & _OTHERS:
        path.chmod(mode & ~_OTHERS)


def load_ingested_paths(library: Library) -> tuple[Path, ...]:
    """Return the absolute paths of all folders and files that `lrwr ingest` has read;
    empty if there are none.

    Paths outside `root` are dropped if the state folder was copied from elsewhere: a
    downloaded library must not choose files on this machine.

    Raises:
        StoreProblem: The list cannot be read.
    """
    with _translate_errors(library.memory):
        if not library.memory.exists():
            return ()
        try:
            content = read_limited_file(library.memory, _MAX_MEMORY_BYTES)
            paths, inode = parse_ingested_paths(content)
        except ValueError as error:
            raise StoreProblem(
                f"{library.memory} is damaged",
                hint="Run `lrwr repair`, then `lrwr ingest` with your manuscript's folder.",
            ) from error
    resolved = tuple(library.resolve(path) for path in paths)
    is_same_folder = inode == _folder_inode(library)
    return tuple(
        path for path in resolved if is_same_folder or path.is_relative_to(library.root)
    )


def parse_ingested_paths(content: bytes) -> tuple[tuple[str, ...], int | None]:
    """Return the paths in a `library.json`, and the inode of its state folder.

    Paths are relative to the library's folder or absolute. The inode is None if all
    paths are inside that folder.

    Raises:
        ValueError: `content` is not a valid `library.json`.
    """
    memory = parse_json(content)
    folders = memory.get("folders") if isinstance(memory, dict) else None
    if not isinstance(folders, list):
        raise InvalidText("it has no list of folders")
    for path in folders:
        if not isinstance(path, str) or b"\0" in os.fsencode(path):
            raise InvalidText("an entry of its list of folders is not a path")
    inode = memory.get("folder")
    return tuple(folders), inode if isinstance(inode, int) else None


def store_ingested_paths(library: Library, folders: Sequence[Path]) -> None:
    """Add `folders` to the list of ingested paths; a folder covers the paths inside it.

    Raises:
        StoreProblem: The list cannot be read or written.
    """
    ingested_paths = load_ingested_paths(library)
    resolved = [*ingested_paths, *(folder.resolve() for folder in folders)]
    replace_ingested_paths(library, tuple(_outermost(resolved)))


def drop_ingested_paths(library: Library, folders: Sequence[Path]) -> None:
    """Remove `folders` from the list of ingested paths; others are ignored.

    Raises:
        StoreProblem: The list cannot be read or written.
    """
    ingested_paths = load_ingested_paths(library)
    remaining = tuple(path for path in ingested_paths if path not in folders)
    replace_ingested_paths(library, remaining)


def replace_ingested_paths(library: Library, folders: Sequence[Path]) -> None:
    """Store `folders`, absolute paths, as the list of ingested paths.

    Raises:
        StoreProblem: The list cannot be read or written.
    """
    if tuple(folders) == load_ingested_paths(library):
        return
    prepare_state_dir(library)
    memory: dict[str, object] = {"folders": [library.name_of(path) for path in folders]}
    if not all(folder.is_relative_to(library.root) for folder in folders):
        memory["folder"] = _folder_inode(library)
    text = json.dumps(memory, ensure_ascii=False, indent=2) + "\n"
    with _translate_errors(library.memory):
        _write_whole(library.memory, text)


def _folder_inode(library: Library) -> int:
    """Return the inode of the state folder, which a copy of the folder does not share."""
    with _translate_errors(library.state_dir):
        return library.state_dir.stat().st_ino


def read_library_identity(library: Library) -> str:
    """Return a text that identifies this state folder: copies of it and later folders
    at the same path have another one.

    It combines the folder's inode, which a later folder may reuse, with the time when
    its `.gitignore` was created, which nobody can choose. Empty without a state folder.
    """
    state = library.state_dir
    try:
        created_ns = (state / _IGNORE_FILE).lstat().st_ctime_ns
    except OSError:
        created_ns = 0
    try:
        return f"{state.lstat().st_ino}.{created_ns}"
    except OSError:
        return ""


def _outermost(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in dict.fromkeys(folders):
        if not any(parent in folders for parent in folder.parents):
            yield folder


def _expand(path: str) -> Path:
    # Without a known home folder, the path stays unchanged.
    with suppress(RuntimeError):
        return Path(path).expanduser()
    return Path(path)


def create_private_file(path: Path) -> None:
    """Create an empty file that only its owner can read.

    Raises:
        FileExistsError: There is a file already; its mode stays as it is.
        OSError: The file cannot be created.
    """
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE_FILE))


def write_private_file(path: Path, text: str) -> None:
    """Write a UTF-8 text file atomically, readable only by its owner.

    Raises:
        OSError: It cannot be written.
    """
    _write_whole(path, text)


def _write_whole(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except LrwrError:
        raise
    except OSError as error:
        raise StoreProblem(
            f"{path} cannot be read or written: {error.strerror}",
            hint="Check the free disk space and the permissions, or change `state_dir`.",
        ) from error


MOVED_HINT = (
    "Mount or restore it, or run `lrwr ingest FOLDER` with its new path. Nothing was"
    " deleted; `lrwr ingest --forget-missing` removes its documents from the library."
)
"""The hint for a folder of the manuscript that does not exist."""


def resolve_targets(
    paths: Sequence[Path], folders: Collection[Path] = ()
) -> list[Path]:
    """Return `paths`, the files and folders to ingest, as absolute paths, in their
    order.

    `folders` are those of the manuscript, which need another hint if they are missing.

    Raises:
        NotFound: `paths` is empty, or a path does not exist.
    """
    targets = [path.absolute() for path in paths]
    if not targets:
        raise NotFound(
            "No manuscript folder has been ingested yet",
            hint="Run `lrwr ingest ./manuscript` with your folder.",
        )
    for target in targets:
        if not target.exists():
            raise NotFound(
                f"There is no file or folder {target}",
                hint=MOVED_HINT if target in folders else _suggest_path(target),
            )
    return targets


def _suggest_path(target: Path) -> str:
    near: list[str] = []
    with suppress(OSError):
        beside = [path.name for path in target.parent.iterdir()]
        near = get_close_matches(target.name, beside, n=1)
    offer = f"Did you mean {near[0]}? " if near else ""
    return f"{offer}Check the path; no data was deleted."
