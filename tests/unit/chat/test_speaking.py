"""A model's words pass on as they come; names out of sight are noticed."""

from collections.abc import AsyncGenerator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.bible.name_lookup import list_forms_of_known
from lrwr.core.bible.values import AliasForm, Bible, CharacterProfile
from lrwr.core.chat.generation.prompts import (
    find_names_beyond_horizon,
    stream_model_answer,
)
from lrwr.core.chat.state import TurnQuestion, find_answering_character
from lrwr.core.model.cast import Gender
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.facts import Certainty
from lrwr.core.model.turns import AnswerIntent, AnswerSpeaker, AnswerToken
from lrwr.core.ports.models import ChatMessage, ChatReply, ReplyShape
from tests.fakes.chat_models import ScriptedChat
from tests.fakes.chatting import a_plan

ASKED = [ChatMessage("user", "Who are you?")]


class Breaking:
    """Says two pieces, then breaks off; remembers whether its stream was closed."""

    name = "breaking"

    def __init__(self) -> None:
        self.closed = False

    async def fill(
        self, messages: Sequence[ChatMessage], shape: ReplyShape
    ) -> ChatReply:
        """Fail."""
        raise ServiceUnavailable("The model is away.")

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[str]:
        """Yield what there is."""
        try:
            yield "The lamp"
            yield " must"
            raise ServiceUnavailable("The model broke off.")
        finally:
            self.closed = True


async def test_pieces_pass_on_as_the_server_sends_them() -> None:
    model = ScriptedChat(["Nell", "", " Tallow", "."])
    said = [token async for token in stream_model_answer(model, ASKED)]
    assert said == [
        AnswerToken(text, AnswerSpeaker.AVATAR) for text in ("Nell", " Tallow", ".")
    ]
    assert model.asked == [(ASKED, None)]


async def test_what_came_before_a_failure_is_not_lost() -> None:
    model, said = Breaking(), list[str]()
    with pytest.raises(ServiceUnavailable, match="broke off"):
        async for token in stream_model_answer(model, ASKED):
            said.append(token.text)
    assert said == ["The lamp", " must"]
    assert model.closed


async def test_stopping_closes_the_stream_of_the_model() -> None:
    model = Breaking()
    tokens = stream_model_answer(model, ASKED)
    assert (await anext(tokens)).text == "The lamp"
    await tokens.aclose()
    assert model.closed


WHOLE = ["Nell", "Nell Tallow", "Corin Vale", "Corin", "Gull Post", "O’Hara"]


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("I know Nell and nobody else.", ()),
        ("Corin Vale came, and Corin went to Gull Post.", ("Corin Vale", "Corin", "Gull Post")),
        ("Nell Tallow’s lamp.", ("Nell Tallow",)),
        ("Corin’s lamp, and Corin’s boat.", ("Corin",)),
        ("The corinthian was no coring.", ()),
        ("Gull\nPost is far.", ("Gull Post",)),
        ("O'Hara and O’Hara", ("O'Hara",)),
        ("", ()),
    ],
)  # fmt: skip
def test_names_that_nobody_knows_yet_are_noticed_once(
    answer: str, names: tuple[str, ...]
) -> None:
    assert find_names_beyond_horizon(answer, WHOLE, ["Nell"]) == names


def test_who_knows_everybody_betrays_nobody() -> None:
    assert find_names_beyond_horizon("Corin Vale of Gull Post", WHOLE, WHOLE) == ()
    assert find_names_beyond_horizon("Corin Vale", [], []) == ()


def person(name: str, *others: str) -> CharacterProfile:
    sure = Certainty.CONFIRMED
    forms = tuple(AliasForm(form, 3, sure) for form in (name, *others))
    return CharacterProfile(name, forms, Gender.UNKNOWN, sure, sure)


def test_another_form_of_a_known_name_betrays_nobody() -> None:
    whole = Bible(
        characters=(
            person("Lydia", "Miss Lydia Bennet", "Mrs. Wickham"),
            person("Mrs. Gray", "Anna Gray"),
        )
    )
    known = {"Lydia", "Mrs. Long"}
    assert list_forms_of_known(whole, known) == {"Lydia", "Miss Lydia Bennet"}


@given(st.lists(st.sampled_from([*WHOLE, "and", "the lamp", "“"])).map(" ".join))
def test_only_unknown_names_are_ever_returned(answer: str) -> None:
    names = find_names_beyond_horizon(answer, WHOLE, ["Nell", "Corin"])
    plain = {name.replace("’", "'") for name in WHOLE}
    assert set(names) <= plain - {"Nell", "Corin"}
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("mode", "intent", "speaker"),
    [
        (AnswerMode.ANALYTICAL, AnswerIntent.ANALYTICAL, ""),
        (AnswerMode.IN_CHARACTER, AnswerIntent.IN_CHARACTER, "Nell"),
        (AnswerMode.IN_CHARACTER, AnswerIntent.ANALYTICAL, "Nell"),
        (AnswerMode.IN_CHARACTER, AnswerIntent.SCENARIO, ""),
    ],
)
def test_the_mode_says_who_speaks(
    mode: AnswerMode, intent: AnswerIntent, speaker: str
) -> None:
    question = TurnQuestion("Why?", mode, "Nell")
    assert find_answering_character(question, a_plan(intent=intent)) == speaker
