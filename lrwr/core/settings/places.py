"""Where settings files are, and which folder is the library."""

import os
from pathlib import Path
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
    home, own = home.resolve(), user.parent.resolve()
    for folder in (start, *start.parents):
        if folder != own and _is_library(folder, with_state=folder != home):
            return folder
    return start


def _is_library(folder: Path, *, with_state: bool) -> bool:
    # os.path answers False for a folder that may not be read; Path raises.
    names = (SETTINGS_FILE_NAME, CANON_FILE_NAME)
    if any(os.path.isfile(folder / name) for name in names):  # noqa: PTH113
        return True
    return with_state and os.path.isdir(folder / STATE_FOLDER_NAME)  # noqa: PTH112
