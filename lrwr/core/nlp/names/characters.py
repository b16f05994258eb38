"""Who is in the story, from what all of its documents say about names."""

from collections.abc import Sequence

from lrwr.core.model.cast import Cast
from lrwr.core.nlp.names.canonical import build_cast_from_clusters, infer_narrator_name
from lrwr.core.nlp.names.clustering import (
    NameClusters,
    assign_shared_forms,
    cluster_name_forms,
)
from lrwr.core.nlp.names.evidence import NameEvidence
from lrwr.core.nlp.names.forms import (
    CapitalizationCounts,
    merge_name_forms,
    sum_name_pairs,
)
from lrwr.core.nlp.names.overrides import (
    NameOverrides,
    NotePerson,
    apply_name_overrides,
    fold_name,
    match_split_pairs,
    seed_name_clusters,
)
from lrwr.core.nlp.names.person_classifier import (
    compute_min_mentions,
    is_person_form,
    is_worth_listing,
)

__all__ = ["NameOverrides", "NotePerson", "infer_cast"]


def infer_cast(
    evidence: Sequence[NameEvidence],
    *,
    noted: Sequence[NotePerson] = (),
    decided: NameOverrides | None = None,
) -> Cast:
    """Tell who is in the story; `evidence` is that of its documents, in their order.

    What `noted` names is confirmed; what the writer `decided` outranks everything.
    """
    decided = decided or NameOverrides()
    words = CapitalizationCounts.over(evidence)
    ignored = frozenset(fold_name(name) for name in decided.ignored)
    counted = merge_name_forms(evidence, words)
    forms = {n: form for n, form in counted.items() if fold_name(n) not in ignored}
    apart = {
        **sum_name_pairs(evidence, words, "apart"),
        **match_split_pairs(decided, forms),
    }
    alike = sum_name_pairs(evidence, words, "alike")
    grouping = NameClusters(apart, alike, ignored)
    seed_name_clusters(apply_name_overrides(noted, decided), forms, grouping)
    cluster_name_forms(
        [form for form in forms.values() if is_person_form(form, counted)], grouping
    )
    read = sum(one.words_read for one in evidence)
    _keep_listed(grouping, decided, compute_min_mentions(read))
    assign_shared_forms(grouping)
    first_person = sum(one.first_person for one in evidence)
    return build_cast_from_clusters(
        grouping, decided, infer_narrator_name(grouping.people, first_person, read)
    )


def _keep_listed(grouping: NameClusters, decided: NameOverrides, least: int) -> None:
    """Drop the people for whom too little speaks; whom the writer knows stays."""
    known = {*decided.renamed, *(name for pair in decided.split for name in pair)}
    plain_known = {fold_name(name) for name in known}
    grouping.people = [
        person
        for person in grouping.people
        if person.noted
        or is_worth_listing(person, least)
        or not plain_known.isdisjoint(fold_name(name) for name in person.forms)
    ]
