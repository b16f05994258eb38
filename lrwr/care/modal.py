"""Modal, where documents may be read: whether it answers, and has what reads them.

It is asked only where a setting turned it on, and the writer has allowed it.
"""

from contextlib import aclosing

from lrwr.care.findings import Finding, State, broken, counted
from lrwr.core.adapters.noting import Noting
from lrwr.core.adapters.runner.choose import carried, connection_of, open_calls
from lrwr.core.model.errors import LrwrError
from lrwr.core.settings.values import Settings
from lrwr.outward import Keyring

PART = "ingestion"


async def check_modal(
    settings: Settings, keyring: Keyring, noting: Noting | None
) -> Finding:
    """Ask Modal whether it takes the token and has the app. No text is sent.

    Without `noting` nothing is noted: there is no library yet.
    """
    try:
        connection = connection_of(settings)
        if connection is None:
            raise LookupError("Modal is not turned on")
        carried(settings)
        library, token = keyring.library, keyring.modal_token
        async with aclosing(open_calls(connection, library, token, noting)) as calls:
            await calls.look()
    except LrwrError as error:
        return broken(PART, error)
    containers = counted(settings.ingest.containers, "container")
    detail = f"Modal answers, and has {connection.app}; at most {containers}."
    return Finding(PART, State.OK, detail)
