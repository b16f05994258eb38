"""Proposals to merge or split characters, with the lines that speak for them.

Rules join names only on strong evidence; here the writer decides the rest.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations, pairwise, permutations

from lrwr.core.bible.projection import project_bible
from lrwr.core.bible.service import BibleService
from lrwr.core.bible.values import AttributedQuote, Bible, CharacterProfile
from lrwr.core.canon.decision import NamesMerged, NamesSplit
from lrwr.core.canon.model import CanonNames
from lrwr.core.model.cast import Gender
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.lexicon import (
    fold_name,
    infer_title_gender,
    is_same_given_name,
)
from lrwr.core.nlp.names.name_form import NameForm, is_named_after_husband
from lrwr.core.ports.stores import DocumentText

MAX_PROPOSALS = 40
"""Proposals of one review, those with the most evidence first."""
_MAX_LINES = 3
_MIN_ANSWERS = 2
"""Replies to a name from which it may be that of the one who replies."""
_EXCERPT = 90
"""Characters of a line around a name."""
_SPOUSES = frozenset({"wife", "husband", "spouse"})


class NameProposalKind(StrEnum):
    """Whether a proposal joins two characters or divides one."""

    MERGE = "merge"
    SPLIT = "split"


@dataclass(frozen=True, slots=True)
class NameLine:
    """A place of the text that speaks for a proposal; `line` counts from 1."""

    document: DocumentId
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class NameProposal:
    """Two names that may be one character, or two, and why.

    `mentions` are those of the rarer name: how much the decision changes.
    """

    kind: NameProposalKind
    first: str
    second: str
    reason: str
    mentions: int
    lines: tuple[NameLine, ...] = ()

    @property
    def accepted(self) -> NamesMerged | NamesSplit:
        """The decision of a writer who agrees."""
        return self._decide(merges=self.kind is NameProposalKind.MERGE)

    @property
    def declined(self) -> NamesMerged | NamesSplit:
        """The decision of a writer who disagrees; it is not proposed again."""
        return self._decide(merges=self.kind is NameProposalKind.SPLIT)

    def _decide(self, *, merges: bool) -> NamesMerged | NamesSplit:
        if merges:
            return NamesMerged((self.first, self.second), self.first)
        return NamesSplit(self.first, self.second)


def propose_name_changes(
    bible: Bible,
    decided: CanonNames,
    texts: Mapping[DocumentId, DocumentText],
    story: Sequence[DocumentId],
) -> list[NameProposal]:
    """Return what may be wrong with the characters of `bible`, most mentions first.

    `decided` are the writer's decisions: what they settle is not proposed. `texts` are
    those of the documents in `story`, which is in story order; up to three lines of
    them are given for each proposal. At most `MAX_PROPOSALS`.
    """
    people = bible.characters
    found = [
        *_propose_by_answers(people, bible.quotes),
        *_propose_by_names(people),
        *_propose_wives(bible),
        *_propose_splits(people),
    ]
    unique: dict[frozenset[str], NameProposal] = {}
    for proposal in found:
        key = frozenset((proposal.first, proposal.second))
        if len(key) == 2 and not _is_decided(proposal, decided):
            unique.setdefault(key, proposal)
    ranked = sorted(unique.values(), key=lambda p: (-p.mentions, p.first, p.second))
    return [_add_lines(p, texts, story) for p in ranked[:MAX_PROPOSALS]]


def _is_decided(proposal: NameProposal, decided: CanonNames) -> bool:
    pair = {fold_name(proposal.first), fold_name(proposal.second)}
    splits = ({fold_name(name) for name in names} for names in decided.split)
    merges = (
        {fold_name(name) for name in (main, *others)}
        for main, others in decided.merged.items()
    )
    return pair in list(splits) or any(pair <= group for group in merges)


def _merge(
    first: CharacterProfile,
    second: CharacterProfile,
    reason: str,
    lines: Iterable[NameLine] = (),
) -> NameProposal:
    often, seldom = sorted((first, second), key=lambda person: -person.mentions)
    return NameProposal(
        NameProposalKind.MERGE,
        often.name,
        seldom.name,
        reason,
        seldom.mentions,
        tuple(lines)[:_MAX_LINES],
    )


def _propose_by_answers(
    people: Sequence[CharacterProfile], quotes: Sequence[AttributedQuote]
) -> Iterator[NameProposal]:
    """Propose people who reply when another name is called."""
    by_name = {person.name: person for person in people}
    used: set[tuple[str, str]] = set()
    lines: dict[tuple[str, str], list[NameLine]] = {}
    addresses = _compile_addresses(people)
    for quote, reply in pairwise(quotes):
        for called in _find_called(quote.evidence.text, addresses):
            used.add((called, quote.speaker))
            if reply.speaker != quote.speaker and _is_certain_reply(quote, reply):
                lines.setdefault((called, reply.speaker), []).append(_line_of(quote))
    for (called, speaker), places in lines.items():
        if called == speaker or speaker not in by_name or (called, speaker) in used:
            continue
        first, second = by_name[called], by_name[speaker]
        least = 1 if _complete_each_other(first, second) else _MIN_ANSWERS
        if len(places) >= least and _may_be_one(first, second):
            reason = f"{speaker} answers when somebody says {called}"
            yield _merge(first, second, reason, places)


def _compile_addresses(
    people: Sequence[CharacterProfile],
) -> list[tuple[str, str, re.Pattern[str]]]:
    """Return each name with its character and a pattern for it in address."""
    return [
        (
            form.name,
            person.name,
            re.compile(rf"(?:^|[,.!?—]\s*){re.escape(form.name)}[,.!?]"),
        )
        for person in people
        for form in person.aliases
    ]


def _find_called(
    words: str, addresses: Iterable[tuple[str, str, re.Pattern[str]]]
) -> Iterator[str]:
    for name, person, pattern in addresses:
        if name in words and pattern.search(words):
            yield person


def _complete_each_other(first: CharacterProfile, second: CharacterProfile) -> bool:
    """Return whether one has only given names, and the other only a surname."""
    kinds = [
        {bool(form.title) for form in _forms(person) if len(form.words) == 1}
        for person in (first, second)
        if not _full_forms(person)
    ]
    return kinds in ([{True}, {False}], [{False}, {True}])


def _is_certain_reply(quote: AttributedQuote, reply: AttributedQuote) -> bool:
    near = reply.evidence.lines.first - quote.evidence.lines.last <= 2
    return (
        near
        and reply.evidence.document == quote.evidence.document
        and reply.evidence.certainty is Certainty.VERIFIED
    )


def _line_of(quote: AttributedQuote) -> NameLine:
    evidence = quote.evidence
    return NameLine(evidence.document, evidence.lines.first, _shorten(evidence.text, 0))


def _propose_by_names(people: Sequence[CharacterProfile]) -> Iterator[NameProposal]:
    """Propose people whose names fit together, if nobody else fits as well."""
    for explain in (_explain_surname, _explain_short_name):
        fits: dict[str, list[tuple[CharacterProfile, CharacterProfile, str]]] = {}
        for first, second in permutations(people, 2):
            reason = explain(first, second) if _may_be_one(first, second) else ""
            if reason:
                fits.setdefault(second.name, []).append((first, second, reason))
        for pairs in fits.values():
            if len(pairs) == 1:
                yield _merge(*pairs[0])


def _explain_surname(person: CharacterProfile, other: CharacterProfile) -> str:
    """Return why `other`, who is only "Mrs. Vale", may be Nell Vale; "" if not."""
    full = _full_forms(person)
    called_miss = any(f.title == "miss" for f in _forms(person))
    titled = [f for f in _forms(other) if f.title in ("mrs", "miss", "mr")]
    if not full or _full_forms(other) or len(titled) < len(_forms(other)):
        return ""
    for form in titled:
        child = called_miss and form.title == "mrs"
        if len(form.words) == 1 and form.words[0].lower() == full[0].last and not child:
            return f"“{form.name}” and “{full[0].name}” have one surname"
    return ""


def _explain_short_name(person: CharacterProfile, other: CharacterProfile) -> str:
    """Return why `other`, who has only a given name, may be `person`; "" if not."""
    full, forms = _full_forms(person), _forms(other)
    if not full or any(form.title or len(form.words) != 1 for form in forms):
        return ""
    for form in forms:
        if is_same_given_name(form.words[0].lower(), full[0].given_name):
            return f"“{form.name}” may be short for “{full[0].name}”"
    return ""


def _full_forms(person: CharacterProfile) -> list[NameForm]:
    return [
        form
        for form in _forms(person)
        if form.given_name and not is_named_after_husband(form)
    ]


def _propose_wives(bible: Bible) -> Iterator[NameProposal]:
    """Propose the wife of a man and the woman who is called after him."""
    people = {person.name: person for person in bible.characters}
    for relation in bible.relations:
        pair = [people.get(name) for name in (relation.source, relation.target)]
        wife = next((p for p in pair if p and p.gender is Gender.FEMALE), None)
        man = next((p for p in pair if p and p.gender is Gender.MALE), None)
        if relation.kind not in _SPOUSES or wife is None or man is None:
            continue
        for other in people.values():
            if other is not wife and _is_called_after(other, man):
                reason = f"{wife.name} is the wife of {man.name}"
                lines = (
                    NameLine(e.document, e.lines.first, _shorten(e.text, 0))
                    for e in relation.evidence
                )
                yield _merge(wife, other, reason, lines)


def _is_called_after(woman: CharacterProfile, man: CharacterProfile) -> bool:
    names = {form.words for form in _forms(man) if form.words}
    return any(form.title == "mrs" and form.words in names for form in _forms(woman))


def _propose_splits(people: Sequence[CharacterProfile]) -> Iterator[NameProposal]:
    """Propose names that contradict the other names of their character."""
    for person in people:
        forms = _forms(person)
        mentions = {form.name: form.mentions for form in person.aliases}
        for form in forms:
            gender = infer_title_gender(form.title)
            if Gender.UNKNOWN not in (gender, person.gender) and (
                gender is not person.gender
            ):
                reason = f"“{form.name}” and {person.name} are of different gender"
                yield _split(person, form.name, reason, mentions)
        full = _full_forms(person)
        for first, second in combinations(full, 2):
            if not is_same_given_name(first.given_name, second.given_name):
                reason = f"“{first.name}” and “{second.name}” have two given names"
                rarer = min(first, second, key=lambda f: mentions[f.name])
                yield _split(person, rarer.name, reason, mentions)


def _split(
    person: CharacterProfile, name: str, reason: str, mentions: Mapping[str, int]
) -> NameProposal:
    return NameProposal(
        NameProposalKind.SPLIT, person.name, name, reason, mentions.get(name, 0)
    )


def _may_be_one(first: CharacterProfile, second: CharacterProfile) -> bool:
    """Return whether gender, given names and surnames of two people agree."""
    genders = {first.gender, second.gender} - {Gender.UNKNOWN}
    if len(genders) > 1 or {first.certainty, second.certainty} == {Certainty.CONFIRMED}:
        return False
    givens = [
        [f.given_name for f in _forms(p) if f.given_name] for p in (first, second)
    ]
    return not all(givens) or any(
        is_same_given_name(a, b) for a in givens[0] for b in givens[1]
    )


def _forms(person: CharacterProfile) -> list[NameForm]:
    return [NameForm.of_name(form.name) for form in person.aliases if form.mentions]


def _add_lines(
    proposal: NameProposal,
    texts: Mapping[DocumentId, DocumentText],
    story: Sequence[DocumentId],
) -> NameProposal:
    if proposal.lines:
        return proposal
    lines = [
        *_find_lines(proposal.second, texts, story, _MAX_LINES - 1),
        *_find_lines(proposal.first, texts, story, 1),
    ]
    return replace(proposal, lines=tuple(lines))


def _find_lines(
    name: str,
    texts: Mapping[DocumentId, DocumentText],
    story: Sequence[DocumentId],
    limit: int,
) -> Iterator[NameLine]:
    """Yield the first `limit` places of `name`, in story order."""
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    for document in story:
        document_text = texts.get(document)
        if document_text is None:
            continue
        for match in pattern.finditer(document_text.text):
            if limit <= 0:
                return
            limit -= 1
            lines = document_text.lines.lines_of(Span(match.start(), match.end()))
            words = _shorten(document_text.text, match.start())
            yield NameLine(document, lines.first, words)


def _shorten(text: str, at: int) -> str:
    """Return the words of `text` around offset `at` on one line."""
    start = max(0, at - _EXCERPT // 2)
    if start:
        start = text.find(" ", start, at) + 1 or at
    end = min(len(text), max(at, start) + _EXCERPT)
    cut = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{cut}{'…' if end < len(text) else ''}"


async def review_names(service: BibleService) -> list[NameProposal]:
    """Return the proposals for the library that `service` reads, as
    `propose_name_changes` does.

    Raises:
        SettingsProblem: The canon file is invalid.
        StoreProblem: The library cannot be read.
    """
    knowledge = await service.knowledge()
    return propose_name_changes(
        project_bible(knowledge),
        knowledge.canon.names,
        knowledge.texts,
        knowledge.order.story,
    )
