"""The web, asked for one question: nothing of it is the book's, and nothing is kept
but what an answer says of it."""

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
"""Characters of a query at most."""
MAX_WEB_QUESTION_CHARS = 200
"""Characters that the asking sentences of a question may have: a longer one may well
quote the manuscript."""
MAX_TITLE_WORDS = 5
"""Words of a quotation at most that may be a title."""
_SHORTEST = 3
_LONG_WORD = 8
"""Letters of a name that may have a slip in it, and of one that may have two."""
_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"(?<=[.!?])[\s\"”’)]*\s|\n+")
_QUOTED = re.compile(r"“([^“”]*)”|\"([^\"]*)\"")
_POSSESSIVE = re.compile(r"['’]s?$")
_ARTICLES = frozenset({"the", "a", "an"})
_ASKING = frozenset(
    {
        "answer", "book", "chapter", "compare", "compared", "comparison", "describe",
        "does", "draft", "explain", "find", "give", "google", "internet", "know",
        "like", "look", "manuscript", "online", "please", "remind", "reminds",
        "reminiscent", "say", "says", "search", "show", "similar", "story", "tell",
        "think", "text", "web",
    }
)  # fmt: skip
"""Words that ask, and are nothing to look for."""
_OUTWARD = frozenset({SourceIntention.EXTERNAL_REFERENCE, SourceIntention.CRAFT})


@dataclass(frozen=True, slots=True)
class _QueryToken:
    """A word of the question; `parts` are its letters as they are compared."""

    text: str
    span: Span
    parts: tuple[str, ...]

    @property
    def small(self) -> bool:
        """Whether it says little of what a sentence is about."""
        return all(part in STOP_WORDS or len(part) < 2 for part in self.parts)

    @property
    def capital(self) -> bool:
        """Whether it has a capital, as names have."""
        return self.text != self.text.lower()


def build_web_query(
    question: str, plan: QuestionPlan, bible: Bible, *, in_character: bool = False
) -> str:
    """Return what is to be sent for `question`: see the top of this module.

    Empty unless the plan chose the web for a reference from outside, or for craft.
    """
    if in_character or not wants_web(plan) or is_question_too_long(question):
        return ""
    asked_text = _asking(question)
    tokens = list(_tokens(asked_text))
    titles = _titles(asked_text)
    kept_tokens = [
        token
        for token in _without_names(asked_text, tokens, bible)
        if not _in(token, _long_quotations(asked_text))
    ]
    craft = any(choice.intention is SourceIntention.CRAFT for choice in plan.choices)
    if not craft and not _names_outside(asked_text, kept_tokens, titles, plan, bible):
        return ""
    return _joined(list(_telling(asked_text, kept_tokens, titles)))


def wants_web(plan: QuestionPlan) -> bool:
    """Say whether the plan asks for anything outside of the book."""
    web_choices = (
        choice for choice in plan.choices if choice.source is AnswerSource.WEB
    )
    return any(choice.intention in _OUTWARD for choice in web_choices)


def is_question_too_long(question: str) -> bool:
    """Say whether a question asks at such length that nothing of it is sent."""
    return len(_asking(question)) > MAX_WEB_QUESTION_CHARS


def _asking(text: str) -> str:
    """Return the sentences that end in a question mark; without one, all of them."""
    plain = unicodedata.normalize("NFKC", text).strip()
    parts = [part.strip() for part in _SENTENCE.split(plain)]
    question_parts = [part for part in parts if part.rstrip('"”’) ').endswith("?")]
    return " ".join(question_parts) or plain


def _tokens(text: str) -> Iterator[_QueryToken]:
    for match in _TOKEN.finditer(text):
        yield _QueryToken(match[0], Span(*match.span()), _parts(match[0]))


def _parts(word: str) -> tuple[str, ...]:
    bare_word = _POSSESSIVE.sub("", word)
    return tuple(_PART.findall(bare_word.casefold())) or ("",)


def _without_names(
    text: str, tokens: list[_QueryToken], bible: Bible
) -> list[_QueryToken]:
    """Leave out the book's own names, save where the book refers to what bears them."""
    names = collect_bible_names(bible)
    reference_places = _covered(tokens, _references(bible))
    known_spans = [
        named_entity.span
        for named_entity in recognize_named_entities(text, bible)
        if named_entity.kind is not NamedEntityKind.STRANGER
    ]
    covered_places = _covered(tokens, {_key(name) for name in names})
    capitals = {
        part
        for name in names
        for word in _tokens(unicodedata.normalize("NFKC", name))
        if word.capital
        for part in word.parts
        if part not in STOP_WORDS and len(part) > 1
    }
    typed_low = text == text.lower()

    def is_own(token: _QueryToken) -> bool:
        parts = (*token.parts, "".join(token.parts))
        if any(part in capitals for part in parts):
            return True
        may_slip = token.capital or typed_low
        return may_slip and any(
            _slipped(part, capital) for part in parts for capital in capitals
        )

    return [
        token
        for at, token in enumerate(tokens)
        if at in reference_places
        or not (
            at in covered_places
            or _in(token, known_spans)
            or (not token.small and is_own(token))
        )
    ]


def _slipped(word: str, name: str) -> bool:
    """Say whether a word may be a name with a slip of the keyboard in it."""
    allowed = 1 if len(word) < _LONG_WORD else 2
    if len(word) < _SHORTEST or len(name) < _SHORTEST or word[0] != name[0]:
        return False
    return lookup.bounded_edit_distance(word, name, allowed) <= allowed


def _references(bible: Bible) -> set[str]:
    """Return the works and people outside of the book that its text refers to."""
    return {
        _key(claim.value)
        for character in bible.characters
        for claim in character.external_references
    }


def _key(name: str) -> str:
    """Return a name's letters, without spaces, marks, an article and a possessive."""
    plain = unicodedata.normalize("NFKC", name)
    words = [word.parts for word in _tokens(plain)]
    if len(words) > 1 and words[0][0] in _ARTICLES:
        words.pop(0)
    return "".join(part for parts in words for part in parts)


def _covered(tokens: Sequence[_QueryToken], keys: set[str]) -> set[int]:
    """Return the places of the tokens whose parts, side by side, are one of `keys`.

    A part may be one of "Nell-like", which is then covered whole.
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


def _in(token: _QueryToken, spans: Sequence[Span]) -> bool:
    return any(
        token.span.start < span.end and span.start < token.span.end for span in spans
    )


def _quotations(text: str) -> Iterator[tuple[Span, int]]:
    for match in _QUOTED.finditer(text):
        yield Span(*match.span()), len(WORD_PATTERN.findall(match[0]))


def _titles(text: str) -> list[Span]:
    return [span for span, words in _quotations(text) if 0 < words <= MAX_TITLE_WORDS]


def _long_quotations(text: str) -> list[Span]:
    return [span for span, words in _quotations(text) if words > MAX_TITLE_WORDS]


def _names_outside(
    text: str,
    kept_tokens: list[_QueryToken],
    titles: list[Span],
    plan: QuestionPlan,
    bible: Bible,
) -> bool:
    """Say whether something is left that is a name from outside of the book."""
    strangers = [
        named_entity.span
        for named_entity in recognize_named_entities(text, bible)
        if named_entity.kind is NamedEntityKind.STRANGER
    ]
    expected_names = {_key(entity.name) for entity in plan.entities} | _references(
        bible
    )
    known_places = _covered(kept_tokens, expected_names)
    return any(
        at in known_places or _in(token, strangers) or _in(token, titles)
        for at, token in enumerate(kept_tokens)
        if not token.small
    )


def _telling(
    text: str, kept_tokens: list[_QueryToken], titles: list[Span]
) -> Iterator[_QueryToken]:
    """Yield the words worth looking for, and small ones inside of a name or a title."""
    waiting: list[_QueryToken] = []
    before: _QueryToken | None = None
    for token in kept_tokens:
        if token.small:
            waiting.append(token)
            continue
        if _asks(text, token) and not _in(token, titles):
            waiting, before = [], None
            continue
        run = [*([before] if before else []), *waiting, token]
        if before is not None and waiting and _is_one_name(text, run, titles):
            yield from waiting
        yield token
        waiting, before = [], token


def _asks(text: str, token: _QueryToken) -> bool:
    """Say whether a word only asks; a capital inside of a sentence is a name's."""
    before = text[: token.span.start].rstrip()
    is_mid_sentence = bool(before) and before[-1] not in ".!?"
    return token.parts[0] in _ASKING and not (token.capital and is_mid_sentence)


def _is_one_name(text: str, run: list[_QueryToken], titles: list[Span]) -> bool:
    """Say whether small words stand inside of a name: Heart of Darkness."""
    between = text[run[0].span.end : run[-1].span.start]
    beside = not set(between).intersection('.,;:!?\n()“”"')
    inside = len(_PART.findall(between)) == len(run) - 2  # nothing was left out
    capital = run[0].capital and run[-1].capital
    titled = any(_in(run[0], [title]) and _in(run[-1], [title]) for title in titles)
    return beside and inside and (capital or titled)


def _joined(tokens: Sequence[_QueryToken]) -> str:
    """Return the words as a query, content words once, cut at the end of a word."""
    unique_words: dict[str, None] = {}
    words: list[str] = []
    for token in tokens:
        word = token.text.casefold()
        if token.small or word not in unique_words:
            words.append(token.text)
        unique_words[word] = None
    while words and len(" ".join(words)) > MAX_WEB_QUERY_CHARS:
        words.pop()
    while words and _QueryToken(words[-1], Span(0, 0), _parts(words[-1])).small:
        words.pop()
    return " ".join(words)


MAX_WEB_PAGES = 4
"""Pages that an answer may draw on, by default."""
_OFF = "Web search is off. Turn it on with the setting `[web] use`."
_LONG = (
    "Skipped web search: a question this long may quote your manuscript. Ask it in one"
    " short sentence."
)


@dataclass(frozen=True, slots=True)
class WebLookup:
    """What came of the web: `query` is what was sent, empty where nothing was."""

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
    limit: int = MAX_WEB_PAGES,
) -> WebLookup:
    """Ask the web, if the plan wants it and it is on; say first what is sent.

    `bible` is best the whole story's: names that come later are not to be sent either.
    A web that fails, finds nothing or is off leaves a remark, and never ends the turn.
    """
    query = build_web_query(question, plan, bible, in_character=in_character)
    if not query:
        long = not in_character and wants_web(plan) and is_question_too_long(question)
        return WebLookup(remarks=(_LONG,) if web is not None and long else ())
    if web is None:
        asked_for = plan.intent is AnswerIntent.EXTERNAL_REFERENCE
        return WebLookup(remarks=(_OFF,) if asked_for else ())
    emit(TurnStageStarted("web", f"Searching the web for “{query}”"))
    try:
        results = await web.search(query, limit)
    except ServiceUnavailable as error:
        hint = f" {error.hint}" if error.hint else ""
        remark = f"Web search failed. {error}.{hint}"
        return WebLookup(remarks=(remark,), query=query)
    pages = tuple(page for page in map(_unnumbered, results) if page.text)
    none = () if pages else (f"Web search found nothing for “{query}”.",)
    return WebLookup(pages, none, query)


def _unnumbered(page: WebPage) -> WebPage:
    """Return a page without what would look like a number of the book's or of ours."""
    return replace(
        page,
        title=strip_mark_lookalikes(page.title),
        text=strip_mark_lookalikes(page.text),
    )
