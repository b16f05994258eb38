"""Who speaks, a language model's words as they come, and names nobody can know yet."""

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing

from lrwr.core.bible.characters import compile_forms_pattern
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.turns import (
    AnswerIntent,
    AnswerMode,
    AnswerSpeaker,
    AnswerToken,
    QuestionPlan,
)
from lrwr.core.ports.chat_model import ChatMessage, ChatModel


def find_answering_character(question: TurnQuestion, plan: QuestionPlan) -> str:
    """Return the character who answers; empty where the analyst does.

    What would be if is judged from outside, whoever is asked.
    """
    if (
        question.mode is not AnswerMode.IN_CHARACTER
        or plan.intent is AnswerIntent.SCENARIO
    ):
        return ""
    return question.character


async def stream_model_answer(
    model: ChatModel, messages: Sequence[ChatMessage]
) -> AsyncGenerator[AnswerToken]:
    """Yield the model's answer piece by piece, as its server sends it.

    Closing it closes the model's stream. What came before a failure was yielded.

    Raises:
        ServiceUnavailable: The server did not answer, refused, or broke off.
    """
    async with aclosing(model.stream(messages)) as pieces:
        async for piece in pieces:
            if piece:
                yield AnswerToken(piece, AnswerSpeaker.AVATAR)


def find_names_beyond_horizon(
    answer: str, bible_whole_names: Collection[str], known_names: Collection[str]
) -> tuple[str, ...]:
    """Return the names in a finished answer that nobody knows yet, each once, in order.

    `bible_whole_names` are all forms of all names of characters and world elements,
    `known_names` those in sight at the horizon. Of forms that fit in one place the
    longest counts: "Nell Tallow" may give away what "Nell" does not. Capitals count
    too: a name may be a common word.
    """
    known = {_plain(name) for name in known_names}
    names = compile_forms_pattern({_plain(name) for name in bible_whole_names} | known)
    if names is None:
        return ()
    found = (name[0] for name in names.finditer(_plain(answer)))
    return tuple(dict.fromkeys(name for name in found if name not in known))


def _plain(text: str) -> str:
    """Return a text with single spaces and straight apostrophes."""
    return " ".join(text.replace("’", "'").split())
