"""Whether a name is a person's, by the cues that stand beside it."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping

from lrwr.core.nlp.names.lexicon import PLACE_NOUNS
from lrwr.core.nlp.names.name_form import NameForm
from lrwr.core.nlp.names.nicknames import is_given_name
from lrwr.core.nlp.names.person import PersonCluster

_SIZES = (3_000, 8_000, 20_000, 40_000)
"""Texts of so many words: in longer ones a person is named more often."""

_OFTEN = 2
"""Who is named this many times as often as they must be need not speak."""
_HUMAN = (0.0, 0.1, 0.2, 0.3, 0.6)
"""How much must speak for who never speaks: a novel names many in passing."""

_WEIGHTS = {
    "tag": 2.0,
    "speech": 1.0,
    "vocative": 2.0,
    "act": 1.0,
    "who": 1.0,
    "body": 1.5,
    "kin": 1.5,
    "epithet": 0.7,
    "possessive": 0.3,
    "narrator": 2.0,
}


def score_person_cues(counts: Mapping[str, int]) -> float:
    """Weigh what speaks for a person, per place of the name."""
    total = sum(weight * counts.get(cue, 0) for cue, weight in _WEIGHTS.items())
    return total / max(1, counts.get("n", 0))


def score_place_cues(counts: Mapping[str, int]) -> float:
    """Weigh what speaks for a place, per place of the name."""
    total = 2.0 * counts.get("in", 0) + 0.6 * counts.get("at", 0)
    return total / max(1, counts.get("n", 0))


def is_person_form(form: NameForm, family: Mapping[str, NameForm]) -> bool:
    """Say whether a form may be a person's name at all.

    `family` holds all forms: "the Gannets" are no person where there is a Gannet.
    """
    if form.words and form.words[-1].lower() in PLACE_NOUNS and len(form.words) > 1:
        return form.title not in ("", "st") and form.counts["speech"] > 0
    if _is_family(form, family):
        return False
    if form.title and form.words:
        return form.title not in ("st", "saint") or form.counts["speech"] > 1
    if form.of:
        return bool(form.title)
    if not form.counts["inside"] and form.counts["tag"] < 2:
        return False
    if _is_thing(form):
        return False
    if form.counts["tag"] >= 2 or form.counts["vocative"] >= 3:
        return score_person_cues(form.counts) > 0.1
    return score_place_cues(form.counts) <= 0.25 + score_person_cues(form.counts)


def _is_family(form: NameForm, family: Mapping[str, NameForm]) -> bool:
    """Say whether it is several people's: the Gannets, the Miss Gannets."""
    if not form.name.endswith("s") or form.given:
        return False
    word = form.words[-1][:-1] if form.words else ""
    titled = (f"{title} {word}" for title in ("Mr.", "Mrs.", "Miss", "Mr", "Mrs"))
    single = max(
        (family[name].n for name in (word, *titled) if name in family), default=0
    )
    if form.title:
        return form.title == "miss" and form.counts["the"] > 0 and single > 0
    return single > 0 and (form.counts["the"] * 2 >= form.n or single > 5 * form.n)


def _is_thing(form: NameForm) -> bool:
    articles = form.counts["the"] + form.counts["a"]
    if articles * 2 < form.n:
        return False
    return form.counts["tag"] < 2 and form.counts["speech"] < 3


def compute_min_mentions(words: int) -> int:
    """Return how often a person has to be named, in a text of so many words."""
    return bisect_right(_SIZES, words) + 1


def is_worth_listing(person: PersonCluster, least: int) -> bool:
    """Say whether enough speaks for a person to be worth a writer's look.

    Who speaks or is spoken to takes part; who is only spoken of has to be named often.
    """
    counts = sum_person_cues(person)
    human, placed = score_person_cues(counts), score_place_cues(counts)
    if counts["tag"] >= 2 or counts["vocative"] >= 3:
        return human * person.n >= 3
    forms = person.forms.values()
    titled = any(form.title and form.words for form in forms)
    known = any(is_given_name(form.words[0]) for form in forms if form.words)
    if person.n < least - (titled or known):
        return False
    if not titled and human < placed:
        return False
    silent = person.n < _OFTEN * least and not counts["tag"]
    if silent and human < _HUMAN[least - 1]:
        return False
    return titled or known or (human >= 0.3 and human * person.n >= min(3, least))


def sum_person_cues(person: PersonCluster) -> Counter[str]:
    """Add up the cues of all of a person's forms."""
    counts: Counter[str] = Counter()
    for form in person.forms.values():
        counts.update(form.counts)
    return counts
