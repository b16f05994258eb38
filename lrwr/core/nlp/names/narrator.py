"""Who says "I": the name of a first-person narrator, from how others call them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.model.cast import Mention
from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.speakers import find_dialogue_tags
from lrwr.core.nlp.dialogue.subjects import PersonMentionKind
from lrwr.core.nlp.dialogue.turns import DialoguePage, build_dialogue_page
from lrwr.core.nlp.dialogue.vocatives import VocativeCues, find_vocatives

_FEWEST_CALLS = 2
_FEWEST_TURNS = 3
_CLEARLY = 2


@dataclass(frozen=True, slots=True)
class NarratorEvidence:
    """What one document tells of its narrator.

    `turns` counts what "I" said; `called` the names by which others call whom they
    talk to then, `told` the names in narration.
    """

    turns: int
    called: Mapping[str, int]
    told: Mapping[str, int]


def gather_narrator_evidence(
    text: str, scenes: Sequence[Sequence[Span]], mentions: Sequence[Mention]
) -> NarratorEvidence:
    """Look through one document for "I said", and for the names called beside it."""
    page = build_dialogue_page(text, scenes, mentions)
    starts = [mention.span.start for mention in page.mentions]
    says_i = [_narrator_speaks(page, number) for number in range(len(page.turns))]
    called: Counter[str] = Counter()
    if any(says_i):
        addresses = [find_vocatives(page, starts, turn) for turn in page.turns]
        called.update(_called_beside(page, addresses, says_i))
    counter = Counter(name for names in page.told for name in names)
    return NarratorEvidence(sum(says_i), called, counter)


def infer_narrators(signs: Sequence[NarratorEvidence]) -> list[str]:
    """Return who says "I" in each of these documents, "" where nobody can tell.

    One narrator who is clear over all documents tells them all; else each document
    has its own, for a story may have several by turns.
    """
    narrator = _narrator_of(signs)
    return [narrator or _narrator_of([sign]) for sign in signs]


def _narrator_of(signs: Sequence[NarratorEvidence]) -> str:
    """Return the name called far oftener than told, and than any other."""
    turns = sum(sign.turns for sign in signs)
    called: Counter[str] = Counter()
    counter: Counter[str] = Counter()
    for sign in signs:
        called.update(sign.called)
        counter.update(sign.told)
    fits = {name: count for name, count in called.items() if count > counter[name]}
    ranked = sorted(fits, key=lambda name: (-fits[name], name))
    if turns < _FEWEST_TURNS or not ranked or fits[ranked[0]] < _FEWEST_CALLS:
        return ""
    first = ranked[0]
    rivals = [name for name in ranked[1:] if not _one_person(first, name)]
    if rivals and fits[first] < _CLEARLY * fits[rivals[0]]:
        return ""
    return first


def _one_person(first: str, second: str) -> bool:
    """Say whether two names may be forms of one: Vale, Mr. Vale."""
    return first.split()[-1] == second.split()[-1]


def _narrator_speaks(page: DialoguePage, number: int) -> bool:
    tags = find_dialogue_tags(page, page.turns[number])
    return bool(tags) and tags[0].person.kind is PersonMentionKind.NARRATOR


def _called_beside(
    page: DialoguePage, addresses: Sequence[VocativeCues], says_i: Sequence[bool]
) -> Iterator[str]:
    for number, turn in enumerate(page.turns):
        if says_i[number]:
            continue
        before = number > 0 and says_i[number - 1] and turn.gap == 0
        follows = number + 1 < len(says_i) and says_i[number + 1]
        if before or (follows and page.turns[number + 1].gap == 0):
            yield from addresses[number].called
