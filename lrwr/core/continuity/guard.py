"""Facts joined with confirmed canon: every contradiction that is sure."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from lrwr.core.bible.characters import Roll
from lrwr.core.bible.claims import Material, distinct, gather, value_key
from lrwr.core.bible.horizon import Sight
from lrwr.core.bible.ids import ids_of, one_called
from lrwr.core.bible.projection import Knowledge
from lrwr.core.canon.model import Canon, Intended
from lrwr.core.continuity.counts import counted
from lrwr.core.continuity.misspellings import misspelt
from lrwr.core.continuity.normalize import differ, meaning_key
from lrwr.core.continuity.rules import Clash, Judge
from lrwr.core.continuity.statements import Statement, stated
from lrwr.core.continuity.values import Contradiction, Side
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.story import Horizon

Key = tuple[str, str, str, str]
"""Whose, which attribute, and the two meanings, in order of their words."""

NOT_READ = (
    "occupation, build, clothes, places, who knows what, and whatever is only said in"
    " dialogue or in words that the rules do not know"
)
"""What no rule compares; a language model may be asked about some of it."""


def contradictions(
    known: Knowledge,
    horizon: Horizon | None = None,
    documents: Collection[DocumentId] | None = None,
) -> tuple[Contradiction, ...]:
    """Return what contradicts confirmed canon, in the order in which the text does.

    Confirmed canon are the writer's notes, answers and names, and what the text
    itself has said in an earlier document. Under a horizon nothing later is looked
    at; notes and answers hold all the same. With `documents` only what has a passage
    in one of them is returned. Those marked as intended are among them.
    """
    sight = Sight(known.order, known.texts, None)
    roll = Roll(known.cast, known.first_seen, sight, known.canon.names)
    material = gather(known.facts, roll, sight)
    bound = Sight(known.order, known.texts, horizon)
    found = [c for c in _clashes(material, known.canon) if _is_seen(c, bound)]
    made = _contradictions(found, roll, known.canon)
    return tuple(one for one in made if documents is None or touches(one, documents))


def touches(one: Contradiction, documents: Collection[DocumentId]) -> bool:
    """Say whether either side has a passage in one of `documents`."""
    places = (*one.canon.evidence, *one.found.evidence)
    return any(place.document in documents for place in places)


def contradiction_called(text: str, every: Sequence[Contradiction]) -> Contradiction:
    """Return the contradiction whose id is `text`, or alone begins with it.

    Raises:
        NotFound: There is none, or more than one.
    """
    return one_called(text, every, noun="contradiction", listed_by="lrwr check --all")


def _clashes(material: Material, canon: Canon) -> list[Clash]:
    judge = Judge(material)
    found = list(judge.clashes(stated(material, canon)))
    found += _of_numbers(counted(material.sight))
    found += [
        Clash("name", right, wrong, (right.value, wrong.value))
        for right, wrong in misspelt(material, canon)
    ]
    return sorted(found, key=lambda clash: clash.found.rank)


def _of_numbers(statements: Sequence[Statement]) -> Iterable[Clash]:
    first: dict[tuple[str, str], Statement] = {}
    for one in statements:
        canon = first.setdefault((one.about, one.attribute), one)
        if differ("number", canon.value, one.value) and canon.rank[:2] != one.rank[:2]:
            yield Clash(one.attribute, canon, one, (canon.value, one.value))


def _is_seen(clash: Clash, bound: Sight) -> bool:
    """Say whether both passages are within the horizon; a note always is."""
    places = [one.evidence for one in (clash.canon, clash.found) if one.evidence]
    told = [place for place in places if bound.tells(place.document)]
    return all(bound.sees(place.document, place.spans) for place in told)


def _contradictions(
    clashes: Sequence[Clash], roll: Roll, canon: Canon
) -> list[Contradiction]:
    groups: dict[Key, list[Clash]] = {}
    for clash in clashes:
        groups.setdefault(_key(clash), []).append(clash)
    ids = ids_of(groups)
    intended = intended_in(canon, roll)
    return [
        replace(
            _contradiction(ids[key], group, roll),
            intended=key in intended,
            because=intended.get(key, ""),
        )
        for key, group in groups.items()
    ]


def _contradiction(id_: str, group: Sequence[Clash], roll: Roll) -> Contradiction:
    first = group[0]
    return Contradiction(
        id=id_,
        about=roll.shown(first.found.about) or first.found.about,
        attribute=first.attribute,
        canon=_side(first.values[0], [clash.canon for clash in group]),
        found=_side(first.values[1], [clash.found for clash in group]),
    )


def _side(value: str, statements: Sequence[Statement]) -> Side:
    places = (one.evidence for one in statements if one.evidence)
    return Side(value, statements[0].source, distinct(places))


def _key(clash: Clash) -> Key:
    return key_of(clash.found.about, clash.attribute, *clash.values)


def intended_in(canon: Canon, roll: Roll) -> dict[Key, str]:
    """Return what the writer means so, and why."""
    return {_intended_key(one, roll): why for one, why in canon.intentional.items()}


def _intended_key(one: Intended, roll: Roll) -> Key:
    person = roll.person(one.about) or one.about
    return key_of(person, one.attribute, one.one, one.other)


def key_of(about: str, attribute: str, one: str, other: str) -> Key:
    """Return what stays the same for as long as both values mean the same."""
    kind = attribute.split(" ")[0]
    first, second = sorted(meaning_key(kind, value) for value in (one, other))
    return value_key(about), attribute, first, second
