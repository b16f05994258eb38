"""Compares what a statement says of a thing or a character with the text: its colour,
material, side, number, name, eyes, hair, age and kin.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lrwr.core.attribution.concrete_words import group_looks
from lrwr.core.attribution.details import are_hedged, stem_words
from lrwr.core.attribution.names import fold_words, list_named_characters
from lrwr.core.bible.values import Bible
from lrwr.core.continuity.values import (
    are_values_incompatible,
    classify_kinship,
    do_ages_differ,
    excludes_kinship,
    invert_kinship,
)
from lrwr.core.evidence.comparison import DetailDifference, DetailKind, list_counted
from lrwr.core.evidence.results import CheckedStory, KnownAttribute, KnownRelation
from lrwr.core.model.facts import SURE_CERTAINTIES, Fact
from lrwr.core.model.text import (
    STOP_WORDS,
    WORD_PATTERN,
    SentenceSplitter,
    normalize_word,
    stem_word,
)
from lrwr.core.nlp.facts.attributes import find_attribute_facts
from lrwr.core.nlp.facts.kinship import find_kinship_facts
from lrwr.core.nlp.text.prose import AnnotatedProse, annotate_prose

COMPARED_LABELS = frozenset({"eyes", "hair", "age"})
"""Attributes of characters of which two values exclude each other."""

MIN_SHARED_STEMS = 2
MIN_SHARED_SHARE = 0.5
ENOUGH_STEMS = 3
"""Content words that a statement must share with a sentence of the text to be about the
same thing: so many that are so large a share, or so many more."""

MIN_COUNTED_STEMS = 2
"""Content words, besides number and what is counted, that a statement must share with a
sentence to count the same things."""

MEANT_WORDS = 3
"""Content words at the end of a sentence that "it" in the next one may mean."""

_PREDICATE = re.compile(
    r"(?P<what>[^\W\d_]+),? (?:is|are|was|were|had been)(?: [^\W\d_]+,?){0,3}?"
    r"(?: made)?(?: of)?\s*$"
)
_PRONOUN = re.compile(r"\W*(?P<word>he|she|his|her)\b", re.IGNORECASE)
_CALLED = re.compile(
    r"(?P<what>[a-z]+),? (?:is|was|who is|who was|were)?,? ?(?:called|named) (?P<name>[A-Z]\w+)"
    r"|(?P<owned>[a-z]+)(?:['’]s|, whose) name (?:is|was) (?P<other>[A-Z]\w+)"
)
_COMPARED = re.compile(r"\b(?:older|younger)\b")
_BODY = re.compile(r"\b(?:eyes?|eyed|hair|haired|years? old|aged?)\b")
_AGE_BEFORE = re.compile(r"\baged? (?:of )?$", re.IGNORECASE)
_AGE_AFTER = re.compile(r"[- ]years?(?:[- ]old| of age)\b", re.IGNORECASE)
"""What stands before or after a number that is an age."""

_THERE = re.compile(r"\b(?:it|its|there|they|them|these|those)\b", re.IGNORECASE)
_NAMELESS = re.compile(r"(?P<what>[a-z]+) (?:had|has) (?P<none>no name)\b")


@dataclass(frozen=True, slots=True)
class _Look:
    """A colour, material or side `word` with the words that mean the same, of a thing: the
    stem of its noun, "" for a pronoun.
    """

    word: str
    kinds: frozenset[int]
    group: frozenset[str]
    thing: str


def list_known_attributes(bible: Bible) -> tuple[KnownAttribute, ...]:
    """Return the eyes, hair and ages that the text or notes give to characters."""
    attributes = []
    for profile in bible.characters:
        forms = tuple(dict.fromkeys((profile.name, *(f.name for f in profile.aliases))))
        for label in sorted(COMPARED_LABELS):
            claims = [c for c in profile.attributes if c.label == label]
            if claims and any(c.certainty in SURE_CERTAINTIES for c in claims):
                values = tuple(claim.value for claim in claims)
                attributes.append(KnownAttribute(forms, label, values))
    return tuple(attributes)


def states_attribute(statement: str) -> bool:
    """Return whether a statement may have a colour, material, side or name of a thing,
    or eyes, hair or an age, so that it can be compared.
    """
    has_look = any(look.thing for look in _iter_looks(statement, ""))
    return has_look or any(p.search(statement) for p in (_CALLED, _BODY))


def list_known_relations(bible: Bible) -> tuple[KnownRelation, ...]:
    """Return the kinships that text or notes state, and those that follow from them."""
    forms = {
        profile.name: (profile.name, *(form.name for form in profile.aliases))
        for profile in bible.characters
    }
    return tuple(
        KnownRelation(
            forms.get(relation.source, (relation.source,)),
            forms.get(relation.target, (relation.target,)),
            relation.kind,
        )
        for relation in bible.relations
        if classify_kinship(relation.kind)
    )


def find_attribute_differences(
    statement: str,
    passages: Sequence[str],
    split: SentenceSplitter,
    story: CheckedStory | None = None,
    subject: str = "",
) -> tuple[DetailDifference, ...]:
    """Return the colours, materials, sides, names, eyes, hair and ages in a statement for
    which the text has others of the same thing or character, and nowhere the same.

    `subject` is the character whom "she" at its beginning means.
    """
    looks = _compare_looks(statement, passages, split, story, subject)
    names = _compare_names(statement, passages, split)
    facts = _compare_facts(statement, split, story, subject) if story else ()
    return tuple(dict.fromkeys((*looks, *names, *facts)))


def find_count_and_kin_differences(
    statement: str,
    passages: Sequence[str],
    split: SentenceSplitter,
    story: CheckedStory,
    subject: str = "",
) -> tuple[DetailDifference, ...]:
    """Return the numbers in a statement for which a sentence on the same matter has
    another number of the same things, and the kinships of characters who have another.

    `subject` is the character whom "she" means.
    """
    counts = _compare_counts(statement, passages, split, story, subject)
    names = tuple(form for forms in story.cast for form in forms)
    kin = _compare_kin(annotate_prose(statement, split, names), story)
    return tuple(dict.fromkeys((*counts, *kin)))


def _compare_looks(
    statement: str,
    passages: Sequence[str],
    split: SentenceSplitter,
    story: CheckedStory | None,
    subject: str,
) -> Iterator[DetailDifference]:
    looks = [look for look in _iter_looks(statement, "") if look.thing]
    if not looks:
        return
    sentences = list(_iter_sentences(passages, split))
    cast = story.cast if story else ()
    named = set().union(*list_named_characters(f"{subject}. {statement}", cast), ())
    stems = stem_words(statement)
    for look in looks:
        others = [
            (other, before, sentence)
            for before, sentence in sentences
            if look.thing[:-1] in f"{before} {sentence}".lower()  # a quick first look
            for other in _iter_looks(sentence, before)
            if look.thing in (other.thing, *_list_nouns(other, before))
            and look.kinds & other.kinds
        ]
        if any(
            other.word in look.group or look.word in other.group
            for other, _, _ in others
        ):
            continue
        if any(_has_look(sentence, look) for _, sentence in sentences):
            continue
        for other, before, sentence in others:
            context = f"{before} {sentence}"
            who = set().union(*list_named_characters(context, cast), ())
            is_same = not named or bool(named & who)
            if is_same and _is_about_same(stems, stem_words(context)):
                yield DetailDifference(DetailKind.WORD, look.word, other.word)
                break


def _has_look(sentence: str, look: _Look) -> bool:
    """Return whether a sentence has both a thing and a word for its look."""
    words = {*fold_words(sentence)}
    has_word = not words.isdisjoint(look.group)
    return has_word and look.thing in {stem_word(word) for word in words}


def _is_about_same(stems: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(stems & other)
    return shared >= ENOUGH_STEMS or (
        shared >= MIN_SHARED_STEMS and shared >= MIN_SHARED_SHARE * len(stems)
    )


def _iter_sentences(
    passages: Sequence[str], split: SentenceSplitter
) -> Iterator[tuple[str, str]]:
    """Yield the sentences of passages, each after the one before it."""
    for text in dict.fromkeys(passages):
        before = ""
        for span in split(text):
            sentence = text[span.start : span.end]
            yield before, sentence
            before = sentence


def _iter_looks(sentence: str, before: str) -> Iterator[_Look]:
    """Yield the colours and materials of things in a sentence: "the silver collar",
    "the lantern was brass"; of a pronoun only if there is a sentence `before`.
    """
    groups = group_looks()
    words = list(WORD_PATTERN.finditer(sentence))
    for at, match in enumerate(words):
        word = normalize_word(match[0])
        if word not in groups or not match[0].islower():
            continue
        kinds, group = groups[word]
        thing = _find_noun_after(sentence, words, at)
        if thing is None:
            thing = _find_subject_before(sentence[: match.start()], before)
        if thing is not None:
            yield _Look(word, kinds, group, thing)


def _find_noun_after(
    sentence: str, words: Sequence[re.Match[str]], at: int
) -> str | None:
    if at + 1 >= len(words):
        return None
    noun = words[at + 1]
    between = sentence[words[at].end() : noun.start()]
    plain = normalize_word(noun[0])
    is_noun = between == " " and plain not in STOP_WORDS and plain not in group_looks()
    return stem_word(noun[0]) if is_noun else None


def _find_subject_before(text: str, before: str) -> str | None:
    match = _PREDICATE.search(text)
    if match is None:
        return None
    what = normalize_word(match["what"])
    if what in ("it", "they"):
        return "" if before else None
    return None if what in STOP_WORDS else stem_word(match["what"])


def _list_nouns(look: _Look, before: str) -> list[str]:
    """Return the stems of the words that "it" may mean; none for another subject."""
    if look.thing:
        return []
    words = [
        w for w in WORD_PATTERN.findall(before) if normalize_word(w) not in STOP_WORDS
    ]
    return [stem_word(word) for word in words[-MEANT_WORDS:]]


def _compare_names(
    statement: str, passages: Sequence[str], split: SentenceSplitter
) -> Iterator[DetailDifference]:
    """Yield the names that a statement gives to a thing or an animal which the text
    calls otherwise, or says to have none.
    """
    for match in _CALLED.finditer(statement):
        what = stem_word(match["what"] or match["owned"])
        name = match["name"] or match["other"]
        others = [
            other
            for text in passages
            for pattern in (_CALLED, _NAMELESS)
            for other in pattern.finditer(text)
            if stem_word(other.groupdict().get("what") or other["owned"] or "") == what
        ]
        names = [
            row.get("name") or row.get("other") or row.get("none") or ""
            for row in (other.groupdict() for other in others)
        ]
        is_known = any(
            name in WORD_PATTERN.findall(sentence)
            and what in map(stem_word, WORD_PATTERN.findall(sentence))
            for _, sentence in _iter_sentences(passages, split)
        )
        if names and not is_known:
            yield DetailDifference(DetailKind.NAME, name, names[0])


def _compare_counts(
    statement: str,
    passages: Sequence[str],
    split: SentenceSplitter,
    story: CheckedStory,
    subject: str,
) -> Iterator[DetailDifference]:
    """Yield the numbers of a statement for which a sentence on the same matter has another
    number of the same things, and none has the same number of them.
    """
    counted = [row for row in list_counted(statement) if row[2]]
    if not counted:
        return
    cast = story.cast
    sentences = list(_iter_sentences(passages, split))
    named = set().union(*list_named_characters(f"{subject}. {statement}", cast), ())
    stems = stem_words(statement)
    for value, words, noun in counted:
        about = stems - stem_words(words) - {noun}
        rivals = [
            (
                number,
                other,
                sentence,
                len(about & _list_context_stems(before, sentence)),
            )
            for before, sentence in sentences
            for number, other, what in list_counted(sentence)
            if what == noun and _is_age(other, sentence) == _is_age(words, statement)
        ]
        # Where the same number of them stands elsewhere, all other words must agree.
        same = [shared for number, *_, shared in rivals if number == value]
        enough = max(max(same) + 1, len(about)) if same else 0
        for number, other, sentence, shared in rivals:
            who = set().union(*list_named_characters(sentence, cast), ())
            is_same = not (named and who) or bool(named & who)
            if (
                is_same
                and shared >= max(MIN_COUNTED_STEMS, enough)
                and not are_hedged([value], [number], statement, sentence)
            ):
                yield DetailDifference(DetailKind.NUMBER, words, other)
                break


def _list_context_stems(before: str, sentence: str) -> frozenset[str]:
    """Return the content words of a sentence, with those of the one `before` if a
    pronoun may mean what it names: "it was seventeen miles".
    """
    text = f"{before} {sentence}" if _THERE.search(sentence) else sentence
    return stem_words(text)


def _is_age(words: str, text: str) -> bool:
    """Return whether the number `words` in `text` is an age."""
    at = text.find(words)
    is_after = _AGE_BEFORE.search(text[:at]) is not None
    return is_after or _AGE_AFTER.match(text, at + len(words)) is not None


def _compare_facts(
    statement: str, split: SentenceSplitter, story: CheckedStory, subject: str
) -> Iterator[DetailDifference]:
    """Yield the eyes, hair and ages of a character for which the text has others."""
    if not story.attributes:
        return
    text = statement
    pronoun = _PRONOUN.match(statement)
    if subject and pronoun:
        is_owner = pronoun["word"].lower() in ("his", "her")
        name = f"{subject}’s" if is_owner else subject
        text = f"{name}{statement[pronoun.end() :]}"
    names = tuple(form for forms in story.cast for form in forms)
    for fact in find_attribute_facts(annotate_prose(text, split, names)):
        attribute = _find_known(fact, story.attributes)
        is_compared = fact.detail("attribute") == "age" and _COMPARED.search(text)
        if (
            attribute
            and not is_compared
            and all(_excludes(fact, value) for value in attribute.values)
        ):
            kind = (
                DetailKind.NUMBER
                if fact.detail("attribute") == "age"
                else DetailKind.WORD
            )
            yield DetailDifference(kind, fact.value, attribute.values[0])


def _compare_kin(
    prose: AnnotatedProse, story: CheckedStory
) -> Iterator[DetailDifference]:
    """Yield the kinships that a statement gives to two characters who have another one."""
    for fact in find_kinship_facts(prose):
        kin = fact.detail("kind")
        pair = fold_words(fact.subject), fold_words(fact.detail("target"))
        kinships = [
            (relation.kin, invert_kinship(relation.kin) if is_inverse else "")
            for relation in story.relations
            for is_inverse in (False, True)
            if _are_meant(pair[:: -1 if is_inverse else 1], relation)
        ]
        others = {inverse or classify_kinship(word) for word, inverse in kinships}
        if others and all(excludes_kinship(classify_kinship(kin), o) for o in others):
            yield DetailDifference(DetailKind.WORD, kin, kinships[0][0])


def _are_meant(pair: tuple[tuple[str, ...], ...], relation: KnownRelation) -> bool:
    return all(
        any(fold_words(form) == words for form in forms)
        for words, forms in zip(pair, (relation.source, relation.target), strict=True)
    )


def _find_known(
    fact: Fact, attributes: Sequence[KnownAttribute]
) -> KnownAttribute | None:
    """Return what the text says of the same attribute of the only character whom the
    name in a fact may mean.
    """
    subject = fold_words(fact.subject)
    fitting = [
        attribute
        for attribute in attributes
        if attribute.label == fact.detail("attribute")
        and any(fold_words(form) == subject for form in attribute.forms)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _excludes(fact: Fact, value: str) -> bool:
    label = fact.detail("attribute")
    if label == "age":
        return do_ages_differ(fact.value, value)
    return are_values_incompatible(label, fact.value, value)
