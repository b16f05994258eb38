"""What may leave this machine from a library, what left it, and the way there."""

import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from lrwr.core.model.errors import LrwrError
from lrwr.core.settings.consent import Consents, Leave, leave_of, refusal_of
from lrwr.core.settings.library import Library
from lrwr.core.settings.places import consent_dir
from lrwr.core.settings.values import Settings

if TYPE_CHECKING:
    from lrwr.core.adapters.chat.line import Line
    from lrwr.core.adapters.noting import Noting
    from lrwr.core.adapters.records.sqlite.database import Database
    from lrwr.core.model.metering import Usage
    from lrwr.core.ports.send_log import SendLog
    from lrwr.core.ports.web_search import WebSearch


@dataclass(frozen=True, slots=True)
class Reach:
    """How language models are reached, if at all.

    `line` leads to their server, None where no model is set. Unless `asking`, they are
    only named: nothing can be sent. `refused` says why the writer must first allow it.
    """

    line: "Line | None"
    asking: bool = True
    refused: LrwrError | None = None


class Outward:
    """What may leave this machine from one library, what left it, and the way there.

    Nothing is opened before it is needed; `stack` closes it.
    """

    def __init__(
        self,
        settings: Settings,
        library: Library,
        stack: AsyncExitStack,
        database: "Database",
        now: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._library = library
        self._stack = stack
        self._database = database
        self._now = now
        self.consents = Consents(consent_dir())

    def leave(self, service: str) -> Leave:
        """Say whether a hosted service may be asked from here."""
        return leave_of(self._settings, self._library, service, self.consents)

    def refusal(self, service: str) -> LrwrError | None:
        """Return why a hosted service that is on may not be asked; None: it may."""
        return refusal_of(self._settings, self._library, service, self.consents)

    @cached_property
    def log(self) -> "SendLog":
        """What left."""
        from lrwr.core.adapters.records.sqlite.sent import SqliteSendLog

        return SqliteSendLog(self._database)

    @cached_property
    def noting(self) -> "Noting":
        """How requests are noted before they leave.

        Raises:
            SettingsProblem: `model.prices` cannot be read.
        """
        from lrwr.core.adapters.noting import Noting

        return Noting(self.log, self._now, priced(self._settings))

    def reach(self, *, asking: bool) -> Reach:
        """Return how language models are reached.

        Raises:
            SettingsProblem: The address or `model.prices` cannot be used.
        """
        return Reach(self._line, asking, self.refusal("openai"))

    def web(self, *, asking: bool) -> "WebSearch | None":
        """Return the web; None where it is off, or nothing is to be asked.

        Raises:
            SettingsProblem: It is on without a key, or a setting leads elsewhere.
        """
        if self._settings.web.use == "off" or not asking:
            return None
        from lrwr.core.adapters.web.choose import choose_web
        from lrwr.core.adapters.web.mute import MuteWeb

        refused = self.refusal("tavily")
        if refused is not None:
            return MuteWeb(refused)
        return choose_web(self._settings, os.environ, self.noting)

    @cached_property
    def _line(self) -> "Line | None":
        if self._settings.model.use == "off":
            return None
        from lrwr.core.adapters.chat.choose import open_line

        line = open_line(self._settings, self.noting)
        self._stack.push_async_callback(line.aclose)
        return line


def told(error: LrwrError) -> str:
    """Return a refusal and what to try, as sentences."""
    return f"{error}. {error.hint}"


def priced(settings: Settings) -> "Callable[[Usage, str], float | None]":
    """Return what tells the price of a usage of a model, as the settings have it.

    Raises:
        SettingsProblem: `model.prices` cannot be read.
    """
    from lrwr.core.model.metering import price, read_prices

    return partial(price, table=read_prices(settings.model.prices))
