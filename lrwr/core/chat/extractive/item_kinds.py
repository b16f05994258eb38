"""Says whether a fact or line is of the kind that a question asks for."""

import re
from collections.abc import Sequence

from lrwr.core.chat.context.items import (
    CONNECTION_LABEL,
    KIND_LABEL,
    ContextItem,
    StoryFacet,
)
from lrwr.core.chat.extractive.answer_types import asks_when
from lrwr.core.chat.extractive.question_parts import QuestionPart
from lrwr.core.model.text import extract_capitalized_words, extract_content_words
from lrwr.core.ports.story_stores import AppearanceRole
from lrwr.core.retrieval.people import infer_question_role

MIN_STATEMENT_FIT = 0.75
"""Share of the part's term weight that an event or dialogue line must cover: a story has
thousands, and one that shares a word with the question seldom answers it."""

_SAYING_QUESTION = re.compile(
    r"^\W*(?:(?:and|so|but)\s+)?(?:what|which\s+words)\b[^,;:]{1,80}?\b(?:say|says|said"
    r"|tell|tells|told|answer|answers|answered|reply|replies|replied|promise|promises"
    r"|promised|ask|asks|asked|explain|explains|explained)\b|\b(?:words?|lines?|quote|quotes)\b",
    re.IGNORECASE,
)
"""Questions that lines of dialogue answer: what somebody says, not why or where."""

_SAYING_VERB = re.compile(
    r"(?:say|said|tell|told|answer|repl[iy]|promise|ask|explain)\w*"
)
"""Words of such a question that do not tell what the line is about."""

_SCENE_QUESTION = re.compile(
    r"\bhappen\w*|\btakes?\s+place|\bscenes?\b|\bwhat\s+(?:do|does|did)\b",
    re.IGNORECASE,
)
"""Questions that the key sentences of a whole scene may answer."""

_LOOK_QUESTION = re.compile(r"\blooks?\s+like\b|\bappearance\b", re.IGNORECASE)
"""Questions about looks, which values, relations and events do not answer."""

_LABELS_WITHOUT_LOOKS = frozenset(
    {"occupation", "home", "born", "birth", "rank", "title", "nationality", "life"}
)
"""Labels of attributes that do not say how somebody looks."""

_BODY_LABELS = frozenset(
    {
        "eyes", "hair", "height", "build", "complexion", "face", "nose", "skin", "beard",
        "voice", "clothing",
    }
)  # fmt: skip
"""Labels of attributes that do not say who somebody is."""

_DESCRIPTION_QUESTION = re.compile(r"\b(?:describe|introduce|physically)\b", re.I)
"""Questions for a description, which events do not answer."""

_WHO_QUESTION = re.compile(r"\b(?:who|whom|whose|characters?|people)\b", re.IGNORECASE)

_NARROW_QUESTION = re.compile(
    r"^\W*(?:(?:and|so|but)\s+)?(?:where|when|why|how|whose|which|is|are|was|were|has|have"
    r"|had|does|do|did|can|could|will|would)\b",
    re.IGNORECASE,
)
"""Questions that ask one particular thing, even if all their content words are names."""

RELATION_QUESTION = re.compile(
    r"^\W*(?:(?:and|so|but)\s+)?(?:who|whose|what\s+(?:exactly\s+)?(?:is|was|are|were))\b"
    r"|\brelat(?:ed|ions?|ionships?)\b|\b(?:each\s+other|one\s+another)\b"
    r"|\bfamily\s+to\b|\bstands?\s+(?:to|with)\b",
    re.IGNORECASE,
)
"""Questions that a relation to another person can answer."""


_ORDER_OF_KIN = re.compile(
    r"\b(elder|eldest|older|oldest|younger|youngest|late|former|first|second|twin)\s+"
    r"(?:\w+\s+)?(?:brother|sister|son|daughter|child|wife|husband|cousin|aunt|uncle)s?\b",
    re.IGNORECASE,
)
"""One of several relatives, whom a relation names only with the same word."""


def drop_body_alone(
    part: QuestionPart, lines: Sequence[tuple[ContextItem, ...]]
) -> list[tuple[ContextItem, ...]]:
    """Return `lines`; none if they only describe somebody's body, and `part` asks who that
    is.
    """
    items = [item for line in lines for item in line]
    is_body = all(item.label.lower() in _BODY_LABELS for item in items)
    asks_who = not part.words.weights and _WHO_QUESTION.search(part.text) is not None
    return [] if asks_who and is_body else list(lines)


def is_beside_question(part: QuestionPart, item: ContextItem) -> bool:
    """Return whether an item is of another kind than `part` asks for, whatever its
    words. Relations between two people it names are not.
    """
    question = part.text
    match item.facet:
        case StoryFacet.LINE:
            only_says = all(map(_SAYING_VERB.fullmatch, part.words.weights))
            is_open = bool(part.words.weights) and only_says
            is_other = _SAYING_QUESTION.search(question) is None
            return is_open or is_other or _is_spoken_to(question, item.about)
        case StoryFacet.WORLD:
            is_connection = item.label == CONNECTION_LABEL
            return item.label == KIND_LABEL or (
                is_connection and not _asks_for_connection(part, item)
            )
        case StoryFacet.RELATION:
            return _is_relation_beside_question(part, item)
        case StoryFacet.LOOK if _LOOK_QUESTION.search(question):
            return item.label.lower() in _LABELS_WITHOUT_LOOKS
        case StoryFacet.HAPPENED:
            return _is_event_beside_question(part, item)
        case StoryFacet.CHARACTER:
            return _LOOK_QUESTION.search(question) is not None
        case _:
            return False


def _is_relation_beside_question(part: QuestionPart, item: ContextItem) -> bool:
    """Return whether a relation does not answer `part`: it asks for the elder, younger or
    late one of relatives, and the relation does not say which it is, or for no relation.
    """
    order = _ORDER_OF_KIN.search(part.text)
    if order is not None and order[1].lower() not in item.words.lower():
        return True
    if len(part.people) > 1:
        return False
    if _NARROW_QUESTION.search(part.text):
        return RELATION_QUESTION.search(part.text) is None
    return _LOOK_QUESTION.search(part.text) is not None


def _asks_for_connection(part: QuestionPart, item: ContextItem) -> bool:
    """Return whether `part` asks who has to do with a world element, and not what they
    do there, as in "who rents it".
    """
    is_plain = part.words.weights.keys() <= set(extract_content_words(item.about))
    return is_plain and _WHO_QUESTION.search(part.text) is not None


def _is_event_beside_question(part: QuestionPart, item: ContextItem) -> bool:
    """Return whether an event does not answer `part`: it asks for looks, or when
    something happens, and the event is another one.

    The key sentences of a whole scene are no event; a sentence on what is asked for has
    all names in the question, and the words that say what happens.
    """
    is_scene = any(len(words.spans) > 1 for words in item.evidence)
    if not asks_when(part.text):
        patterns = [_DESCRIPTION_QUESTION, _LOOK_QUESTION]
        patterns += [_SAYING_QUESTION] if is_scene else []
        is_other = is_scene and not _SCENE_QUESTION.search(part.text)
        return is_other or any(pattern.search(part.text) for pattern in patterns)
    question, *_ = part.text.split("?")  # referents of its pronouns follow
    names = extract_capitalized_words(question)
    return (
        is_scene
        or not set(names).issubset(extract_content_words(item.words))
        or part.words.coverage(item.words) < MIN_STATEMENT_FIT
    )


def _is_spoken_to(question: str, name: str) -> bool:
    """Return whether `question` names somebody only as one who hears something, as Nell
    in "What does the boy say to Nell?": lines of Nell do not answer it.
    """
    words = "|".join(map(re.escape, name.split()))
    places = [m.start() for m in re.finditer(rf"\b(?:{words})\b", question)]
    roles = {infer_question_role(question, place) for place in places}
    return bool(roles) and AppearanceRole.SPEAKS not in roles
