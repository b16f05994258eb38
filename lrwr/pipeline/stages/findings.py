"""A finding as JSON, kept apart from where its excerpt stands in the document."""

import json

from lrwr.core.model.facts import Certainty, Fact, FactAbout
from lrwr.core.model.text import Span
from lrwr.core.ports.models import ExcerptFinding


def finding_to_json(finding: ExcerptFinding, start: int) -> str:
    """Return a finding whose excerpt begins at `start` of its document."""
    facts = [
        [
            fact.about.value,
            fact.subject,
            fact.field,
            fact.value,
            [[span.start - start, span.end - start] for span in fact.spans],
            fact.keeper,
            fact.certainty.value,
            fact.details,
            fact.reach - start if fact.reach else 0,
        ]
        for fact in finding.facts
    ]
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":"))


def finding_from_json(stored_json: str, start: int) -> ExcerptFinding:
    """Return the finding of an equal excerpt that begins at `start`."""
    return ExcerptFinding(
        tuple(
            Fact(
                about=FactAbout(about),
                subject=subject,
                field=field,
                value=value,
                spans=tuple(Span(left + start, right + start) for left, right in spans),
                keeper=keeper,
                certainty=Certainty(certainty),
                details=tuple((key, text) for key, text in details),
                reach=reach + start if reach else 0,
            )
            for (
                about,
                subject,
                field,
                value,
                spans,
                keeper,
                certainty,
                details,
                reach,
            ) in json.loads(stored_json)
        )
    )
