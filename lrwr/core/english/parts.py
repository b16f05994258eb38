"""Names that follow from a fuller one, though the text may never use them alone."""

from lrwr.core.english.deciding import plain
from lrwr.core.english.grouping import Grouping
from lrwr.core.english.name import Form
from lrwr.core.english.name_words import PARTICLES, is_no_name
from lrwr.core.english.persons import Person
from lrwr.core.english.titles import EPITHETS

_BECAUSE = "a part of the full name"


def add_parts(person: Person, grouping: Grouping) -> None:
    """Let `person` be called by the words of their full name, where nobody else is.

    Miss Orla Gannet is Orla Gannet, too, and Orla; and Gannet, if she is the only one.
    """
    others = [other for other in grouping.people if other is not person]
    borne = {name for other in others for name in other.forms}
    words = {word for other in others for word in other.givens | other.lasts}
    full = [
        form for form in person.forms.values() if form.given and form.title != "mrs"
    ]
    for form in full:
        for name in _names_in(form):
            known = name in person.forms or name in borne
            if not known and (" " in name or name.lower() not in words):
                _add(Form.of_name(name), person, grouping)


def _add(form: Form, person: Person, grouping: Grouping) -> None:
    if plain(form.name) not in grouping.ignored and grouping.fits(form, person):
        person.add(form, _BECAUSE)


def _names_in(form: Form) -> list[str]:
    untitled = " ".join(form.words)
    given, last = form.words[0], untitled[-len(form.last) :]
    if given.lower() in PARTICLES:
        return [untitled]
    parts = [untitled, *(word for word in (given, last) if _stands_alone(word))]
    return [name for name in parts if name != form.name]


def _stands_alone(word: str) -> bool:
    plain = len(word.rstrip(".")) > 1 and not word.isupper()
    return plain and not is_no_name(word) and word.lower() not in EPITHETS
