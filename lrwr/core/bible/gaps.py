"""Collects the gaps of a story: what the text leaves undefined, and what the user
decided about it. Parses `canon:` statements, by which the user answers them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lrwr.core.bible.name_lookup import match_people
from lrwr.core.bible.profiles import (
    SourcedFact,
    VisibleFacts,
    merge_claims,
    normalize_attribute,
    normalize_value,
)
from lrwr.core.bible.values import (
    Bible,
    BibleClaim,
    Gap,
    GapState,
    TextEvidence,
    assign_short_ids,
    find_by_id_prefix,
)
from lrwr.core.canon.decision import GapAnswered
from lrwr.core.canon.model import Canon, UndefinedAttribute
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound
from lrwr.core.model.facts import (
    RULES_KEEPER,
    WRITER_KEEPER,
    Certainty,
    CharacterField,
    FactAbout,
)
from lrwr.core.model.turns import GapFlag

_CANON_COMMAND = re.compile(
    r"\s*canon(?:\s+(?P<id>[a-z]{4,12}))?\s*:\s*(?P<said>.*)", re.I | re.S
)
_ATTRIBUTE_STATEMENT = re.compile(
    r"(?P<about>[^\W\d_][^.!?:;\n]{0,78}?)(?:['’]s|(?<=s)['’])\s+"
    r"(?P<attribute>[^.!?:;,\n]{1,80}?)\s+(?:is|are|was|were)\s+(?P<answer>\S.*)",
    re.S,
)
"""A statement about an attribute: "Nell's coat is blue"."""

_CANON_HINT = (
    "Write the full statement, as in `canon: Nell's coat is blue`, or the id of an"
    " open question from `lrwr gaps`, as in `canon bdfk: blue`."
)

GapKey = tuple[str, str]
"""Normalized name in the whole cast, and normalized attribute."""


@dataclass(slots=True)
class _GapEntry:
    about: str
    attribute: str
    found: list[SourcedFact] = field(default_factory=list)
    flagged: list[GapFlag] = field(default_factory=list)
    answer: str = ""
    is_declined: bool = False


def build_gap_ledger(
    material: VisibleFacts, canon: Canon, flagged: Sequence[GapFlag] = ()
) -> tuple[Gap, ...]:
    """Return every gap that is visible at the horizon of `material`, each once.

    Gaps in the text come first, in story order, then those of `flagged`, which were
    found while answering questions and which the caller limits to the horizon, then
    those known only from decisions in `canon`. With a horizon, the latter and all
    answers are left out: they have no location in the story. What a model found twice
    in the same words about the same person, under two attributes, is one gap.
    """
    entries = _find_entries(material, canon)
    _add_flagged(entries, material, flagged)
    _add_decisions(entries, material, canon)
    defined = _collect_definitions(material)
    ids = assign_short_ids(entries)
    return tuple(
        _build_gap(ids[key], entry, defined.get(key, ()), material)
        for key, entry in entries.items()
    )


def _find_entries(material: VisibleFacts, canon: Canon) -> dict[GapKey, _GapEntry]:
    """Return the gaps in the text, in story order.

    Of several attributes that a model found in the same words, the one that the user
    decided on is listed, else the first.
    """
    decided = {_key(q, material) for q in (*canon.answers, *canon.unsaid)}
    entries: dict[GapKey, _GapEntry] = {}
    of_models: dict[tuple[str, DocumentId], list[tuple[GapKey, SourcedFact]]] = {}
    gaps = [
        (_key(question, material), question, sourced_fact)
        for sourced_fact in material.about(FactAbout.GAP)
        if not (question := to_undefined_attribute(sourced_fact)).about
        or material.cast.display_name(question.about)
    ]
    for key, question, sourced_fact in sorted(gaps, key=lambda g: g[0] not in decided):
        if sourced_fact.fact.keeper not in (RULES_KEEPER, WRITER_KEEPER):
            home = key[0], sourced_fact.evidence.document
            others = of_models.setdefault(home, [])
            same = (k for k, other in others if _has_same_words(other, sourced_fact))
            key = key if key in decided else next(same, key)
            others.append((key, sourced_fact))
        entry = entries.setdefault(key, _GapEntry(question.about, question.attribute))
        entry.found.append(sourced_fact)
    place = {id(fact): at for at, (_, _, fact) in enumerate(gaps)}
    return dict(
        sorted(entries.items(), key=lambda e: min(place[id(f)] for f in e[1].found))
    )


def to_undefined_attribute(sourced_fact: SourcedFact) -> UndefinedAttribute:
    """Return whose attribute the gap `sourced_fact` leaves undefined, and which
    attribute.

    If the author marked the gap, for example with "TODO", the attribute is the marked
    text.
    """
    fact = sourced_fact.fact
    if fact.keeper in (RULES_KEEPER, WRITER_KEEPER) or not fact.field:
        return UndefinedAttribute(
            fact.subject, " ".join(fact.value.split()) or fact.field
        )
    return UndefinedAttribute(
        fact.subject, " ".join(fact.field.replace("_", " ").split())
    )


def find_gap_by_id(text: str, gaps: Sequence[Gap]) -> Gap:
    """Return the gap with the id `text`, or the only one whose id starts with `text`,
    ignoring case.

    Raises:
        NotFound: There is none, or more than one.
    """
    return find_by_id_prefix(
        text, gaps, noun="open question", listed_by="lrwr gaps --all"
    )


def _has_same_words(sourced_fact: SourcedFact, other: SourcedFact) -> bool:
    """Return whether two facts of one document rest on mostly the same words."""
    words, other_words = sourced_fact.evidence, other.evidence
    shared = sum(
        max(0, min(a.end, b.end) - max(a.start, b.start))
        for a in words.spans
        for b in other_words.spans
    )
    return 2 * shared > min(
        sum(map(len, words.spans)), sum(map(len, other_words.spans))
    )


def _add_flagged(
    entries: dict[GapKey, _GapEntry],
    material: VisibleFacts,
    flagged: Iterable[GapFlag],
) -> None:
    for flag in flagged:
        question = UndefinedAttribute(flag.about, flag.undefined_attribute)
        texts = (flag.undefined_attribute, flag.what_is_implied)
        hidden = flag.about and not material.cast.display_name(flag.about)
        if hidden or any(map(material.cast.reveals_hidden_name, texts)):
            continue
        key = _key(question, material)
        entry = entries.setdefault(key, _GapEntry(question.about, question.attribute))
        entry.flagged.append(flag)


def _add_decisions(
    entries: dict[GapKey, _GapEntry], material: VisibleFacts, canon: Canon
) -> None:
    for question, answer in (
        *canon.answers.items(),
        *((q, "") for q in canon.unsaid),
    ):
        key = _key(question, material)
        if key not in entries and material.view.bounded:
            continue
        entry = entries.setdefault(key, _GapEntry(question.about, question.attribute))
        entry.about, entry.attribute = question.about, question.attribute
        entry.answer, entry.is_declined = answer, not answer


def _build_gap(
    id_: str, entry: _GapEntry, defined: Sequence[BibleClaim], material: VisibleFacts
) -> Gap:
    implications = [
        (sourced_fact.fact.value, sourced_fact.evidence) for sourced_fact in entry.found
    ]
    implied = merge_claims(
        ("", value or words.text, words) for value, words in implications
    )
    suggestions = [
        sourced_fact.fact.detail("suggestion") for sourced_fact in entry.found
    ]
    suggestions += [flag.development_suggestion for flag in entry.flagged]
    about = material.cast.display_name(entry.about) if entry.about else ""
    decided = entry.about if (entry.answer or entry.is_declined) else about
    return Gap(
        id=id_,
        asked=UndefinedAttribute(
            about if material.view.bounded else decided, entry.attribute
        ),
        about=about,
        attribute=entry.attribute,
        state=_state(entry, defined),
        implied=implied or _implied_claims(entry.flagged),
        suggestions=tuple(dict.fromkeys(filter(None, suggestions))),
        answer="" if material.view.bounded else entry.answer,
        defined=tuple(defined),
        asked_in_thread=not entry.found and bool(entry.flagged),
    )


def _implied_claims(flagged: Iterable[GapFlag]) -> tuple[BibleClaim, ...]:
    """Return the implications noted in answers, as claims without evidence."""
    implications = dict.fromkeys(flag.what_is_implied for flag in flagged)
    return tuple(
        BibleClaim(implication, (), Certainty.NOT_EVALUATED)
        for implication in implications
        if implication
    )


def _state(entry: _GapEntry, defined: Sequence[BibleClaim]) -> GapState:
    if defined:
        return GapState.CLOSED
    if entry.is_declined:
        return GapState.DECLINED
    return GapState.ANSWERED if entry.answer else GapState.OPEN


def _collect_definitions(
    material: VisibleFacts,
) -> Mapping[GapKey, tuple[BibleClaim, ...]]:
    """Return the claims that define each attribute and each kind of relationship."""
    rows_by_key: dict[GapKey, list[tuple[str, str, TextEvidence]]] = {}
    for sourced_fact in material.about(FactAbout.CHARACTER):
        fact, value = sourced_fact.fact, sourced_fact.fact.value
        label = fact.detail("attribute")
        if fact.field == CharacterField.RELATIONSHIP:
            label = fact.detail("kind")
            value = material.cast.display_name(fact.detail("target"))
        elif fact.field != CharacterField.ATTRIBUTE:
            continue
        if label and value:
            key = _key(UndefinedAttribute(fact.subject, label), material)
            rows_by_key.setdefault(key, []).append(
                (label, value, sourced_fact.evidence)
            )
    return {key: merge_claims(rows) for key, rows in rows_by_key.items()}


def _key(question: UndefinedAttribute, material: VisibleFacts) -> GapKey:
    person = material.cast.resolve_name(question.about)
    about = normalize_value(person or question.about) if question.about else ""
    return about, normalize_attribute(question.attribute)


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


@dataclass(frozen=True, slots=True)
class CanonCommand:
    """A command of the user that defines something: `canon: text` or `canon id: text`.

    `text` is the definition. `id` is that of the gap that it answers, empty for none.
    """

    text: str
    id: str = ""


def parse_canon_command(text: str) -> CanonCommand | None:
    """Parse `canon: text` or `canon id: text`; None if `text` is no such command.

    The id is converted to lower case. The text of the result may be empty.
    """
    match = _CANON_COMMAND.fullmatch(text)
    if match is None:
        return None
    return CanonCommand(" ".join(match["said"].split()), (match["id"] or "").lower())


def build_gap_answer(
    canon_command: CanonCommand, bible: Bible, last_gaps: Sequence[GapFlag]
) -> GapAnswered:
    """Return the decision that `canon_command` states.

    It answers the gap with the given id. Without id, it defines the attribute of a
    known character that a statement such as "Nell's coat is blue" names; or else
    answers the only gap in `last_gaps`, the gaps of the previous answer.

    Raises:
        NotFound: There is no text, no gap with that id, or it is unclear what the text
            defines.
    """
    if not canon_command.text:
        raise NotFound("There is no statement after `canon:`", hint=_CANON_HINT)
    if canon_command.id:
        gap = find_gap_by_id(canon_command.id, bible.gaps)
        return GapAnswered(gap.asked.about, gap.asked.attribute, canon_command.text)
    match = _ATTRIBUTE_STATEMENT.fullmatch(canon_command.text)
    people = match_people(match["about"], bible) if match else ()
    if match and len(people) == 1:
        return GapAnswered(
            people[0].name, match["attribute"], match["answer"].rstrip(" .")
        )
    if len(last_gaps) == 1:
        gap_flag = last_gaps[0]
        about, attribute = gap_flag.about, gap_flag.undefined_attribute
        return GapAnswered(about, attribute, canon_command.text)
    if last_gaps:
        gap_names = "; ".join(_format_gap(gap) for gap in last_gaps)
        raise NotFound(
            f"The last answer has several open questions: {gap_names}", hint=_CANON_HINT
        )
    if match:
        raise _unknown_subject_error(match["about"], [p.name for p in people])
    raise NotFound(
        "The statement names no character, and the last answer has no open question",
        hint=_CANON_HINT,
    )


def format_gap_answer(decision: GapAnswered, *, new: bool) -> str:
    """Return the sentence that confirms `decision`.

    `new` is false if the canon file already contained it.
    """
    topic = UndefinedAttribute(decision.about, decision.attribute)
    status = "Saved as canon" if new else "Already canon"
    undo = " To undo it: `lrwr canon undo`." if new else ""
    return f"{status}: {topic}: {decision.answer}.{undo}"


def _unknown_subject_error(subject: str, names: Sequence[str]) -> NotFound:
    """Return the error for a subject that matches no character, or all of `names`."""
    problem = (
        f"can mean {' or '.join(names)}" if names else "names no character of the story"
    )
    return NotFound(
        f"“{subject}” {problem}",
        hint="`lrwr characters` lists the names that you can use.",
    )


def _format_gap(gap: GapFlag) -> str:
    return str(UndefinedAttribute(gap.about, gap.undefined_attribute))
