"""Finds contradictions with what notes, decisions and earlier text state, by rules,
including misspelled names.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from sys import intern
from types import MappingProxyType

from lrwr.core.bible.horizon import HorizonCast, HorizonView
from lrwr.core.bible.name_evidence import compile_name
from lrwr.core.bible.profiles import (
    VisibleFacts,
    collect_visible_facts,
    deduplicate_evidence,
    normalize_value,
)
from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.bible.values import assign_short_ids, find_by_id_prefix
from lrwr.core.canon.model import Canon, IntendedContradiction
from lrwr.core.continuity.deaths import find_acts_after_death
from lrwr.core.continuity.rules import (
    LIFE_ATTRIBUTE,
    StatementComparator,
    StatementConflict,
    find_possible_conflicts,
)
from lrwr.core.continuity.statements import (
    Contradiction,
    ContradictionSide,
    Statement,
    StatementSource,
    collect_statements,
    find_enclosing_sentence,
)
from lrwr.core.continuity.values import (
    are_values_incompatible,
    find_quantity_statements,
    normalize_value_meaning,
)
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.facts import RULES_KEEPER, Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.facts.clauses import TITLE_WORDS
from lrwr.core.nlp.text.prose import find_quoted_spans

NAME_ATTRIBUTE = "name"
SPELLING_CACHE_SIZE = 4_096
"""Cached texts. Watch checks all texts after each save, and most are unchanged."""
_WORD = re.compile(r"(?<![\w’'-])[^\W\d_a-z][\w]+")
_SHORTEST = 5
"""Minimum letters of a name's word that is checked for misspellings."""
_RARE = 2
"""Maximum occurrences of a misspelling in the whole story."""
_OFTEN = 5
"""Minimum occurrences of the correct word."""
_TITLES = frozenset(TITLE_WORDS.split())


class StoryWords:
    """How often each capitalised word occurs in the story text.

    `counts` are those of the texts of the last `update`.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._texts: dict[DocumentId, str] = {}
        self._rare: dict[str, set[str]] = {}

    def update(self, texts: Mapping[DocumentId, str]) -> None:
        """Count the words of `texts`; those that are the same objects as at the last
        call are not counted again.
        """
        changed = [d for d, text in texts.items() if self._texts.get(d) is not text]
        gone = self._texts.keys() - texts.keys()
        touched: set[str] = set()
        for document in (*changed, *gone):
            old = count_words(self._texts.get(document, ""))
            new = count_words(texts.get(document, ""))
            self.counts.subtract(old)
            self.counts.update(new)
            touched |= old.keys() | new.keys()
        self._texts = dict(texts)
        for word in touched:
            self._note_rarity(word)

    def rare_like(self, word: str) -> Iterable[str]:
        """Return the rare words that begin as `word` does, in no order."""
        return self._rare.get(word[0], ())

    def _note_rarity(self, word: str) -> None:
        count = self.counts[word]
        if not count:
            del self.counts[word]
        if 0 < count <= _RARE and len(word) >= _SHORTEST and not word.isupper():
            self._rare.setdefault(word[0], set()).add(word)
        else:
            self._rare.get(word[0], set()).discard(word)


def find_misspelled_names(
    material: VisibleFacts, canon: Canon, words: StoryWords
) -> Iterator[tuple[Statement, Statement]]:
    """Yield pairs of a confirmed name and a spelling in the narration that differs from
    it by one letter.

    Both are statements; the first has a passage if a note has the name. The misspelling
    must be rare, differ from all names, plurals and lower-case words, and either stand
    beside the rest of the name ("Nell Tallov") or have a capital inside ("OchroMags").
    `words` are updated to the texts of the story.
    """
    names = _confirmed_names(material, canon)
    if not names:
        return
    horizon_view = material.view
    texts = {
        d: horizon_view.texts[d].text
        for d in horizon_view.order.story
        if horizon_view.is_document_visible(d)
    }
    words.update(texts)
    name_words = {word for name in _all_names(material) for word in name.split()}
    names_by_misspelling = _find_misspellings(names, words, name_words)
    for document, text in texts.items():
        if not any(word in count_words(text) for word in names_by_misspelling):
            continue
        quoted = list(find_quoted_spans(text))
        for match in _WORD.finditer(text):
            name = names_by_misspelling.get(match[0])
            span = Span(*match.span())
            if name is None or any(q.start <= span.start < q.end for q in quoted):
                continue
            wrong = _full_misspelling(name, match, text)
            if wrong:
                story = _state_spelling(name, wrong, document, span, horizon_view)
                yield _state_name(name, canon, horizon_view), story


def _state_name(name: str, canon: Canon, view: HorizonView) -> Statement:
    """Return a confirmed name as a statement: an answer if the user confirmed it or no
    note has it, else that of the first note with the name.
    """
    answer = Statement(
        name, NAME_ATTRIBUTE, name, StatementSource.ANSWER, True, (-2, "", 0)
    )
    if name in _list_decided_names(canon):
        return answer
    for document in sorted(view.texts):
        if document in view.order.story:
            continue
        match = compile_name(name).search(view.texts[document].text)
        if match is not None:
            span = Span(*match.span())
            evidence = view.evidence(
                document, (span,), RULES_KEEPER, Certainty.CONFIRMED
            )
            return replace(
                answer, source=StatementSource.NOTE, evidence=evidence, span=span
            )
    return answer


def _state_spelling(
    name: str, wrong: str, document: DocumentId, span: Span, view: HorizonView
) -> Statement:
    """Return the narrator's spelling at `span` as a statement."""
    sentence = find_enclosing_sentence(view.texts[document].text, span)
    place = view.evidence(document, (sentence,), RULES_KEEPER, Certainty.VERIFIED)
    rank, story = view.sort_key(document, span.start), StatementSource.TEXT
    return Statement(name, NAME_ATTRIBUTE, wrong, story, True, rank, place, span)


@lru_cache(maxsize=SPELLING_CACHE_SIZE)
def count_words(text: str) -> Mapping[str, int]:
    """Count the capitalised words of a text, in order of first occurrence."""
    return MappingProxyType(Counter(map(intern, _WORD.findall(text))))


def _confirmed_names(material: VisibleFacts, canon: Canon) -> list[str]:
    confirmed_names = _list_decided_names(canon)
    confirmed_names.update(
        visible_character.character.name
        for visible_character in material.cast.visible.values()
        if visible_character.character.certainty is Certainty.CONFIRMED
    )
    return sorted(confirmed_names)


def _list_decided_names(canon: Canon) -> set[str]:
    names = canon.names
    merged = (other for others in names.merged.values() for other in others)
    return {*names.confirmed, *names.merged, *names.renamed.values(), *merged}


def _all_names(material: VisibleFacts) -> Iterator[str]:
    for visible_character in material.cast.visible.values():
        yield visible_character.character.name
        for alias in visible_character.character.aliases:
            if alias.mentions > _RARE or alias.certainty is Certainty.CONFIRMED:
                yield alias.name


def _find_misspellings(
    names: list[str], words: StoryWords, name_words: set[str]
) -> dict[str, str]:
    """Map each rare word that is one letter off to the name that it may be."""
    names_by_misspelling: dict[str, str] = {}
    pairs = (
        (w, name) for name in names for w in _distinctive_words(name, words.counts)
    )
    for word, name in pairs:
        for other in words.rare_like(word):
            if other not in name_words and _is_one_letter_off(word, other):
                names_by_misspelling.setdefault(other, name)
    return names_by_misspelling


def _distinctive_words(name: str, counts: Counter[str]) -> list[str]:
    """Return the words of a name that are long and frequent enough to compare."""
    words = [word for word in name.split() if word.rstrip(".") not in _TITLES]
    if len(words) == 1 and not _has_inner_capital(words[0]):
        return []
    return [w for w in words if len(w) >= _SHORTEST and counts[w] >= _OFTEN]


def _full_misspelling(name: str, match: re.Match[str], text: str) -> str:
    """Return the full misspelled name if the rest of the name is beside it; else ""."""
    words = name.split()
    if len(words) == 1:
        return match[0]
    for at, word in enumerate(words):
        if _is_one_letter_off(word, match[0]):
            before = " ".join(words[:at])
            after = " ".join(words[at + 1 :])
            led = not before or text[: match.start()].endswith(f"{before} ")
            followed = not after or text.startswith(f" {after}", match.end())
            if led and followed:
                return " ".join([*words[:at], match[0], *words[at + 1 :]])
    return ""


def _has_inner_capital(word: str) -> bool:
    return any(letter.isupper() for letter in word[1:]) and not word.isupper()


def _is_one_letter_off(word: str, other: str) -> bool:
    """Return whether one letter was changed, added or dropped, or two adjacent ones
    swapped.
    """
    if word[0] != other[0] or word == other or abs(len(word) - len(other)) > 1:
        return False
    if {word, other} == {min(word, other, key=len), min(word, other, key=len) + "s"}:
        return False
    start = 0
    while start < min(len(word), len(other)) and word[start] == other[start]:
        start += 1
    word_rest, other_rest = word[start:], other[start:]
    swapped = (
        word_rest[:2] == other_rest[1::-1]
        and word_rest[2:] == other_rest[2:]
        and len(word_rest) > 1
    )
    return (
        swapped
        or word_rest[1:] == other_rest[1:]
        or word_rest[1:] == other_rest
        or word_rest == other_rest[1:]
    )


ContradictionKey = tuple[str, str, str, str]
"""Person, attribute, and the two normalized values in alphabetical order."""
UNCHECKED_TOPICS = (
    "occupation, build, clothes, places, who knows what, and statements in dialogue or"
    " in wording that the rules do not cover"
)
"""Topics that rules do not check; a language model can check some of them."""


def find_contradictions(
    knowledge: StoryKnowledge,
    horizon: Horizon | None = None,
    documents: Collection[DocumentId] | None = None,
    *,
    with_possible: bool = False,
) -> tuple[Contradiction, ...]:
    """Return all contradictions that rules find, in the order of the contradicting
    text; those of which they are not sure only `with_possible`.

    What counts as true are notes, answers in the canon file, confirmed names, and what
    an earlier document of the story states. With a horizon, later story text is
    ignored; notes and answers always count. With `documents`, only contradictions with
    a passage in one of them are returned. Those that the user marked as intended are
    included.
    """
    horizon_view = HorizonView(knowledge.order, knowledge.texts, None)
    horizon_cast = HorizonCast(
        knowledge.cast, knowledge.first_seen, horizon_view, knowledge.canon.names
    )
    material = collect_visible_facts(knowledge.facts, horizon_cast, horizon_view)
    bounded_view = HorizonView(knowledge.order, knowledge.texts, horizon)
    canon = knowledge.canon
    conflicts = _find_conflicts(material, canon, StoryWords())
    if with_possible:
        conflicts = _add_possible_conflicts(conflicts, material)
    visible = [c for c in conflicts if _is_seen(c, bounded_view)]
    contradictions = _build_contradictions(visible, material.cast, canon)
    return tuple(
        contradiction
        for contradiction in contradictions
        if documents is None or is_in_documents(contradiction, documents)
    )


def compare_statements(
    material: VisibleFacts, canon: Canon, words: StoryWords
) -> tuple[Contradiction, ...]:
    """Return the contradictions between the facts of `material`, `canon` and the story
    text, in the order of the contradicting text.

    `words` are updated to the texts of the story.
    """
    conflicts = _find_conflicts(material, canon, words)
    return tuple(_build_contradictions(conflicts, material.cast, canon))


def is_in_documents(
    contradiction: Contradiction, documents: Collection[DocumentId]
) -> bool:
    """Return whether either side of `contradiction` has a passage in one of
    `documents`.
    """
    places = (*contradiction.canon.evidence, *contradiction.found.evidence)
    return any(place.document in documents for place in places)


def find_contradiction_by_id(
    text: str, contradictions: Sequence[Contradiction]
) -> Contradiction:
    """Return the contradiction with the id `text`, or the only one whose id starts with
    `text`, ignoring case.

    Raises:
        NotFound: There is none, or more than one.
    """
    return find_by_id_prefix(
        text, contradictions, noun="contradiction", listed_by="lrwr check --all"
    )


def _find_conflicts(
    material: VisibleFacts, canon: Canon, words: StoryWords
) -> list[StatementConflict]:
    comparator = StatementComparator(material)
    statements = collect_statements(material, canon)
    conflicts = list(comparator.clashes(statements))
    conflicts += [
        StatementConflict(LIFE_ATTRIBUTE, death, act, (death.value, act.value))
        for death, act in find_acts_after_death(statements, material)
    ]
    conflicts += _quantity_conflicts(find_quantity_statements(material.view))
    conflicts += [
        StatementConflict("name", right, wrong, (right.value, wrong.value))
        for right, wrong in find_misspelled_names(material, canon, words)
    ]
    return sorted(conflicts, key=lambda conflict: conflict.found.rank)


def _add_possible_conflicts(
    conflicts: Sequence[StatementConflict], material: VisibleFacts
) -> list[StatementConflict]:
    """Return `conflicts` and the possible ones of other attributes, in story order."""
    certain = {(conflict.found.about, conflict.attribute) for conflict in conflicts}
    possible = (
        conflict
        for conflict in find_possible_conflicts(material)
        if (conflict.found.about, conflict.attribute) not in certain
    )
    return sorted([*conflicts, *possible], key=lambda conflict: conflict.found.rank)


def _quantity_conflicts(statements: Sequence[Statement]) -> Iterable[StatementConflict]:
    first: dict[tuple[str, str], Statement] = {}
    for statement in statements:
        canon = first.setdefault((statement.about, statement.attribute), statement)
        if (
            are_values_incompatible("number", canon.value, statement.value)
            and canon.rank[:2] != statement.rank[:2]
        ):
            yield StatementConflict(
                statement.attribute, canon, statement, (canon.value, statement.value)
            )


def _is_seen(conflict: StatementConflict, bounded_view: HorizonView) -> bool:
    """Return whether both passages are before the horizon; notes always are."""
    places = [
        statement.evidence
        for statement in (conflict.canon, conflict.found)
        if statement.evidence
    ]
    story_places = [place for place in places if bounded_view.is_story(place.document)]
    return all(
        bounded_view.is_visible(place.document, place.spans) for place in story_places
    )


def _build_contradictions(
    clashes: Sequence[StatementConflict], horizon_cast: HorizonCast, canon: Canon
) -> list[Contradiction]:
    groups: dict[ContradictionKey, list[StatementConflict]] = {}
    for conflict in clashes:
        groups.setdefault(_key(conflict), []).append(conflict)
    ids = assign_short_ids(groups)
    intended = collect_intended_contradictions(canon, horizon_cast)
    return [
        replace(
            _build_contradiction(ids[key], group, horizon_cast),
            intended=key in intended,
            because=intended.get(key, ""),
        )
        for key, group in groups.items()
    ]


def _build_contradiction(
    id_: str, group: Sequence[StatementConflict], horizon_cast: HorizonCast
) -> Contradiction:
    first = group[0]
    return Contradiction(
        id=id_,
        about=horizon_cast.display_name(first.found.about) or first.found.about,
        attribute=first.attribute,
        canon=_side(first.values[0], [conflict.canon for conflict in group]),
        found=_side(first.values[1], [conflict.found for conflict in group]),
        possible=first.is_possible,
    )


def _side(value: str, statements: Sequence[Statement]) -> ContradictionSide:
    places = (statement.evidence for statement in statements if statement.evidence)
    return ContradictionSide(value, statements[0].source, deduplicate_evidence(places))


def _key(conflict: StatementConflict) -> ContradictionKey:
    return build_contradiction_key(
        conflict.found.about, conflict.attribute, *conflict.values
    )


def collect_intended_contradictions(
    canon: Canon, horizon_cast: HorizonCast
) -> dict[ContradictionKey, str]:
    """Return the contradictions that `canon` marks as intended.

    Keys are those of `build_contradiction_key`; values are the user's reasons, which
    may be empty.
    """
    return {
        _intended_key(contradiction, horizon_cast): why
        for contradiction, why in canon.intentional.items()
    }


def _intended_key(
    intended_contradiction: IntendedContradiction, horizon_cast: HorizonCast
) -> ContradictionKey:
    person = (
        horizon_cast.resolve_name(intended_contradiction.about)
        or intended_contradiction.about
    )
    return build_contradiction_key(
        person,
        intended_contradiction.attribute,
        intended_contradiction.one,
        intended_contradiction.other,
    )


def build_contradiction_key(
    about: str, attribute: str, first_value: str, second_value: str
) -> ContradictionKey:
    """Return a key that is equal for all wordings of the same contradiction.

    `about` is the character or thing whose `attribute` has both values. The order of
    the values, and case, punctuation and articles in them and in `about`, are ignored;
    of colours, dates, ages and numbers only the meaning counts ("40" and "forty" are
    equal). `attribute` must be spelled the same.
    """
    kind = attribute.split(" ")[0]
    first, second = sorted(
        normalize_value_meaning(kind, value) for value in (first_value, second_value)
    )
    return normalize_value(about), attribute, first, second
