"""Findings about a draft, and the story with the draft in it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

from lrwr.core.bible.horizon import compile_forms_pattern
from lrwr.core.bible.projection import StoryKnowledge, project_bible
from lrwr.core.bible.values import Bible, CharacterProfile, TextEvidence
from lrwr.core.continuity.statements import find_enclosing_sentence
from lrwr.core.drafting.board import SceneCard
from lrwr.core.drafting.style import VoiceDistance
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import LineRange, Span
from lrwr.core.retrieval.story import StoryOrder

_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]")


class FindingKind(StrEnum):
    """What is wrong with a draft. A contradiction is reported apart."""

    LATER = "from later"
    """A name or fact that the story tells only after this place."""
    CARD = "card"
    """The card asks for something that the draft lacks."""
    PLACE = "place"
    """The draft does not name the place of the card."""
    NUMBER = "number"
    """The story has the same things with another number."""
    DETAIL = "detail"
    """The story has another colour, material, side, name, age or trade there."""
    DEAD = "dead"
    """Somebody acts whose death the story told before."""
    NAME = "new name"
    """The story, its notes and the plan do not have the name."""
    BRIEF = "brief"
    """A language model says that it contradicts an entry of the brief."""
    REPETITION = "repetition"
    RELATION = "abrupt relation"
    """Two people become friends or enemies from one scene to the next."""


@dataclass(frozen=True, slots=True)
class DraftFinding:
    """Something to look at in a draft, on `lines`; None for the draft as a whole.

    `text` is a sentence, `place` the `file:line` elsewhere that it refers to, empty for
    none. `quote` are words of the draft, `words` those of them that are wrong, if a rule
    found it. `is_remark` says that only the writer can judge it, such as a length.
    """

    kind: FindingKind
    text: str
    lines: LineRange | None = None
    quote: str = ""
    place: str = ""
    is_remark: bool = False
    words: str = ""

    @property
    def needs_author(self) -> bool:
        """Whether it asks for a decision; new names and a place not named do not."""
        return self.kind not in (FindingKind.NAME, FindingKind.PLACE)


@dataclass(frozen=True, slots=True)
class NewFact:
    """Something that the draft would make known for the first time."""

    about: str
    text: str
    evidence: TextEvidence


@dataclass(frozen=True, slots=True)
class DraftReport:
    """The findings of a draft, what it makes known, and how it sounds.

    `voice` is None for a short draft or a short book. `compared_counts` is how many
    numbers of things the story has, too.
    """

    findings: tuple[DraftFinding, ...] = ()
    new_facts: tuple[NewFact, ...] = ()
    voice: VoiceDistance | None = None
    compared_counts: int = 0


def add_findings(report: DraftReport, findings: Sequence[DraftFinding]) -> DraftReport:
    """Return `report` with more findings, each once, in text order."""
    unique = dict.fromkeys((*report.findings, *findings))
    ordered = sorted(unique, key=lambda f: f.lines.first if f.lines else 0)
    return replace(report, findings=tuple(ordered))


@dataclass(frozen=True, slots=True)
class DraftContext:
    """A story with a draft in it.

    `knowledge` and `bible` include the `draft`, a document at its place in the story
    order. `ranks` has the positions of documents in that order. `card` is that of the
    scene, None for another text. `is_revision` says that the draft is a document of the
    story already: what it introduces is not from later. `plans` is the text of the
    writer's plans, and of the draft as it is in the story: their names are known.
    `numbering` is the story order without the draft, by which its chapters are called
    where it has them; None for that with it.
    """

    knowledge: StoryKnowledge
    bible: Bible
    draft: DocumentId
    ranks: Mapping[DocumentId, int]
    card: SceneCard | None = None
    is_revision: bool = False
    plans: str = ""
    numbering: StoryOrder | None = None

    @classmethod
    def of(
        cls,
        knowledge: StoryKnowledge,
        draft: DocumentId,
        card: SceneCard | None,
        *,
        is_revision: bool = False,
        plans: str = "",
        numbering: StoryOrder | None = None,
    ) -> "DraftContext":
        """Return the context of `draft`; this builds the whole story bible."""
        ranks = {document: n for n, document in enumerate(knowledge.order.story)}
        bible = project_bible(knowledge)
        return cls(knowledge, bible, draft, ranks, card, is_revision, plans, numbering)

    @property
    def text(self) -> str:
        """The text of the draft."""
        return self.knowledge.texts[self.draft].text

    @property
    def texts_before(self) -> dict[DocumentId, str]:
        """The texts of the story before the draft, in story order."""
        story = self.knowledge.order.story
        return {
            document: self.knowledge.texts[document].text
            for document in story
            if self.ranks[document] < self.ranks.get(self.draft, -1)
        }

    def locate(self, document: DocumentId, span: Span) -> str:
        """Return the `file:line` of a passage of the story or a note."""
        lines = self.knowledge.texts[document].lines.lines_of(span)
        last = f"-{lines.last}" if lines.last > lines.first else ""
        return f"{document}:{lines.first}{last}"

    def number_chapter(self, document: DocumentId, span: Span) -> int | None:
        """Return the number of the chapter with a passage, as it is without the draft."""
        order = self.numbering or self.knowledge.order
        order = order if document in order.outlines else self.knowledge.order
        chapters = order.outlines[document].chapters
        index = next((n for n, c in enumerate(chapters) if c.span.holds(span)), 0)
        return order.chapter_number(document, index)

    def quote_sentence(self, span: Span) -> str:
        """Return the sentence of the draft at `span`, on one line."""
        sentence = find_enclosing_sentence(self.text, span)
        return " ".join(self.text[sentence.start : sentence.end].split())

    def is_known_before(self, person: CharacterProfile) -> bool:
        """Return whether a character is in the story or its notes, not only in the draft."""
        return person.first_seen is None or person.first_seen.document != self.draft

    def list_own_forms(self) -> dict[str, str]:
        """Return the names that can mean only one character whom the story or a note has,
        each with the character.
        """
        people = filter(self.is_known_before, self.bible.characters)
        forms = select_own_forms({p.name: [f.name for f in p.aliases] for p in people})
        return {form: person for person, own in forms.items() for form in own}

    def lines_of(self, span: Span) -> LineRange:
        """Return the lines of the draft at `span`."""
        return self.knowledge.texts[self.draft].lines.lines_of(span)

    def is_later(self, document: DocumentId) -> bool:
        """Return whether a document of the story comes after the draft."""
        return self.ranks.get(document, -1) > self.ranks.get(self.draft, -1)

    def is_first_told_later(self, evidence: Sequence[TextEvidence]) -> bool:
        """Return whether the story has something only after the draft, which has it
        too. What it has nowhere else is new, not from later; notes do not count.
        """
        others = [e.document for e in evidence if e.document in self.ranks]
        others = [document for document in others if document != self.draft]
        return bool(others) and all(map(self.is_later, others))


@cache
def compile_apposition(nouns: str) -> re.Pattern[str]:
    """Return a pattern for a name and one of `nouns` beside it: "Ansel, her cousin", "the
    mule Robin". Its groups are `name` and `noun`, or `after` and `before`; `owner` or
    `whose` is the word before the noun.
    """
    owner = r"the|an?|his|her|their|my|our|your"
    return re.compile(
        rf"\b(?P<name>[A-ZÀ-Þ][\w’'-]+(?: [A-ZÀ-Þ][\w’'-]+)*), (?P<owner>{owner})"
        rf" (?:[a-z]+ ){{0,2}}?(?P<noun>{nouns})(?=[,.;:!?])"
        rf"|\b(?P<whose>(?i:{owner})) (?:[a-z]+ ){{0,2}}?(?P<before>{nouns}),?"
        r" (?P<after>[A-ZÀ-Þ][\w’'-]+(?: [A-ZÀ-Þ][\w’'-]+)*)"
    )


def describe_other_word(
    context: DraftContext, span: Span, noun: str, document: DocumentId, other: Span
) -> DraftFinding:
    """Return the finding that a word for somebody at `span` differs from that at `other`."""
    text = context.knowledge.texts[document].text
    quote = " ".join(_LINK.sub(r"\1", text[other.start : other.end]).split())
    return DraftFinding(
        FindingKind.DETAIL,
        f"“{noun}”, but elsewhere: “{quote}”",
        context.lines_of(span),
        context.quote_sentence(span),
        context.locate(document, other),
        is_remark=document not in context.texts_before,
        words=noun,
    )


def read_apposition(match: re.Match[str]) -> tuple[str, str]:
    """Return the name and the noun of a match of `compile_apposition`."""
    return match["name"] or match["after"], match["noun"] or match["before"]


def find_named_people(text: str, people: Mapping[str, str]) -> frozenset[str]:
    """Return the people named in `text`; `people` maps the forms of names to them."""
    pattern = compile_forms_pattern(people.keys())
    matches = pattern.finditer(text) if pattern else ()
    return frozenset(people[match[0]] for match in matches)


def select_own_forms(forms: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return for each person the forms of the name that can mean nobody else.

    `forms` has all of them, by person. A form that is part of another person's is left
    out, and so are those without a capital, such as "the keeper".
    """
    words = {
        person: [frozenset(form.casefold().split()) for form in own]
        for person, own in forms.items()
    }
    return {
        person: tuple(
            form
            for form in own
            if form[:1].isupper()
            and not any(
                frozenset(form.casefold().split()) <= other
                for name, others in words.items()
                if name != person
                for other in others
            )
        )
        for person, own in forms.items()
    }
