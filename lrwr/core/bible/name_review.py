"""Proposals to merge or split characters, with the lines that speak for them.

Rules join names only on strong evidence; here the writer decides the rest.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations, pairwise, permutations, product

from lrwr.core.bible.name_evidence import (
    NameLine,
    NamingSentence,
    compile_name,
    find_contradicting_names,
    find_distant_names,
    find_father_names,
    find_married_names,
    find_name_lines,
    find_naming_sentences,
    find_surnames,
    guess_gender,
    is_only_married,
    parse_forms,
    shorten_line,
)
from lrwr.core.bible.projection import project_bible
from lrwr.core.bible.service import BibleService
from lrwr.core.bible.values import (
    AttributedQuote,
    Bible,
    CharacterProfile,
    TextEvidence,
)
from lrwr.core.canon.decision import NamesMerged, NamesSplit
from lrwr.core.canon.model import CanonNames
from lrwr.core.model.cast import Gender
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.lexicon import (
    fold_name,
    is_same_given_name,
)
from lrwr.core.nlp.names.name_form import (
    NameForm,
    is_named_after_husband,
    parse_name_form,
)
from lrwr.core.ports.stores import DocumentText

MAX_PROPOSALS = 40
"""Proposals of one review, those with the most evidence first."""
_MAX_LINES = 3
_MIN_ANSWERS = 2
"""Replies to a name from which it may be that of the one who replies."""
_MAX_FITS = 2
"""People who may have one name, from which none of them is proposed."""
_TOGETHER = 2
"""Sentences that name two characters, from which they are probably two."""
_TOGETHER_SHARE = 0.05
"""Share of the mentions of the rarer one up to which such sentences say little."""
_MIN_WEDDINGS = 2
"""Sentences about a marriage from which a woman may have the man's surname."""
_SHORTEST = 3
"""Letters of a surname that is no initial."""
_RARE = 0.1
"""Share of the mentions of "Mrs. Vale" below which "Nell Vale" is rather a daughter."""
_RANKS = frozenset({"lady", "lord", "sir"})
"""Titles of people whom hardly anybody calls by the given name alone."""
_SPOUSES = frozenset({"wife", "husband", "spouse"})
_CHILDREN = frozenset({"son", "daughter", "child"})


class NameProposalKind(StrEnum):
    """Whether a proposal joins two characters or divides one."""

    MERGE = "merge"
    SPLIT = "split"


@dataclass(frozen=True, slots=True)
class NameProposal:
    """Two names that may be one character, or two, and why.

    `mentions` are those of the rarer name: how much the decision changes. `is_strong`
    means that the text speaks for it, not only the names.
    """

    kind: NameProposalKind
    first: str
    second: str
    reason: str
    mentions: int
    lines: tuple[NameLine, ...] = ()
    is_strong: bool = False

    @property
    def question(self) -> str:
        """The proposal as a question that can be answered with yes or no."""
        if self.kind is NameProposalKind.MERGE:
            return f"Are {self.first} and {self.second} one character?"
        return f"Is {self.second} somebody else than {self.first}?"

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
    shared: Mapping[str, Sequence[str]],
) -> list[NameProposal]:
    """Return what may be wrong with the characters of `bible`, what the text speaks for
    first, then by mentions.

    `decided` are the writer's decisions: what they settle is not proposed. `texts` are
    those of the documents in `story`, which is in story order; up to three lines of
    them are given for each proposal. `shared` are the names that several characters may
    have, likeliest first. At most `MAX_PROPOSALS`.
    """
    people = bible.characters
    sentences = list(find_naming_sentences(people, texts, story))
    apart = _find_apart(bible, sentences)
    answers = list(_propose_by_answers(people, bible.quotes))
    names = [
        *_propose_by_names(people),
        *_propose_wives(bible),
        *_propose_brides(people, sentences),
        *_propose_splits(people, sentences, texts),
        *_propose_bearers(people, shared, texts),
    ]
    found = [
        p
        for p in names
        if p.kind is NameProposalKind.SPLIT or _list_pair(p) not in apart
    ]
    unique: dict[frozenset[str], NameProposal] = {}
    for proposal in (*answers, *found):
        key = _list_pair(proposal)
        if len(key) == 2 and not _is_decided(proposal, decided):
            unique.setdefault(key, proposal)
    ranked = sorted(
        unique.values(), key=lambda p: (not p.is_strong, -p.mentions, p.first, p.second)
    )
    return [_add_lines(p, texts, story) for p in ranked[:MAX_PROPOSALS]]


def _list_pair(proposal: NameProposal) -> frozenset[str]:
    return frozenset((proposal.first, proposal.second))


def _find_apart(
    bible: Bible, sentences: Sequence[NamingSentence]
) -> set[frozenset[str]]:
    """Return the pairs of characters that are surely two: relatives, and those named
    together too often.
    """
    apart = {
        frozenset((relation.source, relation.target))
        for relation in bible.relations
        if relation.kind not in _SPOUSES and not relation.derived
    }
    mentions = {person.name: person.mentions for person in bible.characters}
    together = Counter(
        pair for s in sentences for pair in combinations(sorted(s.people), 2)
    )
    for pair, n in together.items():
        rarer = min(mentions[name] for name in pair)
        if n > max(_TOGETHER, rarer * _TOGETHER_SHARE):
            apart.add(frozenset(pair))
    return apart


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
    *,
    is_strong: bool = False,
) -> NameProposal:
    often, seldom = sorted((first, second), key=lambda person: -person.mentions)
    return NameProposal(
        NameProposalKind.MERGE,
        often.name,
        seldom.name,
        reason,
        seldom.mentions,
        tuple(lines)[:_MAX_LINES],
        is_strong,
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
                lines.setdefault((called, reply.speaker), []).append(
                    _make_line(quote.evidence)
                )
    for (called, speaker), places in lines.items():
        if called == speaker or speaker not in by_name or (called, speaker) in used:
            continue
        first, second = by_name[called], by_name[speaker]
        least = 1 if _complete_each_other(first, second) else _MIN_ANSWERS
        if len(places) >= least and _may_be_one(first, second):
            reason = f"{speaker} answers when somebody says {called}"
            yield _merge(first, second, reason, places, is_strong=True)


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
        {bool(form.title) for form in parse_forms(person) if len(form.words) == 1}
        for person in (first, second)
        if not _full_forms(person)
    ]
    return kinds in ([{True}, {False}], [{False}, {True}])


def _is_certain_reply(quote: AttributedQuote, reply: AttributedQuote) -> bool:
    distance = reply.evidence.lines.first - quote.evidence.lines.last
    return (
        1 <= distance <= 2  # a quotation that goes on in its line is no reply
        and reply.evidence.document == quote.evidence.document
        and reply.evidence.certainty is Certainty.VERIFIED
    )


def _make_line(evidence: TextEvidence) -> NameLine:
    words = shorten_line(evidence.text, Span(0, 1))
    start = evidence.spans[0].start
    return NameLine(evidence.document, evidence.lines.first, words, start)


def _propose_by_names(people: Sequence[CharacterProfile]) -> Iterator[NameProposal]:
    """Propose people whose names fit together, if at most two others fit as well."""
    for explain in (_explain_surname, _explain_short_name):
        fits: dict[str, list[tuple[CharacterProfile, CharacterProfile, str]]] = {}
        for first, second in permutations(people, 2):
            reason = explain(first, second) if _may_be_one(first, second) else ""
            if reason:
                fits.setdefault(second.name, []).append((first, second, reason))
        for pairs in fits.values():
            if len(pairs) <= _MAX_FITS:
                yield from (_merge(*pair) for pair in pairs)


def _explain_surname(person: CharacterProfile, other: CharacterProfile) -> str:
    """Return why `other`, who is only "Mrs. Vale", may be Nell Vale; "" if not."""
    full = _full_forms(person)
    called_miss = any(f.title == "miss" for f in parse_forms(person))
    titled = [f for f in parse_forms(other) if f.title in ("mrs", "miss", "mr")]
    if not full or _full_forms(other) or len(titled) < len(parse_forms(other)):
        return ""
    for form in titled:
        child = called_miss and form.title == "mrs"
        rare = form.title == "mrs" and person.mentions < other.mentions * _RARE
        alike = [f for f in full if [f.last] == [word.lower() for word in form.words]]
        if alike and not child and not rare:
            return f"“{form.name}” and “{alike[0].name}” have one surname"
    return ""


def _explain_short_name(person: CharacterProfile, other: CharacterProfile) -> str:
    """Return why `other`, who has only a given name, may be `person`; "" if not."""
    full, forms = _full_forms(person), parse_forms(other)
    if not full or any(form.title or len(form.words) != 1 for form in forms):
        return ""
    if full[0].title in _RANKS:
        return ""
    for form in forms:
        if is_same_given_name(form.words[0].lower(), full[0].given_name):
            return f"“{form.name}” may be short for “{full[0].name}”"
    return ""


def _full_forms(person: CharacterProfile) -> list[NameForm]:
    return [
        form
        for form in parse_forms(person)
        if form.given_name and not is_named_after_husband(form)
    ]


def _propose_wives(bible: Bible) -> Iterator[NameProposal]:
    """Propose the wife of a man and the woman who is called after him."""
    people = {person.name: person for person in bible.characters}
    mothers = {r.target for r in bible.relations if r.kind == "mother"}
    mothers |= {r.source for r in bible.relations if r.kind in _CHILDREN}
    for relation in bible.relations:
        pair = [people.get(name) for name in (relation.source, relation.target)]
        wife = next((p for p in pair if p and p.gender is Gender.FEMALE), None)
        man = next((p for p in pair if p and p.gender is Gender.MALE), None)
        if relation.kind not in _SPOUSES or wife is None or man is None:
            continue
        for other in people.values():
            is_mother = other.name in mothers
            if other is not wife and not is_mother and _is_called_after(other, man):
                reason = f"{wife.name} is the wife of {man.name}"
                lines = (_make_line(evidence) for evidence in relation.evidence)
                yield _merge(wife, other, reason, lines, is_strong=True)


def _propose_brides(
    people: Sequence[CharacterProfile],
    sentences: Sequence[NamingSentence],
) -> Iterator[NameProposal]:
    """Propose "Mrs. Vale" and the woman whose marriage with a Vale the text speaks of."""
    by_name = {person.name: person for person in people}
    weddings: dict[tuple[str, str], list[NameLine]] = {}
    couples = (s for s in sentences if s.is_wedding and len(s.people) == 2)
    for sentence, order in product(couples, (1, -1)):
        woman, man = sentence.people[::order]
        if by_name[man].gender is not Gender.FEMALE:
            for surname in find_surnames(by_name[man]):
                weddings.setdefault((surname, woman), []).append(sentence.line)
    for wife in filter(is_only_married, people):
        brides = [
            (len(lines), name, surname)
            for (surname, name), lines in weddings.items()
            if surname in find_married_names(wife)
            and len(lines) >= _MIN_WEDDINGS
            and _may_become(by_name[name], wife)
        ]
        for _, name, surname in sorted(brides, reverse=True)[:1]:
            reason = f"The text speaks of {name} marrying a {surname.title()}"
            lines = weddings[surname, name]
            yield _merge(by_name[name], wife, reason, lines, is_strong=True)


def _may_become(woman: CharacterProfile, wife: CharacterProfile) -> bool:
    """Return whether `woman` may be called `wife` later: she has not that surname yet."""
    return (
        woman is not wife
        and woman.gender is Gender.FEMALE
        and not is_only_married(woman)
        and find_surnames(woman).isdisjoint(find_married_names(wife))
    )


def _is_called_after(woman: CharacterProfile, man: CharacterProfile) -> bool:
    names = {form.words for form in parse_forms(man) if form.words}
    return any(
        form.title == "mrs" and form.words in names for form in parse_forms(woman)
    )


def _propose_bearers(
    people: Sequence[CharacterProfile],
    shared: Mapping[str, Sequence[str]],
    texts: Mapping[DocumentId, DocumentText],
) -> Iterator[NameProposal]:
    """Propose the likeliest character for each name that several may have."""
    listed = {person.name for person in people}
    for name, bearers in shared.items():
        known = [bearer for bearer in bearers if bearer in listed]
        title, words, _ = parse_name_form(name)
        if not title or len(words) != 1 or len(words[0]) < _SHORTEST:
            continue  # single words also occur in the full names of others
        pattern = compile_name(name)
        mentions = sum(
            len(pattern.findall(document.text)) for document in texts.values()
        )
        if len(known) > 1 and mentions:
            reason = f"“{name}” may be {' or '.join(known[:_MAX_LINES])}"
            yield NameProposal(NameProposalKind.MERGE, known[0], name, reason, mentions)


def _propose_splits(
    people: Sequence[CharacterProfile],
    sentences: Sequence[NamingSentence],
    texts: Mapping[DocumentId, DocumentText],
) -> Iterator[NameProposal]:
    """Propose names that contradict the other names of their character."""
    married = set().union(*map(find_married_names, people))
    for person in people:
        mentions = {form.name: form.mentions for form in person.aliases}
        contradicting = find_contradicting_names(person)
        for name, reason in (*contradicting, *find_distant_names(person, texts)):
            yield NameProposal(
                NameProposalKind.SPLIT, person.name, name, reason, mentions[name],
                is_strong=True,
            )  # fmt: skip
        for name, given_name in find_father_names(person, married):
            lines = [s.line for s in sentences if {name, given_name} <= s.names]
            if lines or " " in given_name:
                reason = f"“{name}” may be the father of {given_name}"
                yield NameProposal(
                    NameProposalKind.SPLIT, person.name, name, reason, mentions[name],
                    tuple(lines)[:_MAX_LINES],
                )  # fmt: skip


def _may_be_one(first: CharacterProfile, second: CharacterProfile) -> bool:
    """Return whether gender, given names and surnames of two people agree."""
    genders = {guess_gender(first), guess_gender(second)} - {Gender.UNKNOWN}
    if len(genders) > 1 or {first.certainty, second.certainty} == {Certainty.CONFIRMED}:
        return False
    givens = [
        [f.given_name for f in parse_forms(p) if f.given_name] for p in (first, second)
    ]
    if all(givens):
        return any(is_same_given_name(a, b) for a in givens[0] for b in givens[1])
    surnames = [find_surnames(person) for person in (first, second)]
    return (
        Gender.FEMALE in genders
        or not all(surnames)
        or not surnames[0].isdisjoint(surnames[1])
    )


def _add_lines(
    proposal: NameProposal,
    texts: Mapping[DocumentId, DocumentText],
    story: Sequence[DocumentId],
) -> NameProposal:
    lines = list(proposal.lines)
    if len(lines) < _MAX_LINES - 1:
        number = _MAX_LINES - 1 - len(lines)
        lines += find_name_lines(proposal.second, texts, story, number)
        lines += find_name_lines(proposal.first, texts, story, 1)
    return replace(proposal, lines=tuple(dict.fromkeys(lines)))


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
        knowledge.cast.shared,
    )
