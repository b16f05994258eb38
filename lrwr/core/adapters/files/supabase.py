"""The manuscript's files in a Supabase project, where nobody else reads them."""

import asyncio
import json
from collections.abc import Collection, Mapping

from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.files.names import hash_file_content, is_stored_file_name
from lrwr.core.adapters.files.storage import (
    SupabaseStorageClient,
    build_missing_file_error,
    parse_storage_json,
)
from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.storage.supabase.rpc import AccessTokenProvider
from lrwr.core.model.errors import StoreProblem

STORAGE_BUCKET = "lrwr"

FILES_PER_PAGE = 1000
"""Names that are asked for at once; a project may send fewer."""

FILES_PER_DELETION = 100
"""Files that are removed at once; Supabase takes a thousand."""

_FILE = {"Content-Type": "application/octet-stream", "x-upsert": "true"}
_JSON = {"Content-Type": "application/json"}


class SupabaseFileStore:
    """Keeps the `FileStore` port, as `<account>/<library>/<sha256>` in one bucket.

    The project lets an account into no folder but its own. Nothing is tried twice here:
    who calls knows whether it may be.
    """

    def __init__(
        self,
        project: SupabaseConnection,
        token: AccessTokenProvider,
        account: str,
        library: str,
        request_logger: EgressLogger | None = None,
    ) -> None:
        self._project = project
        self._storage = SupabaseStorageClient(project, token, request_logger)
        self._folder = f"{account}/{library}/"

    async def put(self, content: bytes) -> str:
        """Send a file; what was there under its name is replaced by the same."""
        name = await asyncio.to_thread(hash_file_content, content)
        path = f"{STORAGE_BUCKET}/{self._folder}{name}"
        storage_json = parse_storage_json(
            await self._storage.ask("POST", path, content, _FILE)
        )
        if not (isinstance(storage_json, dict) and storage_json.get("Key") == path):
            raise self._storage.nonsense()
        return name

    async def get(self, sha256: str) -> bytes:
        """Fetch a file, and compare it with its name."""
        if not is_stored_file_name(sha256):
            raise build_missing_file_error(self._project)
        path = f"{STORAGE_BUCKET}/{self._folder}{sha256}"
        content = await self._storage.ask("GET", path, b"", {})
        if await asyncio.to_thread(hash_file_content, content) != sha256:
            raise StoreProblem(
                f"The file {sha256[:12]}… at {self._project.host} is damaged",
                hint="Run `lrwr push` where your manuscript is: it is sent anew.",
            )
        return content

    async def held(self) -> set[str]:
        """Return the names that the project lists, page by page.

        A file that comes or goes meanwhile may be missed.
        """
        listed: list[str] = []
        while page := await self._page(len(listed)):
            if set(page) <= set(listed):
                raise self._storage.nonsense()  # it would send one page for ever
            listed += page
        names = {name.removeprefix(self._folder) for name in listed}
        return set(filter(is_stored_file_name, names))

    async def remove(self, names: Collection[str]) -> int:
        """Have the project delete files, some at a time."""
        paths = [
            f"{self._folder}{name}"
            for name in sorted(filter(is_stored_file_name, set(names)))
        ]
        removed = 0
        for first in range(0, len(paths), FILES_PER_DELETION):
            query = {"prefixes": paths[first : first + FILES_PER_DELETION]}
            removed += len(await self._listed("DELETE", STORAGE_BUCKET, query))
        return removed

    async def aclose(self) -> None:
        """Let go of connections. Safe to call twice."""
        await self._storage.aclose()

    async def _page(self, offset: int) -> list[str]:
        query = {
            "prefix": self._folder,
            "limit": FILES_PER_PAGE,
            "offset": offset,
            "sortBy": {"column": "name", "order": "asc"},
        }
        return await self._listed("POST", f"list/{STORAGE_BUCKET}", query)

    async def _listed(
        self, method: str, path: str, query: Mapping[str, object]
    ) -> list[str]:
        """Ask for something that is answered with files, and return their names."""
        body = json.dumps(query).encode()
        storage_json = parse_storage_json(
            await self._storage.ask(method, path, body, _JSON)
        )
        if not isinstance(storage_json, list):
            raise self._storage.nonsense()
        names = [entry.get("name") for entry in storage_json if isinstance(entry, dict)]
        if len(names) != len(storage_json) or not all(
            isinstance(n, str) for n in names
        ):
            raise self._storage.nonsense()
        return [str(name) for name in names]
