"""Relations between characters: those that the text states, those that its cues suffice
for, and those that follow.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from lrwr.core.bible.family_ties import (
    ENOUGH,
    KinLink,
    OwnedKin,
    RelationGroup,
    RelationTie,
    complete_names,
    derive_relations,
    drop_contradicted,
    drop_other_partners,
    is_couple,
    is_known_couple,
    keep_one_parent,
    make_relation_key,
)
from lrwr.core.bible.horizon import HorizonView
from lrwr.core.bible.kin_directory import KinDirectory
from lrwr.core.bible.kin_terms import (
    JUNIOR,
    RARE,
    SENIOR,
    TRANSIENT,
    FamilyKey,
    KinTerm,
    choose_noun,
    find_contradicted_keys,
    read_kin_term,
    share_weights,
)
from lrwr.core.bible.profiles import (
    SourcedFact,
    VisibleFacts,
    deduplicate_evidence,
    find_highest_certainty,
)
from lrwr.core.bible.values import CharacterRelation
from lrwr.core.model.cast import Gender
from lrwr.core.model.facts import (
    ALONE_DETAIL,
    FAR_DETAIL,
    RULES_KEEPER,
    Certainty,
    CueParty,
    FactAbout,
    RelationCue,
)

MARRIED_NAME = 0.6
"""Weight from which a man is the husband of a woman who has his name by marriage."""
HEADS_WEIGHT = 0.3
"""Weight from which the only "Mr. Vale" and "Mrs. Vale" are a couple: one cue."""
SIBLING_NAME = 0.6
"""Weight from which two are brother and sister who have one surname by birth."""
OTHER_SURNAME = 1.5
"""Weight from which somebody is a parent of a child with another surname; for a father a
sentence must state it, too.
"""
SURE_MOTHER = 1.5
"""Weight from which "his mother" alone is the only "Mrs. Vale" of his name: of a wife's
husband, nobody speaks of the mother so often.
"""
_ROUNDS = 3
"""Passes in which the relatives found last support further ones."""
COUPLE_WEIGHT = 0.7
"""Weight of "Mr. and Mrs. Vale": they may be mother and son."""
VAGUE_WEIGHT = 0.4
"""Weight of "your cousin Mags", because who is spoken to is less certain than who speaks,
and of "her cousin Mags" if she is named in the paragraph before.
"""
FAR_WEIGHT = 1.0
"""Weight of "she is the daughter of Hob" if she is named in a paragraph before."""
RECIPROCAL_WEIGHT = 0.5
"""Weight of "his stepmother" and of "her stepson", if only these two can be meant."""
FRIENDLY_WEIGHT = 0.2
"""Weight of "my friend" said to somebody: strangers say it, too."""
UNNAMED_WEIGHT = 0.15
"""Weight of "my nephew" for somebody who is once named as a nephew."""
MAX_UNNAMED_WEIGHT = 0.4
"""The most that cues without a name add up to."""
DERIVED_PLACES = 3
"""Places shown of each of the two relations that another one follows from."""
_CUE_WEIGHTS: Mapping[str, tuple[float, float]] = {
    RelationCue.OWNER: (0.7, 0.7),
    RelationCue.UNNAMED: (0.4, 0.3),
    RelationCue.NAMED: (1.0, 0.7),
    RelationCue.STATED: (1.0, 1.0),
    RelationCue.LIST: (1.5, 1.0),
    RelationCue.UNION: (1.0, 0.7),
    RelationCue.ADDRESS: (0.5, 0.4),
    RelationCue.TITLE: (0.6, 0.5),
    RelationCue.TAG: (0.5, 0.4),
}
"""Weights by kind of cue: if it is sure who is meant, and if it is not."""


def collect_relations(material: VisibleFacts) -> tuple[CharacterRelation, ...]:
    """Return all visible relationships between characters: those that the text states
    or that its cues suffice for, in order of first occurrence, then derived ones.

    There is one for each pair and kind, with all places; "sister" and "brother" of the
    same two are one kind. One that changes, such as from ally to antagonist, appears
    once for each valence. Of relations that exclude each other, such as mother and
    wife, only the best supported one is shown, unless a model or the author states it.
    """
    people = KinDirectory(material.cast)
    unnamed = _count_unnamed_kin(material, people)
    by_key: dict[FamilyKey, list[RelationTie]] = {}
    ties = list(complete_names(list(_iter_ties(material, people)), people))
    ties += _iter_reciprocal_ties(material, people)
    for tie in _add_mutual_ties(ties, material, people):
        by_key.setdefault(make_relation_key(tie), []).append(tie)
    groups = [
        RelationGroup(key, tuple(ties), read_kin_term(ties[0].kind))
        for key, ties in by_key.items()
    ]
    known = {kin for g in groups if _is_supported(g, people) for kin in g.kin()}
    unnamed = {kin: count for kin, count in unnamed.items() if kin not in known}
    groups = [replace(g, unnamed=_weigh_unnamed(g, unnamed)) for g in groups]
    shown = select_supported(groups, people, material.view)
    derived = list(_build_derived(shown, people))
    relatives = {frozenset((r.source, r.target)) for r in derived if _is_close(r.kind)}
    relations = [
        relation
        for group in shown
        if not (_is_no_kinship(group) and frozenset(group.key[:2]) in relatives)
        for relation in _build_relations(group, people)
    ]
    return (*relations, *derived)


def _is_close(kind: str) -> bool:
    term = read_kin_term(kind.split(" or ")[0])
    return term is not None and term.base in ("parent", "sibling")


def _is_no_kinship(group: RelationGroup) -> bool:
    """Return whether rules found two to be friends or in love."""
    bases = ("friend", "lover")
    return group.ruled and group.term is not None and group.term.base in bases


def _iter_ties(material: VisibleFacts, people: KinDirectory) -> Iterator[RelationTie]:
    for sourced_fact in material.about(FactAbout.CHARACTER):
        if pair := people.find_pair(sourced_fact.fact):
            yield from _stated_tie(sourced_fact, pair, people)
    for sourced_fact in material.about(FactAbout.RELATION_CUE):
        if pair := people.find_pair(sourced_fact.fact):
            yield from _cue_tie(sourced_fact, pair, people)


def _add_mutual_ties(
    ties: Sequence[RelationTie], material: VisibleFacts, people: KinDirectory
) -> Sequence[RelationTie]:
    """Return `ties` with those of "my brother" and "my sister" without a name, if both
    of two characters have said so, and neither is told to have another sibling.
    """
    siblings = {make_relation_key(t)[:2] for t in ties if _is_sibling(t.kind)}
    counts = Counter(name for pair in siblings for name in pair)
    alone = [pair for pair in siblings if {counts[name] for name in pair} == {1}]
    others = {a: b for pair in alone for a, b in (pair, pair[::-1])}
    cues = [
        (owner, others[owner], sourced_fact)
        for sourced_fact in material.about(FactAbout.RELATION_CUE)
        if _is_sibling(kind := sourced_fact.fact.detail("kind"))
        and people.find_pair(sourced_fact.fact) is None
        and not sourced_fact.fact.detail("target")
        and (owner := people.resolve_owner(sourced_fact.fact)) in others
        and people.fits(owner, others[owner], kind)
    ]
    owners = {owner for owner, *_ in cues}
    mutual = [
        tie
        for owner, other, sourced_fact in cues
        if other in owners
        for tie in _cue_tie(sourced_fact, (owner, other), people)
    ]

    def place(tie: RelationTie) -> tuple[int, str, int]:
        evidence = tie.fact.evidence
        return material.view.sort_key(evidence.document, evidence.spans[0].start)

    cue_ties = [tie for tie in ties if tie.sign]
    if mutual:
        cue_ties = sorted((*cue_ties, *mutual), key=place)
    return [*(tie for tie in ties if not tie.sign), *cue_ties]


def _iter_reciprocal_ties(
    material: VisibleFacts, people: KinDirectory
) -> Iterator[RelationTie]:
    """Yield the ties of "his stepmother" and "her stepson" without names, if only one
    character has either.
    """
    cues: dict[OwnedKin, list[SourcedFact]] = {}
    for sourced_fact in material.about(FactAbout.RELATION_CUE):
        fact = sourced_fact.fact
        term = None if fact.detail("target") else read_kin_term(fact.detail("kind"))
        if (
            term is not None
            and term.base in RARE
            and (owner := people.resolve_owner(fact))
        ):
            cues.setdefault((owner, replace(term, gender=Gender.UNKNOWN)), []).append(
                sourced_fact
            )
    for base in sorted({term.base for _, term in cues}):
        junior = _find_certain_owner(base, SENIOR, cues)
        senior = _find_certain_owner(base, JUNIOR, cues)
        if not (junior and senior):
            continue
        for owner, other, side in ((junior, senior, SENIOR), (senior, junior, JUNIOR)):
            facts = cues[owner, KinTerm(base, side, Gender.UNKNOWN)]
            ties = (_cue_tie(fact, (owner, other), people) for fact in facts)
            yield from (
                replace(t, weight=RECIPROCAL_WEIGHT) for t in chain.from_iterable(ties)
            )


def _find_certain_owner(
    base: str, side: int, cues: Mapping[OwnedKin, Sequence[SourcedFact]]
) -> str:
    """Return the only character who has a relative on `side` of `base` by a cue in which
    nobody else can be meant, or by several cues; "" if there are none or more.
    """
    owners = {
        owner: facts for (owner, term), facts in cues.items()
        if (term.base, term.side) == (base, side)
    }  # fmt: skip
    certain = [o for o, facts in owners.items() if _is_alone(facts)]
    certain = certain or [o for o, facts in owners.items() if len(facts) > 1]
    return certain[0] if len(certain) == 1 else ""


def _is_alone(facts: Sequence[SourcedFact]) -> bool:
    return any(ALONE_DETAIL in sourced_fact.fact.details for sourced_fact in facts)


def _is_sibling(kind: str) -> bool:
    term = read_kin_term(kind)
    return term is not None and term.base == "sibling"


def _count_unnamed_kin(
    material: VisibleFacts, people: KinDirectory
) -> Mapping[OwnedKin, int]:
    """Return how many cues each character has of some kin that nobody can be told to
    be, such as "my nephew": they confirm a name said once.
    """
    counts: Counter[OwnedKin] = Counter()
    for sourced_fact in material.about(FactAbout.RELATION_CUE):
        fact = sourced_fact.fact
        term = None if fact.detail("target") else read_kin_term(fact.detail("kind"))
        if term is not None and people.find_pair(fact) is None:
            counts[people.resolve_owner(fact), term] += 1
    return counts


def _weigh_unnamed(group: RelationGroup, unnamed: Mapping[OwnedKin, int]) -> float:
    if all(tie.weight <= VAGUE_WEIGHT for tie in group.ties):
        return 0.0
    count = sum(unnamed.get(kin, 0) for kin in group.kin(RelationCue.NAMED))
    return min(MAX_UNNAMED_WEIGHT, UNNAMED_WEIGHT * count)


def _stated_tie(
    sourced_fact: SourcedFact, pair: tuple[str, str], people: KinDirectory
) -> Iterator[RelationTie]:
    fact = sourced_fact.fact
    source, target = pair
    kind, ruled = fact.detail("kind"), fact.keeper == RULES_KEEPER
    if ruled and (kind in TRANSIENT or not people.fits(source, target, kind)):
        return
    if ruled and people.contradicts_pronoun(fact, source):
        return
    weight, stated = 2.0 if fact.certainty is Certainty.VERIFIED else 1.2, True
    if ruled and is_couple(fact):
        # "Mr. and Mrs. Hob Vale" leaves no doubt which man is meant.
        has_given_name = len(fact.subject.split(" ")) > 2
        stated = has_given_name or people.are_sure_couple(source, target)
        weight = COUPLE_WEIGHT
    yield RelationTie(source, target, kind, weight, stated, sourced_fact, ruled)


def _cue_tie(
    sourced_fact: SourcedFact, pair: tuple[str, str], people: KinDirectory
) -> Iterator[RelationTie]:
    fact = sourced_fact.fact
    source, target = pair
    kind = fact.detail("kind")
    if kind not in TRANSIENT and people.fits(source, target, kind):
        sign, is_sure = fact.detail("sign"), fact.certainty is Certainty.VERIFIED
        parties = list(fact.all_details("party"))
        if sign in (RelationCue.NAMED, RelationCue.UNNAMED):
            # "Your cousin": who is spoken to is less certain than who speaks.
            is_sure &= CueParty.ADDRESSEE not in parties
        if sign == RelationCue.NAMED:
            is_sure |= ALONE_DETAIL in fact.details
        if sign == RelationCue.UNION:
            is_sure |= len(list(fact.all_details("possible"))) == 1
        weight = _CUE_WEIGHTS[sign][0 if is_sure else 1]
        is_named = sign in (RelationCue.NAMED, RelationCue.STATED)
        is_your = is_named and CueParty.ADDRESSEE in parties
        if is_your or FAR_DETAIL in fact.details:
            is_stated = sign == RelationCue.STATED and not is_your
            weight = min(weight, FAR_WEIGHT if is_stated else VAGUE_WEIGHT)
        if kind == "friend" and sign == RelationCue.ADDRESS:
            weight = FRIENDLY_WEIGHT
        yield RelationTie(source, target, kind, weight, False, sourced_fact, True)


def select_supported(
    groups: Sequence[RelationGroup], people: KinDirectory, view: HorizonView
) -> list[RelationGroup]:
    """Return the groups to list, in their order: those that a sentence states or whose
    cues suffice, without those that better supported ones exclude.

    The cues of the closest relatives count together: those for a father of two sisters,
    or for an uncle and his wife.
    """
    listed = _settle(groups, people, view)
    weights = {group.key: group.own_weight for group in groups}
    for _ in range(_ROUNDS):
        shared = share_weights(weights, {group.key for group in listed})
        groups = [replace(g, shared=shared.get(g.key, 0.0)) for g in groups]
        settled = _settle(groups, people, view)
        if len(settled) == len(listed):
            break
        listed = settled
    return listed


def _settle(
    groups: Sequence[RelationGroup], people: KinDirectory, view: HorizonView
) -> list[RelationGroup]:
    shown = drop_contradicted(g for g in groups if _is_supported(g, people))
    shown = drop_other_partners(keep_one_parent(shown, people))
    weights = {group.key: group.own_weight for group in shown}
    wrong = find_contradicted_keys(weights)
    shown = [group for group in shown if group.key not in wrong or not group.ruled]
    return _drop_earlier_unions(shown, people, view)


def _is_supported(group: RelationGroup, people: KinDirectory) -> bool:
    """Return whether a sentence states the relation, or its cues suffice.

    A surname alone does not tell a man's mother from his wife: a mother needs cues of
    both (his "my mother", her "my son"), and a wife, too, or one that names her.
    Brother and sister share a surname, unless one has that of a husband.
    """
    senior, junior, _ = group.key
    base = group.term.base if group.term else ""
    if any(tie.stated and tie.weight >= 2.0 for tie in group.ties) or not group.ruled:
        return True
    is_close = base in ("sibling", "parent")
    if is_close and people.differ_in_surname(senior, junior):
        is_mother = people.gender(senior) is not Gender.MALE
        if is_mother and any(tie.sign == RelationCue.STATED for tie in group.ties):
            return base == "parent" and group.weight >= ENOUGH
        is_stated = any(tie.stated for tie in group.ties) or group.is_mutual
        may_differ = is_stated or is_mother
        return base == "parent" and may_differ and group.weight >= OTHER_SURNAME
    if any(tie.stated for tie in group.ties) or is_known_couple(group):
        return True
    is_mother = base == "parent" and people.gender(senior) is Gender.FEMALE
    if is_mother and people.outranks_mother(senior, junior):
        return False
    if group.is_by_surname:
        is_unsure = base == "spouse" and not people.are_sure(senior, junior)
        is_unsure |= (
            base == "parent"
            and group.weight < SURE_MOTHER
            and people.may_be_wife(senior, junior)
        )
        kinds = {tie.kind for tie in group.ties if tie.sign}
        if is_unsure and len(kinds) < 2 and not group.has_wife:
            return False
    return group.weight >= _find_threshold(base, senior, junior, people)


def _find_threshold(base: str, senior: str, junior: str, people: KinDirectory) -> float:
    """Return the weight from which the relation `base` of two is shown."""
    if base == "sibling" and people.share_birth_name(senior, junior):
        return SIBLING_NAME
    if base == "spouse" and people.are_titled_heads(senior, junior):
        return HEADS_WEIGHT
    is_couple = base == "spouse" and _have_married_name(senior, junior, people)
    return MARRIED_NAME if is_couple else ENOUGH


def _have_married_name(first: str, second: str, people: KinDirectory) -> bool:
    """Return whether two people have one name by marriage, as far as names tell."""
    return any(
        people.has_married(wife, husband) or people.are_heads(husband, wife)
        for husband, wife in ((first, second), (second, first))
    )


def _drop_earlier_unions(
    groups: Sequence[RelationGroup], people: KinDirectory, view: HorizonView
) -> list[RelationGroup]:
    """Return the groups without the marriages that are only spoken of, if the story
    tells of another one of the same character later, in their order.

    "Mrs. Vale" may be the same wife as "Mags", who is spoken of before.
    """
    spouses = [g for g in groups if g.term is not None and g.term.base == "spouse"]
    by_person: dict[str, list[RelationGroup]] = {}
    for group in spouses:
        for name in group.key[:2]:
            by_person.setdefault(name, []).append(group)
    dropped = {
        id(group)
        for group in spouses
        if all(tie.sign == RelationCue.UNION for tie in group.ties)
        and not _have_married_name(*group.key[:2], people)
        for name in group.key[:2]
        for other in by_person[name]
        if other is not group
        and not any(map(people.is_married, set(other.key[:2]) - set(group.key[:2])))
        and _last_place(other, view) > _last_place(group, view)
    }
    return [group for group in groups if id(group) not in dropped]


def _last_place(group: RelationGroup, view: HorizonView) -> tuple[int, str, int]:
    fact = group.ties[-1].fact
    document, start = fact.evidence.document, fact.evidence.spans[0].start
    chapter, _ = view.locate_scene(document, fact.fact.spans[0])
    return view.order.chapter_number(document, chapter) or 0, document, start


def _build_relations(
    group: RelationGroup, people: KinDirectory
) -> Iterator[CharacterRelation]:
    """Yield one relation per valence; facts without a valence support the first."""
    lead = max(group.ties, key=lambda tie: (not tie.ruled, tie.stated))
    facts = [tie.fact for tie in group.ties]
    kind = lead.kind
    term = read_kin_term(kind)
    if lead.ruled and term and term.gender is Gender.UNKNOWN:
        kind = choose_noun(term.base, term.side, people.gender(lead.target))
        kind = lead.kind if " or " in kind else kind
    if lead.ruled and term and term.base == "engaged":
        if people.has_married(lead.target, lead.source):
            kind = "wife"
        elif people.has_married(lead.source, lead.target):
            kind = "husband"
    valences = list(dict.fromkeys(f.fact.value for f in facts if f.fact.value)) or [""]
    for valence in valences:
        agree = {valence, ""} if valence == valences[0] else {valence}
        words = deduplicate_evidence(f.evidence for f in facts if f.fact.value in agree)
        certainty = Certainty.PROBABLE
        if any(tie.stated for tie in group.ties):
            certainty = find_highest_certainty(words)
        yield CharacterRelation(
            lead.source, lead.target, kind, valence, words, certainty
        )


def _build_derived(
    groups: Sequence[RelationGroup], people: KinDirectory
) -> Iterator[CharacterRelation]:
    """Yield the relations that follow from those of `groups`, with the places of both."""
    by_link = {
        KinLink(*group.key[:2], group.term): group
        for group in groups
        if group.term is not None
    }
    for derived in derive_relations(list(by_link), people):
        if derived.kind == "cousin" and any(
            by_link[link].is_courtesy for link in derived.links
        ):
            continue  # any older woman is somebody's "Aunt"
        evidence = deduplicate_evidence(
            tie.fact.evidence
            for link in derived.links
            for tie in by_link[link].ties[:DERIVED_PLACES]
        )
        yield CharacterRelation(
            derived.source,
            derived.target,
            derived.kind,
            "",
            evidence,
            Certainty.PROBABLE,
            derived=True,
        )
