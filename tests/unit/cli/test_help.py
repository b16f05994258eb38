"""What `--help` says, and how."""

import pytest
from typer.testing import CliRunner

from lrwr.cli.main import COMMANDS, app
from lrwr.core.settings.consent import CONSENT_SERVICES

WIDE = {"COLUMNS": "200"}
PANELS = ("Write", "Story", "Check", "Decide", "Library", "Services")


def help_of(*words: str) -> str:
    result = CliRunner().invoke(app, [*words, "--help"], env=WIDE)
    assert result.exit_code == 0
    return result.output


def test_help_fills_the_width_that_there_is() -> None:
    text = help_of("forget")
    assert "are never changed. Threads (saved conversations) cannot be restored" in text


@pytest.mark.parametrize("command", ["allow", "deny"])
def test_every_service_that_can_be_allowed_is_named(command: str) -> None:
    words = help_of("privacy", command).replace(",", " ").replace(".", " ").split()
    assert set(CONSENT_SERVICES) <= set(words)


def test_commands_are_listed_in_panels() -> None:
    text = help_of()
    places = [text.index(f"─ {panel} ─") for panel in PANELS]
    assert places == sorted(places)
    assert text.index("Check every part") > text.index("─ Library ─")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_in_one_sentence_what_it_does(name: str) -> None:
    summary = COMMANDS[name].summary
    assert summary[0].isupper()
    assert summary.endswith((".", ")."))
    assert "Example" in help_of(name) or name in {"config", "export", "deploy", "post"}
