"""Who might speak a turn, and how well each of them fits what stands around it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

from lrwr.core.model.cast import Cast, Gender
from lrwr.core.nlp.dialogue.lexicon import MARRIED_NOUNS, SINGLE_NOUNS
from lrwr.core.nlp.dialogue.subjects import PersonMention, PersonMentionKind
from lrwr.core.nlp.dialogue.tags import DialogueTag, TagStrength
from lrwr.core.nlp.dialogue.turns import DialoguePage, DialogueTurn, VocativeCues

NARRATOR = "\x00I"
"""Stands for a first-person narrator whose name nobody knows."""
UNKNOWN_SPEAKER_PREFIX = "\x00"
"""Begins the key of a speaker who is in no cast: a porter, a voice."""
_MOST = 7
_BACK = 6
"""Paragraphs of narration that are looked through for names."""
_NEAR_TURNS = 6
_IN_PARAGRAPH = 3.0
_RECENT = (1.8, 1.2, 0.8, 0.5, 0.3, 0.2)
_TAGGED_NEAR = 0.3
_TALKS_NEAR = 0.3
_CALLED_HERE = -6.0
_NAMED_HERE = -2.0
_CALLED_NEXT_TO = 2.0
_WRONG_GENDER = -7.0
_UNSURE_GENDER = -0.7
_TOLD_OFTEN = 0.25
_BY_STRENGTH = {TagStrength.SURE: 12.0, TagStrength.LIKELY: 6.0, TagStrength.BEAT: 2.5}
_STRANGER_FITS = 0.5
_KIN_HAS_NAME = -3.0
_ROLE_IS_NAMED = -1.5
_HAS_TITLE = 2.5
_TITLE_FITS = 1.5
_ONLY_TITLED = 3.0


@dataclass(frozen=True, slots=True)
class SpeakerCues:
    """All that is read at one turn before anybody is chosen."""

    turn: DialogueTurn
    tags: tuple[DialogueTag, ...]
    address: VocativeCues


class SpeakerScorer:
    """Scores candidates for the turns of one document."""

    def __init__(
        self,
        page: DialoguePage,
        readings: Sequence[SpeakerCues],
        cast: Cast,
        narrator: str,
    ) -> None:
        self._page = page
        self._readings = readings
        self._gender = {
            character.name: character.gender for character in cast.characters
        }
        self._narrator = narrator
        self._often = Counter(name for names in page.told for name in names)
        self._often.update(
            name for reading in readings for name in reading.address.called
        )
        self._usual = self._usual_people()
        self._titled = _titles(cast)
        ladies = {*self._titled.get("mrs", ()), *self._titled.get("lady", ())}
        self._married = ladies - set(self._titled.get("miss", ()))
        self._keys = [self._person_keys(reading.tags) for reading in readings]

    def fit(self, number: int, talkers: Sequence[str] = ()) -> dict[str, float]:
        """Return the score of everyone who may speak turn `number`.

        `talkers` are the speakers of all turns as far as they are known already.
        """
        reading = self._readings[number]
        known_names = self._keys[number]
        near = self._near(number, talkers)
        scores = {
            name: near.get(name, 0.0) for name in self._shortlist(near, known_names)
        }
        for name in known_names:
            scores.setdefault(name, 0.0)
        for name in scores:
            scores[name] += self._fits_words(name, number)
            for tag in reading.tags:
                scores[name] += self._fits_tag(name, tag)
        return scores or {"": 0.0}

    def gender(self, name: str) -> Gender:
        """Return how the text speaks of `name`."""
        return self._gender.get(name, Gender.UNKNOWN)

    def _usual_people(self) -> list[str]:
        """Return the people told of most: two of each sex."""
        names: list[str] = []
        for gender in (Gender.FEMALE, Gender.MALE):
            of_sex = [
                n for n, _ in self._often.most_common() if self.gender(n) == gender
            ]
            names += of_sex[:2]
        return names

    def _person_keys(self, tags: Sequence[DialogueTag]) -> list[str]:
        keys = [make_candidate_key(tag.person, self._narrator) for tag in tags]
        for tag in tags:
            keys += self._titled.get(tag.person.noun, [])[:4]
        return list(dict.fromkeys(key for key in keys if key))

    def _shortlist(
        self, near: Mapping[str, float], known_names: Sequence[str]
    ) -> list[str]:
        ranked = sorted(near, key=lambda name: (-near[name], name))
        return list(dict.fromkeys([*known_names, *ranked]))[
            : max(_MOST, len(known_names))
        ]

    def _near(self, number: int, talkers: Sequence[str]) -> dict[str, float]:
        """Score people by where they were last told of, called or made to speak."""
        near: dict[str, float] = {}
        turn = self._readings[number].turn
        for back in range(_BACK):
            row = turn.paragraph - back
            if row < 0 or self._page.scenes[row] != turn.scene:
                break
            weight = _IN_PARAGRAPH if back == 0 else _RECENT[back - 1]
            for name in self._page.told[row]:
                near[name] = max(near.get(name, 0.0), weight)
            if self._page.narrating[row]:
                key = self._narrator or NARRATOR
                near[key] = max(near.get(key, 0.0), weight * 0.5)
        self._add_talkers(number, talkers, near)
        for name in self._usual:
            near.setdefault(name, 0.0)
        for name in near:
            near[name] += _TOLD_OFTEN * log(1 + self._often[name])
        return near

    def _add_talkers(
        self, number: int, talkers: Sequence[str], near: dict[str, float]
    ) -> None:
        first = max(0, number - _NEAR_TURNS)
        last = min(len(self._readings), number + _NEAR_TURNS + 1)
        scene = self._readings[number].turn.scene
        for neighbour in range(first, last):
            reading = self._readings[neighbour]
            if neighbour == number or reading.turn.scene != scene:
                continue
            share = 1 / abs(neighbour - number) ** 0.5
            names = [*self._keys[neighbour], *reading.address.called]
            for name in names:
                near[name] = near.get(name, 0.0) + share * _TAGGED_NEAR
            if talkers and talkers[neighbour]:
                name = talkers[neighbour]
                near[name] = near.get(name, 0.0) + share * _TALKS_NEAR

    def _fits_words(self, name: str, number: int) -> float:
        """Judge by names in the words of this turn and of its neighbours."""
        address = self._readings[number].address
        score = 0.0
        if name in address.called:
            score += _CALLED_HERE
        elif name in address.named:
            score += _NAMED_HERE
        for neighbour in (number - 1, number + 1):
            if 0 <= neighbour < len(self._readings):
                near = self._readings[neighbour]
                if name in near.address.called and near.turn.gap == 0:
                    score += _CALLED_NEXT_TO
        return score

    def _fits_tag(self, name: str, tag: DialogueTag) -> float:
        person, weight = tag.person, _BY_STRENGTH[tag.strength]
        key = make_candidate_key(person, self._narrator)
        if person.kind in {PersonMentionKind.NAMED, PersonMentionKind.NARRATOR}:
            return weight if name == key else 0.0
        if person.kind is PersonMentionKind.STRANGER:
            return weight if name == key else 0.0
        if person.kind is PersonMentionKind.SEVERAL:
            return 0.0
        if name == key:
            return _KIN_HAS_NAME if person.is_owned else _STRANGER_FITS
        return self._fits_description(name, person, weight)

    def _is_only(self, noun: str) -> bool:
        """Say whether one person alone of those told of here is called so."""
        mentioned_names = [name for name in self._titled[noun] if self._often[name]]
        return len(mentioned_names or self._titled[noun]) == 1

    def _fits_description(
        self, name: str, person: PersonMention, weight: float
    ) -> float:
        if name.startswith(UNKNOWN_SPEAKER_PREFIX):
            return -weight / 2
        if person.noun and name in self._titled.get(person.noun, ()):
            return _HAS_TITLE + (_ONLY_TITLED if self._is_only(person.noun) else 0.0)
        if name in {person.owner, self._narrator, NARRATOR} and name:
            return -weight
        gender = self.gender(name)
        if Gender.UNKNOWN in {gender, person.gender}:
            score = _UNSURE_GENDER
        elif gender is person.gender:
            score = 0.0
        else:
            score = _WRONG_GENDER * min(1.0, weight / 6.0)
        if (
            person.kind is PersonMentionKind.DESCRIBED
            and person.gender is Gender.UNKNOWN
        ):
            score += _ROLE_IS_NAMED
        return score + self._fits_title(name, person)

    def _fits_title(self, name: str, person: PersonMention) -> float:
        """Prefer a Mrs. for a mother, and a Miss or no title for a girl."""
        is_mrs = name in self._married
        married = person.noun in MARRIED_NOUNS or person.name.startswith("old ")
        if married:
            return _TITLE_FITS if is_mrs else 0.0
        single = person.noun in SINGLE_NOUNS or person.name.startswith("young ")
        return -_TITLE_FITS if single and is_mrs else 0.0


def _titles(cast: Cast) -> dict[str, list[str]]:
    """Return who may be called by each word of an alias: the Admiral, the Dodo."""
    titled: dict[str, list[str]] = {}
    for character in cast.characters:
        words = {
            w.strip(".,").lower() for a in character.aliases for w in a.name.split()
        }
        for word in sorted(words):
            titled.setdefault(word, []).append(character.name)
    return titled


def make_candidate_key(person: PersonMention, narrator: str) -> str:
    """Return what a person is called among the candidates, "" for a pronoun."""
    if person.kind is PersonMentionKind.NAMED:
        return person.name
    if person.kind is PersonMentionKind.NARRATOR:
        return narrator or NARRATOR
    if person.kind in {PersonMentionKind.DESCRIBED, PersonMentionKind.STRANGER}:
        return UNKNOWN_SPEAKER_PREFIX + person.name
    return ""


_BEAM = 12
_SAME_PARAGRAPH = 4.0
_SAME_AGAIN = (-4.0, -0.6, 0.0, 0.0)
_TAKES_TURNS = (1.8, 1.2, 0.6, 0.2)
_GOES_ON = 4.0
_NO_RIVAL = 20.0
SpeakerPair = tuple[str, str]
"""The speaker of the turn before, and of this one."""


@dataclass(slots=True)
class _SpeakerPath:
    score: float
    speaker: str
    back: "_SpeakerPath | None"


@dataclass(frozen=True, slots=True)
class _TransitionScores:
    """How likely one speaker follows another at a turn."""

    same: float
    alternate: float

    @classmethod
    def of(cls, readings: Sequence[SpeakerCues], number: int) -> "_TransitionScores":
        """Read the gap before turn `number`, and whether its tag says "went on"."""
        turn = readings[number].turn
        if number > 0 and readings[number - 1].turn.scene != turn.scene:
            return cls(0.0, 0.0)
        gap = min(turn.gap, len(_SAME_AGAIN) - 1)
        same, alternate = _SAME_AGAIN[gap], _TAKES_TURNS[gap]
        if not turn.first_here:
            same, alternate = _SAME_PARAGRAPH, 0.0
        if number > 1 and readings[number - 2].turn.scene != turn.scene:
            alternate = 0.0
        if any(tag.goes_on for tag in readings[number].tags):
            same += _GOES_ON
        return cls(same, alternate)

    def score(self, before: str, last: str, name: str) -> float:
        """Return the score of `name` speaking after `last`, who followed `before`."""
        if name == last:
            return self.same
        return self.alternate if name == before else 0.0


def decode_speakers(
    readings: Sequence[SpeakerCues], fits: Sequence[dict[str, float]]
) -> list[str]:
    """Return the likeliest speaker of each turn.

    People take turns: who spoke last but one is likely to speak, who spoke last is
    not, unless much narration stands between or the words are of one paragraph.
    """
    if not fits:
        return []
    states: dict[SpeakerPair, _SpeakerPath] = {("", ""): _SpeakerPath(0.0, "", None)}
    for number, fit in enumerate(fits):
        states = _step(states, _TransitionScores.of(readings, number), fit)
    path: _SpeakerPath | None = max(states.values(), key=lambda state: state.score)
    chosen: list[str] = []
    while path is not None and path.back is not None:
        chosen.append(path.speaker)
        path = path.back
    return chosen[::-1]


def compute_speaker_margins(
    readings: Sequence[SpeakerCues],
    fits: Sequence[dict[str, float]],
    chosen: Sequence[str],
) -> list[float]:
    """Return for each turn by how much the next best speaker would be worse there."""
    follow = [_TransitionScores.of(readings, number) for number in range(len(readings))]
    margins = []
    for number, speaker in enumerate(chosen):
        row = ["", "", *chosen[max(0, number - 2) : number + 3]]
        at = min(number, 2) + 2
        scores: dict[str, float] = {}
        for name, score in fits[number].items():
            row[at] = name
            for place in range(at, len(row)):
                transition = follow[number + place - at]
                score += transition.score(row[place - 2], row[place - 1], row[place])
            scores[name] = score
        rival_scores = [score for name, score in scores.items() if name != speaker]
        margins.append(
            scores[speaker] - max(rival_scores, default=scores[speaker] - _NO_RIVAL)
        )
    return margins


def _step(
    states: dict[SpeakerPair, _SpeakerPath],
    follow: _TransitionScores,
    fit: dict[str, float],
) -> dict[SpeakerPair, _SpeakerPath]:
    reached: dict[SpeakerPair, _SpeakerPath] = {}
    ranked = sorted(states.items(), key=lambda item: -item[1].score)[:_BEAM]
    for (before, last), path in ranked:
        for name, score in fit.items():
            total = path.score + score + follow.score(before, last, name)
            state = (last, name)
            if state not in reached or reached[state].score < total:
                reached[state] = _SpeakerPath(total, name, path)
    return reached
