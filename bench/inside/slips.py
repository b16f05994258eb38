"""Sentences to insert into a novel: contradictions of notes, and sentences that only
look like some.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from bench.inside.wordings import Wordings

FATHER, OTHER = "Corin Vale", "Bram Ottley"
"""Two men whom no novel knows; each has a note."""

EYES = {"grey": "green", "brown": "blue", "green": "brown", "blue": "brown"}
HAIR = {"black": "fair", "red": "black", "fair": "black", "brown": "red"}
LIKE = {
    "grey": "steel-grey", "brown": "hazel-brown", "green": "deep green", "blue": "clear blue",
    "black": "raven", "red": "copper red", "fair": "golden",
}  # fmt: skip
AGES = ("thirty-four", "twenty-six", "forty-one", "fifty-two")
YOUNGER = {"thirty-four": "nineteen", "twenty-six": "seventeen", "forty-one": "thirty",
           "fifty-two": "thirty-eight"}  # fmt: skip
OLDER = {"thirty-four": "fifty-five", "twenty-six": "forty-four", "forty-one": "sixty",
         "fifty-two": "seventy"}  # fmt: skip

OF_EYES = (
    "{n}'s {v} eyes followed the carriage until it was out of sight.",
    "The lamp was bright enough to show that {n}'s eyes were {v}.",
    "{n} had {v} eyes, and they missed very little.",
    "{n} looked up from the letter with {v} eyes and said nothing.",
    "{n} opened {pos} {v} eyes and shut the book.",
    "Everybody in the room noticed the {v} eyes of {n}.",
    "{n}, whose eyes were {v}, turned to the window.",
    "{n}'s eyes, {v} as ever, rested on the ledger.",
    "{n} was a {v}-eyed {person}, quick of speech.",
)
OF_HAIR = (
    "{n}'s {v} hair had come loose in the wind.",
    "{n} pushed back {pos} {v} hair and waited.",
    "{n} had {v} hair, cut short at the neck.",
    "The sun shone on {n}'s hair, which was {v}.",
    "{n}, with {pos} {v} hair wet through, came in at the door.",
    "The rain had flattened the {v} hair of {n}.",
    "{n} was a {v}-haired {person} with a cough.",
)
OF_AGE = (
    "{n} was {v} years old.",
    "{n}, aged {v}, sat nearest the fire.",
    "{n} was {v}, and looked it.",
    "{n} was a {person} of {v}.",
)
OF_KIN = (
    "{n}'s father, Bram Ottley, came down by the early coach.",
    "Bram Ottley was {n}'s father.",
    "{n}'s uncle, Corin Vale, sent word of his arrival.",
    "Corin Vale, the brother of {n}, took the reins.",
)
OF_BIRTH = (
    "{n} was born on the ninth of October.",
    "{n} was born in October, in a hard frost.",
)
NO_SLIPS: tuple[tuple[str, str], ...] = (
    ("eyes", "“{n} has {v} eyes,” said the coachman."),
    ("eyes", "{n}'s eyes were not {v}."),
    ("eyes", "The coachman beside {n} had {v} eyes."),
    ("eyes", "{n} looked at the miller with his {v} eyes."),
    ("eyes", "If {n}'s eyes were {v}, nobody had ever remarked it."),
    ("eyes", "It was as if {n} had {v} eyes in that light."),
    ("eyes", "People said that {n} had {v} eyes."),
    ("eyes", "The clerk dreamed that night that {n}'s eyes were {v}."),
    ("eyes", "In the portrait {n} had {v} eyes."),
    ("same_eyes", "{n}'s {v} eyes rested on the fire."),
    ("same_eyes", "{n} had {v} eyes."),
    ("hair", "{n}'s hair had gone {v} in the sun that summer."),
    ("hair", "As a child {n} had {v} hair."),
    ("hair", "{n} had dyed it, and {n}'s hair was now {v}."),
    ("hair", "“{n}'s {v} hair will be the ruin of us,” said the milliner."),
    ("hair", "{n} never had {v} hair."),
    ("hair", "{n} nodded to the milliner, who had {v} hair."),
    ("hair", "{n} had once had {v} hair."),
    ("same_hair", "{n}'s {v} hair was wet."),
    ("younger", "When {n} was {v} years old, the old house was sold."),
    ("younger", "“{n} is {v} years old,” said the nurse."),
    ("younger", "{n} was not {v} years old."),
    ("same_age", "{n} was {v} years old."),
    ("kin", "“{n}'s father, Bram Ottley, is below,” said the porter."),
    ("kin", "{n}'s friend, Bram Ottley, came to dinner."),
    ("same_kin", "{n}'s father, Corin Vale, wrote every week."),
)


FIRST = Wordings(OF_EYES, OF_HAIR, OF_AGE, OF_KIN, OF_BIRTH, NO_SLIPS)
"""What the rules were mended by."""

ADVANCED = {"thirty-four": "thirty-five", "twenty-six": "twenty-eight",
            "forty-one": "forty-two", "fifty-two": "fifty-three"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Person:
    """A character of a novel, with the attributes that their note will state.

    `woman` is false for a man. `age` is in words, empty to leave it out.
    """

    name: str
    woman: bool
    eyes: str
    hair: str
    age: str


@dataclass(frozen=True, slots=True)
class Planted:
    """A sentence to insert; `slip` is true if it contradicts a note."""

    text: str
    slip: bool


def choose_people(people: Sequence[Mapping[str, Any]], count: int) -> list[Person]:
    """Return the first `count` men and women of `people`, with attributes for a note.

    `people` are characters as JSON objects. Eyes and hair that the novel states are
    used, others are invented; an age is invented unless the novel states one.
    """
    found = []
    looks = zip(
        cycle(EYES), cycle([*HAIR][1:] + [*HAIR][:1]), cycle(AGES), strict=False
    )
    for row in people:
        if row["gender"] not in ("male", "female") or row["name"].startswith("the "):
            continue
        eyes, hair, age = next(looks)
        said = {one["attribute"]: one["value"] for one in row.get("attributes", [])}
        found.append(
            Person(
                name=row["name"],
                woman=row["gender"] == "female",
                eyes=said["eyes"] if said.get("eyes") in EYES else eyes,
                hair=said["hair"] if said.get("hair") in HAIR else hair,
                age="" if "age" in said else age,
            )
        )
    return found[:count]


def write_notes(people: Sequence[Person]) -> dict[str, str]:
    """Return the text of a note on each of `people`, by file name.

    Two more notes are on invented men, of whom `FATHER` is the father of all `people`.
    """
    notes = {
        f"{name}.md": f"---\ntype: character\n---\n# {name}\n\nHe is a man of business.\n"
        for name in (FATHER, OTHER)
    }
    for person in people:
        age = f"- **Age:** {person.age}\n" if person.age else ""
        notes[f"{person.name}.md"] = (
            f"---\ntype: character\n---\n# {person.name}\n\n"
            f"- **Eyes:** {person.eyes}\n- **Hair:** {person.hair}\n{age}"
            f"- **Father:** [[{FATHER}]]\n- **Born:** the third of May\n"
        )
    return notes


def sentences(
    people: Sequence[Person], wordings: Wordings = FIRST
) -> Iterator[Planted]:
    """Yield contradictions and harmless sentences alternately, person by person.

    A harmless one is left out if it needs the age of a person whose note has none. Each
    attribute takes its wordings from `wordings` in turn.
    """
    eyes, hair, age = cycle(wordings.eyes), cycle(wordings.hair), cycle(wordings.age)
    kin, birth = cycle(wordings.kin), cycle(wordings.birth)
    harmless = cycle(wordings.harmless)
    for number, person in enumerate(people):
        wrong = [
            (next(eyes), EYES[person.eyes]),
            (next(eyes), EYES[person.eyes]),
            (next(hair), HAIR[person.hair]),
            (next(hair), HAIR[person.hair]),
            (next(kin), ""),
        ]
        if person.age:
            years = (YOUNGER if number % 4 else OLDER)[person.age]
            wrong.append((next(age), years))
        if number % 2:
            wrong.append((next(birth), ""))
        for wording, value in wrong:
            yield Planted(_said(wording, person, value), True)
            kind, other = next(harmless)
            if person.age or kind not in _OF_AGE:
                yield Planted(_said(other, person, _value(kind, person)), False)


_OF_AGE = frozenset({"younger", "same_age", "older", "advanced"})


def _value(kind: str, person: Person) -> str:
    return {
        "eyes": EYES[person.eyes],
        "hair": HAIR[person.hair],
        "same_eyes": LIKE[person.eyes],
        "same_hair": LIKE.get(person.hair, person.hair),
        "younger": YOUNGER.get(person.age, ""),
        "older": OLDER.get(person.age, ""),
        "advanced": ADVANCED.get(person.age, ""),
        "same_age": person.age,
    }.get(kind, "")


def _said(wording: str, person: Person, value: str) -> str:
    return wording.format(
        n=person.name,
        s=person.name.split()[-1],
        v=value,
        pos="her" if person.woman else "his",
        person="woman" if person.woman else "man",
        child="daughter" if person.woman else "son",
    )
