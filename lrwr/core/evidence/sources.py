"""Sources for a text about the story: the author's passages and pages of the web,
without duplicates, best first.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from url_normalize import url_normalize

from lrwr.core.attribution.details import stem_words
from lrwr.core.evidence.kinds import PostKindRules
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.text import LineRange, Span
from lrwr.core.ports.sources import WebPage
from lrwr.core.web.citations import strip_mark_lookalikes

if TYPE_CHECKING:
    from lrwr.core.model.chunks import Passage, Vectors
    from lrwr.core.ports.models import Embedder, Reranker

OWN_WEIGHT = 1.5
"""How much more a passage of the author counts than a page that fits as well."""

MAX_PAGES = 3
"""Pages among the chosen sources at most: they fill gaps and displace no more text."""

SPARE_PASSAGES = 6
MAX_COMPARED_PAGES = 12
"""Passages beyond the number of sources, and pages, among which the sources are chosen."""

MAX_PAGES_PER_SITE = 2
MAX_SAME_COSINE = 0.95
MAX_SAME_SHINGLES = 0.9
SHINGLE_WORDS = 3
"""From which cosine of their embeddings, or share of their runs of three words, two
texts count as the same."""

RANK_OFFSET = 20
"""Damps the first places when several searches are joined (reciprocal rank fusion)."""

_WORD = re.compile(r"\w+")
_TRACKERS = re.compile(
    r"utm_\w+|fbclid|gclid|dclid|msclkid|igshid|mc_[ce]id|ref|ref_src|spm|_ga|yclid",
    re.I,
)


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """A text that a draft may rest on, with where it stands.

    Of the author: `text` are the words at `span` of `document`, verbatim, on `lines`;
    `chapter` is None in a note. Of the web: `url` is canonical, `author` the site,
    `published` its date as the service gives it, empty if unknown. `score` ranks the
    sources of one draft. `focus` are words of `text` for which the source was chosen;
    empty for none.
    """

    text: str
    document: str = ""
    span: Span = field(default_factory=lambda: Span(0, 0))
    lines: LineRange = field(default_factory=lambda: LineRange(1, 1))
    chapter: int | None = None
    url: str = ""
    title: str = ""
    author: str = ""
    published: str = ""
    score: float = 0.0
    focus: str = ""

    @property
    def is_own(self) -> bool:
        """Whether it is text of the author, not a page."""
        return not self.url


def build_own_source(passage: "Passage") -> EvidenceSource:
    """Return a passage of the library as a source."""
    chunk = passage.chunk
    return EvidenceSource(
        chunk.text,
        chunk.document,
        chunk.span,
        chunk.lines,
        passage.chapter,
        title=passage.chapter_title,
        score=passage.score,
    )


def build_page_source(page: WebPage) -> EvidenceSource:
    """Return a page of the web as a source, without text like a citation mark."""
    address = canonicalize_address(page.url)
    return EvidenceSource(
        strip_mark_lookalikes(page.text),
        url=address,
        title=strip_mark_lookalikes(page.title),
        author=get_site(address),
        published=page.published,
    )


def canonicalize_address(url: str) -> str:
    """Return the canonical form of a web address: normalized, without fragment and
    without parameters that only track visitors. Idempotent.

    An address that cannot be normalized is returned as it is.
    """
    try:
        parts = urlsplit(str(url_normalize(url)))
        kept_pairs = [
            (name, value)
            for name, value in parse_qsl(parts.query, keep_blank_values=True)
            if not _TRACKERS.fullmatch(name)
        ]
        query = urlencode(sorted(kept_pairs))
        return urlunsplit((parts.scheme, parts.netloc, parts.path, query, ""))
    except ValueError:
        return url


def get_site(url: str) -> str:
    """Return the host of an address without "www."; empty if it has none."""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def fuse_rankings(
    rankings: Sequence[Sequence[EvidenceSource]], leading: int = 0
) -> list[EvidenceSource]:
    """Return the sources of several searches, each once, best first.

    The first `leading` of the first search come first: further searches add sources
    and do not displace the best. Then a source that several searches found, or found
    early, comes before others (reciprocal rank fusion); its score is the sum.
    """
    scores: dict[EvidenceSource, float] = {}
    for ranking in rankings:
        for place, source in enumerate(ranking):
            key = replace(source, score=0.0)
            scores[key] = scores.get(key, 0.0) + 1 / (RANK_OFFSET + place)
    first = rankings[0][:leading] if rankings else ()
    best = {replace(source, score=0.0) for source in first}
    fused = sorted(scores, key=lambda source: (source not in best, -scores[source]))
    return [replace(source, score=scores[source]) for source in fused]


def merge_overlapping(sources: Sequence[EvidenceSource]) -> list[EvidenceSource]:
    """Return `sources` with one for all that share half of the shorter text: the longest,
    at the place of the first.
    """
    merged: list[EvidenceSource] = []
    for source in sources:
        at = next((n for n, m in enumerate(merged) if _overlaps(m, source)), None)
        if at is None:
            merged.append(source)
            continue
        first = merged[at]
        longer = max(first, source, key=lambda s: len(s.span))
        merged[at] = replace(
            longer, score=first.score, focus=first.focus or source.focus
        )
    # a longer text may overlap another one
    return merged if len(merged) == len(sources) else merge_overlapping(merged)


def _overlaps(first: EvidenceSource, other: EvidenceSource) -> bool:
    if not (first.is_own and other.is_own) or first.document != other.document:
        return False
    start = max(first.span.start, other.span.start)
    common = min(first.span.end, other.span.end) - start
    return common > 0 and 2 * common >= min(len(first.span), len(other.span))


@dataclass(frozen=True, slots=True)
class SourceModels:
    """Models on this machine or on a server that compare texts; None for none."""

    embedder: "Embedder | None" = None
    reranker: "Reranker | None" = None


async def drop_duplicates(
    sources: Sequence[EvidenceSource], embedder: "Embedder | None" = None
) -> list[EvidenceSource]:
    """Return `sources`, which are best first, without those that repeat an earlier one
    or text of the author, and with at most two pages of one site.

    An embedding model that does not answer is left out.
    """
    ordered = [*(s for s in sources if s.is_own), *(s for s in sources if not s.is_own)]
    vectors = await _embed([source.text for source in ordered], embedder)
    shingles = [_list_shingles(source.text) for source in ordered]
    chosen: list[int] = []
    sites: dict[str, int] = {}
    addresses: set[str] = set()
    for at, source in enumerate(ordered):
        if any(_is_same(at, other, shingles, vectors) for other in chosen):
            continue
        if not source.is_own:
            if sites.get(source.author, 0) >= MAX_PAGES_PER_SITE:
                continue
            if source.url in addresses:
                continue
            sites[source.author] = sites.get(source.author, 0) + 1
            addresses.add(source.url)
        chosen.append(at)
    remaining = {ordered[at] for at in chosen}
    return [source for source in dict.fromkeys(sources) if source in remaining]


async def _embed(texts: Sequence[str], embedder: "Embedder | None") -> "Vectors | None":
    if embedder is None or len(texts) < 2:
        return None
    try:
        return await embedder.embed(texts)
    except ServiceUnavailable:
        return None


def _list_shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = [word.casefold() for word in _WORD.findall(text)]
    size = min(SHINGLE_WORDS, len(words))
    return frozenset(
        tuple(words[at : at + size]) for at in range(len(words) - size + 1)
    )


def _is_same(
    first: int,
    second: int,
    shingles: Sequence[frozenset[tuple[str, ...]]],
    vectors: "Vectors | None",
) -> bool:
    own, other = shingles[first], shingles[second]
    union = len(own | other)
    if union and len(own & other) >= MAX_SAME_SHINGLES * union:
        return True
    if vectors is None:
        return False
    return float(vectors[first] @ vectors[second]) >= MAX_SAME_COSINE


async def rank_sources(
    brief: str, sources: Sequence[EvidenceSource], reranker: "Reranker | None" = None
) -> list[EvidenceSource]:
    """Return `sources` best first for `brief`, own ones weighted by `OWN_WEIGHT`.

    Scores are from 0.0 to 1.5: those of the reranker, scaled, or the share of the
    words of the brief. Equal ones keep their order.
    """
    scores = await _score(brief, [source.text for source in sources], reranker)
    weighted = [
        replace(source, score=score * (OWN_WEIGHT if source.is_own else 1.0))
        for source, score in zip(sources, scores, strict=True)
    ]
    return sorted(weighted, key=lambda source: -source.score)


async def _score(
    brief: str, texts: Sequence[str], reranker: "Reranker | None"
) -> list[float]:
    if reranker is not None and texts:
        try:
            return _scale(await reranker.rerank(brief, texts))
        except ServiceUnavailable:
            pass
    stems = stem_words(brief)
    return [
        len(stems & stem_words(text)) / len(stems) if stems else 1.0 for text in texts
    ]


def _scale(scores: Sequence[float]) -> list[float]:
    """Return scores from 0.1 to 1.0 in the same order; 1.0 if all are equal."""
    low, high = min(scores), max(scores)
    if high == low:
        return [1.0] * len(scores)
    return [0.1 + 0.9 * (score - low) / (high - low) for score in scores]


def choose_sources(
    ranked: Sequence[EvidenceSource], limit: int
) -> list[EvidenceSource]:
    """Return the first `limit` of `ranked`, at most `MAX_PAGES` of them pages.

    Those of the author come first, so that pages fill gaps without displacing the text:
    scores of a search and those of pages cannot be compared.
    """
    pages = [source for source in ranked if not source.is_own][:MAX_PAGES]
    own = [source for source in ranked if source.is_own]
    return [*own[: max(limit - len(pages), 0)], *pages][:limit]


async def choose_for_kind(
    brief: str,
    rules: PostKindRules,
    own: Sequence[EvidenceSource],
    pages: Sequence[EvidenceSource],
    models: SourceModels,
) -> list[EvidenceSource]:
    """Return the sources of a text: those of the author and some pages, no duplicates.

    They are best first; for a kind that covers the story, in story order.
    """
    # The search has ranked the passages: only the best are compared with pages.
    compared = [*own[: rules.sources + SPARE_PASSAGES], *pages[:MAX_COMPARED_PAGES]]
    distinct = await drop_duplicates(compared, models.embedder)
    pages = [source for source in distinct if not source.is_own]
    ranked = [source for source in distinct if source.is_own]
    ranked += await rank_sources(brief, pages, models.reranker)
    chosen = choose_sources(ranked, rules.sources)
    return sorted(chosen, key=_story_key) if rules.covers_story else chosen


def _story_key(source: EvidenceSource) -> tuple[bool, int, str, int]:
    """Return a key that sorts by story, then notes, then pages."""
    chapter = -1 if source.chapter is None else source.chapter
    return source.chapter is None, chapter, source.document, source.span.start
