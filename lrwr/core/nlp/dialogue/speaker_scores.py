"""Speaker scoring and decoding: candidates per turn, then the best sequence of
speakers.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

from lrwr.core.model.cast import Cast, Gender
from lrwr.core.nlp.dialogue.lexicon import (
    FAMILY_NOUNS,
    MARRIED_NOUNS,
    SINGLE_NOUNS,
    YOUNG_MEN,
)
from lrwr.core.nlp.dialogue.subjects import PersonMention, PersonMentionKind
from lrwr.core.nlp.dialogue.tags import DialogueTag, TagStrength
from lrwr.core.nlp.dialogue.turns import DialoguePage, DialogueTurn, VocativeCues

NARRATOR = "\x00I"
"""Key of a first-person narrator whose name is unknown."""
UNKNOWN_SPEAKER_PREFIX = "\x00"
"""First character of the key of a speaker who is not in the cast ("the porter")."""
_MOST = 7
"""Maximum candidates of a turn besides those named in its tags."""
_BACK = 6
"""Paragraphs, including the turn's, that are searched for names."""
_NEAR_TURNS = 12
"""Turns on each side whose speakers and vocatives count."""
# Score contributions, added up per candidate. They are relative weights, no
# probabilities; bench/inside/quotes.py measures attribution with them.
_IN_PARAGRAPH = 3.0  # mentioned in the narration of the turn's paragraph
_RECENT = (1.8, 1.2, 0.8, 0.5, 0.3, 0.2)  # mentioned 1, 2, … paragraphs before
_TAGGED_NEAR = 0.15  # in a tag or vocative of a turn nearby, by 1/sqrt(distance)
_TALKS_NEAR = 0.3  # speaks nearby according to the previous pass
_CALLED_HERE = -6.0  # addressed by name in this turn: not the speaker
_NAMED_HERE = -3.5  # named in the words of this turn
_CALLED_NEXT_TO = 2.0  # addressed by name in an adjacent turn
_WRONG_GENDER = -7.0  # the tag's pronoun or noun has the other gender
_UNSURE_GENDER = -0.7  # the gender of the tag or of the candidate is unknown
_TOLD_OFTEN = 0.25  # times log(1 + mentions in the document)
_BY_STRENGTH = {TagStrength.SURE: 12.0, TagStrength.LIKELY: 6.0, TagStrength.BEAT: 2.5}
_STRANGER_FITS = 0.5  # a description that need not be anyone of the cast
_NO_KIN_HERE = -2.0  # "the son" is hardly somebody without relatives in the scene
_KIN_HAS_NAME = -3.0  # "her brother" is probably somebody with a name
_ROLE_IS_NAMED = -1.5  # a description without gender rarely means a named person
_ANYBODY = frozenset(
    {
        "man", "gentleman", "officer", "person", "other", "second", "first", "third",
        "visitor", "fellow",
    }
)  # fmt: skip
"""Nouns for people whom the text mostly does not name."""
_HAS_TITLE = 2.5  # the description is a word of the candidate's names
_TITLE_FITS = 1.5  # Mrs. for a mother, Miss for a girl
_ONLY_TITLED = 3.0  # nobody else mentioned has that title


@dataclass(frozen=True, slots=True)
class SpeakerCues:
    """A dialogue turn (one utterance) with its cues to the speaker.

    `tags` are the dialogue tags beside it, strongest first; `address` has the people
    named or addressed in its words.
    """

    turn: DialogueTurn
    tags: tuple[DialogueTag, ...]
    address: VocativeCues


class SpeakerScorer:
    """Scores the candidate speakers of each dialogue turn (one utterance) of `page`.

    `cues` has one item per turn, in text order. `narrator` is the name of a
    first-person narrator, or empty.
    """

    def __init__(
        self,
        page: DialoguePage,
        cues: Sequence[SpeakerCues],
        cast: Cast,
        narrator: str,
    ) -> None:
        self._page = page
        self._cues = cues
        self._gender = {
            character.name: character.gender for character in cast.characters
        }
        self.narrator = narrator
        # A paragraph of a whole chapter mentions each name thousands of times.
        self._names_by_row = [
            tuple(dict.fromkeys(names)) for names in page.narrated_names
        ]
        self._mention_counts = Counter(
            name for names in page.narrated_names for name in names
        )
        self._mention_counts.update(
            name for turn_cues in cues for name in turn_cues.address.called
        )
        self._frequent = self._most_frequent()
        self._present = self._names_by_scene()
        self._names_by_word = _index_name_words(cast)
        self._titled = [
            (alias.name.lower().replace(".", "").split(), character.name)
            for character in cast.characters
            for alias in character.aliases
        ]
        ladies = {
            *self._names_by_word.get("mrs", ()),
            *self._names_by_word.get("lady", ()),
        }
        self._with_relatives = self._find_people_with_relatives()
        self._titled_men = set(self._names_by_word.get("mr", ()))
        self._married = ladies - set(self._names_by_word.get("miss", ()))
        self._keys = [self._person_keys(turn_cues.tags) for turn_cues in cues]

    def fit(self, number: int, talkers: Sequence[str] = ()) -> dict[str, float]:
        """Return the scores of the candidate speakers of the turn with index `number`,
        from 0.

        Scores are sums of weights, negative too; higher is better. Keys are those of
        `make_candidate_key`. `talkers` are the keys of the speakers of all turns from a
        previous pass, or empty. Without candidates, the result is `{"": 0.0}`.
        """
        turn_cues = self._cues[number]
        known_names = self._keys[number]
        near = self._score_recency(number, talkers)
        scores = {
            name: near.get(name, 0.0) for name in self._shortlist(near, known_names)
        }
        for name in known_names:
            scores.setdefault(name, 0.0)
        for name in scores:
            scores[name] += self._score_words(name, number)
            for tag in turn_cues.tags:
                scores[name] += self._score_tag(name, tag)
        return scores or {"": 0.0}

    def gender(self, name: str) -> Gender:
        """Return the gender of the character called `name`; unknown if not in the
        cast.
        """
        return self._gender.get(name, Gender.UNKNOWN)

    def find_spouse(self, name: str) -> str:
        """Return the only Mr. or Mrs. with the surname of the character `name`; "" if
        there is none.
        """
        title = "mrs" if self.gender(name) is Gender.MALE else "mr"
        surnames = {
            words[-1]
            for words, person in self._titled
            if person == name and len(words) > 1
        }
        spouses = {
            person
            for words, person in self._titled
            if words[0] == title and words[-1] in surnames and person != name
        }
        return spouses.pop() if len(spouses) == 1 else ""

    def _most_frequent(self) -> list[str]:
        """Return the most mentioned people: two of each gender."""
        names: list[str] = []
        for gender in (Gender.FEMALE, Gender.MALE):
            of_sex = [
                n
                for n, _ in self._mention_counts.most_common()
                if self.gender(n) == gender
            ]
            names += of_sex[:2]
        return names

    def _names_by_scene(self) -> dict[int, set[str]]:
        """Return who is named in the narration or speaks by a tag, for each scene."""
        present: dict[int, set[str]] = {turn.turn.scene: set() for turn in self._cues}
        for row, names in enumerate(self._names_by_row):
            present.setdefault(self._page.scenes[row], set()).update(names)
        for turn_cues in self._cues:
            present[turn_cues.turn.scene].update(turn_cues.address.called)
        return present

    def _find_people_with_relatives(self) -> set[str]:
        """Return those of the people in the text who share a surname, or who have none."""
        surnames: dict[str, set[str]] = {}
        for words, person in self._titled:
            if len(words) > 1 and (person in self._mention_counts):
                surnames.setdefault(words[-1], set()).add(person)
        with_surname = set().union(*surnames.values())
        families = [family for family in surnames.values() if len(family) > 1]
        return set().union(*families) | (self._mention_counts.keys() - with_surname)

    def _person_keys(self, tags: Sequence[DialogueTag]) -> list[str]:
        keys = [make_candidate_key(tag.person, self.narrator) for tag in tags]
        for tag in tags:
            keys += self._names_by_word.get(tag.person.noun, [])[:4]
        return list(dict.fromkeys(key for key in keys if key))

    def _shortlist(
        self, near: Mapping[str, float], known_names: Sequence[str]
    ) -> list[str]:
        ranked = sorted(near, key=lambda name: (-near[name], name))
        return list(dict.fromkeys([*known_names, *ranked]))[
            : max(_MOST, len(known_names))
        ]

    def _score_recency(self, number: int, talkers: Sequence[str]) -> dict[str, float]:
        """Score people by how recently they were mentioned, addressed, or spoke."""
        near: dict[str, float] = {}
        turn = self._cues[number].turn
        for back in range(_BACK):
            row = turn.paragraph - back
            if row < 0 or self._page.scenes[row] != turn.scene:
                break
            weight = _IN_PARAGRAPH if back == 0 else _RECENT[back - 1]
            for name in self._names_by_row[row]:
                near[name] = max(near.get(name, 0.0), weight)
            if self._page.narrating[row]:
                key = self.narrator or NARRATOR
                near[key] = max(near.get(key, 0.0), weight * 0.5)
        self._add_talkers(number, talkers, near)
        for name in self._frequent:
            if name in self._present[turn.scene]:
                near.setdefault(name, 0.0)
        for name in near:
            near[name] += _TOLD_OFTEN * log(1 + self._mention_counts[name])
        return near

    def _add_talkers(
        self, number: int, talkers: Sequence[str], near: dict[str, float]
    ) -> None:
        first = max(0, number - _NEAR_TURNS)
        last = min(len(self._cues), number + _NEAR_TURNS + 1)
        scene = self._cues[number].turn.scene
        for neighbour in range(first, last):
            turn_cues = self._cues[neighbour]
            if neighbour == number or turn_cues.turn.scene != scene:
                continue
            share = 1 / abs(neighbour - number) ** 0.5
            names = [*self._keys[neighbour], *turn_cues.address.called]
            for name in names:
                near[name] = near.get(name, 0.0) + share * _TAGGED_NEAR
            if talkers and talkers[neighbour]:
                name = talkers[neighbour]
                near[name] = near.get(name, 0.0) + share * _TALKS_NEAR

    def _score_words(self, name: str, number: int) -> float:
        """Score a candidate by the names in the words of this turn and of its
        neighbours.
        """
        address = self._cues[number].address
        score = 0.0
        if name in address.called:
            score += _CALLED_HERE
        elif name in address.named:
            score += _NAMED_HERE
        for neighbour in (number - 1, number + 1):
            if 0 <= neighbour < len(self._cues):
                near = self._cues[neighbour]
                if name in near.address.called and near.turn.gap == 0:
                    score += _CALLED_NEXT_TO
        return score

    def _score_tag(self, name: str, tag: DialogueTag) -> float:
        person, weight = tag.person, _BY_STRENGTH[tag.strength]
        key = make_candidate_key(person, self.narrator)
        if person.kind in {PersonMentionKind.NAMED, PersonMentionKind.NARRATOR}:
            return weight if name == key else 0.0
        if person.kind is PersonMentionKind.STRANGER:
            return weight if name == key else 0.0
        if person.kind is PersonMentionKind.SEVERAL:
            return 0.0
        if name == key:
            return _KIN_HAS_NAME if person.is_owned else _STRANGER_FITS
        return self._score_description(name, person, weight)

    def _is_only(self, noun: str) -> bool:
        """Return whether only one person mentioned here has this title."""
        mentioned_names = [
            name for name in self._names_by_word[noun] if self._mention_counts[name]
        ]
        return len(mentioned_names or self._names_by_word[noun]) == 1

    def _score_description(
        self, name: str, person: PersonMention, weight: float
    ) -> float:
        if name.startswith(UNKNOWN_SPEAKER_PREFIX):
            return -weight / 2
        if person.noun and name in self._names_by_word.get(person.noun, ()):
            return _HAS_TITLE + (_ONLY_TITLED if self._is_only(person.noun) else 0.0)
        if name in {person.owner, self.narrator, NARRATOR} and name:
            return -weight
        gender = self.gender(name)
        if Gender.UNKNOWN in {gender, person.gender}:
            score = _UNSURE_GENDER
        elif gender is person.gender:
            score = 0.0
        else:
            score = _WRONG_GENDER * min(1.0, weight / 6.0)
        is_anybody = person.noun in _ANYBODY and not (
            person.is_owned or person.name.startswith("young ")
        )
        is_role = is_anybody or person.gender is Gender.UNKNOWN
        if person.kind is PersonMentionKind.DESCRIBED and is_role:
            score += _ROLE_IS_NAMED
        if person.noun in FAMILY_NOUNS and not person.is_owned:
            score += 0.0 if name in self._with_relatives else _NO_KIN_HERE
        return score + self._score_title(name, person)

    def _score_title(self, name: str, person: PersonMention) -> float:
        """Prefer a Mrs. for a mother, and a Miss or no title for a girl."""
        is_mrs = name in self._married
        married = person.noun in MARRIED_NOUNS or person.name.startswith("old ")
        if married:
            return _TITLE_FITS if is_mrs else 0.0
        if person.noun in YOUNG_MEN and name in self._titled_men:
            return -_TITLE_FITS
        single = person.noun in SINGLE_NOUNS or person.name.startswith("young ")
        return -_TITLE_FITS if single and is_mrs else 0.0


def _index_name_words(cast: Cast) -> dict[str, list[str]]:
    """Return the characters by each word of their aliases: the Admiral, the Dodo."""
    titled: dict[str, list[str]] = {}
    for character in cast.characters:
        words = {
            w.strip(".,").lower() for a in character.aliases for w in a.name.split()
        }
        for word in sorted(words):
            titled.setdefault(word, []).append(character.name)
    return titled


def make_candidate_key(person: PersonMention, narrator: str) -> str:
    """Return the key under which a person is a candidate speaker; "" for a pronoun.

    A character has its name as key. A person outside the cast ("the porter") has
    `UNKNOWN_SPEAKER_PREFIX` and the words; "I" has the name `narrator`, or, if that is
    empty, the constant `NARRATOR`.
    """
    if person.kind is PersonMentionKind.NAMED:
        return person.name
    if person.kind is PersonMentionKind.NARRATOR:
        return narrator or NARRATOR
    if person.kind in {PersonMentionKind.DESCRIBED, PersonMentionKind.STRANGER}:
        return UNKNOWN_SPEAKER_PREFIX + person.name
    return ""


_BEAM = 12
"""States kept per turn in the beam search."""
# Transition scores, by the number of paragraphs of narration between two turns
_SAME_PARAGRAPH = 4.0  # same speaker as the previous turn of this paragraph
_SAME_AGAIN = (-4.0, -0.6, 0.0, 0.0)  # same speaker as the previous turn
_TAKES_TURNS = (1.8, 1.2, 0.6, 0.2)  # same speaker as the turn before the previous one
_GOES_ON = 4.0  # the tag says "continued" or "added"
_SOLE_CANDIDATE_MARGIN = 20.0  # margin of a turn with a single candidate
SpeakerPair = tuple[str, str]
"""Speakers of the previous turn and of this one."""


@dataclass(slots=True)
class _SpeakerPath:
    score: float
    speaker: str
    back: "_SpeakerPath | None"


@dataclass(frozen=True, slots=True)
class _TransitionScores:
    """Scores for the same speaker continuing and for two speakers alternating."""

    same: float
    alternate: float

    @classmethod
    def of(cls, cues: Sequence[SpeakerCues], number: int) -> "_TransitionScores":
        """Derive the scores from the gap before turn `number` and from its tags."""
        turn = cues[number].turn
        if number > 0 and cues[number - 1].turn.scene != turn.scene:
            return cls(0.0, 0.0)
        gap = min(turn.gap, len(_SAME_AGAIN) - 1)
        same, alternate = _SAME_AGAIN[gap], _TAKES_TURNS[gap]
        if not turn.first_here:
            same, alternate = _SAME_PARAGRAPH, 0.0
        if number > 1 and cues[number - 2].turn.scene != turn.scene:
            alternate = 0.0
        if any(tag.goes_on for tag in cues[number].tags):
            same += _GOES_ON
        return cls(same, alternate)

    def score(self, before: str, last: str, name: str) -> float:
        """Return the score of `name` speaking after `last`, who spoke after `before`."""
        if name == last:
            return self.same
        return self.alternate if name == before else 0.0


def decode_speakers(
    cues: Sequence[SpeakerCues], fits: Sequence[dict[str, float]]
) -> list[str]:
    """Return the keys of the speakers of all turns, in text order: the most likely
    sequence.

    `cues` and `fits` have one item per turn; an item of `fits` maps the keys of the
    candidates to their scores. Two speakers are expected to alternate; the same speaker
    twice is unlikely, except after much narration or within one paragraph. Method: beam
    search over pairs of consecutive speakers.
    """
    if not fits:
        return []
    states: dict[SpeakerPair, _SpeakerPath] = {("", ""): _SpeakerPath(0.0, "", None)}
    for number, fit in enumerate(fits):
        states = _advance_beam(states, _TransitionScores.of(cues, number), fit)
    path: _SpeakerPath | None = max(states.values(), key=lambda state: state.score)
    chosen: list[str] = []
    while path is not None and path.back is not None:
        chosen.append(path.speaker)
        path = path.back
    return chosen[::-1]


def compute_speaker_margins(
    cues: Sequence[SpeakerCues],
    fits: Sequence[dict[str, float]],
    chosen: Sequence[str],
) -> list[float]:
    """Return, for each turn, by how much its chosen speaker outscores the best
    alternative.

    `cues`, `fits` and `chosen` have one item per turn: the cues, the scores of the
    candidates, and the key of the chosen speaker. The other turns retain their speaker.
    A margin is negative if an alternative scores higher.
    """
    follow = [_TransitionScores.of(cues, number) for number in range(len(cues))]
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
            scores[speaker]
            - max(rival_scores, default=scores[speaker] - _SOLE_CANDIDATE_MARGIN)
        )
    return margins


def _advance_beam(
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
