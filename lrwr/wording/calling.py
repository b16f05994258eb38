"""Which conversation the writer means."""

import unicodedata
from collections.abc import Iterator, Sequence

from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.model.turns import Thread
from lrwr.wording.cleaning import clean
from lrwr.wording.conversations import short_ids


def thread_called(wanted: str, threads: Sequence[Thread]) -> Thread:
    """Return the conversation that the writer means; `threads` are newest first.

    A whole id goes before a number of the list, that before a title, and that before
    the beginning of an id. A title may be in small letters.

    Raises:
        NotFound: There is none.
        SettingsProblem: There are several.
    """
    for found in _readings(wanted, threads):
        if len(found) > 1:
            ids = short_ids(threads)
            raise SettingsProblem(
                f"{len(found)} conversations may be meant by “{wanted}”",
                hint=f"Use one of their ids: {', '.join(ids[t.id] for t in found)}",
            )
        if found:
            return found[0]
    raise NotFound(
        f"There is no conversation “{wanted}”",
        hint="`lrwr threads` lists them: use a number, an id or a title.",
    )


def _readings(wanted: str, threads: Sequence[Thread]) -> Iterator[Sequence[Thread]]:
    text = wanted.strip()
    yield [thread for thread in threads if thread.id == text]
    if text.isascii() and text.isdigit() and 0 < int(text) <= len(threads):
        yield [threads[int(text) - 1]]
    yield [thread for thread in threads if thread.title == wanted]
    yield [thread for thread in threads if _plain(thread.title) == _plain(text)]
    if text:
        yield [thread for thread in threads if thread.id.startswith(text.lower())]


def _plain(title: str) -> str:
    return unicodedata.normalize("NFC", " ".join(clean(title).split())).casefold()
