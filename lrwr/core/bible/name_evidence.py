"""Evidence on who is who: names that contradict each other, and sentences with two."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from lrwr.core.bible.values import CharacterProfile
from lrwr.core.model.cast import Cast, Gender, Mention
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.lexicon import (
    FEMALE_NAMES,
    MALE_NAMES,
    SURNAME_TITLES,
    infer_title_gender,
    is_same_given_name,
)
from lrwr.core.nlp.names.mentions import find_mentions
from lrwr.core.nlp.names.name_form import (
    NameForm,
    is_named_after_husband,
    parse_name_form,
)
from lrwr.core.ports.stores import DocumentText

_WEDDING = re.compile(r"\b(?:marr(?:y|ied|ying|iage)|engaged to|engagement|wedding)\b")
_SENTENCE_END = re.compile(r"(?<!\bMr)(?<!\bMrs)(?<!\bDr)[.!?]|\n\s*\n")
_EXCERPT = 120
"""Characters of a line around a name."""
_MIN_FULL = 3
"""Mentions of "Mr. Corin Vale" from which "Mr. Vale" may be another man."""
_MIN_BARE = 20
"""Mentions of "Mary" from which a "Miss King" in other chapters is hardly she."""
_MOSTLY = 3
"""Ratio of these mentions to those of the full name."""
_MAX_EXCERPT = 240
"""Characters of a line that shows two names."""


@dataclass(frozen=True, slots=True)
class NameLine:
    """A place of the text that speaks for a proposal; `line` counts from 1.

    `start` is the offset of the place in the document.
    """

    document: DocumentId
    line: int
    text: str
    start: int = 0


@dataclass(frozen=True, slots=True)
class NamingSentence:
    """A sentence that names two or more characters: the names, the characters, whether
    it speaks of a marriage, and its place.
    """

    names: frozenset[str]
    people: tuple[str, ...]
    is_wedding: bool
    line: NameLine


def find_naming_sentences(
    people: Sequence[CharacterProfile],
    texts: Mapping[DocumentId, DocumentText],
    story: Sequence[DocumentId],
) -> Iterator[NamingSentence]:
    """Yield the sentences that name two or more characters, in story order."""
    owners = {form.name: person.name for person in people for form in person.aliases}
    cast = Cast(shared={name: (name,) for name in owners})
    for document in (d for d in story if d in texts):
        text = texts[document].text
        sentences: dict[int, list[Mention]] = {}
        ends = [match.end() for match in _SENTENCE_END.finditer(text)]
        for mention in find_mentions(text, [Span(0, len(text))], cast):
            row = bisect_right(ends, mention.span.start)
            sentences.setdefault(row, []).append(mention)
        for row, mentions in sentences.items():
            names = frozenset(mention.who for mention in mentions)
            if len(names) < 2:
                continue
            start = ends[row - 1] if row else 0
            end = ends[row] if row < len(ends) else len(text)
            named = tuple(dict.fromkeys(owners[mention.who] for mention in mentions))
            span = Span(mentions[0].span.start, mentions[-1].span.end)
            place = texts[document].lines.lines_of(span).first
            line = NameLine(document, place, shorten_line(text, span), span.start)
            wedding = _WEDDING.search(text, start, end) is not None
            yield NamingSentence(names, named, wedding, line)


def shorten_line(text: str, span: Span) -> str:
    """Return the words of `text` at `span` and around it on one line; of a long span, its
    beginning.
    """
    start = max(0, span.start - _EXCERPT // 2)
    if start:
        start = text.find(" ", start, span.start) + 1 or span.start
    least = min(span.end + _EXCERPT // 4, start + _MAX_EXCERPT)
    end = min(len(text), max(start + _EXCERPT, least))
    cut = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{cut}{'…' if end < len(text) else ''}"


def compile_name(name: str) -> re.Pattern[str]:
    """Return a pattern for whole occurrences of `name`."""
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def find_name_lines(
    name: str,
    texts: Mapping[DocumentId, DocumentText],
    story: Sequence[DocumentId],
    limit: int,
) -> Iterator[NameLine]:
    """Yield the first `limit` places of `name`, in story order."""
    pattern = compile_name(name)
    for document in story:
        document_text = texts.get(document)
        if document_text is None:
            continue
        for match in pattern.finditer(document_text.text):
            if limit <= 0:
                return
            limit -= 1
            lines = document_text.lines.lines_of(Span(match.start(), match.end()))
            words = shorten_line(document_text.text, Span(*match.span()))
            yield NameLine(document, lines.first, words, match.start())


def is_only_married(person: CharacterProfile) -> bool:
    """Return whether all names of a character are like "Mrs. Vale"."""
    forms = parse_forms(person)
    return bool(forms) and all(form.title == "mrs" for form in forms)


def find_married_names(person: CharacterProfile) -> set[str]:
    """Return the surnames that a woman has after "Mrs." alone."""
    return {
        form.words[0].lower()
        for form in parse_forms(person)
        if form.title == "mrs" and len(form.words) == 1
    }


def guess_gender(person: CharacterProfile) -> Gender:
    """Return the gender of a character, or that of the given name, if it has one."""
    names = {form.name.split(" ")[0].lower() for form in person.aliases}
    if person.gender is not Gender.UNKNOWN or not names:
        return person.gender
    is_woman, is_man = bool(names & FEMALE_NAMES), bool(names & MALE_NAMES)
    if is_woman is is_man:
        return Gender.UNKNOWN
    return Gender.FEMALE if is_woman else Gender.MALE


def find_contradicting_names(person: CharacterProfile) -> Iterator[tuple[str, str]]:
    """Yield names that are probably somebody else's, and why."""
    forms = parse_forms(person)
    for form in forms:
        gender = infer_title_gender(form.title)
        if (
            Gender.UNKNOWN not in (gender, person.gender)
            and gender is not person.gender
        ):
            reason = f"“{form.name}” and {person.name} are of different gender"
            yield form.name, reason
    mentions = {form.name: form.mentions for form in person.aliases}
    conflicts: set[frozenset[str]] = set()
    for first, second in combinations(forms, 2):
        reason = _explain_conflict(first, second)
        words = frozenset((first.given_name or first.name, second.given_name, reason))
        is_wife = reason == _TWO_SURNAMES and person.gender is Gender.FEMALE
        if reason and not is_wife and words not in conflicts:
            conflicts.add(words)
            rarer = min(first, second, key=lambda f: mentions[f.name])
            yield rarer.name, f"“{first.name}” and “{second.name}” {reason}"


def find_distant_names(
    person: CharacterProfile, texts: Mapping[DocumentId, DocumentText]
) -> Iterator[tuple[str, str]]:
    """Yield the full name of a character who is mostly called by the given name, but
    hardly in the documents with the full name: Miss King may not be Mary.
    """
    mentions = {form.name: form.mentions for form in person.aliases}
    surnames = find_surnames(person)
    bare = [n for n in mentions if " " not in n and n.lower() not in surnames]
    full = [f.name for f in parse_forms(person) if f.words and f.name not in bare]
    full = [name for name in full if _is_full(name, bare[:1])]
    rarer = sum(mentions[name] for name in full)
    if not rarer or mentions[bare[0]] < max(_MIN_BARE, _MOSTLY * rarer):
        return
    names, alone = [compile_name(name) for name in full], compile_name(bare[0])
    documents = beside = 0
    for document in texts.values():
        spans = [match.span() for p in names for match in p.finditer(document.text)]
        places = (match.start() for match in alone.finditer(document.text))
        documents += bool(spans)
        beside += bool(spans) and any(
            not any(start <= at < end for start, end in spans) for at in places
        )
    if documents > 1 and beside * 2 < documents:
        yield full[0], f"“{bare[0]}” and “{full[0]}” are seldom in one file"


def _is_full(name: str, bare: Sequence[str]) -> bool:
    """Return whether `name` has a surname: "Mary King" or "Miss King", not "Miss Mary"
    if `bare` is Mary.
    """
    title, words, _ = parse_name_form(name)
    return bool(bare) and words[-1] != bare[0] and (len(words) > 1 or bool(title))


def find_father_names(
    person: CharacterProfile, married: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield "Mr. Vale" with the name by which a man may be told apart from him.

    That is the given name of a man who mostly has that alone; or "Mr. Corin Vale" if
    `married`, the surnames of wives in lower case, has his surname.
    """
    surnames = find_surnames(person)
    forms = {form.name: parse_name_form(form.name) for form in person.aliases}
    alone = [name for name in forms if " " not in name and name.lower() not in surnames]
    full = [
        form.name
        for form in person.aliases
        if forms[form.name][0] == "mr"
        and len(forms[form.name][1]) == 2
        and form.mentions >= _MIN_FULL
    ]
    mentions = {form.name: form.mentions for form in person.aliases}
    for name, (title, words, _) in forms.items():
        if title != "mr" or len(words) != 1 or words[0].lower() not in surnames:
            continue
        if alone and words[0] not in alone and mentions[name] < mentions[alone[0]]:
            yield name, alone[0]
        elif full and words[0].lower() in married:
            yield name, full[0]


_TWO_SURNAMES = "have two surnames"


def _explain_conflict(first: NameForm, second: NameForm) -> str:
    """Return what speaks against one bearer of two names; "" for nothing."""
    if first.given_name and second.given_name:
        husband = is_named_after_husband(first) or is_named_after_husband(second)
        if not husband and not is_same_given_name(first.given_name, second.given_name):
            return "have two given names"
        if not husband and first.last != second.last:
            return _TWO_SURNAMES
    if {first.title, second.title} in ({"sir", "mr"}, {"lord", "mr"}):
        return "have two titles"
    return ""


def find_surnames(person: CharacterProfile) -> set[str]:
    """Return the surnames after a given name, or after a title that needs one."""
    return {
        form.last or form.words[-1].lower()
        for form in parse_forms(person)
        if form.given_name or (form.title in SURNAME_TITLES and form.words)
    }


def parse_forms(person: CharacterProfile) -> list[NameForm]:
    """Return the names of a character that the text has, most mentioned first."""
    return [NameForm.of_name(form.name) for form in person.aliases if form.mentions]
