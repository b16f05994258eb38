"""How likely the first passages are to hold the answer. Pure arithmetic.

A logistic model over signals that a search has anyway. Its weights come from
questions whose answers are known; see decision 013 for what they are good for.
"""

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from lrwr.core.model.chunks import Chunk, ChunkId, Pipeline
from lrwr.core.model.errors import StoreProblem
from lrwr.core.model.text import (
    WORD_PATTERN,
    extract_capitalized_words,
    normalize_word,
    stem_lightly,
)
from lrwr.core.retrieval.retrievers import HybridScores, WordWeights
from lrwr.core.settings.library import Library, prepare_state_dir, write_private_file

FIRST_PASSAGES = 5
"""Passages that are meant where the first passages are spoken of."""
AGREEMENT_DEPTH = 10
"""How many of each way's best are compared to see whether the ways agree."""
MAX_SIGNAL_SCALES = 4.0
"""A signal counts as at most so many scales from its mean, either way."""
PEOPLE_RANKING_ID = "people"
UNRERANKED_RANKING_ID = "off"
"""How a ranking is called that no reranker made; see `build_ranking_id`."""


@dataclass(frozen=True, slots=True)
class RankingSignals:
    """What a search shows of how good its first passages are.

    All are 0.0 to 1.0 or so, and none says much alone:

    `top` is what the ranking gave the best passage: the reranker's own score where
    there is one, else the first score. `margin` is how far `top` is from the fifth.
    `lead` is the same distance in the first scores, before a second look, and
    `pairs` in those of words that stand together, as a share of the best.
    `named` is the share of the question's names that the first passages hold, 1.0
    where it names nobody. `covered` is the share of the question's weight of rare
    words that the best passage holds, `covered_together` the first five.
    `agreement` is how many of the ten best by words are among the ten best by meaning.
    """

    top: float
    margin: float
    lead: float
    pairs: float
    named: float
    covered: float
    covered_together: float
    agreement: float

    @property
    def row(self) -> tuple[float, ...]:
        """The signals in the order of `SIGNAL_NAMES`."""
        return tuple(getattr(self, name) for name in SIGNAL_NAMES)


SIGNAL_NAMES = (
    "top",
    "margin",
    "lead",
    "pairs",
    "named",
    "covered",
    "covered_together",
    "agreement",
)
"""The fields of `RankingSignals`, in order."""


@dataclass(frozen=True, slots=True)
class SignalTerm:
    """What one signal counts: `weight` for each `scale` that it is above `mean`."""

    signal: str
    weight: float
    mean: float
    scale: float

    def of(self, signals: RankingSignals) -> float:
        """Return what the signal adds, in logits."""
        return self.weight * self.standing(float(getattr(signals, self.signal)))

    def standing(self, value: float) -> float:
        """Return how many scales `value` is above the mean, within `MAX_SIGNAL_SCALES`."""
        return max(
            -MAX_SIGNAL_SCALES, min(MAX_SIGNAL_SCALES, (value - self.mean) / self.scale)
        )


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the signals of one ranking mean.

    `ranking` and `pipeline` say whose signals it reads. Below `threshold` the evidence
    is weak. `questions` it was fitted on; `auroc` is how well it told those found from
    the rest among questions that it was not fitted on. `source` says what made it.
    """

    ranking: str
    pipeline: Pipeline
    bias: float
    terms: tuple[SignalTerm, ...]
    threshold: float
    questions: int
    auroc: float
    source: str


CalibrationTable = Mapping[tuple[str, Pipeline], Calibration]
"""What is known of each ranking of each pipeline's passages."""


def index_calibrations(calibrations: Iterable[Calibration]) -> CalibrationTable:
    """Return `calibrations` by ranking and pipeline; the later of two of the same wins."""
    return {
        (calibration.ranking, calibration.pipeline): calibration
        for calibration in calibrations
    }


def estimate_probability(signals: RankingSignals, calibration: Calibration) -> float:
    """Return how likely the first passages are to hold the answer, 0.0 to 1.0."""
    return logistic(calibration.bias + sum(t.of(signals) for t in calibration.terms))


def logistic(logit: float) -> float:
    """Return the probability of a logit; no logit is too large."""
    if logit >= 0:
        return 1 / (1 + math.exp(-min(logit, 700.0)))
    return math.exp(max(logit, -700.0)) / (1 + math.exp(max(logit, -700.0)))


@dataclass(frozen=True, slots=True)
class RankingInputs:
    """What one search looked at: the parts that signals are made of.

    `first` are the first passages, best first. `last_scores` are those of whoever
    ranked last, in that one's own measure, `first_scores` those before a second look.
    `counts` says in how many of `total` passages each of the question's words occurs.
    """

    question: str
    first: Sequence[Chunk]
    last_scores: Mapping[ChunkId, float]
    first_scores: Mapping[ChunkId, float]
    ways: HybridScores
    counts: Mapping[str, int]
    total: int


@dataclass(frozen=True, slots=True)
class SearchConfidence:
    """How far a search can be trusted.

    `confidence` is how likely the first passages are to hold the answer, and `low`
    whether that is too little to go by; both None where nobody knows what the
    `signals` of this `ranking` mean. `signals` is None where nothing was found.
    """

    ranking: str
    signals: RankingSignals | None
    confidence: float | None = None
    low: bool | None = None


def assess_search_confidence(
    ranking_inputs: RankingInputs, ranking: str, calibration: Calibration | None
) -> SearchConfidence:
    """Say how far a search can be trusted. What found nothing holds no answer."""
    if not ranking_inputs.first:
        return SearchConfidence(ranking, None, 0.0, True)
    signals = compute_ranking_signals(ranking_inputs)
    if calibration is None:
        return SearchConfidence(ranking, signals)
    confidence = estimate_probability(signals, calibration)
    return SearchConfidence(
        ranking, signals, confidence, confidence < calibration.threshold
    )


def compute_ranking_signals(ranking_inputs: RankingInputs) -> RankingSignals:
    """Return the signals of a search that found something."""
    weights = WordWeights.of(
        list(ranking_inputs.counts), ranking_inputs.counts, ranking_inputs.total
    )
    names = extract_capitalized_words(ranking_inputs.question)
    stems = [_stems(chunk.text) for chunk in ranking_inputs.first]
    all_stems = frozenset().union(*stems)
    last = [
        ranking_inputs.last_scores.get(chunk.id, 0.0) for chunk in ranking_inputs.first
    ]
    return RankingSignals(
        top=last[0],
        margin=compute_score_lead(last),
        lead=compute_score_lead(ranking_inputs.first_scores.values()),
        pairs=_share(ranking_inputs.ways.pairs),
        named=_covered({name: 1 / len(names) for name in names}, all_stems),
        covered=_covered(weights.weights, stems[0]),
        covered_together=_covered(weights.weights, all_stems),
        agreement=_agreement(ranking_inputs.ways.words, ranking_inputs.ways.meaning),
    )


def _stems(text: str) -> frozenset[str]:
    words = set(WORD_PATTERN.findall(text.lower()))
    return frozenset(stem_lightly(normalize_word(word)) for word in words)


def _covered(weights: Mapping[str, float], stems: Collection[str]) -> float:
    """Return the covered share of the weight, 0.0 to 1.0; 1.0 without weights."""
    covered_weight = sum(
        w for word, w in weights.items() if stem_lightly(word) in stems
    )
    return min(1.0, covered_weight) if weights else 1.0


def compute_score_lead(scores: Iterable[float]) -> float:
    """Return how far the best is from the fifth, or from the last of fewer."""
    best = sorted(scores, reverse=True)[:FIRST_PASSAGES]
    return best[0] - best[-1] if best else 0.0


def build_ranking_id(*, reranker: str, of_people: bool, space: str) -> str:
    """Name a ranking: who looked last, and in which space meaning was compared.

    `reranker` is empty where nobody looked again, `space` where no meaning was. One
    that looks with the model of the space has it in its name.
    """
    if reranker:
        return reranker if space in reranker else f"{reranker}/{space}"
    return f"{PEOPLE_RANKING_ID if of_people else UNRERANKED_RANKING_ID}/{space or 'words'}"


def _share(scores: Mapping[ChunkId, float]) -> float:
    best = max(scores.values(), default=0.0)
    return compute_score_lead(scores.values()) / best if best > 0 else 0.0


def _agreement(
    scores: Mapping[ChunkId, float], other: Mapping[ChunkId, float]
) -> float:
    return len(_best(scores) & _best(other)) / AGREEMENT_DEPTH


def _best(scores: Mapping[ChunkId, float]) -> set[ChunkId]:
    return set(
        sorted(scores, key=lambda chunk: (-scores[chunk], chunk))[:AGREEMENT_DEPTH]
    )


_SOURCE = "python -m bench --only calibrate"
SHIPPED_CALIBRATIONS: CalibrationTable = {
    ("late-interaction/all-minilm-l6-v2-int8", Pipeline.AGENTIC): Calibration(
        ranking="late-interaction/all-minilm-l6-v2-int8",
        pipeline=Pipeline.AGENTIC,
        bias=-1.321,
        terms=(
            SignalTerm("margin", 0.363, 0.1607, 0.1044),
            SignalTerm("lead", 0.314, 0.3005, 0.1703),
            SignalTerm("pairs", 0.311, 0.4476, 0.2657),
            SignalTerm("named", 0.416, 0.9062, 0.2728),
            SignalTerm("covered", 0.916, 0.6417, 0.2337),
            SignalTerm("agreement", 0.370, 0.2413, 0.2096),
        ),
        threshold=0.072,
        questions=792,
        auroc=0.848,
        source=_SOURCE,
    ),
    ("off/all-minilm-l6-v2-int8", Pipeline.AGENTIC): Calibration(
        ranking="off/all-minilm-l6-v2-int8",
        pipeline=Pipeline.AGENTIC,
        bias=-1.434,
        terms=(
            SignalTerm("margin", 0.599, 0.3005, 0.1703),
            SignalTerm("pairs", 0.307, 0.4476, 0.2657),
            SignalTerm("named", 0.451, 0.9034, 0.2783),
            SignalTerm("covered", 0.935, 0.6402, 0.2388),
            SignalTerm("agreement", 0.375, 0.2413, 0.2096),
        ),
        threshold=0.070,
        questions=792,
        auroc=0.851,
        source=_SOURCE,
    ),
    ("off/words", Pipeline.AGENTIC): Calibration(
        ranking="off/words",
        pipeline=Pipeline.AGENTIC,
        bias=-1.377,
        terms=(
            SignalTerm("margin", 0.567, 0.2798, 0.1528),
            SignalTerm("pairs", 0.294, 0.4481, 0.2654),
            SignalTerm("named", 0.551, 0.9034, 0.2781),
            SignalTerm("covered", 0.890, 0.6465, 0.2356),
        ),
        threshold=0.059,
        questions=791,
        auroc=0.825,
        source=_SOURCE,
    ),
    ("people/all-minilm-l6-v2-int8", Pipeline.AGENTIC): Calibration(
        ranking="people/all-minilm-l6-v2-int8",
        pipeline=Pipeline.AGENTIC,
        bias=-0.053,
        terms=(
            SignalTerm("margin", 0.571, 1.6015, 1.5004),
            SignalTerm("pairs", 0.130, 0.4108, 0.1967),
            SignalTerm("named", 0.522, 0.8853, 0.1822),
            SignalTerm("covered", 0.213, 0.5732, 0.2222),
            SignalTerm("agreement", 0.078, 0.2952, 0.2182),
        ),
        threshold=0.172,
        questions=600,
        auroc=0.689,
        source=_SOURCE,
    ),
    ("people/words", Pipeline.AGENTIC): Calibration(
        ranking="people/words",
        pipeline=Pipeline.AGENTIC,
        bias=-0.058,
        terms=(
            SignalTerm("margin", 0.602, 1.5917, 1.5079),
            SignalTerm("pairs", 0.175, 0.4115, 0.1961),
            SignalTerm("named", 0.432, 0.8823, 0.1818),
            SignalTerm("covered", 0.176, 0.5721, 0.2240),
            SignalTerm("covered_together", 0.105, 0.8413, 0.1964),
        ),
        threshold=0.174,
        questions=599,
        auroc=0.686,
        source=_SOURCE,
    ),
}
"""What lrwr comes with, made by `_SOURCE` on public questions: see decision 013. For the
embedder that comes with it; nobody knows what another's signals mean."""


CALIBRATION_FILE_NAME = "confidence.json"
_FORMAT = 1
_NUMBERS = ("bias", "threshold", "auroc")
_LARGEST = 1_000_000
"""Bytes; a larger file is none of ours."""


def get_calibration_path(library: Library) -> Path:
    """Return where it is, whether it exists or not."""
    return library.state_dir / CALIBRATION_FILE_NAME


def load_calibrations(path: Path) -> tuple[list[Calibration], str]:
    """Return what is kept, and a sentence for the writer if the file is no good.

    A file that cannot be understood counts as none: what lrwr ships is used then.
    """
    try:
        if not path.exists():
            return [], ""
        if path.stat().st_size > _LARGEST:
            raise ValueError("too large")
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != _FORMAT:
            raise ValueError("another format")
        return [_calibration(entry) for entry in content["calibrations"]], ""
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return [], (
            f"{path} is damaged or of another lrwr, and not used. `lrwr eval --reset`"
            " removes it."
        )


def save_calibrations(library: Library, calibrations: Sequence[Calibration]) -> Path:
    """Keep `calibrations` and nothing else, and return where.

    Raises:
        StoreProblem: The file cannot be written.
    """
    path = get_calibration_path(library)
    content = {
        "format": _FORMAT,
        "calibrations": [asdict(calibration) for calibration in calibrations],
    }
    prepare_state_dir(library)
    try:
        write_private_file(
            path, json.dumps(content, ensure_ascii=False, indent=2) + "\n"
        )
    except OSError as error:
        raise StoreProblem(
            f"{path} cannot be written: {error.strerror}",
            hint="Check the disk and your rights there.",
        ) from error
    return path


def delete_calibrations(library: Library) -> bool:
    """Go back to what lrwr ships; False where nothing else was kept.

    Raises:
        StoreProblem: The file cannot be removed.
    """
    path = get_calibration_path(library)
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StoreProblem(
            f"{path} cannot be removed: {error.strerror}",
            hint="Check your rights there.",
        ) from error
    return True


def _calibration(fields: Mapping[str, object]) -> Calibration:
    bias, threshold, auroc = (_number(fields[name]) for name in _NUMBERS)
    terms, questions = fields["terms"], fields["questions"]
    if not isinstance(terms, list) or not isinstance(questions, int):
        raise ValueError("no calibration")
    return Calibration(
        ranking=str(fields["ranking"]),
        pipeline=Pipeline(str(fields["pipeline"])),
        bias=bias,
        terms=tuple(_term(term) for term in terms),
        threshold=threshold,
        questions=questions,
        auroc=auroc,
        source=str(fields["source"]),
    )


def _term(fields: Mapping[str, object]) -> SignalTerm:
    weight, mean, scale = (
        _number(fields[name]) for name in ("weight", "mean", "scale")
    )
    if fields["signal"] not in SIGNAL_NAMES or scale <= 0:
        raise ValueError("no such signal")
    return SignalTerm(str(fields["signal"]), weight, mean, scale)


def _number(value: object) -> float:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("no number")
    return float(value)
