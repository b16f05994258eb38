"""The attribute of a character that a question asks for, as an open question."""

import re

from lrwr.core.bible.values import Gap, list_gap_implications
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.turns import GapFlag, QuestionPlan

_THING = r"(?P<thing>[a-z][\w-]*(?: [a-z][\w-]*){0,3}?)"
_NO_ATTRIBUTES = frozenset(
    [
        "thing",
        "things",
        "way",
        "part",
        "plan",
        "idea",
        "idea",
        "opinion",
        "reaction",
        "answer",
        "reason",
        "role",
        "fault",
        "life",
        "point",
        "problem",
        "matter",
        "relation",
        "relationship",
        "feeling",
        "feelings",
    ]
)
"""Nouns after "Nell's" that are no attribute which a story defines once."""
_FORMS = tuple(
    (re.compile(pattern, re.I), attribute)
    for pattern, attribute in (
        (r"\bhow old\b|\b(?:what|which) age\b", "age"),
        (r"\bhow tall\b", "height"),
        (r"\b(?:when|what (?:day|year)) (?:is|was)\b.*\bborn\b", "birth"),
        (r"\bwhere (?:is|was)\b.*\bborn\b", "place of birth"),
        (r"\bwhere (?:do|does|did)\b.*\b(?:live|dwell|lodge|reside)\b", "home"),
        (
            rf"\bwhat (?:(?:is|was) the )?(?P<kind>colou?r|name) (?:of|is|are|was|were)\b"
            rf".*?(?:['’]s?|\bhis|\bher|\btheir) {_THING}\W*$",
            "",
        ),
        (rf"\b(?:what|who)(?:['’]s| is| are| was| were)\b.*?['’]s? {_THING}\W*$", ""),
        (rf"\bwhat(?:['’]s| is| are| was| were) the {_THING} of\b", ""),
        (rf"\b(?:has|have|had)\b.*? (?:an?|any) {_THING}\W*$", ""),
        (
            rf"\b(?:do|does|did)\b.*? (?:have|own|keep) (?:an?|any) {_THING}\W*$",
            "",
        ),
    )
)
"""Questions for an attribute; without a fixed name, it is the group `thing`."""


def find_question_gap(
    question: TurnQuestion, result: RetrievalResult, plan: QuestionPlan | None = None
) -> GapFlag | None:
    """Return a gap for the attribute of a character that `question` asks for; None if
    it asks for something else, about nobody or several, or up to a horizon.

    The character is the one who is talked to, else the only one of `result`, else the
    only entity of `plan`.
    """
    names = [profile.name for profile in result.character_profiles]
    if not names and plan is not None:
        names = [entity.name for entity in plan.entities]
    about = question.character or (names[0] if len(names) == 1 else "")
    attribute = find_asked_attribute(question.text)
    if not about or not attribute or question.horizon is not None:
        return None
    return GapFlag(about, attribute)


def find_asked_attribute(text: str) -> str:
    """Return the attribute that an English question asks for, such as "age" or
    "favourite song"; "" if it asks for something else, such as a reason.
    """
    words = " ".join(text.split())
    for pattern, attribute in _FORMS:
        if match := pattern.search(words):
            groups = match.groupdict()
            thing = (groups.get("thing") or "").casefold()
            if thing and thing.split()[-1] in _NO_ATTRIBUTES:
                return ""
            match (groups.get("kind") or "").casefold():
                case "":
                    return attribute or thing
                case "name":
                    return f"name of {thing}"
                case colour:
                    return f"{thing.removesuffix('s')} {colour}"
    return ""


def build_gap_from_ledger(gap: Gap) -> GapFlag:
    """Return `gap`, of the story bible, in the form that answers use.

    Of its suggestions only the first is included.
    """
    implied = "; ".join(list_gap_implications(gap))
    return GapFlag(gap.about, gap.attribute, implied, "".join(gap.suggestions[:1]))
