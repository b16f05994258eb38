"""Builds the two prompts with which a language model plans a question.

Prompts are short because they are sent with every question. Their texts are part of
cache keys: change them only on purpose.
"""

from collections.abc import Mapping
from types import MappingProxyType

from lrwr.core.attribution.citations import strip_answer_citation_marks
from lrwr.core.bible.name_lookup import match_elements, match_people
from lrwr.core.bible.values import Bible
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.language_model import (
    FENCE_RULE,
    generate_fence_mark,
    wrap_in_fence,
)
from lrwr.core.model.turns import INTENTIONS_BY_SOURCE, AnswerSource
from lrwr.core.ports.models import ChatMessage

MAX_PROMPT_PEOPLE = 80
MAX_PROMPT_ELEMENTS = 80
"""Names in the prompt at most: the most mentioned characters, the first elements."""

MAX_PROMPT_ALIASES = 4
"""Names of one character in the prompt at most."""

MAX_PROMPT_EARLIER_TURNS = 2
"""Earlier turns in the prompt, because "she" may refer to a name in them."""

MAX_PROMPT_ANSWER_CHARS = 600
"""Characters of each earlier answer in the prompt."""

_SOURCE_CONTENTS: Mapping[AnswerSource, str] = MappingProxyType(
    {
        AnswerSource.MANUSCRIPT: "the story's own words; dialogue_of: what somebody says",
        AnswerSource.PROFILES: "what is known of each character; voice: how they talk",
        AnswerSource.WORLD: "places, devices, groups, objects and rules of the world",
        AnswerSource.TIMELINE: "what happens, in order",
        AnswerSource.NOTES: "the writer's own notes: what they meant, what is undecided",
        AnswerSource.WEB: "other people's works, and the craft of writing",
    }
)
_TOOLS_PROMPT = """\
A novelist asks about their own manuscript. Do not answer: say what an answer needs.
tools: every tool that the answer needs, with what it is needed for, and no other. \
confidence: from 0 to 1, how sure it is that the answer needs it; below {threshold} it \
is ignored.
{tools}
intent: scenario asks what somebody would do in a case that the story does not have; \
gap_probe asks what the text leaves open, or whether it says a thing at all, and not \
what it says of it; judgement asks for your opinion on \
the book's craft, pacing, voice or consistency; external_reference asks about the craft \
of writing in general or a named work by somebody else; in_character talks to a \
character, also in a case that the story does not have; any other question is analytical.
question: the question so that it can be understood without the earlier turns, with \
names for pronouns, but for you and I; the same words if it already can.
searches: 0 to 3 texts to search for beside the question, each as a line of the book \
might run. Leave names out unless the line itself would have them.
chapters: numbers of chapters that must be read whole, as for a summary or a judgement \
of one; else an empty list.
"""

_ENTITIES_PROMPT = """\
A novelist asks about their own manuscript. Do not answer: list whom and what the \
question names, each once. entities: people, places, groups, objects, rules and works, \
also those that a pronoun stands for. name: the known name where one is meant, else \
the question's own words. confidence: from 0 to 1, how sure it is that this is meant; below {threshold} it is \
ignored. No entities: an empty list.
"""


def build_tools_messages(
    question: TurnQuestion, bible: Bible, threshold: float
) -> list[ChatMessage]:
    """Return the prompt that asks which sources `question` needs, and for what, how it
    reads on its own, and what to search for.

    Choices below the confidence `threshold`, 0.0 to 1.0, will be ignored.

    Names come from `bible`, which must end at the question's horizon.
    """
    tools = "\n".join(
        f"- {source}: {_SOURCE_CONTENTS[source]}. For: {', '.join(INTENTIONS_BY_SOURCE[source])}"
        for source in AnswerSource
    )
    instructions = _TOOLS_PROMPT.format(tools=tools, threshold=threshold)
    return _build_messages(instructions, question, bible)


def build_entities_messages(
    question: TurnQuestion, bible: Bible, threshold: float
) -> list[ChatMessage]:
    """Return the prompt that asks which characters, places and things `question` names.

    Names below the confidence `threshold`, 0.0 to 1.0, will be ignored.

    Known names come from `bible`, which must end at the question's horizon.
    """
    return _build_messages(
        _ENTITIES_PROMPT.format(threshold=threshold), question, bible
    )


def _build_messages(
    instructions: str, question: TurnQuestion, bible: Bible
) -> list[ChatMessage]:
    """Return the instructions, and everything that depends on the question in fences."""
    blocks = {
        "people": _format_people(bible),
        "things": "\n".join(
            element.name for element in bible.world[:MAX_PROMPT_ELEMENTS]
        ),
        "talking to": _get_addressee(question),
        "character": "" if _get_addressee(question) else question.character,
        "the story so far ends with chapter": _format_horizon(question),
        "in play": "\n".join(_list_entities_in_play(question, bible)),
        "earlier turns": _format_earlier_turns(question),
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


def _format_people(bible: Bible) -> str:
    lines = []
    for character in bible.characters[:MAX_PROMPT_PEOPLE]:
        forms = [form.name for form in character.aliases if form.name != character.name]
        lines.append(" = ".join((character.name, *forms[: MAX_PROMPT_ALIASES - 1])))
    return "\n".join(lines)


def _get_addressee(question: TurnQuestion) -> str:
    return question.character if question.mode is AnswerMode.IN_CHARACTER else ""


def _list_entities_in_play(question: TurnQuestion, bible: Bible) -> list[str]:
    """Return the entities of the conversation that are known at the horizon."""
    return [
        name
        for name in question.state.entities
        if match_people(name, bible) or match_elements(name, bible)
    ]


def _format_horizon(question: TurnQuestion) -> str:
    return str(question.horizon.chapter) if question.horizon else ""


def _format_earlier_turns(question: TurnQuestion) -> str:
    """Return the last questions with the beginnings of their answers, without answers
    whose cited passages have changed.
    """
    lines: list[str] = []
    for turn in question.history[-MAX_PROMPT_EARLIER_TURNS:]:
        lines.append(f"Question: {turn.question}")
        answer = strip_answer_citation_marks(turn.output.response_text)
        answer = " ".join(answer.split())[:MAX_PROMPT_ANSWER_CHARS]
        if answer and turn.id not in question.outdated:
            lines.append(f"Answer: {answer}")
    return "\n".join(lines)
