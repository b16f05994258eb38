"""Searches the web for one question; builds a query that reveals nothing of the story.

**What may be sent**: words of the question itself, at most `MAX_WEB_QUERY_CHARS`
  characters, and nothing else: no passage, no note, no earlier turn. They are the words
  of its sentences that end in a question mark (of all sentences, if none does), without

- every form of every name of a character or an element of the world, each capitalized
  word of such a name, and likely misspellings of them, unless the word belongs to a
  work or person outside the story that the story itself refers to;
- text in quotation marks that is longer than a title, because it may be manuscript;
- English function words, except within a title.

Nothing is sent if the question is longer than `MAX_WEB_QUESTION_CHARS` characters, if a
question about something outside the story contains no other name, or if a character
answers. The rules are for English.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from lrwr.core.bible.name_lookup import (
    NamedEntityKind,
    collect_bible_names,
    recognize_named_entities,
)
from lrwr.core.bible.values import Bible
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.text import STOP_WORDS, WORD_PATTERN, Span
from lrwr.core.model.turns import (
    AnswerIntent,
    AnswerSource,
    QuestionPlan,
    SourceIntention,
    TurnEvent,
    TurnStageStarted,
)
from lrwr.core.nlp.names import lookup
from lrwr.core.ports.sources import WebPage, WebSearch
from lrwr.core.web.citations import strip_mark_lookalikes

MAX_WEB_QUERY_CHARS = 100
"""Maximum length of a query in characters."""

MAX_WEB_QUESTION_CHARS = 200
"""Maximum length of the asking sentences in characters: longer ones are likely to quote
the manuscript."""

MAX_TITLE_WORDS = 5
"""Words of a quotation at most for it to count as a title."""

_MIN_MISSPELLED_LENGTH = 3
_MIN_TWO_ERRORS_LENGTH = 8
"""Letters from which a name is recognized with one typing error, and with two."""

_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"(?<=[.!?])[\s\"”’)]*\s|\n+")
_QUOTED = re.compile(r"“([^“”]*)”|\"([^\"]*)\"")
_POSSESSIVE = re.compile(r"['’]s?$")
_ARTICLES = frozenset({"the", "a", "an"})
_ASKING_WORDS = frozenset(
    {
        "answer", "book", "chapter", "compare", "compared", "comparison", "describe",
        "does", "draft", "explain", "find", "give", "google", "internet", "know",
        "like", "look", "manuscript", "online", "please", "remind", "reminds",
        "reminiscent", "say", "says", "search", "show", "similar", "story", "tell",
        "think", "text", "web",
    }
)  # fmt: skip
"""Words that ask for something without saying what."""

_WEB_INTENTIONS = frozenset({SourceIntention.EXTERNAL_REFERENCE, SourceIntention.CRAFT})

MAX_WEB_PAGES = 4
"""Pages that an answer may draw on, by default."""

_WEB_OFF_REMARK = "Web search is off. Turn it on with the setting `[web] use`."
_TOO_LONG_REMARK = (
    "Skipped web search: a question this long may quote your manuscript. Ask it in one"
    " short sentence."
)


@dataclass(frozen=True, slots=True)
class _QueryToken:
    """A word of the question; `parts` are its case-folded letter groups for comparison."""

    text: str
    span: Span
    parts: tuple[str, ...]

    @property
    def is_minor(self) -> bool:
        """Whether the word is a function word or a single letter."""
        return all(part in STOP_WORDS or len(part) < 2 for part in self.parts)

    @property
    def is_capitalized(self) -> bool:
        """Whether the word contains a capital letter, as names do."""
        return self.text != self.text.lower()


def build_web_query(
    question: str, plan: QuestionPlan, bible: Bible, *, in_character: bool = False
) -> str:
    """Return the text to send to a web search for `question`; empty to send nothing.

    It consists of words of the question, without names of the story in `bible` and
    without long quotations; the module docstring has all rules. Empty if a character
    answers (`in_character`), if the question is too long, and unless `plan` needs the
    web for something outside the story.
    """
    if in_character or not wants_web(plan) or is_question_too_long(question):
        return ""
    asked_text = _extract_asking_sentences(question)
    tokens = list(_iter_tokens(asked_text))
    titles = _find_titles(asked_text)
    kept_tokens = [
        token
        for token in _drop_story_names(asked_text, tokens, bible)
        if not _overlaps_any(token, _find_long_quotations(asked_text))
    ]
    craft = any(choice.intention is SourceIntention.CRAFT for choice in plan.choices)
    if not craft and not _has_external_name(
        asked_text, kept_tokens, titles, plan, bible
    ):
        return ""
    return _join_query(list(_select_query_tokens(asked_text, kept_tokens, titles)))


def build_topic_query(topic: str, bible: Bible) -> str:
    """Return the text to send to a web search about `topic`; empty to send nothing.

    It consists of words of the topic, without names of the story in `bible`, without
    long quotations and without function words. Empty if the topic is too long.
    """
    text = unicodedata.normalize("NFKC", topic).strip()
    if len(text) > MAX_WEB_QUESTION_CHARS:
        return ""
    kept_tokens = [
        token
        for token in _drop_story_names(text, list(_iter_tokens(text)), bible)
        if not _overlaps_any(token, _find_long_quotations(text))
    ]
    return _join_query(
        list(_select_query_tokens(text, kept_tokens, _find_titles(text)))
    )


def wants_web(plan: QuestionPlan) -> bool:
    """Return whether `plan` selects the web, for an external work or the craft of
    writing.
    """
    web_choices = (
        choice for choice in plan.choices if choice.source is AnswerSource.WEB
    )
    return any(choice.intention in _WEB_INTENTIONS for choice in web_choices)


def is_question_too_long(question: str) -> bool:
    """Return whether the sentences of `question` that ask exceed
    `MAX_WEB_QUESTION_CHARS`.

    These are the sentences that end in a question mark; if none does, all. Nothing of
    such a question may be sent, because it may quote the manuscript.
    """
    return len(_extract_asking_sentences(question)) > MAX_WEB_QUESTION_CHARS


def _extract_asking_sentences(text: str) -> str:
    """Return the sentences that end in a question mark; without one, the whole text."""
    plain = unicodedata.normalize("NFKC", text).strip()
    parts = [part.strip() for part in _SENTENCE.split(plain)]
    question_parts = [part for part in parts if part.rstrip('"”’) ').endswith("?")]
    return " ".join(question_parts) or plain


def _iter_tokens(text: str) -> Iterator[_QueryToken]:
    for match in _TOKEN.finditer(text):
        yield _QueryToken(match[0], Span(*match.span()), _split_parts(match[0]))


def _split_parts(word: str) -> tuple[str, ...]:
    bare_word = _POSSESSIVE.sub("", word)
    return tuple(_PART.findall(bare_word.casefold())) or ("",)


def _drop_story_names(
    text: str, tokens: list[_QueryToken], bible: Bible
) -> list[_QueryToken]:
    """Drop the story's own names, except those of works or people it refers to."""
    names = collect_bible_names(bible)
    reference_places = _find_covered_indexes(
        tokens, _collect_external_references(bible)
    )
    known_spans = [
        named_entity.span
        for named_entity in recognize_named_entities(text, bible)
        if named_entity.kind is not NamedEntityKind.STRANGER
    ]
    covered_places = _find_covered_indexes(tokens, set(map(_normalize_name, names)))
    capitals = {
        part
        for name in names
        for word in _iter_tokens(unicodedata.normalize("NFKC", name))
        if word.is_capitalized
        for part in word.parts
        if part not in STOP_WORDS and len(part) > 1
    }
    # Only capitalized words count as misspelled names, because common words resemble
    # many names; in a question without any capital letter every word may be a name.
    is_lower_case = text == text.lower()

    def is_own(token: _QueryToken) -> bool:
        parts = (*token.parts, "".join(token.parts))
        if any(part in capitals for part in parts):
            return True
        return (token.is_capitalized or is_lower_case) and any(
            _is_misspelling(part, capital) for part in parts for capital in capitals
        )

    return [
        token
        for at, token in enumerate(tokens)
        if at in reference_places
        or not (
            at in covered_places
            or _overlaps_any(token, known_spans)
            or (not token.is_minor and is_own(token))
        )
    ]


def _is_misspelling(word: str, name: str) -> bool:
    """Return whether `word` may be `name` with one typing error, or two in long words."""
    allowed = 1 if len(word) < _MIN_TWO_ERRORS_LENGTH else 2
    if (
        len(word) < _MIN_MISSPELLED_LENGTH
        or len(name) < _MIN_MISSPELLED_LENGTH
        or word[0] != name[0]
    ):
        return False
    return lookup.bounded_edit_distance(word, name, allowed) <= allowed


def _collect_external_references(bible: Bible) -> set[str]:
    """Return the works and people outside the story that its text refers to."""
    return {
        _normalize_name(claim.value)
        for character in bible.characters
        for claim in character.external_references
    }


def _normalize_name(name: str) -> str:
    """Return the letters of a name without spaces, marks, article and possessive
    ending.
    """
    plain = unicodedata.normalize("NFKC", name)
    words = [word.parts for word in _iter_tokens(plain)]
    if len(words) > 1 and words[0][0] in _ARTICLES:
        words.pop(0)
    return "".join(part for parts in words for part in parts)


def _find_covered_indexes(tokens: Sequence[_QueryToken], keys: set[str]) -> set[int]:
    """Return the indexes of tokens whose adjacent parts, joined, are one of `keys`.

    If one part of a token such as "Nell-like" matches, the whole token counts.
    """
    parts = [(at, part) for at, token in enumerate(tokens) for part in token.parts]
    most = max(map(len, keys), default=0)
    covered_places: set[int] = set()
    for first in range(len(parts)):
        letters = ""
        for last in range(first, len(parts)):
            letters += parts[last][1]
            if len(letters) > most:
                break
            if letters and letters in keys:
                covered_places.update(at for at, _ in parts[first : last + 1])
    return covered_places


def _overlaps_any(token: _QueryToken, spans: Sequence[Span]) -> bool:
    return any(token.span.overlaps(span) for span in spans)


def _iter_quotations(text: str) -> Iterator[tuple[Span, int]]:
    for match in _QUOTED.finditer(text):
        yield Span(*match.span()), len(WORD_PATTERN.findall(match[0]))


def _find_titles(text: str) -> list[Span]:
    return [
        span for span, words in _iter_quotations(text) if 0 < words <= MAX_TITLE_WORDS
    ]


def _find_long_quotations(text: str) -> list[Span]:
    return [span for span, words in _iter_quotations(text) if words > MAX_TITLE_WORDS]


def _has_external_name(
    text: str,
    kept_tokens: list[_QueryToken],
    titles: list[Span],
    plan: QuestionPlan,
    bible: Bible,
) -> bool:
    """Return whether a name from outside the story remains among the tokens."""
    strangers = [
        named_entity.span
        for named_entity in recognize_named_entities(text, bible)
        if named_entity.kind is NamedEntityKind.STRANGER
    ]
    expected_names = {
        _normalize_name(entity.name) for entity in plan.entities
    } | _collect_external_references(bible)
    known_places = _find_covered_indexes(kept_tokens, expected_names)
    return any(
        at in known_places
        or _overlaps_any(token, strangers)
        or _overlaps_any(token, titles)
        for at, token in enumerate(kept_tokens)
        if not token.is_minor
    )


def _select_query_tokens(
    text: str, kept_tokens: list[_QueryToken], titles: list[Span]
) -> Iterator[_QueryToken]:
    """Yield the words to search for, and function words within names and titles."""
    waiting: list[_QueryToken] = []
    before: _QueryToken | None = None
    for token in kept_tokens:
        if token.is_minor:
            waiting.append(token)
            continue
        if _is_asking_word(text, token) and not _overlaps_any(token, titles):
            waiting, before = [], None
            continue
        run = [*([before] if before else []), *waiting, token]
        if before is not None and waiting and _is_one_name(text, run, titles):
            yield from waiting
        yield token
        waiting, before = [], token


def _is_asking_word(text: str, token: _QueryToken) -> bool:
    """Return whether a word only asks ("explain"); capitalized in mid-sentence it is a
    name.
    """
    before = text[: token.span.start].rstrip()
    is_mid_sentence = bool(before) and before[-1] not in ".!?"
    return token.parts[0] in _ASKING_WORDS and not (
        token.is_capitalized and is_mid_sentence
    )


def _is_one_name(text: str, run: list[_QueryToken], titles: list[Span]) -> bool:
    """Return whether `run` is one name with function words in it: Heart of Darkness."""
    between = text[run[0].span.end : run[-1].span.start]
    beside = not set(between).intersection('.,;:!?\n()“”"')
    inside = len(_PART.findall(between)) == len(run) - 2  # nothing was left out
    is_capitalized = run[0].is_capitalized and run[-1].is_capitalized
    titled = any(
        _overlaps_any(run[0], [title]) and _overlaps_any(run[-1], [title])
        for title in titles
    )
    return beside and inside and (is_capitalized or titled)


def _join_query(tokens: Sequence[_QueryToken]) -> str:
    """Join the words, without repeating content words, cut at a word boundary."""
    unique_words: dict[str, None] = {}
    words: list[str] = []
    for token in tokens:
        word = token.text.casefold()
        if token.is_minor or word not in unique_words:
            words.append(token.text)
        unique_words[word] = None
    while words and len(" ".join(words)) > MAX_WEB_QUERY_CHARS:
        words.pop()
    while (
        words and _QueryToken(words[-1], Span(0, 0), _split_parts(words[-1])).is_minor
    ):
        words.pop()
    return " ".join(words)


@dataclass(frozen=True, slots=True)
class WebLookup:
    """Result of a web search.

    `pages` are those found, best first; `remarks` are sentences about failures. `query`
    is what was sent, empty if nothing was.
    """

    pages: tuple[WebPage, ...] = ()
    remarks: tuple[str, ...] = ()
    query: str = ""


async def look_up_web(
    question: str,
    plan: QuestionPlan,
    bible: Bible,
    web: WebSearch | None,
    emit: Callable[[TurnEvent], None],
    *,
    in_character: bool = False,
) -> WebLookup:
    """Search the web if `plan` needs it and `web`, a service, is configured.

    `emit` receives an event with the query before it is sent. `bible` should be that of
    the whole story, so that names from later chapters are not sent either. At most
    `MAX_WEB_PAGES` pages are returned. Failures, empty results and too long questions yield a
    remark, never an exception; so does a question about an external work if `web` is
    None.
    """
    query = build_web_query(question, plan, bible, in_character=in_character)
    if not query:
        long = not in_character and wants_web(plan) and is_question_too_long(question)
        return WebLookup(
            remarks=(_TOO_LONG_REMARK,) if web is not None and long else ()
        )
    if web is None:
        asked_for = plan.intent is AnswerIntent.EXTERNAL_REFERENCE
        return WebLookup(remarks=(_WEB_OFF_REMARK,) if asked_for else ())
    emit(TurnStageStarted("web", f"Searching the web for “{query}”"))
    try:
        results = await web.search(query, MAX_WEB_PAGES)
    except ServiceUnavailable as error:
        hint = f" {error.hint}" if error.hint else ""
        remark = f"Web search failed. {error}.{hint}"
        return WebLookup(remarks=(remark,), query=query)
    pages = tuple(page for page in map(_strip_page_marks, results) if page.text)
    none = () if pages else (f"Web search found nothing for “{query}”.",)
    return WebLookup(pages, none, query)


def _strip_page_marks(page: WebPage) -> WebPage:
    """Return a page without text that looks like a citation mark of lrwr."""
    return replace(
        page,
        title=strip_mark_lookalikes(page.title),
        text=strip_mark_lookalikes(page.text),
    )
