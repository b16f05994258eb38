"""Names by marriage: which woman is "Mrs. Vale"."""

from collections import Counter
from collections.abc import Mapping, Sequence

from lrwr.core.model.cast import Gender
from lrwr.core.nlp.names.clusters import NameClusters
from lrwr.core.nlp.names.name_form import is_named_after_husband
from lrwr.core.nlp.names.person import PersonCluster

_TITLED = 4
"""Minimum mentions of a woman by a title before she marries."""
_LATE_SHARE = 0.1
"""Maximum share of those mentions after her married name has been in use."""
_CLEAR_LEAD = 2
"""Minimum ratio of the sentences on a marriage to those with any other woman."""
_TOGETHER = 2
"""Places with "Corin and Nell" from which they may be a couple."""
_LATE_COUPLE = 4
"""Places with a man and his bride from which a rare "Mrs. Vale" is the bride."""
_OFTEN = 5
"""Mentions of a "Mrs. Vale" from which such places suffice for a bride."""
_REASON = "marries in the text"


def join_wives(
    clusters: NameClusters,
    weddings: Mapping[frozenset[str], int],
    pairs: Mapping[frozenset[str], int],
) -> None:
    """Merge "Mrs. Vale" into the woman who marries Mr. Vale, or who is his wife.

    `weddings` counts the sentences on a marriage with the two names and no other,
    `pairs` the coordinated names ("Corin and Nell"). A bride has a title with another
    surname, "Miss Tallow", which is hardly used once there is a "Mrs. Vale". A wife
    never has that of a girl, and there is no other woman of the name.
    """
    marriages, coordinated = (
        _count_couples(clusters, weddings),
        _count_couples(clusters, pairs),
    )
    by_id = {id(person): person for person in clusters.people}
    married: list[tuple[PersonCluster, PersonCluster]] = []
    for wife in [person for person in clusters.people if _is_only_married(person)]:
        counts: dict[int, tuple[int, int]] = {}
        for man in _find_husbands(clusters, wife):
            for key in {*marriages.get(id(man), ()), *coordinated.get(id(man), ())}:
                n, m = counts.get(key, (0, 0))
                n += marriages.get(id(man), Counter())[key]
                counts[key] = n, m + coordinated.get(id(man), Counter())[key]
        brides = _find_bride(clusters, counts, by_id, wife)
        for woman in brides or _find_only_woman(clusters, wife):
            for form in wife.forms.values():
                woman.add(form, _REASON)
            woman.lasts |= wife.lasts
            del by_id[id(wife)]
            married.append((wife, woman))
    # The names of a bride decide nothing about the next one.
    for wife, woman in married:
        clusters.remove(wife)
        clusters.index.update(woman)


def _find_husbands(
    clusters: NameClusters, wife: PersonCluster
) -> Sequence[PersonCluster]:
    """Return the men with the surname of `wife`; of "Mrs. Corin Vale", Corin Vale."""
    husbands = {f.given_name for f in wife.forms.values() if f.given_name}
    return [
        man
        for man in clusters.index.find_any("lasts", wife.lasts)
        if man is not wife
        and man.gender()[0] is Gender.MALE
        and (not husbands or husbands & man.givens)
    ]


def _count_couples(
    clusters: NameClusters, weddings: Mapping[frozenset[str], int]
) -> dict[int, Counter[int]]:
    """Return, by the id of a person, the ids of those named with them in `weddings`."""
    owners = {name: person for person in clusters.people for name in person.forms}
    couples: dict[int, Counter[int]] = {}
    for pair, n in weddings.items():
        people = [owners[name] for name in pair if name in owners]
        if len(people) == 2 and people[0] is not people[1]:
            for first, second in (people, people[::-1]):
                couples.setdefault(id(first), Counter())[id(second)] += n
    return couples


def _find_bride(
    clusters: NameClusters,
    counts: Mapping[int, tuple[int, int]],
    by_id: Mapping[int, PersonCluster],
    wife: PersonCluster,
) -> list[PersonCluster]:
    """Return the woman who is or becomes `wife`; empty if it is not clear.

    `counts` has, by the id of a person, the sentences on a marriage with a man of that
    surname, and the places where both names are coordinated.
    """
    often = wife.n >= _OFTEN
    late = _find_late_bride(counts, by_id, wife)
    if late is not None:
        return [late]
    after_husband = any(form.given_name for form in wife.forms.values())
    women = [
        (n + m, by_id[key])
        for key, (n, m) in counts.items()
        if key in by_id
        and by_id[key] is not wife
        and by_id[key].gender()[0] is Gender.FEMALE
        and not any(clusters.is_apart(f, by_id[key]) for f in wife.forms.values())
        and (
            (_marries_into(by_id[key], wife) and (n or (often and m >= _TOGETHER)))
            or (
                m >= _TOGETHER
                and (n or (after_husband and m > _TOGETHER))
                and _is_wife(clusters, by_id[key], wife)
            )
        )
    ]
    women.sort(key=lambda item: (-item[0], min(item[1].forms)))
    if not women or (len(women) > 1 and women[0][0] < _CLEAR_LEAD * women[1][0]):
        return []
    return [women[0][1]]


def _find_late_bride(
    counts: Mapping[int, tuple[int, int]],
    by_id: Mapping[int, PersonCluster],
    wife: PersonCluster,
) -> PersonCluster | None:
    """Return the woman who has a married name a few times at the end of the story: far
    more than any other, she is named with a man of that name, also as his bride.
    """
    women = [
        (n + m, n, by_id[key])
        for key, (n, m) in counts.items()
        if key in by_id
        and by_id[key] is not wife
        and by_id[key].gender()[0] is Gender.FEMALE
    ]
    women.sort(key=lambda item: (-item[0], min(item[2].forms)))
    if wife.n >= _OFTEN or not women:
        return None
    total, marriages, woman = women[0]
    second = women[1][0] if len(women) > 1 else 0
    if not marriages or total < max(_LATE_COUPLE, _CLEAR_LEAD * second):
        return None
    first = min(form.first[0] for form in wife.forms.values())
    introduced = min(form.first[0] for form in woman.forms.values() if form.n)
    miss = sum(
        n
        for form in woman.forms.values()
        if form.title == "miss"
        for document, (n, _) in form.by_document.items()
        if document > first + 1
    )
    is_later = first > introduced and miss <= 1
    return woman if is_later and not woman.noted else None


def _find_only_woman(
    clusters: NameClusters, wife: PersonCluster
) -> list[PersonCluster]:
    """Return the woman with a given name who is the only one of the surname of `wife`,
    of whose husband the text speaks; empty if there is none, or a "Miss Vale".

    A widow's daughter would be a "Miss Vale", or have no man of the name beside her.
    """
    misses = (f"Miss {last.title()}" for last in wife.lasts)
    if wife.n < _OFTEN or any(miss in clusters.names for miss in misses):
        return []
    return [
        woman
        for woman in clusters.index.find_any("lasts", wife.lasts)
        if _find_husbands(clusters, wife)
        and woman is not wife
        and woman.gender()[0] is Gender.FEMALE
        and woman.full_givens
        and not woman.titles.keys() - {"aunt"}
        and _is_wife(clusters, woman, wife)
    ]


def _is_wife(clusters: NameClusters, woman: PersonCluster, wife: PersonCluster) -> bool:
    """Return whether `woman` may always have been `wife`: no girl, no other surname, and
    the only woman of that name, or "Mrs. Corin Vale".
    """
    if woman.noted or woman.titles.keys() & {"miss", "mrs", "lady", "mademoiselle"}:
        return False
    if not woman.lasts <= wife.lasts:
        return False
    husbands = {form.given_name for form in wife.forms.values() if form.given_name}
    if all(
        is_named_after_husband(form) or form.words[-1].lower() in husbands
        for form in wife.forms.values()
    ):
        return True
    family = clusters.index.find_any("lasts", wife.lasts)
    others = (
        p for p in family
        if p is not wife and p is not woman and p.gender()[0] is not Gender.MALE
    )  # fmt: skip
    return not any(others)


def _is_only_married(person: PersonCluster) -> bool:
    """Return whether a person has no names but "Mrs. Vale"."""
    forms = person.forms.values()
    return not person.noted and all(
        f.title == "mrs" and (len(f.words) == 1 or is_named_after_husband(f))
        for f in forms
    )


def _marries_into(woman: PersonCluster, wife: PersonCluster) -> bool:
    first = min(form.first[0] for form in wife.forms.values())
    if woman.noted or first <= min(f.first[0] for f in woman.forms.values() if f.n):
        return False
    maiden = [form for form in woman.forms.values() if form.title in ("miss", "mrs")]
    counts = [(d, n) for form in maiden for d, (n, _) in form.by_document.items()]
    unmarried = sum(n for _, n in counts)
    late = sum(n for document, n in counts if document > first + 1)
    return unmarried >= _TITLED and late <= unmarried * _LATE_SHARE
