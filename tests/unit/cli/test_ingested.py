"""What an ingestion says of the language model that read along."""

from pathlib import Path

import pytest

from lrwr.app.presenters.ingestion import describe_ingest_report, ingest_report_as_json
from lrwr.core.model.language_model import Usage
from lrwr.core.settings.model import Settings
from lrwr.core.settings.model_services import ModelSettings
from lrwr.pipeline.report import IngestReport
from lrwr.pipeline.speaker_attribution import AttributionSummary

PRICED = Settings(
    Path("novel"), model=ModelSettings(prices=("pretend-1 1.00 10.00", "free-1 0 0"))
)
READ = Usage(
    calls=12,
    prompt_tokens=40_000,
    completion_tokens=2_000,
    cached=3,
    quotes=40,
    verified=36,
)


def said(usage: Usage, *, model: str = "pretend-1", dry_run: bool = False) -> str:
    report = IngestReport(model=model, usage=usage, dry_run=dry_run)
    return "\n".join(describe_ingest_report(report, None, PRICED))


def test_it_says_what_was_asked_what_it_cost_and_what_of_it_stands() -> None:
    told = said(READ)
    assert (
        "pretend-1: 12 calls, 40,000 tokens sent, 2,000 received ($0.06);"
        " 3 replies from the cache.\n"
    ) in told
    assert (
        "40 quotations in the model's replies: 36 found in the text (90 %), 4 dropped."
    ) in told


def test_a_dry_run_says_about_what_it_would_take() -> None:
    assert (
        "pretend-1 would need 1 call: about 900 tokens sent, 60 received"
        " (less than $0.01)."
    ) in said(Usage(calls=1, prompt_tokens=900, completion_tokens=60), dry_run=True)


@pytest.mark.parametrize(
    ("cached", "words"),
    [
        (0, "pretend-1: no calls."),
        (1, "pretend-1: no calls; 1 reply from the cache."),
        (2, "pretend-1: no calls; 2 replies from the cache."),
    ],
)
def test_a_model_that_was_asked_nothing_cost_nothing(cached: int, words: str) -> None:
    told = said(Usage(cached=cached))
    assert words in told.splitlines()
    assert "$" not in told


@pytest.mark.parametrize(
    ("model", "tokens", "price"),
    [
        ("nobody-1", 40_000, "(price unknown)"),
        ("free-1", 40_000, "($0.00)"),
        ("pretend-1", 4_999, "(less than $0.01)"),
        ("pretend-1", 5_000, "($0.01)"),
        ("pretend-1", 1_250_000, "($1.25)"),
    ],
)
def test_what_is_paid_is_never_said_to_be_nothing(
    model: str, tokens: int, price: str
) -> None:
    assert price in said(Usage(calls=1, prompt_tokens=tokens), model=model)


@pytest.mark.parametrize(
    ("quotes", "verified", "words"),
    [
        (1, 1, "1 quotation in the model's replies: all found in the text."),
        (999, 998, "(99 %), 1 dropped."),
        (3, 0, "0 found in the text (0 %), 3 dropped."),
    ],
)
def test_the_share_of_true_quotes_is_not_rounded_up(
    quotes: int, verified: int, words: str
) -> None:
    assert words in said(Usage(calls=1, quotes=quotes, verified=verified))


def test_replies_that_were_no_use_are_counted() -> None:
    assert ("2 invalid replies requested again; 1 still could not be used.") in said(
        Usage(calls=3, repaired=2, failed=1)
    )


def test_without_a_model_none_is_spoken_of() -> None:
    told = said(Usage(), model="")
    assert "asked" not in told
    assert ingest_report_as_json(IngestReport(), None, PRICED, 1.0)["model"] is None


def test_for_scripts_every_number_is_there() -> None:
    report = IngestReport(
        model="pretend-1", usage=READ, attribution=AttributionSummary(4, 1)
    )
    told = ingest_report_as_json(report, None, PRICED, 1.23456)
    assert told["seconds"] == 1.235
    assert told["characters"] == 4
    assert told["model"] == {
        "name": "pretend-1",
        "calls": 12,
        "prompt_tokens": 40_000,
        "completion_tokens": 2_000,
        "cached": 3,
        "repaired": 0,
        "failed": 0,
        "quotes": 40,
        "verified": 36,
        "usd": pytest.approx(0.06),
    }
