"""What holds for all tests: nothing depends on how fast a machine is."""

import gc
import os
from collections.abc import Generator, Iterator
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.fakes.suite import examples, thin_out

if TYPE_CHECKING:
    from tests.fakes.hosted import Writer
    from tests.fakes.supabase_server import SupabaseServer

settings.register_profile("lrwr", deadline=None, max_examples=examples(100))
settings.load_profile("lrwr")

REQUIRED = "REQUIRE_SUPABASE"
"""Set where a test of Supabase that is skipped has failed."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    thin_out(items)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    wanted = os.environ.get(REQUIRED) and item.get_closest_marker("supabase")
    if wanted and report.skipped:
        report.outcome, report.longrepr = "failed", str(report.longrepr)
    return report


COLLECTOR_THRESHOLDS = gc.get_threshold()
COLLECT_EVERY = 20
"""Tests with commands after which their garbage is collected: it takes 0.1 s or more."""

_tests_with_commands = count(1)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Undo what a command does for a short process: it freezes what it has imported.

    The garbage of earlier commands is frozen with it, and would never be freed.
    """
    if gc.get_freeze_count():
        gc.unfreeze()
        gc.set_threshold(*COLLECTOR_THRESHOLDS)
        if next(_tests_with_commands) % COLLECT_EVERY == 0:
            gc.collect()


@pytest.fixture(scope="session")
def supabase() -> "Iterator[SupabaseServer]":
    from tests.fakes.supabase_server import missing, supabase_server

    if lacking := missing():
        pytest.skip(lacking)
    with supabase_server() as server:
        yield server


@pytest.fixture(scope="session")
def writer(supabase: "SupabaseServer") -> "Writer":
    from tests.fakes.hosted import sign_up

    return sign_up(supabase)
