"""Only the command that is named is laid out: `lrwr search` need not know of `chat`."""

import pytest

from lrwr.cli.main import COMPLETION_VARIABLE, app, app_for

ALONE = [str(one.name) for one in app.registered_commands]
GROUPS = [str(one.name) for one in app.registered_groups]


@pytest.mark.parametrize("name", [*ALONE, *GROUPS])
def test_a_command_that_is_named_first_is_there_alone(name: str) -> None:
    chosen = app_for([name])
    commands = [one.name for one in chosen.registered_commands]
    groups = [one.name for one in chosen.registered_groups]
    assert [*commands, *groups] == [name]
    assert chosen.registered_callback is app.registered_callback


@pytest.mark.parametrize("first", [[], ["searhc"], ["--help"], ["--color"]])
def test_all_are_there_where_none_is_named_first(first: list[str]) -> None:
    assert app_for(first) is app


def test_all_are_there_while_a_shell_completes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(COMPLETION_VARIABLE, "complete_zsh")
    assert app_for(["search"]) is app
