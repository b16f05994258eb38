"""Who tells whom what, where the narrator reports it with both names."""

import re
from collections.abc import Iterator

from lrwr.core.english.claims import (
    clause_before,
    is_asked,
    is_real,
    make_fact,
    span_in,
    verbatim,
)
from lrwr.core.english.expression import Expression
from lrwr.core.english.proper import (
    NAME,
    clean_name,
    is_placed,
    matches,
)
from lrwr.core.english.prose import HIDDEN, Prose
from lrwr.core.model.certainty import Certainty
from lrwr.core.model.facts import About, Fact

_VERBS = "told informed assured warned reminded notified advised persuaded convinced"
_TO_VERBS = (
    "confessed explained admitted mentioned confided announced revealed remarked "
    "whispered reported repeated related described declared"
)
_WHEN = (
    r"(?:then |also |once |had |has |had once |had already |afterwards |"
    r"later |at last |now |again |frankly |quietly |solemnly )*"
)
_TELLS = Expression(
    rf"(?<![\w'])(?<!\w-)(?P<teller>{NAME}) {_WHEN}(?:(?:{'|'.join(_VERBS.split())}) "
    rf"|(?:{'|'.join(_TO_VERBS.split())}) to )(?P<hearer>{NAME})(?!['\w-]),? "
    r"(?P<what>(?:that|about|of|how|why|what|where|who|all about) [^;:!?\x01]{8,})"
)
_END = re.compile(r"[.,\s—–-]+$")
_TRIGGERS = frozenset(f"{_VERBS} {_TO_VERBS}".split())


def tellings(prose: Prose) -> Iterator[Fact]:
    """Yield reported speech between two people by name, with what is told verbatim."""
    for sentence in prose.sentences:
        if sentence.words.isdisjoint(_TRIGGERS):
            continue
        for found in matches(_TELLS, sentence.told, sentence.starts):
            teller = clean_name(found["teller"], prose)
            hearer = clean_name(found["hearer"], prose)
            if not (teller and hearer and _stands(found)):
                continue
            end = found.end() - len(_ending(found["what"]))
            start = found.end("teller") - len(teller)
            what = span_in(sentence, found.start("what"), end)
            yield make_fact(
                About.TOLD,
                "told",
                verbatim(prose, what),
                span_in(sentence, start, end),
                Certainty.VERIFIED,
                subject=teller,
                details=(("hearer", hearer),),
            )


def _stands(found: re.Match[str]) -> bool:
    words = found.string
    if (
        is_placed(words, found.start())
        or HIDDEN in words[found.end() : found.end() + 1]
    ):
        return False
    before = clause_before(words, found.start())
    return is_real(before) and not is_asked(words, found.end())


def _ending(what: str) -> str:
    found = _END.search(what)
    return found.group() if found else ""
