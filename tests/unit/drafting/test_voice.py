"""The voice: how far a draft is from the writer's own passages."""

import random

from lrwr.core.drafting.style import LEAST_WORDS, VoiceProfile, measure_voice

NAMES = ["lamp", "road", "stair", "tide", "bell", "gull", "wall", "rope"]


def write_plain(dice: random.Random, words: int) -> str:
    """Return text of short sentences without speech."""
    lines: list[str] = []
    while sum(len(line.split()) for line in lines) < words:
        thing = dice.choice(NAMES)
        lines.append(f"The {thing} was there. She saw the {dice.choice(NAMES)}.")
    return "\n\n".join(lines)


def write_ornate(dice: random.Random, words: int) -> str:
    """Return text of long sentences with semicolons and speech."""
    lines: list[str] = []
    while sum(len(line.split()) for line in lines) < words:
        thing = dice.choice(NAMES)
        lines.append(
            f"“If, indeed, the {thing} could ever have been otherwise,” he said slowly,"
            f" “then perhaps we should not, either of us, have been so very much"
            f" surprised; and yet, upon the {dice.choice(NAMES)}, nothing is certain!”"
        )
    return "\n\n".join(lines)


def test_another_style_is_farther_than_ones_own() -> None:
    dice = random.Random(1)
    chapters = [write_plain(dice, 4_000) for _ in range(4)]
    own = measure_voice(write_plain(dice, 600), chapters)
    other = measure_voice(write_ornate(dice, 600), chapters)
    assert own and other
    assert own.distance < other.distance
    assert other.farther == 1.0
    assert len(other.traits) == 3


def test_nothing_is_reported_of_a_short_draft_or_a_short_book() -> None:
    dice = random.Random(2)
    chapters = [write_plain(dice, 4_000) for _ in range(4)]
    short = " ".join(write_plain(dice, LEAST_WORDS).split()[: LEAST_WORDS - 1])
    assert measure_voice(short, chapters) is None
    assert measure_voice(f"{short} more", chapters) is not None
    assert measure_voice(write_plain(dice, 400), chapters[:1]) is not None
    assert measure_voice(write_plain(dice, 800), [write_plain(dice, 900)]) is None
    assert not VoiceProfile([]).is_known
