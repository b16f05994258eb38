"""Calls that were made and not yet used: a run that is killed pays for none twice."""

import json
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from lrwr.core.model.errors import StoreProblem
from lrwr.core.settings.library import write_private_file

MAX_LEDGER_ENTRY_BYTES = 10_000
"""Bytes of an entry that is read: ours are shorter."""

MAX_CALL_ID_CHARS = 10_000
"""Characters of an id that is believed."""


@dataclass(frozen=True, slots=True)
class ModalCallKey:
    """What a call is for. Another `content`, `recipe` or `place` is another errand.

    `part` tells apart what is asked of one document. `place` names the server and the
    app: an id means something there alone.
    """

    document: str
    part: str
    content: str
    recipe: str
    place: str


class ModalCallLedger:
    """Keeps the ids of calls, a file each, in a folder of the library's own.

    One call is kept for each part of each document, by its newest errand. No word of
    the manuscript is in it, and no name of a file.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, errand: ModalCallKey) -> str | None:
        """Return the call that is under way, or was made, for just this errand."""
        call, mark = self._kept(errand)
        return call if mark == _mark(errand) else None

    def outdated(self, errand: ModalCallKey) -> str | None:
        """Return the call for what the document was before, if any."""
        call, mark = self._kept(errand)
        return call if mark and mark != _mark(errand) else None

    def keep(self, errand: ModalCallKey, call: str) -> None:
        """Note a call, in place of the one that is noted.

        Raises:
            StoreProblem: It cannot be noted.
        """
        entry = json.dumps({"errand": _mark(errand), "call": call})
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            write_private_file(self._path(errand.document, errand.part), f"{entry}\n")
        except OSError as error:
            raise StoreProblem(
                f"{self._folder} cannot be used: {error.strerror}",
                hint="Check the disk and your rights there.",
            ) from error

    def drop(self, document: str, part: str) -> None:
        """Forget the call of a part of a document.

        The folder stays, also when it is empty: another task may be about to write.
        """
        with suppress(OSError):
            self._path(document, part).unlink(missing_ok=True)

    def _kept(self, errand: ModalCallKey) -> tuple[str, str]:
        path = self._path(errand.document, errand.part)
        entry: object = None
        with suppress(OSError, ValueError, RecursionError), path.open("rb") as file:
            entry = json.loads(file.read(MAX_LEDGER_ENTRY_BYTES))
        if not isinstance(entry, dict):
            return "", ""
        call, mark = entry.get("call"), entry.get("errand")
        if not isinstance(call, str) or not isinstance(mark, str):
            return "", ""
        believed = (
            0 < len(call) <= MAX_CALL_ID_CHARS and call.isascii() and call.isprintable()
        )
        return (call, mark) if believed else ("", "")

    def _path(self, document: str, part: str) -> Path:
        name = sha256(f"{part}\n{document}".encode(errors="surrogatepass")).hexdigest()
        return self._folder / f"{name[:32]}.json"


def _mark(errand: ModalCallKey) -> str:
    parts = [errand.content, errand.recipe, errand.place]
    return sha256(json.dumps(parts).encode()).hexdigest()
