"""`canon: …` in a conversation: the writer defines what the text leaves open.

Only what the writer types is read so; no text of the manuscript or of a model is.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lrwr.core.bible.gaps import find_gap_by_id
from lrwr.core.bible.name_lookup import match_people
from lrwr.core.bible.values import Bible
from lrwr.core.canon.decision import GapAnswered
from lrwr.core.canon.model import UndefinedAttribute as Asked
from lrwr.core.model.errors import NotFound
from lrwr.core.model.turns import GapFlag

_CANON = re.compile(
    r"\s*canon(?:\s+(?P<id>[a-z]{4,12}))?\s*:\s*(?P<said>.*)", re.I | re.S
)
_DEFINED = re.compile(
    r"(?P<about>[^\W\d_][^.!?:;\n]{0,78}?)(?:['’]s|(?<=s)['’])\s+"
    r"(?P<attribute>[^.!?:;,\n]{1,80}?)\s+(?:is|are|was|were)\s+(?P<answer>\S.*)",
    re.S,
)
"""Whose what is what: "Nell's coat is blue"."""


_HOW = (
    "Say it whole, `canon: Nell's coat is blue`, or name a gap of `lrwr gaps`,"
    " `canon bdfk: blue`."
)


@dataclass(frozen=True, slots=True)
class CanonCommand:
    """What the writer defines; `id` names a gap of the ledger, empty for none."""

    text: str
    id: str = ""


def parse_canon_command(text: str) -> CanonCommand | None:
    """Return what a question defines; None where it is a question."""
    found = _CANON.fullmatch(text)
    if found is None:
        return None
    return CanonCommand(" ".join(found["said"].split()), (found["id"] or "").lower())


def build_gap_answer(
    said: CanonCommand, bible: Bible, left_open: Sequence[GapFlag]
) -> GapAnswered:
    """Return the decision that `said` is.

    It answers the gap that it names by its id; else what "Nell's coat is blue" says
    of somebody known; else the one gap that the last answer left open.

    Raises:
        NotFound: Nothing says what is defined, or several things may be meant.
    """
    if not said.text:
        raise NotFound("`canon:` defines nothing", hint=_HOW)
    if said.id:
        gap = find_gap_by_id(said.id, bible.gaps)
        return GapAnswered(gap.asked.about, gap.asked.attribute, said.text)
    found = _DEFINED.fullmatch(said.text)
    people = match_people(found["about"], bible) if found else ()
    if found and len(people) == 1:
        return GapAnswered(
            people[0].name, found["attribute"], found["answer"].rstrip(" .")
        )
    if len(left_open) == 1:
        gap_flag = left_open[0]
        about, attribute = gap_flag.about, gap_flag.undefined_attribute
        return GapAnswered(about, attribute, said.text)
    if left_open:
        open_ = "; ".join(_named(gap) for gap in left_open)
        raise NotFound(f"The last answer left several things open: {open_}", hint=_HOW)
    raise NotFound("The last answer left nothing open", hint=_HOW)


def format_gap_answer(decision: GapAnswered, *, new: bool) -> str:
    """Return what the writer is told of a decision; `new` unless it was made before."""
    what = Asked(decision.about, decision.attribute)
    since = "Canon from now on" if new else "That is canon already"
    return f"{since}: {what}: {decision.answer}."


def _named(gap: GapFlag) -> str:
    return str(Asked(gap.about, gap.undefined_attribute))
