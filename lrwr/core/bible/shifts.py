"""What is said otherwise now than before, topic by topic. Pure."""

from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import TypeAlias

from lrwr.core.model.cast import Cast
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES, WRITER, About, CharacterField, Fact

_KIND = "kind"
_ATTRIBUTE = "attribute"
_TARGET = "target"
_HEARER = "hearer"

Topic: TypeAlias = tuple[About, str, str]
"""What a fact is about, whom, and which of their qualities."""

Sayings: TypeAlias = Mapping[str, Set[DocumentId]]
"""What is said on one topic, in order, and the documents that say it."""


@dataclass(frozen=True, slots=True)
class Shift:
    """One thing that is known otherwise now.

    `subject` is whom or what it is about, empty for an event; `what` names the
    quality, and is empty for a gap that the writer marked in words. What was not known
    has no `before`, what is not known now no `after`.
    """

    about: About
    subject: str
    what: str
    before: str = ""
    after: str = ""


def topic_of(fact: Fact, words: str) -> tuple[Topic, str]:
    """Return what a fact is about, and what it says; `words` are those it rests on."""
    what = fact.field.replace("_", " ")
    said = " ".join((fact.value or words).split())
    if fact.field == CharacterField.ATTRIBUTE:
        what = fact.detail(_ATTRIBUTE) or what
    elif fact.field == CharacterField.RELATIONSHIP:
        what = fact.detail(_KIND) or what
        said = " ".join(filter(None, (fact.detail(_TARGET), fact.value))) or said
    elif fact.about is About.GAP and fact.keeper in (RULES, WRITER):
        what = ""  # the words say it all
    elif fact.about is About.TOLD:
        what = f"told {fact.detail(_HEARER)}".strip()
    return (fact.about, fact.subject, what), said or what


def shifts(
    before: Mapping[Topic, Sayings], after: Mapping[Topic, Sayings]
) -> Iterator[Shift]:
    """Yield what differs, by topic; one thing said in the place of another is a change.

    It is in its place where both are all that is new and gone on the topic, or in one
    document. What merely moved has not changed. A gap is never in another's place.
    """
    for topic in sorted(before.keys() | after.keys()):
        old, new = before.get(topic, {}), after.get(topic, {})
        taken = [said for said in old if said not in new]
        added = [said for said in new if said not in old]
        pairs: list[tuple[str, str]] = []
        if topic[0] is not About.GAP and (taken or added):
            pairs = _pairs(old, new, taken, added)
        yield from (Shift(*topic, before=one, after=other) for one, other in pairs)
        told = {said for pair in pairs for said in pair}
        yield from (Shift(*topic, before=said) for said in taken if said not in told)
        yield from (Shift(*topic, after=said) for said in added if said not in told)


def _pairs(
    old: Sayings, new: Sayings, taken: Collection[str], added: Collection[str]
) -> list[tuple[str, str]]:
    if len(taken) == len(added) == 1:
        return list(zip(taken, added, strict=True))
    found: dict[tuple[str, str], None] = {}
    documents = {document for sayings in (old, new) for d in sayings.values() for document in d}  # fmt: skip
    for document in sorted(documents):
        less = [said for said in old if _only(said, document, old, new)]
        more = [said for said in new if _only(said, document, new, old)]
        if len(less) == len(more) == 1 and (less[0] in taken or more[0] in added):
            found[less[0], more[0]] = None
    return list(found)


def _only(said: str, document: DocumentId, here: Sayings, there: Sayings) -> bool:
    return document in here[said] and document not in there.get(said, ())


def strangers(cast: Cast, others: Cast) -> tuple[str, ...]:
    """Return those of a cast no form of whose name is known in the other, sorted."""
    known = {alias.name for one in others.characters for alias in one.aliases}
    known |= {one.name for one in others.characters} | set(others.shared)
    return tuple(
        sorted(
            one.name
            for one in cast.characters
            if not known & {one.name, *(alias.name for alias in one.aliases)}
        )
    )
