"""Who is in the story, from what all of its documents say about names."""

from collections.abc import Sequence

from lrwr.core.model.cast import Cast
from lrwr.core.nlp.names.canonical import cast_of, narrator_of
from lrwr.core.nlp.names.clustering import Grouping, group, settle_shared
from lrwr.core.nlp.names.evidence import NameEvidence
from lrwr.core.nlp.names.forms import WordCounts, all_forms, pairs_of
from lrwr.core.nlp.names.overrides import (
    DecidedNames,
    NotedPerson,
    plain,
    seed,
    split_pairs,
    told,
)
from lrwr.core.nlp.names.person_classifier import is_human, is_listed, least_mentions

__all__ = ["DecidedNames", "NotedPerson", "make_cast"]


def make_cast(
    evidence: Sequence[NameEvidence],
    *,
    noted: Sequence[NotedPerson] = (),
    decided: DecidedNames | None = None,
) -> Cast:
    """Tell who is in the story; `evidence` is that of its documents, in their order.

    What `noted` names is confirmed; what the writer `decided` outranks everything.
    """
    decided = decided or DecidedNames()
    words = WordCounts.over(evidence)
    ignored = frozenset(plain(name) for name in decided.ignored)
    counted = all_forms(evidence, words)
    forms = {n: form for n, form in counted.items() if plain(n) not in ignored}
    apart = {**pairs_of(evidence, words, "apart"), **split_pairs(decided, forms)}
    alike = pairs_of(evidence, words, "alike")
    grouping = Grouping(apart, alike, ignored)
    seed(told(noted, decided), forms, grouping)
    group([form for form in forms.values() if is_human(form, counted)], grouping)
    read = sum(one.words_read for one in evidence)
    _keep_listed(grouping, decided, least_mentions(read))
    settle_shared(grouping)
    first_person = sum(one.first_person for one in evidence)
    return cast_of(grouping, decided, narrator_of(grouping.people, first_person, read))


def _keep_listed(grouping: Grouping, decided: DecidedNames, least: int) -> None:
    """Drop the people for whom too little speaks; whom the writer knows stays."""
    known = {*decided.renamed, *(name for pair in decided.split for name in pair)}
    plain_known = {plain(name) for name in known}
    grouping.people = [
        person
        for person in grouping.people
        if person.noted
        or is_listed(person, least)
        or not plain_known.isdisjoint(plain(name) for name in person.forms)
    ]
