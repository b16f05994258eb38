"""The web, asked for one question: nothing of it is the book's, and nothing is kept
but what an answer says of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from lrwr.core.bible.values import Bible
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.turns import (
    AnswerIntent,
    QuestionPlan,
    TurnEvent,
    TurnStageStarted,
)
from lrwr.core.ports.sources import WebPage, WebSearch
from lrwr.core.web.citations import strip_mark_lookalikes
from lrwr.core.web.query import build_web_query, is_question_too_long, wants_web

MAX_WEB_PAGES = 4
"""Pages that an answer may draw on, by default."""

_OFF = "The web is off, so your book alone answers; `[web] use` turns it on."
_LONG = (
    "The web was not asked: so long a question may quote your book. Ask it in one"
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
    emit(TurnStageStarted("web", f"Asking the web: “{query}”"))
    try:
        results = await web.search(query, limit)
    except ServiceUnavailable as error:
        hint = f" {error.hint}" if error.hint else ""
        remark = f"The web could not be asked. {error}.{hint}"
        return WebLookup(remarks=(remark,), query=query)
    pages = tuple(page for page in map(_unnumbered, results) if page.text)
    none = () if pages else (f"The web has nothing on “{query}”.",)
    return WebLookup(pages, none, query)


def _unnumbered(page: WebPage) -> WebPage:
    """Return a page without what would look like a number of the book's or of ours."""
    return replace(
        page,
        title=strip_mark_lookalikes(page.title),
        text=strip_mark_lookalikes(page.text),
    )
