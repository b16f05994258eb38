"""How many modules a command passes through never grows: lower a limit, never raise it.

`python -m bench.journeys --modules` shows the way through the modules.
"""

import pytest

from bench.journeys import EXAMPLE, trace_journeys

LIMITS = {
    "ingest": 100,
    "ingest, one changed": 99,
    "watch, one save": 117,
    "search": 52,
    "ask": 106,
}


@pytest.mark.timeout(300)
@pytest.mark.exhaustive
def test_no_command_passes_through_more_modules_than_it_did() -> None:
    entered = {one.name: one.modules for one in trace_journeys(EXAMPLE)}
    assert entered.keys() == LIMITS.keys()
    beyond = {
        name: f"{len(modules)} modules, at most {LIMITS[name]}"
        for name, modules in entered.items()
        if len(modules) > LIMITS[name]
    }
    assert not beyond
