"""What is typed is a question or a command, and never both."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.tui.input.prompt import (
    CompletionContext,
    TypedCommand,
    TypedQuestion,
    UnclearInput,
    escape_question,
    list_commands,
    parse_prompt_input,
    suggest_completions,
)

NAMES = frozenset({"character", "asof", "threads", "quit"})

PEOPLE = CompletionContext(
    ("Nell Tallow", "Nellie", "Mrs. Gannet"),
    (("ch1", "The Fog"), ("ch2", "Low Tide"), ("ch10", "Third Bell")),
)


@given(st.text())
def test_every_text_is_one_of_three_things(text: str) -> None:
    assert isinstance(
        parse_prompt_input(text, NAMES), TypedQuestion | TypedCommand | UnclearInput
    )


@given(st.text().map(str.strip).filter(bool))
def test_every_question_can_be_asked_somehow(question: str) -> None:
    assert parse_prompt_input(escape_question(question), NAMES) == TypedQuestion(
        question
    )


@given(st.text().filter(lambda text: not text.startswith("/")))
def test_what_begins_otherwise_is_a_question(text: str) -> None:
    assert parse_prompt_input(text, NAMES) == TypedQuestion(text.strip())


@given(st.text().map(str.strip).filter(lambda text: not text.startswith("/")))
def test_a_second_slash_makes_a_question(text: str) -> None:
    assert parse_prompt_input(f"//{text}", NAMES) == TypedQuestion(f"/{text}")


@given(
    st.sampled_from(sorted(NAMES)),
    st.text().map(str.strip),
    st.sampled_from([" ", "  ", "\n", " \t"]),
)
def test_a_command_is_told_from_its_words(name: str, words: str, gap: str) -> None:
    assert parse_prompt_input(f"/{name}{gap}{words}", NAMES) == TypedCommand(
        name, words
    )
    assert parse_prompt_input(f"/{name.upper()}{gap}{words}", NAMES) == TypedCommand(
        name, words
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/charcter", "There is no command /charcter. Did you mean /character?"),
        (
            "/etc/passwd",
            "There is no command /etc/passwd. To start a question with a slash",
        ),
        ("/", "Type a command after the slash; /help"),
        (
            "/merge",
            "There is no command /merge. /review lists names to decide on; in a shell, `lrwr canon merge`.",
        ),
        ("/ quit", "Type a command after the slash; /help"),
    ],
)
def test_what_is_no_command_is_told_in_a_line(text: str, said: str) -> None:
    found = parse_prompt_input(text, NAMES)
    assert isinstance(found, UnclearInput)
    assert found.why.startswith(said)
    assert "\n" not in found.why


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("/ch", ["/character ", "/characters ", "/check "]),
        ("/t", ["/threads", "/timeline"]),
        ("/line", ["/timeline"]),
        ("/character ", [f"/character {name}" for name in PEOPLE.names]),
        ("/characters gan", ["/characters Mrs. Gannet"]),
        ("/CHARACTER NELL", ["/character Nell Tallow", "/character Nellie"]),
        ("/character Nell Tallow", []),
        ("/asof ch1", ["/asof ch10"]),
        ("/asof tide", ["/asof ch2"]),
        ("/mode in", ["/mode in_character"]),
        ("/copy ", ["/copy answer", "/copy quote"]),
        ("/rename Ni", []),
        ("/nothing x", []),
        ("//ch", []),
        (" /ch", []),
        ("Who keeps the ledger?", []),
        ("", []),
    ],
)
def test_what_is_begun_is_offered_to_go_on(text: str, offered: list[str]) -> None:
    assert [one.text for one in suggest_completions(text, PEOPLE)] == offered


@given(st.text(), st.lists(st.text(), max_size=5))
def test_an_offer_goes_on_as_a_command(text: str, names: list[str]) -> None:
    for offer in suggest_completions(f"/{text}", CompletionContext(tuple(names))):
        assert isinstance(parse_prompt_input(offer.text, list_commands()), TypedCommand)
