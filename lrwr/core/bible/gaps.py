"""The gap ledger: what the text leaves open, and what has become of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lrwr.core.bible.claims import Found, Material, attribute_key, claims, value_key
from lrwr.core.bible.ids import ids_of, one_called
from lrwr.core.bible.values import Claim, Evidence, Gap, GapState
from lrwr.core.canon.model import Canon, Question
from lrwr.core.model.certainty import Certainty
from lrwr.core.model.facts import RULES, WRITER, About, CharacterField
from lrwr.core.model.turns import GapFlag

Key = tuple[str, str]
"""Whose attribute, by the name in the whole cast; and which."""


@dataclass(slots=True)
class _Entry:
    about: str
    attribute: str
    found: list[Found] = field(default_factory=list)
    wondered: list[GapFlag] = field(default_factory=list)
    answer: str = ""
    unsaid: bool = False


def ledger_of(
    material: Material, canon: Canon, wondered: Sequence[GapFlag] = ()
) -> tuple[Gap, ...]:
    """Return every gap in sight: in story order, then those of conversations, last
    those that only canon knows.

    Under a horizon an answer of the writer's is not shown: it has no place in the
    story. `wondered` is what conversations asked for that stood where the horizon is
    or before it.
    """
    entries: dict[Key, _Entry] = {}
    for found in material.about(About.GAP):
        question = asked_by(found)
        if question.about and not material.roll.shown(question.about):
            continue
        key = _key(question, material)
        entry = entries.setdefault(key, _Entry(question.about, question.attribute))
        entry.found.append(found)
    _add_wondered(entries, material, wondered)
    _add_decisions(entries, material, canon)
    defined = _defined(material)
    ids = ids_of(entries)
    return tuple(
        _gap(ids[key], entry, defined.get(key, ()), material)
        for key, entry in entries.items()
    )


def asked_by(found: Found) -> Question:
    """Return what a fact leaves open; where the writer marked it, in those words."""
    fact = found.fact
    if fact.keeper in (RULES, WRITER) or not fact.field:
        return Question(fact.subject, " ".join(fact.value.split()) or fact.field)
    return Question(fact.subject, " ".join(fact.field.replace("_", " ").split()))


def gap_called(text: str, gaps: Sequence[Gap]) -> Gap:
    """Return the gap whose id is `text`, or begins with it and no other does.

    Raises:
        NotFound: There is none, or more than one.
    """
    return one_called(text, gaps, noun="gap", listed_by="lrwr gaps --all")


def _add_wondered(
    entries: dict[Key, _Entry], material: Material, wondered: Iterable[GapFlag]
) -> None:
    for flag in wondered:
        question = Question(flag.about, flag.undefined_attribute)
        told = (flag.undefined_attribute, flag.what_is_implied)
        hidden = flag.about and not material.roll.shown(flag.about)
        if hidden or any(map(material.roll.betrays, told)):
            continue
        key = _key(question, material)
        entry = entries.setdefault(key, _Entry(question.about, question.attribute))
        entry.wondered.append(flag)


def _add_decisions(
    entries: dict[Key, _Entry], material: Material, canon: Canon
) -> None:
    for question, answer in (*canon.answers.items(), *((q, "") for q in canon.unsaid)):
        key = _key(question, material)
        if key not in entries and material.sight.bounded:
            continue
        entry = entries.setdefault(key, _Entry(question.about, question.attribute))
        entry.about, entry.attribute = question.about, question.attribute
        entry.answer, entry.unsaid = answer, not answer


def _gap(id_: str, entry: _Entry, defined: Sequence[Claim], material: Material) -> Gap:
    said = [(found.fact.value, found.evidence) for found in entry.found]
    implied = claims(("", value or words.text, words) for value, words in said)
    wished = [found.fact.detail("suggestion") for found in entry.found]
    wished += [flag.development_suggestion for flag in entry.wondered]
    about = material.roll.shown(entry.about) if entry.about else ""
    decided = entry.about if (entry.answer or entry.unsaid) else about
    return Gap(
        id=id_,
        asked=Question(about if material.sight.bounded else decided, entry.attribute),
        about=about,
        attribute=entry.attribute,
        state=_state(entry, defined),
        implied=implied or _inferred(entry.wondered),
        suggestions=tuple(dict.fromkeys(filter(None, wished))),
        answer="" if material.sight.bounded else entry.answer,
        defined=tuple(defined),
        wondered=not entry.found and bool(entry.wondered),
    )


def _inferred(wondered: Iterable[GapFlag]) -> tuple[Claim, ...]:
    """Return what answers took to be implied: nobody's words, and no evidence."""
    told = dict.fromkeys(flag.what_is_implied for flag in wondered)
    return tuple(Claim(one, (), Certainty.NOT_EVALUATED) for one in told if one)


def _state(entry: _Entry, defined: Sequence[Claim]) -> GapState:
    if defined:
        return GapState.CLOSED
    if entry.unsaid:
        return GapState.DECLINED
    return GapState.ANSWERED if entry.answer else GapState.OPEN


def _defined(material: Material) -> Mapping[Key, tuple[Claim, ...]]:
    """Return what is said of each attribute, and of relations of each kind."""
    said: dict[Key, list[tuple[str, str, Evidence]]] = {}
    for found in material.about(About.CHARACTER):
        fact, value = found.fact, found.fact.value
        label = fact.detail("attribute")
        if fact.field == CharacterField.RELATIONSHIP:
            label = fact.detail("kind")
            value = material.roll.shown(fact.detail("target"))
        elif fact.field != CharacterField.ATTRIBUTE:
            continue
        if label and value:
            key = _key(Question(fact.subject, label), material)
            said.setdefault(key, []).append((label, value, found.evidence))
    return {key: claims(rows) for key, rows in said.items()}


def _key(question: Question, material: Material) -> Key:
    person = material.roll.person(question.about)
    about = value_key(person or question.about) if question.about else ""
    return about, attribute_key(question.attribute)
