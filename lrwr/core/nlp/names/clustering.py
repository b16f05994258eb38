"""Clustering of name forms into people: full names first, then shorter forms."""

from collections.abc import Collection, Mapping, Sequence

from lrwr.core.model.cast import Gender
from lrwr.core.nlp.names.clusters import DOMINANCE, NameClusters
from lrwr.core.nlp.names.lexicon import (
    FEMALE_NAMES,
    GIVEN_TITLES,
    MALE_NAMES,
    NEUTRAL_TITLES,
    SURNAME_TITLES,
    TITLES_OF_WORK,
    is_given_name,
    is_same_given_name,
)
from lrwr.core.nlp.names.name_form import (
    NameForm,
    infer_form_gender,
    is_full_name,
    is_joined_word,
    is_named_after_husband,
    is_single_word,
    is_titled_initial,
    is_titled_word,
)
from lrwr.core.nlp.names.namesakes import (
    NARRATED_OFTEN,
    count_full_names,
    find_possible_eldest,
    find_possible_fathers,
    find_present,
    is_possible_son,
    is_spoken_of_two,
    may_be_knight,
)
from lrwr.core.nlp.names.person import (
    PersonCluster,
    find_dominant_person,
    keeps_given_name,
    may_share_given_name,
)

_BESIDE_MR_TEXT = """dr prof inspector superintendent detective constable judge reverend mayor
    president master monsieur signor senor sheriff"""
_BESIDE_MR = frozenset(_BESIDE_MR_TEXT.split())
"""Titles of men who may also be called "Mr."."""


def has_compatible_title(form: NameForm, person: PersonCluster) -> bool:
    """Return whether the title of `form` fits the titles of `person`.

    "Tom" and "Mr. Vale" may be one person; "Tom" and "Sir Thomas" may not.
    """
    if form.title in person.titles:
        return True
    noble = {form.title, *person.titles} - SURNAME_TITLES - _BESIDE_MR - {""}
    return not noble


def is_wife_of_namesake(form: NameForm, person: PersonCluster) -> bool:
    """Return whether one is the other's wife: "Mrs. Corin Vale" and "Corin Vale"."""
    if (form.title == "mrs") == ("mrs" in person.titles):
        return False
    return person.gender()[0] is not Gender.FEMALE or form.title == "mrs"


def may_bear_title(form: NameForm, person: PersonCluster) -> bool:
    """Return whether `person` may have the title of `form`, a title with that person's
    surname, such as "Mrs. Vale".
    """
    if form.title in person.titles:
        return True
    if form.title == "mrs":
        return len(person.lasts) > 1 and person.gender()[0] is Gender.FEMALE
    if form.title == "miss":
        married = "mrs" in person.titles or "lady" in person.titles
        male, female = person.votes()
        return not married and (male == 0 or female > 2 * male)
    if form.title == "lady":
        return False
    if form.title == "mr" or form.title not in SURNAME_TITLES:
        return _may_be_man_with(form.title, person)
    return True


def _may_be_man_with(title: str, person: PersonCluster) -> bool:
    if person.gender()[0] is Gender.FEMALE:
        return False
    other_titles = set(person.titles) - {title}
    if not other_titles:
        return True
    if title == "mr":
        return other_titles <= _BESIDE_MR
    return title in _BESIDE_MR and other_titles <= _BESIDE_MR | {"mr"}


_KNOWN_IN_FULL = 5
"""Mentions by a full name from which a namesake is known well."""


def cluster_name_forms(forms: Sequence[NameForm], clusters: NameClusters) -> None:
    """Assign each form to a person of `clusters`, to a new person, or to several.

    Order: full names, names written without a space, titles with words, single words
    and titles alone; each group by descending frequency.
    """
    clusters.index_people()
    ranked = sorted(forms, key=lambda form: (-form.n, form.first, form.name))
    lone = {form.words[0].lower(): form for form in ranked if is_single_word(form)}
    fathers = _find_fathers(ranked)
    spoken = {
        form.name: form
        for form in filter(is_full_name, ranked)
        if is_spoken_of_two(form, ranked, lone, fathers)
    }
    for form in filter(is_full_name, ranked):
        if form.name not in spoken:
            _assign_full(form, clusters, lone, fathers)
    for form in spoken.values():
        bare = lone[form.given_name]
        clusters.start(bare, "given name", givens={form.given_name})
    for form in filter(is_joined_word, ranked):
        _assign_joined(form, clusters)
    # "Miss Nell" shows that Nell Vale is not "Miss Vale", so it comes first.
    titled = sorted(
        filter(is_titled_word, ranked),
        key=lambda form: (is_titled_initial(form), _may_be_eldest(form, clusters)),
    )
    for form in titled:
        _assign_titled(form, clusters, lone)
    sons = {lone[form.given_name].name for form in spoken.values()}
    _assign_single_words([form for form in ranked if form.name not in sons], clusters)
    for form in spoken.values():
        _share_with_father(form, clusters, lone, fathers)


def _assign_single_words(forms: Sequence[NameForm], clusters: NameClusters) -> None:
    """Assign the single words and the titles alone among `forms`."""
    for form in forms:
        if is_single_word(form) and not is_joined_word(form):
            _assign_bare(form, clusters)
        elif form.title and not form.words and not form.of:
            _assign_title(form, clusters)


def _share_with_father(
    form: NameForm,
    clusters: NameClusters,
    lone: Mapping[str, NameForm],
    fathers: Collection[str],
) -> None:
    """Let `form` mean the father or the son, if both are known."""
    sons = clusters.index.find("givens", form.given_name)
    relatives = clusters.index.find_relatives(form.given_name, form.last)
    people = clusters.fitting(form, {id(p): p for p in (*relatives, *sons)}.values())
    if len(people) > 1:
        clusters.shared.append((form, sorted(people, key=lambda p: -p.n)))
    else:
        _assign_full(form, clusters, lone, fathers)


def _assign_full(
    form: NameForm,
    clusters: NameClusters,
    lone: Mapping[str, NameForm],
    fathers: Collection[str],
) -> None:
    """Assign a full name; `fathers` are surnames of a "Mr." and "Mrs."."""
    if form.of:
        clusters.start(form, "a title and a place")
        return
    relatives = clusters.index.find_relatives(form.given_name, form.last)
    family = [
        person
        for person in clusters.fitting(form, relatives)
        if not is_wife_of_namesake(form, person)
    ]
    exact = [person for person in family if form.given_name in person.givens]
    chosen = find_dominant_person(exact, 1.0) or find_dominant_person(
        [
            p
            for p in family
            if _is_nickname_of(form, p)
            and has_compatible_title(form, p)
            and not (is_possible_son(form, fathers) and _are_told_apart(form, p, lone))
        ],
        1.0,
    )
    chosen = chosen or _noted_by_given(form, clusters)
    if chosen is None:
        clusters.start(form, "given name and surname")
    else:
        clusters.add(form, chosen, "the same given name and surname")


def _may_be_eldest(form: NameForm, clusters: NameClusters) -> bool:
    surname = form.words[0].lower()
    return form.title == "miss" and bool(clusters.index.find("lasts", surname))


def _find_fathers(forms: Sequence[NameForm]) -> frozenset[str]:
    """Return the surnames, in lower case, of a frequent "Mr. Vale" with a "Mrs. Vale"."""
    titled = [form for form in forms if is_titled_word(form)]
    wives = {form.words[0].lower() for form in titled if form.title == "mrs"}
    men = {
        form.words[0].lower()
        for form in titled
        if form.title == "mr" and form.narrated >= NARRATED_OFTEN
    }
    return frozenset(wives & men)


def _are_told_apart(
    form: NameForm, person: PersonCluster, lone: Mapping[str, NameForm]
) -> bool:
    """Return whether the narrator has a short name for one, and none for the other:
    Tom Vale is the son of Mr. Thomas Vale.
    """
    own = lone[form.given_name].narrated if form.given_name in lone else 0
    other = max(
        (lone[given].narrated for given in person.givens & lone.keys()), default=0
    )
    often, seldom = max(own, other), min(own, other)
    return often >= NARRATED_OFTEN and often > DOMINANCE * seldom


def _noted_by_given(form: NameForm, clusters: NameClusters) -> PersonCluster | None:
    """Return the person whom the author's notes call only by the given name of `form`."""
    noted = [
        person
        for person in clusters.index.find("noted", form.given_name)
        if form.given_name not in person.full_givens
    ]
    return find_dominant_person(clusters.fitting(form, noted), 1.0)


def _is_nickname_of(form: NameForm, person: PersonCluster) -> bool:
    return any(
        is_same_given_name(form.given_name, given_name) for given_name in person.givens
    )


def _assign_joined(form: NameForm, clusters: NameClusters) -> None:
    """Assign a name written without its space: "NellTallow" is Nell Tallow."""
    people = clusters.index.find_joined(form.parts)
    if people:
        clusters.add(form, people[0], "the same words without a space")
    else:
        clusters.start(form, "a name", givens={form.words[0].lower()})


def _assign_titled(
    form: NameForm,
    clusters: NameClusters,
    lone: Mapping[str, NameForm],
) -> None:
    word = form.words[0].lower()
    if form.title == "mrs" and word in MALE_NAMES - FEMALE_NAMES:
        _assign_wife(form, clusters)
        return
    if is_titled_initial(form):
        bearers = clusters.index.find("titles", form.title)
        alike = clusters.fitting(form, [p for p in bearers if p.begins_with(word[0])])
        clusters.give(form, alike, "title and initial")
        return
    family = clusters.fitting(form, clusters.index.find("lasts", word))
    family = [person for person in family if may_bear_title(form, person)]
    namesakes = clusters.fitting(form, clusters.index.find("givens", word))
    namesakes = [
        person
        for person in namesakes
        if word not in person.lasts and may_be_knight(form, person)
    ]
    titled = [person for person in namesakes if form.title in person.titles]
    if form.title in NEUTRAL_TITLES - GIVEN_TITLES:
        namesakes = titled  # an office precedes a surname, rarely a given name
    if namesakes and (not family or form.title in GIVEN_TITLES):
        clusters.give(form, titled or namesakes, "title and given name")
    elif family:
        _assign_family(form, family, clusters, lone)
    else:
        _assign_lone_title(form, clusters, is_given=_is_given(form, lone.get(word)))


def _assign_wife(form: NameForm, clusters: NameClusters) -> None:
    """Assign "Mrs. Corin" to the only "Mrs. Corin Vale"."""
    wives = [
        person
        for person in clusters.index.find("titles", "mrs")
        if any(
            other.given_name == form.words[0].lower() and is_named_after_husband(other)
            for other in person.forms.values()
        )
    ]
    if len(wives) == 1:
        clusters.add(form, wives[0], "title and given name of the husband")
    else:
        clusters.start(form, "title and given name of the husband")


def _assign_lone_title(
    form: NameForm, clusters: NameClusters, *, is_given: bool
) -> None:
    word = form.words[0].lower()
    near: list[PersonCluster] = []
    if is_given:
        near = clusters.index.find_part(word)
        near = clusters.fitting(form, near or clusters.index.find_near(word))
        near = [person for person in near if may_be_knight(form, person)]
    dominant_person = find_dominant_person(near, DOMINANCE)
    if dominant_person is not None:
        clusters.add(form, dominant_person, "title and part of the name")
        return
    own = {"givens" if is_given else "lasts": {word}}
    clusters.start(form, "title before the name", **own)


def _is_given(form: NameForm, bare: NameForm | None) -> bool:
    if form.title in GIVEN_TITLES:
        return True
    if form.title not in ("miss", "lady", "lord") or bare is None:
        return False
    alike = infer_form_gender(bare) is infer_form_gender(form)
    return alike and bare.n > form.n / 2


def _assign_family(
    form: NameForm,
    family: list[PersonCluster],
    clusters: NameClusters,
    lone: Mapping[str, NameForm],
) -> None:
    plain = [
        person
        for person in family
        if not keeps_given_name(form, person)
        and not _is_named_after_husband_only(person)
    ]
    if form.title == "mr":
        plain = find_possible_fathers(form, plain, clusters, lone)
    if form.title == "miss":
        plain = find_possible_eldest(form, plain, clusters, lone)
    if not plain:
        if not clusters.is_shared(form):
            _start_family(form, clusters)
        return
    same = [person for person in plain if form.title in person.titles]
    chosen = find_dominant_person(plain, DOMINANCE) or find_dominant_person(
        same, DOMINANCE
    )
    if chosen is not None:
        clusters.add(form, chosen, "title and surname")
    elif form.title in ("mr", "mrs") and form.n >= max(p.n for p in family):
        _start_family(form, clusters)
    else:
        clusters.give(form, plain, "title and surname")


def _is_named_after_husband_only(person: PersonCluster) -> bool:
    """Return whether all names are like "Mrs. Corin Vale": not "Mrs. Vale", who is the
    wife of the head of the family.
    """
    return all(is_named_after_husband(form) for form in person.forms.values())


def _start_family(form: NameForm, clusters: NameClusters) -> None:
    clusters.start(form, "title before the name", lasts={form.words[0].lower()})


def _assign_bare(form: NameForm, clusters: NameClusters) -> None:
    word = form.words[0].lower()
    bearing = clusters.fitting(form, clusters.index.find("givens", word))
    namesakes = list(find_present(form, bearing))
    bearers = clusters.index.find("lasts", word)
    family = clusters.fitting(form, bearers)
    if len(bearers) == 1 and not (family or namesakes or is_given_name(word)):
        family = [p for p in bearers if not clusters.is_apart(form, p)]
    rarely_full = _find_rarely_full(form, namesakes)
    if rarely_full is not None:
        clusters.add(form, rarely_full, "part of the name that the narrator prefers")
    elif namesakes and not (family and _is_rather_surname(form, namesakes, family)):
        clusters.give(form, namesakes, "given name")
    elif family:
        clusters.give(form, _find_bearers_of_surname(form, family), "surname")
    elif bearing:
        clusters.start(form, "", givens={word})
    else:
        _assign_short(form, clusters)


_CALLED = 5
"""Times somebody is addressed by a surname alone before it may be a woman's."""


def _find_bearers_of_surname(
    form: NameForm, family: list[PersonCluster]
) -> list[PersonCluster]:
    """Return those of a family whom a surname alone may mean: the men, or all, if it is
    often in address and no man of the family speaks.
    """
    men = [person for person in family if person.gender()[0] is not Gender.FEMALE]
    is_called = form.counts["vocative"] >= _CALLED
    if is_called and not any(man.cue("tag") or man.cue("speech") for man in men):
        return family
    return men or family


def _find_rarely_full(
    form: NameForm, namesakes: list[PersonCluster]
) -> PersonCluster | None:
    """Return which of two people with a given name is called by it alone, if one is
    always called in full.

    In a text with "Corin" everywhere, "Corin Vale" often and "Corin Gannet" seldom,
    Corin alone is Corin Gannet.
    """
    known = [p for p in namesakes if count_full_names(p) >= _KNOWN_IN_FULL]
    if len(known) != 2 or any(person.noted for person in namesakes):
        return None
    full, other = sorted(known, key=lambda person: -person.n)
    apart = full.lasts and other.lasts and full.lasts.isdisjoint(other.lasts)
    often = full.n >= DOMINANCE * other.n
    return other if apart and often and form.n > full.n + other.n else None


def _assign_short(form: NameForm, clusters: NameClusters) -> None:
    word = form.words[0].lower()
    short = clusters.fitting(form, clusters.called(form))
    short = short or clusters.fitting(form, clusters.index.find("parts", word))
    if not short:
        near = clusters.fitting(form, clusters.index.find_near(word))
        short = [person for person in near if not _is_called_by_title(form, person)]
    dominant_person = find_dominant_person(short, DOMINANCE)
    if dominant_person is not None:
        reason = _short_form_reason(form, dominant_person)
        clusters.add(form, dominant_person, reason)
    else:
        clusters.start(form, "", givens={word})


def _is_called_by_title(form: NameForm, person: PersonCluster) -> bool:
    """Return whether the narrator calls `person` by a title, and somebody by `form`.

    "Tom" in narration is then not "Mr. Vale", even if his given name is Thomas.
    """
    forms = person.forms.values()
    titled = sum(other.narrated for other in forms if other.title)
    familiar = sum(other.narrated for other in forms if not other.title)
    return form.narrated >= NARRATED_OFTEN and form.narrated > familiar < titled


def _short_form_reason(form: NameForm, person: PersonCluster) -> str:
    word = form.words[0].lower()
    if word in person.parts:
        return "part of the name"
    return (
        "short for the given name"
        if may_share_given_name(person, word)
        else "stated in the text"
    )


def _is_rather_surname(
    form: NameForm, namesakes: list[PersonCluster], family: list[PersonCluster]
) -> bool:
    given_mentions = sum(person.n for person in namesakes)
    return (
        given_mentions < sum(person.n for person in family)
        and form.counts["vocative"] <= 3
    )


def _assign_title(form: NameForm, clusters: NameClusters) -> None:
    """Assign a title alone: "the Captain" is the only captain there is."""
    bearers = clusters.index.find("titles", form.title)
    bearers = [person for person in bearers if person.titles[form.title] >= 2]
    if form.title in TITLES_OF_WORK and bearers:
        clusters.give(form, bearers, "the title alone")
    elif not bearers:
        clusters.start(form, "a title")
