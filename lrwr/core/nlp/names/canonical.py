"""The characters of a cast: names, aliases and gender of clusters of name forms."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count

from lrwr.core.model.cast import Alias, Cast, Character, Gender
from lrwr.core.model.facts import Certainty
from lrwr.core.nlp.names.clusters import NameClusters
from lrwr.core.nlp.names.lexicon import (
    NAME_EPITHETS,
    PARTICLES,
    fold_name,
    is_given_name,
    is_non_name,
)
from lrwr.core.nlp.names.name_form import (
    NameForm,
    is_named_after_husband,
    is_single_word,
    is_titled_word,
)
from lrwr.core.nlp.names.person import (
    PersonCluster,
    score_person_cues,
    sum_person_cues,
)

FROM_NOTES = "from your notes or decisions"
"""Reason for which a name form belongs to a person set by the user."""

_PLAIN_TITLES = frozenset({"", "mr", "miss"})
"""Titles that say nothing which the full name does not."""
_FEW = 3
"""Mentions from which a full name may be the display name."""
_FAIR_SHARE = 0.08
"""Minimum share of a full name in the mentions of the most frequent name."""
_DESCRIPTION_WEIGHT = 0.25
"""Weight of "the Hatmaker" beside a name without article as the display name."""
_PARTIAL_NAME_REASON = "part of the full name"


def add_partial_names(people: Sequence[PersonCluster], clusters: NameClusters) -> None:
    """Add parts of the full names of each of `people`, in their order, as further name
    forms of that person. `people` are all of `clusters`.

    "Miss Orla Gannet" also gets "Orla Gannet" and "Orla", and "Gannet" if no other
    Gannet exists.
    """
    # Counts of people: a search through all others for each person would be quadratic.
    forms = Counter(name for person in people for name in person.forms)
    words = Counter(word for person in people for word in person.givens | person.lasts)
    for person in people:
        own_forms, own_words = set(person.forms), person.givens | person.lasts
        for name in _list_partial_names(person):
            folded = name.lower()
            is_known = name in person.forms or forms[name] > 0
            is_word_of_other = words[folded] > (folded in own_words)
            if not is_known and (" " in name or not is_word_of_other):
                _add_if_fitting(NameForm.of_name(name), person, clusters)
        forms.update(person.forms.keys() - own_forms)
        words.update((person.givens | person.lasts) - own_words)


def _list_partial_names(person: PersonCluster) -> list[str]:
    full = [
        form
        for form in person.forms.values()
        if form.given_name and form.title != "mrs"
    ]
    partial = [name for form in full for name in _partial_names(form)]
    return [*partial, *_compose_names(person)]


def _compose_names(person: PersonCluster) -> list[str]:
    """Return the names that a given name and a titled surname make: "Nell Vale" for
    somebody who is Nell and Mrs. Vale. If a full name is known, only a married woman
    has another one.
    """
    forms = sorted(person.forms.values(), key=_fame_key)
    titles = {"mrs"} if person.full_givens else person.titles.keys()
    lasts = [
        form.words[-1]
        for form in forms
        if form.title in titles
        and (is_titled_word(form) or is_named_after_husband(form))
        and form.words[-1].lower() in person.lasts
    ]
    given_names = [
        form.words[0]
        for form in forms
        if is_single_word(form)
        and not _takes_article(form)
        and (is_given_name(form.words[0]) or form.words[0].lower() in person.givens)
    ]
    return [
        f"{given} {last}"
        for given in dict.fromkeys(given_names)
        for last in dict.fromkeys(lasts)
        if given.lower() not in person.lasts
    ]


def _add_if_fitting(
    form: NameForm, person: PersonCluster, clusters: NameClusters
) -> None:
    if fold_name(form.name) not in clusters.ignored and clusters.fits(form, person):
        person.add(form, _PARTIAL_NAME_REASON)


def _partial_names(form: NameForm) -> list[str]:
    untitled = " ".join(form.words)
    given_name, last = form.words[0], untitled[-len(form.last) :]
    if given_name.lower() in PARTICLES:
        return [untitled]
    parts = [untitled, *(word for word in (given_name, last) if _stands_alone(word))]
    return [name for name in parts if name != form.name]


def _stands_alone(word: str) -> bool:
    plain = len(word.rstrip(".")) > 1 and not word.isupper()
    return plain and not is_non_name(word) and word.lower() not in NAME_EPITHETS


def build_cast_from_clusters(
    clusters: NameClusters, renamed: Mapping[str, str], narrator: str
) -> Cast:
    """Return the cast: one character per cluster, with a unique name, most mentioned
    first.

    `renamed` maps names to the names that the user wants to see instead; `narrator` is
    a form of the first-person narrator's name, or empty.
    """
    ranked = sort_people(clusters.people)
    names = _choose_names(ranked, renamed)
    add_partial_names(ranked, clusters)
    characters = tuple(
        _build_character(person, names[id(person)], narrator) for person in ranked
    )
    alias_names = {
        alias.name for character in characters for alias in character.aliases
    }
    shared = {
        form.name: tuple(names[id(person)] for person in people)
        for form, people in clusters.shared
        if form.name not in alias_names
    }
    return Cast(characters, shared)


def _choose_names(
    ranked: Sequence[PersonCluster], renamed: Mapping[str, str]
) -> dict[int, str]:
    """Choose a unique name for each person; names chosen by the user come first."""
    renamed = {fold_name(old): new for old, new in renamed.items()}
    names: dict[int, str] = {}
    for person in ranked:
        chosen = _chosen_name(person, renamed)
        if chosen and chosen not in names.values():
            names[id(person)] = chosen
    taken_names = set(names.values())
    for person in ranked:
        if id(person) not in names:
            names[id(person)] = _free_name(person, taken_names)
            taken_names.add(names[id(person)])
    return names


def _chosen_name(person: PersonCluster, renamed: Mapping[str, str]) -> str:
    if not renamed:
        return person.noted
    for name in (person.noted, *sorted(person.forms)):
        if fold_name(name) in renamed:
            return renamed[fold_name(name)]
    return person.noted


def sort_people(people: Iterable[PersonCluster]) -> list[PersonCluster]:
    """Return `people` with the most mentioned first."""
    return sorted(people, key=_rank_key)


def _rank_key(person: PersonCluster) -> tuple[int, tuple[int, int], str]:
    forms = person.forms.values()
    first_position = min((form.first for form in forms if form.n), default=(0, 0))
    return -person.n, first_position, min(person.forms)


def _free_name(person: PersonCluster, taken_names: Collection[str]) -> str:
    ranked = sorted(person.forms.values(), key=_fame_key)
    full = _find_full_name(person, ranked[0])
    if full is not None:
        ranked.insert(0, full)
    display_names = [format_display_name(form) for form in ranked]
    free = [name for name in display_names if name not in taken_names]
    if free:
        return free[0]
    numbered = (f"{display_names[0]} ({number})" for number in count(2))
    return next(name for name in numbered if name not in taken_names)


def _find_full_name(person: PersonCluster, famous: NameForm) -> NameForm | None:
    """Return "Corin Vale" for a man who is mostly "Mr. Vale" or Vale; None for others.

    The full name must have a fair share of the mentions of `famous`.
    """
    last = famous.words[-1].lower() if len(famous.words) == 1 else ""
    if last not in person.lasts or last in person.givens:
        return None
    if famous.title not in _PLAIN_TITLES:
        return None
    full = [f for f in person.forms.values() if f.given_name and not f.title]
    best = min(full, key=_fame_key, default=None)
    fair = best is not None and best.n >= max(_FEW, famous.n * _FAIR_SHARE)
    return best if fair else None


def _fame_key(form: NameForm) -> tuple[float, int, str]:
    # The narrator's usage counts more than that of dialogue, and a name more than a
    # description: Fagin, not "the Hatmaker".
    fame = form.narrated + form.n / 4
    weight = _DESCRIPTION_WEIGHT if _takes_article(form) else 1.0
    return -fame * weight, -len(form.name), form.name


def format_display_name(form: NameForm) -> str:
    """Return the name of a form, with "the" if most of its occurrences have it: "the
    Hatmaker", but "Nell".
    """
    return f"the {form.name}" if _takes_article(form) else form.name


def _takes_article(form: NameForm) -> bool:
    return form.n > 0 and form.counts["the"] * 2 > form.n - form.counts["vocative"]


def _build_character(person: PersonCluster, name: str, narrator: str) -> Character:
    gender, sure = person.gender()
    if person.noted_gender is not Gender.UNKNOWN:
        certain = Certainty.CONFIRMED
    elif gender is Gender.UNKNOWN:
        certain = Certainty.NOT_EVALUATED
    else:
        certain = Certainty.VERIFIED if sure else Certainty.PROBABLE
    certainty, because = _certainty(person)
    return Character(
        name=name,
        aliases=_build_aliases(person, name),
        gender=gender,
        gender_certainty=certain,
        certainty=certainty,
        because=because,
        narrator=narrator in person.forms if narrator else False,
    )


def _certainty(person: PersonCluster) -> tuple[Certainty, str]:
    if person.noted:
        return Certainty.CONFIRMED, "named in your notes or decisions"
    counts = sum_person_cues(person)
    if counts["tag"] >= 2:
        return Certainty.VERIFIED, "speaks"
    if counts["vocative"] >= 3:
        return Certainty.VERIFIED, "is addressed by name"
    if any(form.title and form.words for form in person.forms.values()):
        return Certainty.VERIFIED, "has a title"
    if score_person_cues(counts) >= 1 and person.n >= 8:
        return Certainty.VERIFIED, "acts like a person"
    return Certainty.PROBABLE, "acts like a person"


def _build_aliases(person: PersonCluster, name: str) -> tuple[Alias, ...]:
    counts = {form.name: form.n for form in person.forms.values()}
    reasons = dict(person.because)
    for form in list(person.forms.values()):
        display_name = format_display_name(form)
        if display_name != form.name:
            counts[display_name] = form.counts["the"]
            counts[form.name] = form.n - form.counts["the"]
            reasons[display_name] = reasons.get(form.name, "")
    counts.setdefault(name, 0)
    aliases = (
        _build_alias(person, alias_name, n, reasons.get(alias_name, ""))
        for alias_name, n in counts.items()
    )
    return tuple(sorted(aliases, key=lambda alias: (-alias.mentions, alias.name)))


def _build_alias(person: PersonCluster, name: str, n: int, because: str) -> Alias:
    if person.noted and because in ("", FROM_NOTES):
        return Alias(name, n, Certainty.CONFIRMED, because or "set by you")
    weak = because.startswith(("short", "part", "most frequent", "marries"))
    return Alias(name, n, Certainty.PROBABLE if weak else Certainty.VERIFIED, because)
