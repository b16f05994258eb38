"""Supabase's auth client, with the session in lrwr's own session store.

Importing this module takes half a second: import it where a client is created.
"""

import asyncio
import json

from httpx import AsyncClient
from supabase_auth import AsyncGoTrueClient, AsyncSupportedStorage

from lrwr.core.adapters.auth.project import (
    SupabaseConnection,
    build_supabase_headers,
)
from lrwr.core.adapters.auth.sessions import KeyringSessionStore
from lrwr.core.model.untrusted_text import parse_json

_SESSION_FIELDS = (
    "access_token",
    "refresh_token",
    "expires_in",
    "expires_at",
    "token_type",
)
_USER_FIELDS = ("id", "aud", "email", "created_at")


class SupabaseSessionStorage(AsyncSupportedStorage):
    """Lets Supabase's auth client store its session in a `KeyringSessionStore`.

    `project` is the URL of the Supabase project. Only the tokens and the identity of
    the account are stored, because some keyrings limit the length of an entry.
    """

    def __init__(self, project: str, sessions: KeyringSessionStore) -> None:
        self._project = project
        self._sessions = sessions

    async def get_item(self, key: str) -> str | None:  # noqa: ARG002 - inherited
        """Return the session as JSON text, whatever `key` is; None if there is none."""
        return await asyncio.to_thread(self._sessions.read, self._project)

    async def set_item(self, key: str, value: str) -> None:  # noqa: ARG002 - inherited
        """Store the session in the JSON text `value`, whatever `key` is."""
        full_session = parse_json(value)
        user = full_session.get("user", {})
        stored_session = {name: full_session.get(name) for name in _SESSION_FIELDS}
        stored_session["user"] = {
            **{name: user.get(name) for name in _USER_FIELDS},
            "app_metadata": {},
            "user_metadata": {},
        }
        text = json.dumps(stored_session, separators=(",", ":"))
        await asyncio.to_thread(self._sessions.write, self._project, text)

    async def remove_item(self, key: str) -> None:  # noqa: ARG002 - inherited
        """Delete the session, whatever `key` is."""
        await asyncio.to_thread(self._sessions.clear, self._project)


def create_auth_client(
    project: SupabaseConnection, sessions: KeyringSessionStore, http: AsyncClient
) -> AsyncGoTrueClient:
    """Return Supabase's auth client over `http`. Nothing is sent.

    It stores its session in `sessions` and does not refresh it by itself.
    """
    return AsyncGoTrueClient(
        url=f"{project.url}/auth/v1",
        headers=build_supabase_headers(project),
        storage=SupabaseSessionStorage(project.url, sessions),
        auto_refresh_token=False,
        http_client=http,
    )
