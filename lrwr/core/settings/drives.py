"""Detection of folders on synced and network drives, where SQLite files may be damaged."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePath

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
    """Return a warning, one or two sentences, if SQLite files may be damaged in the
    folder `path`; None if not.

    Synced folders and network drives are unsafe. `mounts` is the text of
    `/proc/mounts`, which is read if it is None.
    """
    path = path.absolute()
    drive = _sync_folder(path) or find_network_drive(path, mounts)
    if not drive:
        return None
    return (
        f"{path} is on {drive}, which may damage the library. Set `state_dir` to a"
        " folder on a local disk."
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
    """Return the kind of network drive that `path` is on, as in "a network drive
    (nfs)"; empty if it is on none.

    `mounts` is the text of `/proc/mounts`, which is read if it is None.
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
            yield PurePath(_unescape(fields[1])), fields[2]


def _unescape(point: str) -> str:
    # A space in a mount point is written as \040.
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), point)
