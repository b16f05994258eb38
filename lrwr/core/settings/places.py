"""Where settings files are, which folder is the library, and which are unsafe for SQLite."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Literal

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
