"""The sentences that say most of a scene, where nobody can recount it."""

import re
from collections import Counter
from math import log

from lrwr.core.english.happenings import DEEDS
from lrwr.core.english.prose import HIDDEN, Prose, Sentence
from lrwr.core.model.certainty import Certainty
from lrwr.core.model.facts import RULES, About, Fact
from lrwr.core.model.text import Span
from lrwr.core.model.words import STOP_WORDS

_NAME = re.compile(r"(?<![\w'])[A-ZÀ-ÖØ-Þ]\w+")
_SHORTEST, _LONGEST = 6, 45
_PER_KEY_SENTENCE = 12
_MOST = 3


def key_sentences(prose: Prose, scene: Span) -> Fact | None:
    """Return the one to three sentences that say most of a scene, as spans in order.

    They are the narrator's, name people, hold words that the scene comes back to, and
    tell of deeds; the first and the last sentences count for a little more.
    """
    inside = [s for s in prose.sentences if scene.holds(s.span)]
    able = [(at, s) for at, s in enumerate(inside) if _may_stand(s)]
    if not able:
        return None
    weights = _weights(inside)
    edges = {0, 1, len(inside) - 2, len(inside) - 1}
    scores = [(-_score(s, at in edges, weights, prose), at) for at, s in able]
    count = min(_MOST, 1 + len(inside) // _PER_KEY_SENTENCE)
    spans = [inside[at].span for at in sorted(at for _, at in sorted(scores)[:count])]
    return Fact(About.SCENE, "", "recap", "", tuple(spans), RULES, Certainty.PROBABLE)


def _may_stand(sentence: Sentence) -> bool:
    told = sentence.told.count(HIDDEN) == 0
    return told and _SHORTEST <= sentence.told.count(" ") + 1 <= _LONGEST


def _weights(sentences: list[Sentence]) -> dict[str, float]:
    """Return what each word is worth: it comes back, yet not in every sentence."""
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(sentence.words - STOP_WORDS)
    total = len(sentences)
    return {w: log(1 + n) * log(1 + total / n) for w, n in counts.items() if n > 1}


def _score(
    sentence: Sentence, at_edge: bool, weights: dict[str, float], prose: Prose
) -> float:
    words = sentence.words - STOP_WORDS
    theme = sum(weights.get(word, 0.0) for word in words) / (4 + len(words))
    named = len({w for w in _NAME.findall(sentence.told) if w in prose.names})
    deeds = len(words & DEEDS)
    return theme + 0.6 * min(named, 3) + 0.5 * min(deeds, 2) + 0.5 * at_edge
