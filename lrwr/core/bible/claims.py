"""Facts in sight, and many facts that say the same made one claim."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lrwr.core.bible.characters import HorizonCast
from lrwr.core.bible.horizon import HorizonView
from lrwr.core.bible.values import BibleClaim, TextEvidence
from lrwr.core.model.facts import (
    RULES_KEEPER,
    WRITER_KEEPER,
    Certainty,
    Fact,
    FactAbout,
    WorldField,
)
from lrwr.core.model.text import WORD_PATTERN, normalize_word, stem_lightly
from lrwr.core.ports.story_store import DocumentFact

_ARTICLES = frozenset({"a", "an", "the"})
_GENERIC = frozenset({"colour", "color", "exact", "full", "current", "present"})
"""Words that say nothing of which attribute is meant."""


_NAMING = frozenset({"target", "hearer", "involved", "pov", WorldField.CONNECTED.value})
"""Fields and details that hold a character's name and nothing else."""


@dataclass(frozen=True, slots=True)
class SourcedFact:
    """A fact in sight, and the words that it rests on."""

    fact: Fact
    evidence: TextEvidence


@dataclass(frozen=True, slots=True)
class VisibleFacts:
    """The facts in sight, in story order, and those who are in sight."""

    found: tuple[SourcedFact, ...]
    roll: HorizonCast
    sight: HorizonView

    def about(self, about: FactAbout) -> list[SourcedFact]:
        """Return the facts about one kind of thing."""
        return [one for one in self.found if one.fact.about is about]


def collect_visible_facts(
    known: Iterable[DocumentFact], roll: HorizonCast, sight: HorizonView
) -> VisibleFacts:
    """Return what of `known` is in sight: all of its words are, and all that it names.

    A reader who knows the whole book may have worded a fact by names that come later.
    """
    seen = [document_fact for document_fact in known if sight.knows(document_fact)]
    seen.sort(key=lambda one: sight.key(one.document, one.fact.spans[0].start))
    found = (
        SourcedFact(
            replace(one.fact, details=tuple(_told(one.fact.details, roll))),
            sight.evidence(
                one.document, one.fact.spans, one.fact.keeper, one.fact.certainty
            ),
        )
        for one in seen
        if one.fact.field in _NAMING
        or not (roll.betrays(one.fact.value) or roll.betrays(one.fact.field))
    )
    return VisibleFacts(tuple(found), roll, sight)


def _told(
    details: Iterable[tuple[str, str]], roll: HorizonCast
) -> Iterator[tuple[str, str]]:
    """Yield the details that name nobody out of sight; mere names are looked up."""
    for name, text in details:
        words = text.partition(":")[2] if name == "feels" else text
        if name in _NAMING or not roll.betrays(words):
            yield name, text


def merge_claims(
    said: Iterable[tuple[str, str, TextEvidence]],
) -> tuple[BibleClaim, ...]:
    """Make one claim of all that say the same; each is label, value and words.

    `said` is in story order, and so are the claims, the writer's before all others.
    A claim is worded as the writer has it, else as it is said first.
    """
    groups: dict[tuple[str, str], list[tuple[str, str, TextEvidence]]] = {}
    for label, value, evidence in said:
        key = (normalize_attribute(label), normalize_value(value))
        groups.setdefault(key, []).append((label, value, evidence))
    made = [_claim(group) for group in groups.values()]
    return tuple(sorted(made, key=lambda claim: not claim.writers))


def _claim(group: Sequence[tuple[str, str, TextEvidence]]) -> BibleClaim:
    label, value, _ = min(group, key=lambda one: one[2].keeper != WRITER_KEEPER)
    evidence = deduplicate_evidence(one for _, _, one in group)
    return BibleClaim(value, evidence, find_highest_certainty(evidence), label)


def deduplicate_evidence(evidence: Iterable[TextEvidence]) -> tuple[TextEvidence, ...]:
    """Return each place once, with whoever is surest of it."""
    found: dict[object, TextEvidence] = {}
    for text_evidence in evidence:
        place = (text_evidence.document, text_evidence.spans)
        if place not in found or _rank(text_evidence.certainty) < _rank(
            found[place].certainty
        ):
            found[place] = text_evidence
    return tuple(found.values())


def find_highest_certainty(evidence: Iterable[TextEvidence]) -> Certainty:
    """Return the greatest certainty; none without evidence."""
    ranked = sorted((text_evidence.certainty for text_evidence in evidence), key=_rank)
    return ranked[0] if ranked else Certainty.NOT_EVALUATED


def list_reader_models(known: Iterable[DocumentFact]) -> tuple[str, ...]:
    """Return the language models that have read anything."""
    keepers = {document_fact.fact.keeper for document_fact in known} - {
        RULES_KEEPER,
        WRITER_KEEPER,
    }
    return tuple(sorted(keepers))


def normalize_value(text: str) -> str:
    """Return what two wordings of one value share: no case, points or articles."""
    words = (normalize_word(word) for word in WORD_PATTERN.findall(text))
    return " ".join(word for word in words if word not in _ARTICLES) or text.casefold()


def normalize_attribute(text: str) -> str:
    """Return what two names of one attribute share: "Eyes" and "eye colour"."""
    words = normalize_value(text.replace("_", " ")).split()
    told = [stem_lightly(word) for word in words if word not in _GENERIC]
    return " ".join(told or words)


def _rank(certainty: Certainty) -> int:
    return list(Certainty).index(certainty)
