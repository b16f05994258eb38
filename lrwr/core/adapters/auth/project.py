"""A Supabase project: where it is, with which key it is asked, and the way there."""

import base64
import json
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lrwr.core.adapters.http.timeouts import BoundedHttpClient
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.model import Settings
from lrwr.core.settings.service_access import (
    find_key,
    is_loopback_host,
    parse_host,
    resolve_address,
)

if TYPE_CHECKING:
    from httpx import AsyncClient, Response

MAX_RESPONSE_BYTES = 300 * 1024 * 1024
"""Bytes of an answer that are read: no file is larger that lrwr reads, and so sends.

A record is smaller: it holds what is known of a text, of which 50 MB are read at most.
"""

EXAMPLE_PROJECT_URL = "https://abcdefghijkl.supabase.co"

_KEY = "SUPABASE_KEY"
_SECRET = "sb_secret_"
_WHICH = "Copy the publishable key (in older projects: anon) from its API settings."


@dataclass(frozen=True, slots=True)
class SupabaseConnection:
    """One project. `key` is the publishable one, which says nothing of who asks.

    `timeout` is in seconds, for which it may be silent. `own` says that the server is
    on this machine: no proxy is used. `most` is in bytes, of an answer.
    """

    url: str
    key: str = field(repr=False)
    timeout: float = 20.0
    own: bool = False
    most: int = MAX_RESPONSE_BYTES

    @property
    def host(self) -> str:
        """The machine that is asked."""
        return parse_host(self.url)


def build_supabase_connection(
    settings: Settings, env: Mapping[str, str]
) -> SupabaseConnection:
    """Return the project that the settings name.

    Raises:
        SettingsProblem: There is none or no key for it, the key is a secret one, or a
            downloaded setting leads elsewhere.
        ServiceUnavailable: The keyring is locked.
    """
    if not settings.supabase.url.strip():
        raise SettingsProblem(
            "No Supabase project is set",
            hint=f'Set [supabase] url = "{EXAMPLE_PROJECT_URL}" in your own file (`lrwr config'
            " path`), or LRWR_SUPABASE_URL.",
        )
    url = resolve_address(settings, "supabase.url", EXAMPLE_PROJECT_URL, secret=True)
    key = (find_key(_KEY, env) or "").strip()
    if not key:
        raise SettingsProblem(
            "There is no key for the Supabase project",
            hint=f"{_WHICH} Keep it with `lrwr config set-key supabase`, or set {_KEY}.",
        )
    if _opens_everything(key):
        raise SettingsProblem(
            "The key of the Supabase project is a secret one, which opens every"
            " account: lrwr does not use it",
            hint=f"{_WHICH} Then: lrwr config set-key supabase",
        )
    timeout = float(settings.supabase.timeout)
    return SupabaseConnection(url, key, timeout, is_loopback_host(parse_host(url)))


def open_supabase_http(
    project: SupabaseConnection, on_response: "Callable[[Response], None] | None" = None
) -> "AsyncClient":
    """Open a connection that follows no redirect: requests go to one server only.

    `on_response` is called with each response that was received completely. `ExchangeTimeout`
    and `ResponseTooLarge` are raised as `BoundedHttpClient` documents.
    """
    # Reading the certificates takes a tenth of a second; what trusts nobody is free.
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return BoundedHttpClient(
        project.timeout,
        project.most,
        on_response,
        follow_redirects=False,
        trust_env=not project.own,
        verify=True if project.url.startswith("https:") else nobody,
    )


def build_supabase_headers(project: SupabaseConnection) -> dict[str, str]:
    """Return what every request says; the clients would name this machine's system."""
    return {"apikey": project.key, "X-Client-Info": "lrwr"}


def _opens_everything(key: str) -> bool:
    """Say whether a key passes every policy; older ones say so in their middle."""
    if key.startswith(_SECRET):
        return True
    middle = key.split(".")[1] if key.count(".") == 2 else ""
    try:
        claims = json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))
    except ValueError:
        return False
    return isinstance(claims, dict) and claims.get("role") == "service_role"
