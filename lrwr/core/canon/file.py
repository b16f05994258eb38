"""The file `lrwr.canon.toml`: read whole, replaced whole, never through a foreign link."""

import os
import stat
import tempfile
from pathlib import Path

from lrwr.core.canon.model import Canon
from lrwr.core.canon.parser import parse_canon
from lrwr.core.model.errors import SettingsProblem, StoreProblem

MAX_CANON_BYTES = 4 * 1024 * 1024
"""The largest file that is read, in bytes; a decision takes about fifty."""


class CanonFile:
    """One library's canon file. It may be missing; then nothing has been decided."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def text(self) -> str | None:
        """Return what the file says, character for character; None without a file.

        Raises:
            SettingsProblem: It cannot be read, or is a link out of the folder.
        """
        try:
            mode = self._target().stat().st_mode
            if not stat.S_ISREG(mode):
                raise SettingsProblem(
                    f"{self.path} is not an ordinary file", hint="Move it elsewhere."
                )
            with self._target().open("rb") as file:
                content = file.read(MAX_CANON_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SettingsProblem(
                f"{self.path} cannot be read: {error.strerror}",
                hint="Check that the file may be read by you.",
            ) from error
        return self._decoded(content)

    def load(self) -> Canon:
        """Return all that is decided; nothing when there is no file.

        Raises:
            SettingsProblem: The file is broken, or cannot be read.
        """
        return self.canon(self.text())

    def canon(self, text: str | None) -> Canon:
        """Return what `text` decides, `text` being what this file says.

        Raises:
            SettingsProblem: It is broken, or says what no decision means.
        """
        return Canon() if text is None else parse_canon(text, str(self.path))

    def write(self, text: str | None) -> None:
        """Make `text` the whole file, all or nothing; None takes the file away.

        Raises:
            StoreProblem: The folder cannot be written to.
        """
        try:
            if text is None:
                self._target().unlink(missing_ok=True)
            else:
                _replace(self._target(), text.encode())
        except OSError as error:
            raise StoreProblem(
                f"{self.path} cannot be written: {error.strerror}",
                hint="Check the disk and your rights there; nothing was decided.",
            ) from error

    def _target(self) -> Path:
        if not self.path.is_symlink():
            return self.path
        target = self.path.resolve()
        if target.is_relative_to(self.path.parent.resolve()):
            return target
        raise SettingsProblem(
            f"{self.path} is a link out of its folder; it is not followed",
            hint="Put the file itself there.",
        )

    def _decoded(self, content: bytes) -> str:
        if len(content) > MAX_CANON_BYTES:
            raise SettingsProblem(
                f"{self.path} is larger than {MAX_CANON_BYTES // 1024**2} MB",
                hint="Take out what is no decision.",
            )
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            raise SettingsProblem(
                f"{self.path} is not a UTF-8 text", hint="Save it again as UTF-8."
            ) from error


def _replace(path: Path, content: bytes) -> None:
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
