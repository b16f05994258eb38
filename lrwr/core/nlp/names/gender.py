"""What titles, pronouns and given names say about a person's gender."""

from collections import Counter
from collections.abc import Collection

from lrwr.core.model.cast import Gender
from lrwr.core.nlp.names.given_names import FEMALE_NAMES, MALE_NAMES
from lrwr.core.nlp.names.name_form import NameForm
from lrwr.core.nlp.names.titles import infer_title_gender

_CUSTOM = 6
"""A given name of English custom weighs as much as this many pronouns."""

_TITLED = 5
"""A title before the given name weighs as much as this many pronouns."""

_SURE = 0.72


def score_given_name_gender(forms: Collection[NameForm]) -> None:
    """Set `male` and `female` of each form to what is said of its given name."""
    votes: dict[str, Counter[Gender]] = {}
    for form in forms:
        word = _given_word(form)
        if word:
            votes.setdefault(word, Counter()).update(_votes(form))
    for form in forms:
        word = _given_word(form)
        if word:
            form.male = votes[word][Gender.MALE] + _CUSTOM * (word in MALE_NAMES)
            form.female = votes[word][Gender.FEMALE] + _CUSTOM * (word in FEMALE_NAMES)


def _given_word(form: NameForm) -> str:
    if not form.words or form.title == "mrs" or form.of:
        return ""
    if form.given:
        return form.given
    if not form.title or form.title in ("sir", "aunt", "uncle", "sister", "brother"):
        return form.words[0].lower()
    return ""


def _votes(form: NameForm) -> Counter[Gender]:
    title_gender = infer_title_gender(form.title)
    if title_gender is not Gender.UNKNOWN:
        return Counter({title_gender: _TITLED})
    return Counter(
        {Gender.MALE: form.counts["male"], Gender.FEMALE: form.counts["female"]}
    )


def resolve_gender_votes(male: int, female: int) -> tuple[Gender, bool]:
    """Return the gender that votes tell, and whether they leave no doubt."""
    total = male + female
    if total < 2 or max(male, female) / total < _SURE:
        return Gender.UNKNOWN, False
    return (Gender.MALE if male > female else Gender.FEMALE), total >= 5


def infer_form_gender(form: NameForm) -> Gender:
    """Return the gender that one form alone tells."""
    title_gender = infer_title_gender(form.title)
    if title_gender is not Gender.UNKNOWN:
        return title_gender
    male = max(form.male, form.counts["male"])
    gender, sure = resolve_gender_votes(male, max(form.female, form.counts["female"]))
    return gender if sure else Gender.UNKNOWN
