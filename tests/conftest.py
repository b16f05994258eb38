"""What holds for all tests: nothing depends on how fast a machine is."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from tests.fakes.hosted import Writer
    from tests.fakes.supabase_server import SupabaseServer

settings.register_profile("lrwr", deadline=None)
settings.load_profile("lrwr")

REQUIRED = "LRWR_REQUIRE_SUPABASE"


@pytest.fixture(scope="session")
def supabase() -> "Iterator[SupabaseServer]":
    from tests.fakes.supabase_server import missing, supabase_server

    lacking = missing()
    if lacking and os.environ.get(REQUIRED):
        pytest.fail(lacking)
    if lacking:
        pytest.skip(lacking)
    with supabase_server() as server:
        yield server


@pytest.fixture(scope="session")
def writer(supabase: "SupabaseServer") -> "Writer":
    from tests.fakes.hosted import sign_up

    return sign_up(supabase)
