"""Namesakes: which bearer of a given name or surname a shorter name means, and wives."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from lrwr.core.model.cast import Gender
from lrwr.core.nlp.names.clusters import NameClusters
from lrwr.core.nlp.names.lexicon import (
    find_matching_given_names,
    is_same_given_name,
)
from lrwr.core.nlp.names.name_form import (
    NameForm,
    infer_form_gender,
    is_named_after_husband,
    is_single_word,
)
from lrwr.core.nlp.names.person import PersonCluster

_FORMAL = 5
"""Minimum occurrences in narration of a "Mr. Vale" that may be a second man."""
_FAMILIAR = 20
"""Occurrences of a given name in narration from which it is the narrator's own."""
_KNIGHTS = frozenset({"sir", "dame"})
"""Titles that precede a given name."""
_SELDOM = 20
"""If "Mr. and Mrs. Vale" is less than one in this many of "Mr. Vale", it says little."""
_SISTER_SHARE = 0.03
"""A sister has at least this share of the mentions of the best known one."""
_KNOWN_SISTER = 3
"""Mentions by a full name from which a woman is known to be a sister."""
_MOSTLY = 3
"""Ratio from which a name is used much more often than another."""

_SPOKEN = 3
"""A name is mostly spoken if less than one in this many is in narration."""
NARRATED_OFTEN = 10
"""Occurrences in narration from which a name is the narrator's own for someone."""


def _is_formal_again(
    form: NameForm, person: PersonCluster, lone: Mapping[str, NameForm]
) -> bool:
    """Return whether `form`, such as "Mr. Vale", is probably a relative of `person`.

    A narrator who calls a man Corin does not go back to "Mr. Vale": if the narration
    has that name first after many chapters of Corin, it is somebody else's. A man who
    is "Mr. Corin" is not "Mr. Vale" either. `lone` has the given names that stand alone,
    by the name in lower case.
    """
    polite = sum(
        other.n
        for other in person.forms.values()
        if other.title == form.title and other.words[0].lower() in person.givens
        and len(other.words) == 1
    )  # fmt: skip
    if polite > form.n:
        return True
    narrated = form.narrated
    if narrated < _FORMAL or narrated * 2 < form.n:
        return False
    first = min((d for d, (_, n) in form.by_document.items() if n), default=0)
    alone = [lone[name] for name in person.full_givens & lone.keys()]
    earlier = sum(
        n
        for other in alone
        for document, (_, n) in other.by_document.items()
        if document < first
    )
    familiar = sum(other.narrated for other in alone)
    return earlier >= _FAMILIAR and familiar >= _MOSTLY * narrated


def find_possible_fathers(
    form: NameForm,
    men: list[PersonCluster],
    clusters: NameClusters,
    lone: Mapping[str, NameForm],
) -> list[PersonCluster]:
    """Return those of `men` who may be "Mr. Vale" in a text with a "Mrs. Vale".

    If the text has "Mr. and Mrs. Vale", a man called Corin at least as often is rather
    the son; the father is then nobody without a title.
    """
    if _has_wife(form, clusters):
        men = [person for person in men if not _is_formal_again(form, person, lone)]
    if form.counts["couple"] * _SELDOM <= form.n:
        return men
    sons = [
        person
        for person in men
        if any(lone[g].n >= form.n for g in person.full_givens & lone.keys())
    ]
    if not sons:
        return men
    return [p for p in men if p not in sons and form.title in p.titles]


def _has_wife(form: NameForm, clusters: NameClusters) -> bool:
    surname = form.words[0]
    return any(f"{title} {surname}" in clusters.names for title in ("Mrs.", "Mrs"))


def find_possible_eldest(
    form: NameForm,
    women: list[PersonCluster],
    clusters: NameClusters,
    lone: Mapping[str, NameForm],
) -> list[PersonCluster]:
    """Return those of `women` who may be "Miss Vale", the eldest of the sisters.

    A younger one is "Miss Nell". If all are, the form is shared by them.
    """
    elder = [person for person in women if not _is_younger_sister(person)]
    if len(elder) == len(women):
        return women
    family = clusters.names.get(f"{form.name}s")
    sizes = [_count_with_given(person, lone) for person in women]
    least = max(_KNOWN_SISTER, max(sizes, default=0) * _SISTER_SHARE)
    known = sum(size >= least for size in sizes)
    if known < 2 and (family is None or family.n <= form.n / 10):
        return women
    if not elder and len(women) > 1:
        clusters.shared.append((form, sorted(women, key=lambda person: -person.n)))
    return elder


def _count_with_given(person: PersonCluster, lone: Mapping[str, NameForm]) -> int:
    """Return the mentions of a person, with those of the given name alone."""
    names = {
        name
        for given_name in person.full_givens
        for name in find_matching_given_names(given_name, lone)
    }
    return person.n + sum(lone[name].n for name in names)


def _is_younger_sister(person: PersonCluster) -> bool:
    return any(
        form.title == "miss" and form.words and form.words[0].lower() in person.givens
        for form in person.forms.values()
    )


def count_full_names(person: PersonCluster) -> int:
    """Return the mentions of a person by given name and surname."""
    return sum(form.n for form in person.forms.values() if form.given_name)


def find_present(
    form: NameForm, people: Sequence[PersonCluster]
) -> Sequence[PersonCluster]:
    """Return those of several `people` who are named in the documents of `form`, or in
    the documents beside them.

    One person, people from the notes, and people who are rare beside `form` are returned
    as they are.
    """
    if len(people) < 2 or any(person.noted for person in people):
        return people
    if form.n > _MOSTLY * sum(person.n for person in people):
        return people
    own = form.by_document.keys()
    near = {document + step for document in own for step in (-1, 0, 1)}
    return [
        person
        for person in people
        if any(
            not near.isdisjoint(other.by_document) for other in person.forms.values()
        )
    ]


def may_be_knight(form: NameForm, person: PersonCluster) -> bool:
    """Return whether `form`, a title with a given name, fits the titles of `person`.

    "Sir Corin" is Sir Corin Vale, or a Corin Vale without a title who is named seldom
    and nearby; he is not Mr. Corin Vale. "Mr. Corin" is not Sir Corin Vale.
    """
    if form.title in person.titles or person.noted:
        return True
    if form.title == "mr":
        return not person.titles.keys() & _KNIGHTS
    if form.title not in _KNIGHTS:
        return True
    named = set().union(*(f.by_document for f in person.forms.values()))
    near = not named.isdisjoint(form.by_document)
    return not person.titles and near and person.n <= form.n


_APART = 3
"""Documents with a full name from which it may be somebody else's."""
_STATED = "stated in the text"


def split_namesakes(clusters: NameClusters) -> None:
    """Split somebody whom the narrator mostly calls Nell from a Nell Tallow who is named
    in other documents: two people have the given name.
    """
    for person in list(clusters.people):
        bare = [form for form in person.forms.values() if is_single_word(form)]
        full = [form for form in person.forms.values() if not is_single_word(form)]
        if not bare or not full:
            continue
        own, other = (
            {document for form in forms for document in form.by_document}
            for forms in (bare, full)
        )
        is_seldom = len(other) >= _APART and len(own) >= _MOSTLY * len(other)
        is_familiar = sum(form.narrated for form in bare) >= _FAMILIAR
        apart = len(own & other) * 2 < len(other)
        if person.noted or not (is_seldom and is_familiar and apart):
            continue
        if not all(form.words[0].lower() in person.full_givens for form in bare):
            continue
        namesake = PersonCluster()
        for form in full:
            namesake.add(form, person.because[form.name])
            del person.forms[form.name]
        person.titles.clear()
        person.full_givens.clear()
        person.lasts.clear()
        clusters.people.append(namesake)
        clusters.index.update(person)
        clusters.index.add(namesake)


def join_stated_names(clusters: NameClusters) -> None:
    """Merge two people whom the text says to be one: "Nell, otherwise Wren"."""
    for pair, n in clusters.alike.items():
        owners = [clusters.index.find("forms", name) for name in sorted(pair)]
        people = [bearers[0] for bearers in owners if len(bearers) == 1 and n]
        if len(people) != 2 or people[0] is people[1]:
            continue
        person, other = sorted(people, key=lambda p: (-p.n, min(p.forms)))
        genders = {person.gender()[0], other.gender()[0]} - {Gender.UNKNOWN}
        apart = any(clusters.is_apart(form, person) for form in other.forms.values())
        if len(genders) > 1 or apart or person.noted or other.noted:
            continue
        for form in other.forms.values():
            person.add(form, _STATED)
        person.givens |= other.givens
        person.lasts |= other.lasts
        clusters.remove(other)
        clusters.index.update(person)


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
    owners = {name: person for person in clusters.people for name in person.forms}
    marriages = _count_couples(owners, weddings)
    coordinated = _count_couples(owners, pairs)
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
    owners: Mapping[str, PersonCluster], weddings: Mapping[frozenset[str], int]
) -> dict[int, Counter[int]]:
    """Return, by the id of a person, the ids of those named with them in `weddings`.

    `owners` maps each name to its person.
    """
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


def is_possible_son(form: NameForm, fathers: Collection[str]) -> bool:
    """Return whether `form` may be the son's of one of `fathers`, surnames in lower case."""
    return form.last in fathers and infer_form_gender(form) is not Gender.FEMALE


def is_spoken_of_two(
    form: NameForm,
    forms: Sequence[NameForm],
    lone: Mapping[str, NameForm],
    fathers: Collection[str],
) -> bool:
    """Return whether a full name that is mostly spoken may be the father's, to his
    friends, or the son's: "Tom Vale", beside Thomas Vale and a Tom of the narration.
    """
    bare = lone.get(form.given_name)
    if bare is None or bare.narrated < NARRATED_OFTEN or not form.last:
        return False
    if form.narrated * _SPOKEN > form.n or not is_possible_son(form, fathers):
        return False
    return any(
        other.last == form.last
        and other.given_name != form.given_name
        and is_same_given_name(form.given_name, other.given_name)
        and other.narrated >= form.narrated
        for other in forms
    )
