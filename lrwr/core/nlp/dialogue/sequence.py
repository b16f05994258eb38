"""Who speaks in turn: the likeliest row of speakers for a whole document."""

from collections.abc import Sequence
from dataclasses import dataclass

from lrwr.core.nlp.dialogue.speaker_scores import SpeakerCues

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
