"""What a planning model is told. Every word here is paid for with every question."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from lrwr.core.bible.name_lookup import match_elements, match_people
from lrwr.core.bible.values import Bible
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.language_model import (
    FENCE_RULE,
    generate_fence_mark,
    wrap_in_fence,
)
from lrwr.core.model.turns import INTENTIONS_BY_SOURCE, AnswerMode, AnswerSource
from lrwr.core.ports.models import ChatMessage

MAX_PROMPT_PEOPLE = 80
MAX_PROMPT_ELEMENTS = 80
"""Names that are shown: of people the most mentioned, of things the first."""

MAX_PROMPT_ALIASES = 4
"""Names of one person that are shown."""

MAX_PROMPT_EARLIER_QUESTIONS = 2
"""Questions before this one that are shown; "she" may mean somebody in them."""

_SHOWN_AGAIN = 800
"""Characters of a wrong reply that are shown to the model again."""

_HOLDS: Mapping[AnswerSource, str] = MappingProxyType(
    {
        AnswerSource.MANUSCRIPT: "the story's own words; dialogue_of: what somebody says",
        AnswerSource.PROFILES: "what is known of each character; voice: how they talk",
        AnswerSource.WORLD: "places, devices, groups, objects and rules of the world",
        AnswerSource.TIMELINE: "what happens, in order",
        AnswerSource.NOTES: "the writer's own notes: what they meant, what is undecided",
        AnswerSource.WEB: "other people's works, and the craft of writing",
    }
)

_TOOLS = """\
A novelist asks about their own manuscript. Do not answer: say what an answer needs.
tools: every tool that the answer needs, with what it is needed for, and no other. \
confidence: from 0 to 1, how sure it is that the answer needs it.
{tools}
intent: scenario asks what somebody would do in a case that the story does not have; \
gap_probe asks whether the text says a thing at all; external_reference asks about the \
craft of writing or a named work by somebody else; in_character talks to a character; \
any other question is analytical.
"""

_ENTITIES = """\
A novelist asks about their own manuscript. Do not answer: list whom and what the \
question names, each once. entities: people, places, groups, objects, rules and works, \
also those that a pronoun stands for. name: the known name where one is meant, else \
the question's own words. confidence: from 0 to 1, how sure it is that this is meant. \
No entities: an empty list.
"""


def build_tools_messages(question: TurnQuestion, bible: Bible) -> list[ChatMessage]:
    """Ask which sources a question needs, and for what."""
    tools = "\n".join(
        f"- {source}: {_HOLDS[source]}. For: {', '.join(INTENTIONS_BY_SOURCE[source])}"
        for source in AnswerSource
    )
    return _messages(_TOOLS.format(tools=tools), question, bible)


def build_entities_messages(question: TurnQuestion, bible: Bible) -> list[ChatMessage]:
    """Ask whom and what a question names."""
    return _messages(_ENTITIES, question, bible)


def build_planner_repair_messages(
    chat_messages: Sequence[ChatMessage], reply: str, problem: str
) -> list[ChatMessage]:
    """Ask the same once more, and say what was wrong with the reply."""
    repair_request = (
        f"That does not fit: {problem}. Answer again as asked, with JSON alone."
    )
    shown_reply = reply.strip()[:_SHOWN_AGAIN] or "-"
    return [
        *chat_messages,
        ChatMessage("assistant", shown_reply),
        ChatMessage("user", repair_request),
    ]


def _messages(
    instructions: str, question: TurnQuestion, bible: Bible
) -> list[ChatMessage]:
    """Fence all that anybody wrote; the instructions are the same every time."""
    blocks = {
        "people": _people(bible),
        "things": "\n".join(
            element.name for element in bible.world[:MAX_PROMPT_ELEMENTS]
        ),
        "talking to": _addressed(question),
        "in play": "\n".join(_in_play(question, bible)),
        "earlier questions": _earlier(question),
        "question": question.text,
    }
    mark = generate_fence_mark(*blocks.values())
    fenced_blocks = (
        wrap_in_fence(label, text, mark) for label, text in blocks.items() if text
    )
    return [
        ChatMessage("system", f"{instructions}{FENCE_RULE}"),
        ChatMessage("user", "\n".join(fenced_blocks)),
    ]


def _people(bible: Bible) -> str:
    lines = []
    for character in bible.characters[:MAX_PROMPT_PEOPLE]:
        forms = [form.name for form in character.aliases if form.name != character.name]
        lines.append(" = ".join((character.name, *forms[: MAX_PROMPT_ALIASES - 1])))
    return "\n".join(lines)


def _addressed(question: TurnQuestion) -> str:
    return question.character if question.mode is AnswerMode.IN_CHARACTER else ""


def _in_play(question: TurnQuestion, bible: Bible) -> list[str]:
    """Return what was talked of before, without what the horizon now hides."""
    return [
        name
        for name in question.state.entities
        if match_people(name, bible) or match_elements(name, bible)
    ]


def _earlier(question: TurnQuestion) -> str:
    return "\n".join(
        turn.question for turn in question.history[-MAX_PROMPT_EARLIER_QUESTIONS:]
    )
