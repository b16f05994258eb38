"""Measures what a language model says of statements, by the path of `lrwr post check`.

    python -m bench.inside.verdicts attribution LIBRARY DATA SET COUNT SEED
    python -m bench.inside.verdicts pairs LIBRARY DATA NOVEL COUNT SEED

LIBRARY is a folder that was ingested; its verdicts are stored there. DATA is the shared
data, SET the name of a file of claims in its `attribution`, NOVEL that of a novel in its
`continuity`; COUNT claims or pairs are taken at random by SEED. The language model is the
configured one.
"""

import asyncio
import json
import os
import random
import sys
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from bench.inside.posts import read_rows
from lrwr.app.container import Workspace, open_workspace
from lrwr.app.post_judgement import create_claim_judge, judge_draft
from lrwr.app.posts import (
    CheckedDraft,
    check_draft,
    create_draft_checker,
    load_checked_story,
)
from lrwr.core.evidence.judge import (
    ClaimJudge,
    EvidenceClaim,
    Verdict,
    verify_judgement,
)
from lrwr.core.evidence.results import CheckedStatement
from lrwr.core.model.text import LineIndex
from lrwr.core.ports.stores import DocumentText
from lrwr.core.settings.loader import load_settings


def measure_f1(outcomes: Iterable[tuple[bool, bool]]) -> float:
    """Return macro-F1 of pairs (gold, found)."""
    pairs = list(outcomes)
    scores = []
    for label in (True, False):
        right = sum(gold is found is label for gold, found in pairs)
        wrong = sum(gold is not found for gold, found in pairs)
        scores.append(2 * right / (2 * right + wrong) if right or wrong else 1.0)
    return round(sum(scores) / 2, 3)


async def judge_attribution(
    judge: ClaimJudge, rows: Sequence[dict[str, Any]]
) -> dict[str, object]:
    """Return the verdicts about claims with human labels, each with its own evidence."""
    claims = {EvidenceClaim(r["claim"], tuple(r["evidence"])): r for r in rows}
    session = await judge.judge(list(claims))
    verdicts: dict[EvidenceClaim, str] = {}
    for claim, raw in session.judged:
        verified = verify_judgement(claim, raw)
        verdicts[claim] = verified.verdict if verified else f"dropped: {raw.verdict}"
    outcomes = [
        (bool(row["supported"]), verdicts.get(claim) == Verdict.SUPPORTED)
        for claim, row in claims.items()
    ]
    return {
        "claims": len(claims),
        "unjudged": session.unjudged,
        "dropped": [
            c.statement for c, v in verdicts.items() if v.startswith("dropped")
        ],
        "macro_f1": measure_f1(outcomes),
        "wrong": [
            [claim.statement, row["supported"], verdicts.get(claim, "unjudged")]
            for (claim, row), (gold, said) in zip(claims.items(), outcomes, strict=True)
            if gold is not said
        ],
    }


async def judge_pairs(
    workspace: Workspace, judge: ClaimJudge, rows: Sequence[dict[str, Any]]
) -> dict[str, object]:
    """Return how many pairs of a true and a false claim about the story are told apart.

    The two claims of a pair are judged in different runs.
    """
    story = await load_checked_story(workspace)
    checker = create_draft_checker(workspace)
    verdicts: dict[str, list[str]] = {}
    for half in (rows[::2], rows[1::2]):
        drafts = []
        for row in half:
            text = DocumentText(row["claim"], LineIndex.of(row["claim"]))
            drafts.append(await check_draft(workspace, text, story))
        statements = tuple(chain.from_iterable(d.statements for d in drafts))
        judged = await judge_draft(
            judge,
            CheckedDraft(statements),
            lambda checked: checker.find_more(checked, story),
        )
        rest = iter(judged.draft.statements)
        for row, draft in zip(half, drafts, strict=True):
            verdicts[row["id"]] = [_describe(next(rest)) for _ in draft.statements]
    return _count_pairs(rows, verdicts)


def _describe(checked: CheckedStatement) -> str:
    judgement = checked.judgement
    return judgement.verdict if judgement else checked.result


def _count_pairs(
    rows: Sequence[dict[str, Any]], verdicts: dict[str, list[str]]
) -> dict[str, object]:
    supported, contradicted = Verdict.SUPPORTED.value, Verdict.CONTRADICTED.value
    told_apart = refuted = 0
    for pair in dict.fromkeys(row["pair"] for row in rows):
        claims = {
            row["label"]: verdicts[row["id"]] for row in rows if row["pair"] == pair
        }
        is_true_found = all(v == supported for v in claims[True])
        told_apart += is_true_found and any(v != supported for v in claims[False])
        refuted += is_true_found and contradicted in claims[False]
    return {
        "pairs": len(rows) // 2,
        "right": told_apart,
        "right_and_contradicted": refuted,
        "verdicts": [
            [r["id"], r["label"], verdicts[r["id"]], r["claim"]] for r in rows
        ],
    }


def choose_pairs(
    rows: Sequence[dict[str, Any]], count: int, chance: random.Random
) -> list[dict[str, Any]]:
    """Return the claims of `count` pairs: of each, one at an even and one at an odd
    place, in random order.
    """
    pairs = list(dict.fromkeys(row["pair"] for row in rows))
    chosen = []
    for pair in chance.sample(pairs, count):
        claims = [row for row in rows if row["pair"] == pair]
        chosen += chance.sample(claims, len(claims))
    return chosen


async def run(kind: str, root: Path, more: Sequence[str]) -> dict[str, object]:
    """Return the figures `kind` with the language model that the library has."""
    data, name = Path(more[0]), more[1]
    count, chance = int(more[2]), random.Random(int(more[3]))
    settings = load_settings(root, os.environ, {})
    async with open_workspace(settings) as workspace:
        judge = create_claim_judge(workspace)
        if judge is None:
            raise SystemExit("no language model is configured")
        if kind == "attribution":
            rows = read_rows(data / "attribution" / f"{name}.jsonl")
            return await judge_attribution(judge, chance.sample(rows, count))
        rows = read_rows(data / "continuity" / "dev" / "nocha_claims.jsonl")
        rows = [row for row in rows if row["novel"] == name]
        return await judge_pairs(workspace, judge, choose_pairs(rows, count, chance))


if __name__ == "__main__":
    command, library, *rest = sys.argv[1:]
    result = asyncio.run(run(command, Path(library).resolve(), rest))
    sys.stdout.write(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
