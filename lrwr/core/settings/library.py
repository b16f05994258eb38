"""The library: the manuscript folder, the state folder, and the targets of a command."""

import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePath
from typing import Literal

from lrwr.core.model.errors import LrwrError, NotFound, SettingsProblem, StoreProblem
from lrwr.core.settings.model import Settings, SettingSource

SETTINGS_FILE_NAME = "lrwr.toml"
CANON_FILE_NAME = "lrwr.canon.toml"
STATE_FOLDER_NAME = ".lrwr"


def get_user_settings_path() -> Path:
    """Return where the user's own settings file is, whether it exists or not."""
    return _user_folder("config") / SETTINGS_FILE_NAME


def get_consent_folder() -> Path:
    """Return where it is kept what the writer allowed, whether it exists or not."""
    return _user_folder("state") / "consent"


def get_session_path() -> Path:
    """Return where a session is kept that no keyring keeps, whether it exists or not."""
    return _user_folder("state") / "session.json"


def _user_folder(kind: Literal["config", "state"]) -> Path:
    # Imported here: most commands are started without asking for a user folder.
    from platformdirs import user_config_path, user_state_path

    locate = user_config_path if kind == "config" else user_state_path
    return locate("lrwr", appauthor=False)


def find_library_root(start: Path, *, user: Path, home: Path) -> Path:
    """Return the nearest folder upward from `start` that is a library, else `start`.

    A library has an `lrwr.toml`, an `lrwr.canon.toml` or a `.lrwr/`. The folder of the user's own file is
    none, and a `.lrwr/` in the home folder counts only for a command run there: one
    ingestion in the wrong place must not swallow every later manuscript.
    """
    start = start.resolve()
    home, user_folder = home.resolve(), user.parent.resolve()
    for folder in (start, *start.parents):
        if folder != user_folder and _is_library(folder, with_state=folder != home):
            return folder
    return start


def _is_library(folder: Path, *, with_state: bool) -> bool:
    # os.path answers False for a folder that may not be read; Path raises.
    names = (SETTINGS_FILE_NAME, CANON_FILE_NAME)
    if any(os.path.isfile(folder / name) for name in names):  # noqa: PTH113
        return True
    return with_state and os.path.isdir(folder / STATE_FOLDER_NAME)  # noqa: PTH112


_SYNCED = re.compile(
    r"(dropbox|onedrive|google ?drive|my drive|icloud ?drive|mobile documents|nextcloud"
    r"|owncloud|pcloud ?drive|cloudstorage)( .*|\(.*)?",
    re.IGNORECASE,
)
_NETWORK = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|9p|davfs\d?|afpfs|fuse\.(sshfs|rclone)"
)
_MOUNTS = Path("/proc/mounts")


def describe_unsafe_folder(path: Path, mounts: str | None = None) -> str | None:
    """Say what is wrong with keeping the state folder at `path`; None when nothing is.

    `mounts` is what `/proc/mounts` says, read when it is None and the system has it.
    """
    path = path.absolute()
    drive = _sync_folder(path) or find_network_drive(path, mounts)
    if not drive:
        return None
    return (
        f"{path} is on {drive}, where the library may be damaged; set `state_dir` to a"
        " folder on this machine's own disk."
    )


def _sync_folder(path: Path) -> str:
    for name in path.parts:
        if _SYNCED.fullmatch(name):
            return f'a synced drive ("{name}")'
    for folder in (path, *path.parents):
        with suppress(OSError):
            if (folder / ".stfolder").exists():
                return "a folder synced by Syncthing"
    return ""


def find_network_drive(path: Path, mounts: str | None = None) -> str:
    """Say on what network drive `path` is; empty when it is on none.

    `mounts` is what `/proc/mounts` says, read when it is None and the system has it.
    """
    if mounts is None:
        mounts = _read_mounts()
    kind = ""
    longest = -1
    for point, mount_kind in _mount_points(mounts):
        depth = len(point.parts)
        if depth >= longest and path.is_relative_to(point):
            longest, kind = depth, mount_kind
    return f"a network drive ({kind})" if _NETWORK.fullmatch(kind) else ""


def _read_mounts() -> str:
    with suppress(OSError):
        return _MOUNTS.read_text(encoding="utf-8", errors="replace")
    return ""


def _mount_points(mounts: str) -> Iterator[tuple[PurePath, str]]:
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) > 2:
            yield PurePath(_unescaped(fields[1])), fields[2]


def _unescaped(point: str) -> str:
    # A space in a mount point is written as \040.
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), point)


_IGNORE_FILE = ".gitignore"
_IGNORE = "# Made by lrwr: nothing in this folder belongs in version control.\n*\n"


@dataclass(frozen=True, slots=True)
class Library:
    """Where one library stands; both folders absolute.

    `state_dir` belongs to lrwr alone and can be made again from the manuscript,
    except for what the writer did in lrwr itself.
    """

    root: Path
    state_dir: Path

    @property
    def database(self) -> Path:
        """The SQLite file: the truth."""
        return self.state_dir / "library.db"

    @property
    def index_dir(self) -> Path:
        """The vector index: a cache, safe to delete."""
        return self.state_dir / "index"

    @property
    def memory(self) -> Path:
        """The file that remembers the manuscript's folders."""
        return self.state_dir / "library.json"

    def resolve(self, path: str) -> Path:
        """Return the absolute path that a setting means: `~` or relative to `root`."""
        return (self.root / _expanded(path)).resolve()

    def name_of(self, path: Path) -> str:
        """Return `path` relative to `root` with `/`, or absolute when it is outside."""
        path = path.resolve()
        if path.is_relative_to(self.root):
            return path.relative_to(self.root).as_posix()
        return path.as_posix()


def resolve_library(settings: Settings) -> Library:
    """Return the library that the settings name. Nothing is touched.

    Raises:
        SettingsProblem: `state_dir` is the library's own folder or one above it, is
            another library's, or is a link out of the library's folder.
    """
    root = settings.root.resolve()
    state_dir = root / _expanded(settings.state_dir)
    state = state_dir.resolve()
    if root.is_relative_to(state):
        raise SettingsProblem(
            f"`state_dir` is {state}, which holds the manuscript too",
            hint='Name a folder that lrwr has to itself, such as ".lrwr".',
        )
    if not state.is_relative_to(root):
        _check_outside(settings, Path(os.path.normpath(state_dir)), state)
    return Library(root, state)


def _check_outside(settings: Settings, state_dir: Path, state: Path) -> None:
    if state_dir.is_relative_to(settings.root.resolve()):
        raise SettingsProblem(
            f"{state_dir} is a link out of the library's folder, and is not followed",
            hint="If you made it, remove it and set `state_dir` to where it leads.",
        )
    is_library_setting = settings.origin("state_dir").source is SettingSource.LIBRARY
    if is_library_setting and STATE_FOLDER_NAME in state.parts:
        raise SettingsProblem(
            f"`state_dir` is {state}, which belongs to another library",
            hint="Name a folder that this library has to itself.",
        )


def list_manuscript_folders(settings: Settings, library: Library) -> tuple[Path, ...]:
    """Return what holds the manuscript, absolute: as set, else as ingested before.

    Raises:
        SettingsProblem: The library's own file leads out of the library's folder: it
            may have come with somebody else's book.
        StoreProblem: The file that remembers folders cannot be read.
    """
    folders = tuple(library.resolve(path) for path in settings.manuscript.folders)
    origin = settings.origin("manuscript.folders")
    away = next(
        (path for path in folders if not path.is_relative_to(library.root)), None
    )
    if away is not None and origin.source is SettingSource.LIBRARY:
        raise SettingsProblem(
            f"{origin.where}: `manuscript.folders` leads out of this folder, to {away}",
            hint="If that is yours, name it in the command: lrwr ingest PATH; or put"
            " the lrwr.toml into a folder that holds it too.",
        )
    return folders or load_ingested_paths(library)


def check_state_dir(library: Library) -> None:
    """Make sure that what is in the state folder is there, and not linked from there.

    Raises:
        StoreProblem: It holds a link, through which something else could be written.
    """
    for folder in (library.state_dir, library.index_dir):
        with suppress(OSError), os.scandir(folder) as entries:
            linked = next((entry.path for entry in entries if entry.is_symlink()), "")
            if linked:
                raise StoreProblem(
                    f"{linked} is a link, and lrwr makes none there",
                    hint="Delete the link; if the folder is not yours, delete its"
                    f" {library.state_dir.name} too.",
                )


def prepare_state_dir(library: Library) -> None:
    """Make the state folder, with a `.gitignore` of its own. Twice is once.

    Raises:
        StoreProblem: It cannot be made, or holds files that are not lrwr's.
    """
    state, ignore = library.state_dir, library.state_dir / _IGNORE_FILE
    with _as_store_problem(state):
        state.mkdir(parents=True, exist_ok=True)
        if ignore.exists() or library.database.exists() or library.memory.exists():
            return
        # Another process may be making it: its file is there in part, or now whole.
        entries = [entry for entry in state.iterdir() if _IGNORE_FILE not in entry.name]
        if entries and not ignore.exists():
            raise StoreProblem(
                f"{state} holds files that are not lrwr's",
                hint="Set `state_dir` to a folder that is new or empty.",
            )
        _write_whole(ignore, _IGNORE)


def load_ingested_paths(library: Library) -> tuple[Path, ...]:
    """Return the folders and files given to `lrwr ingest` so far, as given, absolute.

    Those outside of `root` count only in the state folder where they were remembered,
    not in a copy of it: a library that came from elsewhere must not name them.

    Raises:
        StoreProblem: The file that remembers them cannot be read.
    """
    with _as_store_problem(library.memory):
        if not library.memory.exists():
            return ()
        text = library.memory.read_text(encoding="utf-8")
    try:
        memory = json.loads(text)
        paths = tuple(library.resolve(str(name)) for name in memory["folders"])
        is_same_folder = memory.get("folder") == _mark(library)
        return tuple(
            p for p in paths if is_same_folder or p.is_relative_to(library.root)
        )
    except (ValueError, KeyError, TypeError) as error:
        raise StoreProblem(
            f"{library.memory} is damaged",
            hint="Run `lrwr repair`, then ingest your manuscript's folder again.",
        ) from error


def store_ingested_paths(library: Library, folders: Sequence[Path]) -> None:
    """Add `folders` to those remembered; one inside another is covered by it.

    Raises:
        StoreProblem: The memory cannot be read or written.
    """
    ingested_paths = load_ingested_paths(library)
    resolved = [*ingested_paths, *(folder.resolve() for folder in folders)]
    outermost = tuple(_outermost(resolved))
    if outermost == ingested_paths:
        return
    prepare_state_dir(library)
    names = [library.name_of(folder) for folder in outermost]
    memory: dict[str, object] = {"folders": names}
    if not all(folder.is_relative_to(library.root) for folder in outermost):
        memory["folder"] = _mark(library)
    text = json.dumps(memory, ensure_ascii=False, indent=2) + "\n"
    with _as_store_problem(library.memory):
        _write_whole(library.memory, text)


def _mark(library: Library) -> int:
    """Return what tells this state folder from a copy, and nobody can foresee."""
    with _as_store_problem(library.state_dir):
        return library.state_dir.stat().st_ino


def read_library_identity(library: Library) -> str:
    """Return what tells this state folder from a copy of it, and from a later one.

    A number of a folder may be given again once the folder is gone; when the file in it
    was put there cannot be chosen. Empty where there is no state folder.
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


def _expanded(path: str) -> Path:
    # A home folder that cannot be found leaves the path as it was written.
    with suppress(RuntimeError):
        return Path(path).expanduser()
    return Path(path)


def write_private_file(path: Path, text: str) -> None:
    """Write a file whole or not at all; nobody but its owner may read it.

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
def _as_store_problem(path: Path) -> Iterator[None]:
    try:
        yield
    except LrwrError:
        raise
    except OSError as error:
        raise StoreProblem(
            f"{path} cannot be used: {error.strerror}",
            hint="Check the disk and your rights there, or set `state_dir` elsewhere.",
        ) from error


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
