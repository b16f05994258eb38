"""Selects the pairs of statements that a language model should judge."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from lrwr.core.bible.horizon import HorizonCast, HorizonView, compile_forms_pattern
from lrwr.core.bible.profiles import (
    VisibleFacts,
    collect_visible_facts,
    normalize_value,
)
from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.continuity.pairs import (
    DESCRIPTION_ATTRIBUTE,
    PairPassage,
    StatementPair,
    build_pair_passage,
    collect_uncompared_statements,
    extract_content_stems,
)
from lrwr.core.continuity.statements import (
    Statement,
    StatementSource,
    find_enclosing_sentence,
    is_asserted_in_context,
    mentions_change,
)
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.facts import RULES_KEEPER, Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.text.prose import find_quoted_spans

MAX_PASSAGES_PER_CLAIM = 4
"""Maximum passages compared with one note or answer: those with most shared words."""

_MAX_SHARE = 0.1
"""Maximum share of a character's sentences that contain a distinctive word."""

_ALWAYS_DISTINCTIVE = 3
"""A word in at most this many sentences is always distinctive."""


_WEAK_WORDS = (
    "day days night nights hour hours minute minutes week month months year years morning"
    " evening noon time times again always never once twice soon late early go goes went"
    " come came take took put keep kept tell told say said look looked make made get got"
    " stand stood turn turned hold held half whole quarter thing things way place places"
    " past house room door man woman people hand hands head back end stones one two three four"
    " five six seven eight nine ten eleven twelve twenty thirty forty hundred"
)
"""Words that say nothing of the topic of a statement."""

_ENOUGH_WEAK = 3
"""More shared words than these need no word of a topic."""

_MAX_WORDS_BEFORE_SUBJECT = 6
"""Words before a name that is the subject of its sentence, at most."""

_PREPOSITION_END = re.compile(
    r"\b(?:after|against|at|before|behind|beside|by|for|from|in|into|of|on|over|to|told"
    r"|toward|towards|under|upon|with|and)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
"""Words before a name that is not the subject."""

_RIVALS = tuple(
    frozenset(words.split())
    for words in (
        "left right both",
        "black white grey gray brown red blue green yellow golden silver fair dark",
        "tall short small large big little thin fat",
        "one two three four five six seven eight nine ten eleven twelve twenty thirty"
        " forty fifty sixty seventy eighty ninety hundred",
        "always never",
        "married unmarried widowed widow single",
        "blind deaf mute lame",
        "alive dead",
    )
)
"""Groups of words of which two seldom hold for one attribute."""


@dataclass(frozen=True, slots=True)
class _NamingSentence:
    """A sentence that names a character; `stems` are those of its narration, and `words`
    its words in lower case. `is_subject` says that the character is the first one named.
    """

    document: DocumentId
    span: Span
    stems: frozenset[str]
    words: frozenset[str] = frozenset()
    is_subject: bool = True


def find_statement_pairs(
    knowledge: StoryKnowledge,
    horizon: Horizon | None = None,
    documents: Collection[DocumentId] | None = None,
) -> tuple[StatementPair, ...]:
    """Return the pairs that a model should judge.

    One side counts as true: a note, an answer in the canon file, or an earlier document
    of the story. The other is narration that names the same character or thing. Pairs
    with a note or answer come first; within both groups, the latest passages of the
    story come first. With a horizon, no story passage after it is used. With
    `documents`, only pairs with a passage in one of them are returned.
    """
    horizon_view = HorizonView(knowledge.order, knowledge.texts, None)
    horizon_cast = HorizonCast(
        knowledge.cast, knowledge.first_seen, horizon_view, knowledge.canon.names
    )
    material = collect_visible_facts(knowledge.facts, horizon_cast, horizon_view)
    statements = collect_uncompared_statements(material, knowledge.canon)
    joined = [*_pair_by_attribute(statements), *_pair_by_words(statements, material)]
    joined.sort(
        key=lambda two: (two[0].source is StatementSource.TEXT, *_latest(two[1]))
    )
    bounded_view = HorizonView(knowledge.order, knowledge.texts, horizon)
    visible_cast = HorizonCast(
        knowledge.cast, knowledge.first_seen, bounded_view, knowledge.canon.names
    )
    pairs = (
        _build_pair(statement, other, visible_cast, horizon_view)
        for statement, other in joined
    )
    visible_pairs = dict.fromkeys(
        pair for pair in pairs if pair and _is_seen(pair, bounded_view)
    )
    return tuple(
        pair for pair in visible_pairs if documents is None or pair.touches(documents)
    )


def _latest(statement: Statement) -> tuple[int, int]:
    return -statement.rank[0], -statement.rank[2]


def _pair_by_attribute(
    statements: Iterable[Statement],
) -> Iterator[tuple[Statement, Statement]]:
    """Yield pairs of statements on the same attribute with different wording."""
    groups: dict[tuple[str, str], list[Statement]] = {}
    for statement in statements:
        if statement.attribute != DESCRIPTION_ATTRIBUTE:
            groups.setdefault(
                (normalize_value(statement.about), statement.attribute), []
            ).append(statement)
    for group in groups.values():
        story_statements = [
            statement for statement in group if statement.source is StatementSource.TEXT
        ]
        canon = [
            statement
            for statement in group
            if statement.source is not StatementSource.TEXT
        ] or story_statements[:1]
        yield from (
            (canon_statement, story_statement)
            for story_statement in story_statements
            for canon_statement in canon
            if canon_statement.rank[:2] != story_statement.rank[:2]
            and not _is_subset_wording(canon_statement, story_statement)
        )


def _is_subset_wording(statement: Statement, other: Statement) -> bool:
    """Return whether the content words of one value are a subset of the other's."""
    stems, other_stems = (
        extract_content_stems(statement.value),
        extract_content_stems(other.value),
    )
    return stems <= other_stems or other_stems <= stems


def _pair_by_words(
    statements: Sequence[Statement], material: VisibleFacts
) -> Iterator[tuple[Statement, Statement]]:
    """Yield the author's statements with the sentences that share distinctive words."""
    of_writer: dict[str, list[Statement]] = {}
    quoted: dict[DocumentId, list[Span]] = {}
    everybody = [
        f for name in material.cast.visible for f in _forms(name, material.cast)
    ]
    for statement in statements:
        if statement.source is not StatementSource.TEXT:
            of_writer.setdefault(statement.about, []).append(statement)
    for about, claims in of_writer.items():
        forms = _forms(about, material.cast)
        sentences = list(
            _find_naming_sentences(forms, everybody, material.view, quoted)
        )
        counts = Counter(stem for sentence in sentences for stem in sentence.stems)
        max_occurrences = max(_ALWAYS_DISTINCTIVE, _MAX_SHARE * len(sentences))
        name_stems = extract_content_stems(" ".join(forms))
        distinctive = (
            frozenset(s for s, n in counts.items() if n <= max_occurrences) - name_stems
        )
        for claim in claims:
            near_sentences = _rank_sentences(claim, sentences, distinctive, counts)[
                :MAX_PASSAGES_PER_CLAIM
            ]
            yield from (
                (claim, _build_statement(n, claim, material.view))
                for n in near_sentences
            )


def _rank_sentences(
    claim: Statement,
    sentences: Sequence[_NamingSentence],
    distinctive: frozenset[str],
    counts: Counter[str],
) -> list[_NamingSentence]:
    """Return the sentences on the topic of `claim`, most similar first, without
    repetitions.
    """
    label = (
        frozenset()
        if claim.attribute == DESCRIPTION_ATTRIBUTE
        else extract_content_stems(claim.attribute)
    )
    content_stems = extract_content_stems(claim.value)
    rated = []
    for sentence in sentences:
        shared = (content_stems | label) & sentence.stems & distinctive
        if _is_on_topic(claim, sentence, shared, label) and not (
            content_stems <= sentence.stems
        ):
            score = sum(1 / counts[stem] for stem in shared)  # rare words weigh more
            rated.append((-score, sentence.document, sentence.span, sentence))
    return [sentence for *_, sentence in sorted(rated, key=lambda row: row[:3])]


def _is_on_topic(
    claim: Statement,
    sentence: _NamingSentence,
    shared: frozenset[str],
    label: frozenset[str],
) -> bool:
    """Return whether a sentence is about the attribute of `claim`: its subject is the
    character, and it shares the attribute's name, two words of a topic, or one and has
    a rival of another word.
    """
    if not sentence.is_subject:
        return False
    weak = _stem_weak_words()
    topics = (shared - weak) | (shared & label)
    if len(topics) > 1 or (shared & label) - weak or len(shared) > _ENOUGH_WEAK:
        return True
    words = _list_words(claim.value)
    has_rival = any(
        words & group and (sentence.words & group) - words for group in _RIVALS
    )
    return bool(topics) and has_rival


@cache
def _stem_weak_words() -> frozenset[str]:
    return extract_content_stems(_WEAK_WORDS)


def _list_words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in re.findall(r"[^\W\d_]+", text))


def _forms(about: str, horizon_cast: HorizonCast) -> list[str]:
    visible_character = horizon_cast.visible.get(about)
    if visible_character is None:
        return [about]
    return [about, *(alias.name for alias in visible_character.character.aliases)]


def _find_naming_sentences(
    forms: Sequence[str],
    everybody: Sequence[str],
    horizon_view: HorizonView,
    quoted: dict[DocumentId, list[Span]],
) -> Iterator[_NamingSentence]:
    """Yield narrated sentences that name the character and assert something.

    `everybody` are the names of all characters. Fills `quoted` with the quoted spans of
    each document.
    """
    names = compile_forms_pattern(forms)
    others = compile_forms_pattern([name for name in everybody if name not in forms])
    for document in horizon_view.order.story if names else ():
        if document not in horizon_view.texts:
            continue
        text = horizon_view.texts[document].text
        last = -1
        for match in names.finditer(text) if names else ():
            span = Span(*match.span())
            if document not in quoted:
                quoted[document] = list(find_quoted_spans(text))
            if span.start < last or overlaps_any(span, quoted[document]):
                continue
            enclosing_sentence = find_enclosing_sentence(text, span)
            last = enclosing_sentence.end
            if is_asserted_in_context(text, span) and not mentions_change(text, span):
                remaining_words = _narration(text, enclosing_sentence, quoted[document])
                before = text[enclosing_sentence.start : span.start]
                is_named_first = others is None or others.search(before) is None
                is_near = len(before.split()) <= _MAX_WORDS_BEFORE_SUBJECT
                yield _NamingSentence(
                    document,
                    enclosing_sentence,
                    extract_content_stems(remaining_words),
                    _list_words(remaining_words),
                    is_named_first and is_near and not _PREPOSITION_END.search(before),
                )


def _narration(text: str, span: Span, quoted: Iterable[Span]) -> str:
    """Return the words at `span` with quotations replaced by spaces."""
    words = list(text[span.start : span.end])
    for quoted_span in quoted:
        start, end = max(quoted_span.start, span.start), min(quoted_span.end, span.end)
        if start < end:
            words[start - span.start : end - span.start] = " " * (end - start)
    return "".join(words)


def overlaps_any(span: Span, others: Iterable[Span]) -> bool:
    """Return whether `span` shares a character with one of `others`."""
    return any(other_span.overlaps(span) for other_span in others)


def _build_statement(
    naming_sentence: _NamingSentence, claim: Statement, horizon_view: HorizonView
) -> Statement:
    evidence = horizon_view.evidence(
        naming_sentence.document,
        (naming_sentence.span,),
        RULES_KEEPER,
        Certainty.PROBABLE,
    )
    return Statement(
        about=claim.about,
        attribute=claim.attribute,
        value=evidence.text,
        source=StatementSource.TEXT,
        certain=False,
        rank=horizon_view.sort_key(
            naming_sentence.document, naming_sentence.span.start
        ),
        evidence=evidence,
        span=naming_sentence.span,
    )


def _build_pair(
    canon: Statement,
    statement: Statement,
    horizon_cast: HorizonCast,
    horizon_view: HorizonView,
) -> StatementPair | None:
    canon_passage, passage = (
        build_pair_passage(canon, horizon_view),
        build_pair_passage(statement, horizon_view),
    )
    about = horizon_cast.display_name(statement.about)
    if canon_passage is None or passage is None or not about:
        return None
    return StatementPair(about, statement.attribute, canon_passage, passage)


def _is_seen(pair: StatementPair, bounded_view: HorizonView) -> bool:
    """Return whether all story passages of a pair are before the horizon."""
    return all(
        _is_within(passage, bounded_view) for passage in (pair.canon, pair.found)
    )


def _is_within(pair_passage: PairPassage, bounded_view: HorizonView) -> bool:
    if pair_passage.document is None or not bounded_view.is_story(
        pair_passage.document
    ):
        return True
    return bounded_view.is_visible(
        pair_passage.document,
        (Span(pair_passage.start, pair_passage.start + len(pair_passage.text)),),
    )
