"""Which titles one person may bear."""

from lrwr.core.model.cast import Gender
from lrwr.core.nlp.names.name_form import NameForm
from lrwr.core.nlp.names.person import PersonCluster
from lrwr.core.nlp.names.titles import SURNAME_TITLES

_TITLES_OF_WORK_WRITTEN = """dr prof captain colonel general major lieutenant sergeant corporal inspector
    superintendent detective constable sheriff marshal judge reverend president mayor
    admiral commodore commander chief bishop archbishop cardinal king queen prince
    princess duke duchess earl count countess baron baroness knave keeper reeve widow
    vicar parson squire abbot abbess"""
TITLES_OF_WORK = frozenset(_TITLES_OF_WORK_WRITTEN.split())
"""Titles that stand alone for the one who has them: the Captain."""

_BESIDE_MR_WRITTEN = """dr prof inspector superintendent detective constable judge reverend mayor
    president master monsieur signor senor sheriff"""
_BESIDE_MR = frozenset(_BESIDE_MR_WRITTEN.split())
"""Titles of a man who is called "Mr.", too."""

_SELDOM = 4
"""Mr. Vale is somebody else than Corin Vale where he is named this many times as often."""

_SETTLED = 6
"""In how many documents "Mr. Corin Vale" stands before it tells two people apart."""


def has_compatible_title(form: NameForm, person: PersonCluster) -> bool:
    """Say whether the titles do not tell two people apart: Tom, and Sir Thomas."""
    if form.title in person.titles:
        return True
    noble = {form.title, *person.titles} - SURNAME_TITLES - _BESIDE_MR - {""}
    return not noble


def is_wife_of_namesake(form: NameForm, person: PersonCluster) -> bool:
    """Say whether one is "Mrs. Corin Vale" and the other Corin Vale."""
    if (form.title == "mrs") == ("mrs" in person.titles):
        return False
    return person.gender()[0] is not Gender.FEMALE or form.title == "mrs"


def may_bear_title(form: NameForm, person: PersonCluster) -> bool:
    """Say whether a bearer of the surname may be called by the title of `form`."""
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
        return _may_be_man_of(form.title, person)
    return True


def _may_be_man_of(title: str, person: PersonCluster) -> bool:
    if person.gender()[0] is Gender.FEMALE:
        return False
    other_titles = set(person.titles) - {title}
    if not other_titles:
        return True
    if title == "mr":
        return other_titles <= _BESIDE_MR
    return title in _BESIDE_MR and other_titles <= _BESIDE_MR | {"mr"}


def keeps_given_name(form: NameForm, person: PersonCluster) -> bool:
    """Say whether the text says "Mr. Corin Vale" to tell him from Mr. Vale."""
    full = [other_form for other_form in person.forms.values() if other_form.given]
    titled = [other_form for other_form in full if other_form.title == form.title]
    if max((other_form.documents for other_form in titled), default=0) < _SETTLED:
        return False
    seldom = form.n > _SELDOM * sum(other_form.n for other_form in titled)
    return seldom and form.n > sum(other_form.n for other_form in full)
