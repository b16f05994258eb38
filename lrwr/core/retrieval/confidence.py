"""Estimates the probability that the first passages of a search contain the answer.

A logistic model over signals that every search produces, fitted on questions with known
answers (decision 013), and the file that stores a library's own calibration.
"""

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Chunk, ChunkId
from lrwr.core.model.codec import InvalidData, decode_json, encode_value
from lrwr.core.model.errors import StoreProblem
from lrwr.core.model.text import (
    WORD_PATTERN,
    extract_capitalized_words,
    stem_lightly,
    stem_word,
)
from lrwr.core.retrieval.retrievers import EmbeddingWeight, HybridScores, WordWeights
from lrwr.core.settings.library import Library, prepare_state_dir, write_private_file

FIRST_PASSAGES = 5
"""How many passages count as the first passages."""

AGREEMENT_DEPTH = 10
"""How many of the best chunks by words and by embedding are compared."""

MAX_SIGNAL_SCALES = 4.0
"""Standardized signals are clipped to this value, so that no outlier dominates."""

MIN_JUDGED_COVERAGE = 0.65
"""Least share of the question's word weight in the first passages. With less, shipped
calibrations say nothing about whether they contain the answer (decision 031)."""

PEOPLE_RANKING_ID = "people"
UNRERANKED_RANKING_ID = "off"
"""Names of rankings without a reranker; see `build_ranking_id`."""

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

_SOURCE = "python -m bench --only calibrate"
CALIBRATION_FILE_NAME = "confidence.json"
_FORMAT = 1
_MAX_FILE_BYTES = 1_000_000
"""A larger file was not written by lrwr."""


@dataclass(frozen=True, slots=True)
class RankingSignals:
    """Figures of one search from which its confidence is estimated, mostly 0.0 to 1.0.

    - `top`: the score of the best passage, from the reranker if it ran
    - `margin`: the distance from `top` to the score of the fifth passage
    - `lead`: the same distance in the scores before reranking
    - `pairs`: the same distance in the word-pair scores, divided by the best of them
    - `named`: share of the question's names that the first passages contain; 1.0 if none
    - `covered`: share of the question's word weight that the best passage contains
    - `covered_together`: the same for the first five passages together
    - `agreement`: share of the ten best chunks by words that are among the ten best by
      embedding
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
    def avoids_text(self) -> bool:
        """Whether the first passages contain few of the question's words."""
        return self.covered_together < MIN_JUDGED_COVERAGE

    @property
    def row(self) -> tuple[float, ...]:
        """The values of all signals, in the order of `SIGNAL_NAMES`."""
        return tuple(getattr(self, name) for name in SIGNAL_NAMES)


@dataclass(frozen=True, slots=True)
class SignalTerm:
    """A term of the logistic model: `weight` times the standardized value of `signal`.

    `signal` is a name of `SIGNAL_NAMES`. A value is standardized by subtracting `mean`
    and dividing by `scale`, its mean and standard deviation when the model was fitted.
    """

    signal: str
    weight: float
    mean: float
    scale: float

    def of(self, signals: RankingSignals) -> float:
        """Return this term's contribution to the logit of the probability."""
        return self.weight * self.standing(float(getattr(signals, self.signal)))

    def standing(self, value: float) -> float:
        """Return the standardized `value`: its distance from the mean in units of
        `scale`, clipped to ±`MAX_SIGNAL_SCALES`.
        """
        return max(
            -MAX_SIGNAL_SCALES, min(MAX_SIGNAL_SCALES, (value - self.mean) / self.scale)
        )


@dataclass(frozen=True, slots=True)
class Calibration:
    """A fitted logistic model that turns ranking signals into a probability.

    It applies to searches of `pipeline` with the ranking id `ranking`. Its logit is
    `bias` plus the sum of `terms`. A search with a probability below `threshold` has
    low confidence. `questions` is the number of questions it was fitted on, `auroc` the
    area under the ROC curve on held-out questions, `source` the command that fitted it.
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
"""Calibrations by ranking id and pipeline."""


def index_calibrations(calibrations: Iterable[Calibration]) -> CalibrationTable:
    """Return `calibrations` by the pair of ranking id and pipeline; of several with the
    same pair the last.
    """
    return {
        (calibration.ranking, calibration.pipeline): calibration
        for calibration in calibrations
    }


def estimate_probability(signals: RankingSignals, calibration: Calibration) -> float:
    """Return the estimated probability, 0.0 to 1.0, that the first passages contain the
    answer.
    """
    return logistic(calibration.bias + sum(t.of(signals) for t in calibration.terms))


def logistic(logit: float) -> float:
    """Return the logistic function of `logit`, without overflow for any finite value."""
    # Two forms of one function, so that the argument of `exp` is never positive.
    if logit >= 0:
        return 1 / (1 + math.exp(-min(logit, 700.0)))
    return math.exp(max(logit, -700.0)) / (1 + math.exp(max(logit, -700.0)))


@dataclass(frozen=True, slots=True)
class RankingInputs:
    """The results of a search from which its ranking signals are computed.

    `first` are the first `FIRST_PASSAGES` chunks, best first. `first_scores` are the
    scores of chunks before reranking, `last_scores` the reranker's raw scores if it
    ran, else the same. `hybrid` are the scores of each retriever. `counts` maps each
    content word of the question to the number of chunks that contain it, of `total` in
    the library.
    """

    question: str
    first: Sequence[Chunk]
    last_scores: Mapping[ChunkId, float]
    first_scores: Mapping[ChunkId, float]
    hybrid: HybridScores
    counts: Mapping[str, int]
    total: int


@dataclass(frozen=True, slots=True)
class SearchConfidence:
    """How reliable a search result is.

    `confidence` is the probability, 0.0 to 1.0, that the first passages contain the
    answer; `low` means that it is below the threshold. Both are None if there is no
    calibration for the ranking id `ranking`, or the passages contain too little of the
    question. `signals` is None if nothing was found.
    """

    ranking: str
    signals: RankingSignals | None
    confidence: float | None = None
    low: bool | None = None


def assess_search_confidence(
    ranking_inputs: RankingInputs, ranking: str, calibration: Calibration | None
) -> SearchConfidence:
    """Return the confidence of a search that was ranked as the ranking id `ranking`
    says.

    0.0 and low if it found nothing. The probability is None without `calibration`, and
    with a shipped one if the question avoids the words of the first passages.
    """
    if not ranking_inputs.first:
        return SearchConfidence(ranking, None, 0.0, True)
    signals = compute_ranking_signals(ranking_inputs)
    is_shipped = calibration is not None and calibration.source == _SOURCE
    if calibration is None or (is_shipped and signals.avoids_text):
        return SearchConfidence(ranking, signals)
    confidence = estimate_probability(signals, calibration)
    return SearchConfidence(
        ranking, signals, confidence, confidence < calibration.threshold
    )


def compute_ranking_signals(ranking_inputs: RankingInputs) -> RankingSignals:
    """Return the ranking signals of a search.

    `ranking_inputs.first` must not be empty.
    """
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
        pairs=_compute_relative_lead(ranking_inputs.hybrid.pairs),
        named=_compute_coverage({name: 1 / len(names) for name in names}, all_stems),
        covered=_compute_coverage(weights.weights, stems[0]),
        covered_together=_compute_coverage(weights.weights, all_stems),
        agreement=_compute_agreement(
            ranking_inputs.hybrid.words, ranking_inputs.hybrid.meaning
        ),
    )


def _stems(text: str) -> frozenset[str]:
    words = set(WORD_PATTERN.findall(text.lower()))
    return frozenset(map(stem_word, words))


def _compute_coverage(weights: Mapping[str, float], stems: Collection[str]) -> float:
    """Return the total weight of the words with a stem in `stems`; 1.0 without words."""
    covered_weight = sum(
        w for word, w in weights.items() if stem_lightly(word) in stems
    )
    return min(1.0, covered_weight) if weights else 1.0


def compute_score_lead(scores: Iterable[float]) -> float:
    """Return the best of `scores` minus the fifth best, or the worst of fewer; 0.0 if
    empty.
    """
    best = sorted(scores, reverse=True)[:FIRST_PASSAGES]
    return best[0] - best[-1] if best else 0.0


def build_ranking_id(*, reranker: str, is_people_ranking: bool, space: str) -> str:
    """Return the id under which a way of ranking is calibrated, such as "off/words".

    `reranker` is the name of the reranker, empty if none ran; `space` the embedding
    space, empty if no embeddings were used. `is_people_ranking` means that passages
    were also scored by the characters in a question about who says what. A reranker
    that uses the embedding model of `space` already contains its name.
    """
    if reranker:
        return reranker if space in reranker else f"{reranker}/{space}"
    return f"{PEOPLE_RANKING_ID if is_people_ranking else UNRERANKED_RANKING_ID}/{space or 'words'}"


def _compute_relative_lead(scores: Mapping[ChunkId, float]) -> float:
    best = max(scores.values(), default=0.0)
    return compute_score_lead(scores.values()) / best if best > 0 else 0.0


def _compute_agreement(
    scores: Mapping[ChunkId, float], other: Mapping[ChunkId, float]
) -> float:
    return len(_select_best(scores) & _select_best(other)) / AGREEMENT_DEPTH


def _select_best(scores: Mapping[ChunkId, float]) -> set[ChunkId]:
    return set(
        sorted(scores, key=lambda chunk: (-scores[chunk], chunk))[:AGREEMENT_DEPTH]
    )


SHIPPED_CALIBRATIONS: CalibrationTable = {
    ("late-interaction/all-minilm-l6-v2-int8", Pipeline.AGENTIC): Calibration(
        ranking="late-interaction/all-minilm-l6-v2-int8",
        pipeline=Pipeline.AGENTIC,
        bias=-1.392,
        terms=(
            SignalTerm("margin", 0.216, 0.1697, 0.1203),
            SignalTerm("lead", 0.537, 0.4156, 0.2469),
            SignalTerm("pairs", 0.323, 0.4531, 0.2638),
            SignalTerm("named", 0.528, 0.8929, 0.2895),
            SignalTerm("covered", 0.981, 0.6421, 0.2444),
            SignalTerm("agreement", 0.129, 0.1499, 0.1579),
        ),
        threshold=0.073,
        questions=834,
        auroc=0.852,
        source=_SOURCE,
    ),
    ("off/all-minilm-l6-v2-int8", Pipeline.AGENTIC): Calibration(
        ranking="off/all-minilm-l6-v2-int8",
        pipeline=Pipeline.AGENTIC,
        bias=-1.459,
        terms=(
            SignalTerm("margin", 0.552, 0.4156, 0.2469),
            SignalTerm("pairs", 0.374, 0.4531, 0.2638),
            SignalTerm("named", 0.674, 0.8733, 0.3150),
            SignalTerm("covered", 1.070, 0.6065, 0.2561),
            SignalTerm("agreement", 0.093, 0.1499, 0.1579),
        ),
        threshold=0.073,
        questions=834,
        auroc=0.856,
        source=_SOURCE,
    ),
    ("off/words", Pipeline.AGENTIC): Calibration(
        ranking="off/words",
        pipeline=Pipeline.AGENTIC,
        bias=-1.426,
        terms=(
            SignalTerm("margin", 0.631, 0.3523, 0.2119),
            SignalTerm("pairs", 0.262, 0.4536, 0.2635),
            SignalTerm("named", 0.628, 0.8928, 0.2920),
            SignalTerm("covered", 1.007, 0.6221, 0.2423),
        ),
        threshold=0.056,
        questions=833,
        auroc=0.853,
        source=_SOURCE,
    ),
    ("people/all-minilm-l6-v2-int8", Pipeline.AGENTIC): Calibration(
        ranking="people/all-minilm-l6-v2-int8",
        pipeline=Pipeline.AGENTIC,
        bias=0.086,
        terms=(
            SignalTerm("margin", 0.551, 2.4767, 1.8639),
            SignalTerm("pairs", 0.045, 0.4112, 0.1968),
            SignalTerm("named", 0.497, 0.8825, 0.1754),
            SignalTerm("covered", 0.182, 0.5761, 0.2241),
            SignalTerm("agreement", 0.025, 0.2952, 0.2194),
        ),
        threshold=0.212,
        questions=600,
        auroc=0.690,
        source=_SOURCE,
    ),
    ("people/words", Pipeline.AGENTIC): Calibration(
        ranking="people/words",
        pipeline=Pipeline.AGENTIC,
        bias=0.107,
        terms=(
            SignalTerm("margin", 0.547, 2.4175, 1.8638),
            SignalTerm("pairs", 0.064, 0.4119, 0.1963),
            SignalTerm("named", 0.464, 0.8803, 0.1735),
            SignalTerm("covered", 0.190, 0.5754, 0.2216),
            SignalTerm("covered_together", 0.026, 0.8301, 0.1961),
        ),
        threshold=0.213,
        questions=599,
        auroc=0.691,
        source=_SOURCE,
    ),
}
"""Calibrations shipped with lrwr, fitted by `_SOURCE` on public questions (decision 013).

They apply to the bundled embedding model only; other models have other score scales.
"""


@dataclass(frozen=True, slots=True)
class _CalibrationFile:
    format: int
    calibrations: tuple[Calibration, ...]
    embedding_weights: tuple[EmbeddingWeight, ...] = ()


def get_calibration_path(library: Library) -> Path:
    """Return the path of the library's own calibration file, whether it exists or not."""
    return library.state_dir / CALIBRATION_FILE_NAME


def load_calibrations(path: Path) -> tuple[list[Calibration], str]:
    """Return the calibrations in the file at `path`, and a sentence if it is unusable.

    The sentence is empty for a valid or missing file. A missing or invalid file yields
    no calibrations, so that the shipped ones apply.
    """
    content, problem = _read_calibration_file(path)
    return list(content.calibrations), problem


def load_embedding_weights(path: Path) -> list[EmbeddingWeight]:
    """Return the weights of embeddings in the file at `path`; none if it is missing or
    invalid.
    """
    return list(_read_calibration_file(path)[0].embedding_weights)


def _read_calibration_file(path: Path) -> tuple[_CalibrationFile, str]:
    nothing = _CalibrationFile(_FORMAT, ())
    try:
        if not path.exists():
            return nothing, ""
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise ValueError("too large")
        content = decode_json(path.read_text(encoding="utf-8"), _CalibrationFile)
        if content.format != _FORMAT or not all(map(_is_usable, content.calibrations)):
            raise InvalidData("another format")
        if not all(0 <= w.factor < math.inf for w in content.embedding_weights):
            raise InvalidData("an invalid weight")
        return content, ""
    except (OSError, ValueError):
        return nothing, (
            f"{path} is damaged or was written by another version of lrwr, and is"
            " ignored. Delete it with `lrwr eval --reset`."
        )


def save_calibrations(
    library: Library,
    calibrations: Sequence[Calibration],
    embedding_weights: Sequence[EmbeddingWeight] = (),
) -> Path:
    """Replace the library's own calibrations and weights of embeddings; return the
    file's path.

    Raises:
        StoreProblem: The file cannot be written.
    """
    path = get_calibration_path(library)
    content = encode_value(
        _CalibrationFile(_FORMAT, tuple(calibrations), tuple(embedding_weights))
    )
    prepare_state_dir(library)
    try:
        write_private_file(
            path, json.dumps(content, ensure_ascii=False, indent=2) + "\n"
        )
    except OSError as error:
        raise StoreProblem(
            f"{path} cannot be written: {error.strerror}",
            hint="Check the free disk space and the permissions of the folder.",
        ) from error
    return path


def delete_calibrations(library: Library) -> bool:
    """Delete the library's own calibrations, so that the shipped ones apply.

    Returns whether there were any.

    Raises:
        StoreProblem: The file cannot be deleted.
    """
    path = get_calibration_path(library)
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StoreProblem(
            f"{path} cannot be deleted: {error.strerror}",
            hint="Check the permissions of the folder.",
        ) from error
    return True


def _is_usable(calibration: Calibration) -> bool:
    numbers = [calibration.bias, calibration.threshold, calibration.auroc]
    for term in calibration.terms:
        numbers += (term.weight, term.mean, term.scale)
    return all(map(math.isfinite, numbers)) and all(
        term.signal in SIGNAL_NAMES and term.scale > 0 for term in calibration.terms
    )
