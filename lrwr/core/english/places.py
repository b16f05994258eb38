"""Places of the story, by the cues that stand beside their names."""

from collections.abc import Sequence
from dataclasses import dataclass

from lrwr.core.english.evidence import NameEvidence
from lrwr.core.english.forms import WordCounts, all_forms
from lrwr.core.english.humans import humanity, placeness
from lrwr.core.english.name import Form
from lrwr.core.english.name_words import PLACE_NOUNS
from lrwr.core.english.nicknames import is_given_name
from lrwr.core.model.certainty import Certainty


@dataclass(frozen=True, slots=True)
class Place:
    """A place the text names, how often, and how sure its being one is."""

    name: str
    mentions: int
    certainty: Certainty


def find_places(evidence: Sequence[NameEvidence]) -> list[Place]:
    """Return the places that the text names, most mentioned first."""
    forms = all_forms(evidence, WordCounts.over(evidence))
    found = [
        Place(form.name, form.n, _certainty(form))
        for form in forms.values()
        if _is_place(form)
    ]
    return sorted(found, key=lambda place: (-place.mentions, place.name))


def _is_place(form: Form) -> bool:
    if form.title and form.title not in ("st", "saint"):
        return False
    if not form.words or not form.counts["inside"]:
        return False
    placed = placeness(form.counts)
    if _has_noun(form):
        return placed >= humanity(form.counts)
    if is_given_name(form.words[0]):
        return False
    return placed > 0.25 and placed > 1.5 * humanity(form.counts)


def _has_noun(form: Form) -> bool:
    return len(form.words) > 1 and form.words[-1].lower() in PLACE_NOUNS


def _certainty(form: Form) -> Certainty:
    sure = form.counts["in"] >= 2 and humanity(form.counts) < 0.2
    return Certainty.VERIFIED if sure else Certainty.PROBABLE
