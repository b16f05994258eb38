"""How much of the tests runs: all of it, or what a change is checked with each time.

`make test` leaves out what is marked `exhaustive`, and tries a fifth of the examples.
`make test-all` sets WHOLE_SUITE=1 and leaves nothing out.
"""

import os
from collections.abc import Iterable
from typing import TypeVar, cast

import pytest
from _pytest.mark.structures import ParameterSet

FIFTH = 5
"""The fast suite tries one in so many."""

HOSTED = frozenset(
    f"test_{name}.py"
    for name in (
        *("deploy", "experiments", "hosted_search", "qdrant", "remote", "traces"),
        *("secrets", "secrets_hosted", "secrets_remote", "stranger"),
    )
)
"""Modules of end-to-end tests that try hosted services and hostile folders at length."""

T = TypeVar("T")


def is_whole() -> bool:
    """Whether the whole suite runs."""
    return os.environ.get("WHOLE_SUITE", "") == "1"


def examples(count: int) -> int:
    """Return how many of `count` examples are tried: all, or a fifth."""
    return count if is_whole() else max(1, count // FIFTH)


def sampled(cases: Iterable[T], *, every: int = FIFTH) -> list[T]:
    """Return what is parametrized: one case in `every`, and the others as exhaustive.

    A case with several values is a tuple, as it is for `pytest.mark.parametrize`.
    """
    return [
        case if number % every == 0 else _exhaustive(case)
        for number, case in enumerate(cases)
    ]


def _exhaustive(case: T) -> T:
    mark = pytest.mark.exhaustive
    if isinstance(case, ParameterSet):
        marked = pytest.param(*case.values, marks=(*case.marks, mark), id=case.id)
    else:
        values = case if isinstance(case, tuple) else (case,)
        marked = pytest.param(*values, marks=mark)
    return cast(T, marked)


def thin_out(items: Iterable[pytest.Item]) -> None:
    """Mark as exhaustive all but a fifth of each module's tests of hosted services.

    They are those that want Supabase, and all of the modules in `HOSTED`.
    """
    seen: dict[str, int] = {}
    for item in items:
        is_hosted = item.path.name in HOSTED and item.path.parent.name == "e2e"
        if not is_hosted and item.get_closest_marker("supabase") is None:
            continue
        number = seen.setdefault(item.path.as_posix(), 0)
        seen[item.path.as_posix()] += 1
        if number % FIFTH:
            item.add_marker(pytest.mark.exhaustive)
