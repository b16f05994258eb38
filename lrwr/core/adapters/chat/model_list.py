"""Which models a hosted server offers to a key. No model is asked, and nothing is paid."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING

import openai

from lrwr.core.adapters.chat.connection import ChatConnection, ModelServerClient
from lrwr.core.adapters.chat.openai_sdk import (
    create_openai_client,
    translate_chat_error,
)
from lrwr.core.adapters.http.errors import HttpRequestInfo
from lrwr.core.model.egress import OutboundRequest, RequestPurpose

if TYPE_CHECKING:
    pass

_NOT_LISTED = frozenset({403, 404, 405})
"""States in which a key may be good: it may not list models, or there is no list."""

_SCOPES = "missing scopes"
"""What OpenAI says, under 401 too, to a key that may do some things and not this."""


async def fetch_offered_models(
    connection: ChatConnection, line: ModelServerClient
) -> tuple[str, ...] | None:
    """Return the models that a server offers; None where it does not say.

    One request, noted as the line notes them; `connection.timeout` bounds it.

    Raises:
        ServiceCallError: The server did not answer, or refused the key.
    """
    client = await _client(connection, line)
    about = OutboundRequest(
        connection.service, connection.host, RequestPurpose.ANSWERING, connection.name
    )
    async with aclosing(line.note(about)) as note:
        with line.errand(note):
            models = await _listed(client, connection, now=line.clock.today())
        note.counted(0, 0)
    return models


async def _listed(
    client: openai.AsyncOpenAI, connection: ChatConnection, *, now: float
) -> tuple[str, ...] | None:
    try:
        async with asyncio.timeout(connection.timeout):
            page = await client.models.list()
        return tuple(str(model.id) for model in page.data)
    except Exception as error:  # three libraries deep, anything may be raised
        if _says_nothing(error):
            return None
        http_request_info = HttpRequestInfo(
            server=connection.server,
            model=connection.name,
            timeout=connection.timeout,
            here=connection.own,
        )
        raise translate_chat_error(error, http_request_info, now) from error


async def _client(
    connection: ChatConnection, line: ModelServerClient
) -> openai.AsyncOpenAI:
    http = await line.http(
        connection.base_url, seconds=connection.timeout, is_local=connection.own
    )
    return create_openai_client(
        connection.base_url, connection.key, http, connection.timeout
    )


def _says_nothing(error: Exception) -> bool:
    """Say whether a server keeps its list to itself, be the key good or not."""
    if not isinstance(error, openai.APIStatusError):
        return False
    body = error.body if isinstance(error.body, Mapping) else {}
    scopes = _SCOPES in str(body.get("message")).lower()
    return error.status_code in _NOT_LISTED or (error.status_code == 401 and scopes)
