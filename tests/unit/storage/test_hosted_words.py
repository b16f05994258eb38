"""What a writer is told of a project's answers: never what the server says back."""

import json
from dataclasses import dataclass

import pytest

from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.storage.supabase.rpc import SupabaseRpc
from lrwr.core.model.errors import LrwrError
from tests.fakes.loopback import Line, Loopback

TOKEN = "tok-planted-5d1c"
TEXT = "quillfeather sluicegate"


@dataclass
class Echo(Loopback):
    """A database that refuses everything, and says why in the words of the request."""

    code: str = "22P02"

    def serve(self, line: Line) -> None:
        said = f"bad: {line.received().decode()} {line.headers['authorization']}"
        body = {"code": self.code, "message": said, "details": said, "hint": said}
        line.send(400, json.dumps(body).encode(), {"Content-Type": "application/json"})


@pytest.mark.parametrize("code", ["22P02", "42883", "23505", f"x {TEXT} {TOKEN}", ""])
async def test_a_refusal_says_neither_the_text_nor_the_token_back(code: str) -> None:
    async def token() -> str:
        return TOKEN

    with Echo(code=code) as server:
        hosted = SupabaseRpc(
            SupabaseConnection(server.origin, "sb_publishable_x", own=True), token
        )
        with pytest.raises(LrwrError) as caught:
            await hosted.call("put_record", body=TEXT)
        await hosted.aclose()
    told = f"{caught.value} {caught.value.hint}"
    assert "127.0.0.1" in told
    for planted in (*TEXT.split(), TOKEN):
        assert planted not in told
