import asyncio
import json
import re
from typing import Any, TypeAlias

import pytest

from lrwr.core.adapters.storage.supabase.records import (
    SupabaseRecords,
    list_supabase_migrations,
)
from lrwr.core.model.errors import LrwrError, StoreProblem
from tests.fakes.conversations import THREAD
from tests.fakes.hosted import Writer, asking
from tests.fakes.hosted_project import OWNED, GuardedProject, guarded_project
from tests.fakes.hosted_records import HASH, SPACE, a_record
from tests.fakes.supabase_server import SupabaseServer

pytestmark = pytest.mark.supabase

Json: TypeAlias = Any

KEY = "b/one.md"
REFUSED = "refused"

RECORD = {"p_kind": "document", "p_key": KEY}
WRITING = {
    **RECORD,
    "p_writer": "thief",
    "p_content": "c9",
    "p_digest": "d9",
    "p_body": "{}",
    "p_space": "",
    "p_texts": [],
}
TURN = {
    "id": "thieves",
    "number": 1,
    "asked_at": 1.0,
    "state": "complete",
    "price": None,
    "usage": {},
    "question": "?",
    "answer": "!",
    "output": {},
}
CONVERSATION = {
    "id": THREAD,
    "title": "Mine.",
    "created_at": 1.0,
    "updated_at": 1e12,
    "deleted_at": None,
    "state": {},
    "turns": [TURN],
}
PAID = {
    "key": "paid",
    "made": 9.0,
    "prompt_tokens": 0,
    "completion_tokens": 0,
    "finding": "{}",
}
VECTORS = {"p_space": SPACE, "p_texts": [HASH]}

OF_RECORDS: dict[str, tuple[dict[str, Json], Json]] = {
    "state": ({"p_writer": "thief", "p_after": 0}, None),
    "next_version": ({}, None),
    "hold_job": ({"p_job": 0, "p_worker": "w", "p_attempt": 1}, False),
    "take_record": ({"p_writer": "thief", **RECORD}, False),
    "sweep_vectors": ({}, 0),
    "without_vector": (VECTORS, [HASH]),
    "keep_record": (WRITING, REFUSED),
    "put_record": (WRITING, None),
    "manifest": ({}, None),
    "changes": ({"p_after": 0, "p_most": 10**9}, None),
    "missing_vectors": (VECTORS, [HASH]),
    "put_vectors": ({"p_space": SPACE, "p_vectors": {HASH: ""}}, REFUSED),
    "vectors": (VECTORS, {}),
    "put_replies": ({"p_rows": [PAID]}, REFUSED),
    "replies": ({"p_keys": ["paid"]}, []),
    "replies_after": ({"p_after": "", "p_limit": 9}, []),
    "thread_marks": ({}, []),
    "thread_whole": ({"p_thread": THREAD}, None),
    "place_deletion": ({"p_thread": "thieves", "p_at": 0.0}, 1),
    "put_thread": ({"p_thread": CONVERSATION}, REFUSED),
    "delete_library": ({}, False),
}
"""What each function is asked of the owner's library, and what it answers others.

The owner is told something else. `delete_library` is last: the rest needs one.
"""

OF_NO_LIBRARY = frozenset({"new_library", "libraries", "reply_json", "turn_json"})
SAME_FOR_ALL = frozenset({"sweep_vectors", "place_deletion"})


@pytest.fixture(scope="module")
def project(supabase: SupabaseServer) -> GuardedProject:
    made = asyncio.run(guarded_project(supabase))
    supabase.postgres.run(
        "update lrwr_job set state = 'running', worker = 'w', attempts = 1,"
        f" lease_until = 1e12 where owner = '{made.owner.id}'"
    )
    return made


def is_document(value: Json) -> bool:
    return isinstance(value, dict) or value == [PAID]


def call(project: GuardedProject, name: str, who: Writer | None) -> Json:
    told, _ = OF_RECORDS[name]
    texts = {
        argument: json.dumps(one) for argument, one in told.items() if is_document(one)
    }
    asked = {"p_library": project.library, **told, **texts}
    if "p_job" in asked:
        asked["p_job"] = json.loads(project.rows("lrwr_job"))[0]["id"]
    answer = project.ask("POST", f"/rest/v1/rpc/lrwr_{name}", who, asked)
    return REFUSED if answer.refused else answer.body


def test_every_function_for_records_is_tried_here() -> None:
    (script,) = [
        one for one in list_supabase_migrations() if one.name == "005_records.sql"
    ]
    made = re.findall(r"create or replace function public\.lrwr_(\w+)\(", script.sql)
    assert set(made) == OF_RECORDS.keys() | OF_NO_LIBRARY


@pytest.mark.parametrize("name", OF_RECORDS)
def test_a_function_gives_another_account_nothing_and_changes_nothing(
    project: GuardedProject, name: str
) -> None:
    before = project.rows(*OWNED)
    _, answer = OF_RECORDS[name]
    assert call(project, name, project.other) == answer
    assert project.rows(*OWNED) == before
    assert f'"library": "{project.library}"' in before


@pytest.mark.parametrize("name", OF_RECORDS)
def test_a_function_gives_nobody_anything_and_changes_nothing(
    project: GuardedProject, name: str
) -> None:
    before = project.rows(*OWNED)
    _, answer = OF_RECORDS[name]
    assert call(project, name, None) in (answer, REFUSED)
    assert project.rows(*OWNED) == before


def test_nobody_makes_or_lists_a_library(project: GuardedProject) -> None:
    path = "/rest/v1/rpc/lrwr_"
    before = project.server.postgres.run("select count(*) from lrwr_library")
    name = {"p_name": "Nobody's"}
    assert project.ask("POST", f"{path}new_library", None, name).refused
    assert project.ask("POST", f"{path}libraries", None, {}).gave_nothing
    assert project.ask("POST", f"{path}libraries", project.other, {}).body == []
    assert project.server.postgres.run("select count(*) from lrwr_library") == before


async def test_nobody_is_told_to_sign_in(project: GuardedProject) -> None:
    nobody = Writer("", "", project.server.key)
    async with asking(project.server, nobody) as hosted:
        records = SupabaseRecords(hosted, project.library, "thief")
        with pytest.raises(LrwrError) as caught:
            await records.put(a_record(KEY))
    assert not isinstance(caught.value, StoreProblem)
    assert "lrwr login" in caught.value.hint


async def test_each_function_has_something_for_the_owner(
    supabase: SupabaseServer,
) -> None:
    own = await guarded_project(supabase)
    supabase.postgres.run(
        "update lrwr_job set state = 'running', worker = 'w', attempts = 1"
        f" where owner = '{own.owner.id}'"
    )
    for name in OF_RECORDS:
        _, answer = OF_RECORDS[name]
        found = call(own, name, own.owner)
        assert (found == answer) == (name in SAME_FOR_ALL), name
        assert found != REFUSED, name
    assert "[]\n[]\n[]" in own.rows(*OWNED)
