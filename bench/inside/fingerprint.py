"""Prints hashes of what one library gives: search results, answers and story data.

Works on the library in the working directory, with the embedding model of
`bench.inside.free`. Asks the questions of `bench.inside.scale`, and those in the files
of the arguments, one a line. Two versions of lrwr with the same hashes give the same
results. `--each` also prints the hash of each question.
"""

import argparse
import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from bench.inside.free import use_free_embedder
from bench.inside.scale import choose_questions
from bench.library import open_database
from lrwr.app.container import Workspace, open_workspace
from lrwr.core.chat.service import TurnRequest
from lrwr.core.model.documents import Horizon
from lrwr.core.model.turns import TurnDone
from lrwr.core.retrieval.search_model import PassageSort, SearchRequest
from lrwr.core.settings.loader import load_settings

ANSWERED = 10
"""Questions of each kind that are answered, not only searched for."""

TABLES = {
    "cast": 'select "cast" from story',
    "quotations": "select document_id, speaker, certainty, cue, addressee,"
    " addressee_certainty, spans, mentions from quotation",
    "facts": "select document_id, about, subject, field, attribute, value, keeper,"
    " certainty, reach, spans, details from fact",
    "first mentions": "select document_id, character, alias, char_start, char_end,"
    " mentions from first_seen",
    "appearances": "select c.document_id, c.ordinal, a.character, a.role, a.count"
    " from appearance a join chunk c on c.id = a.chunk_id",
}


async def _main(questions: Sequence[str], *, each: bool) -> None:
    use_free_embedder()
    settings = load_settings(Path.cwd(), os.environ, {})
    async with open_workspace(settings) as workspace:
        database = workspace.library.database
        plain, dialogue = await choose_questions(workspace)
        asked = list(dict.fromkeys((*plain, *dialogue, *questions)))
        answered = [*plain[-ANSWERED:], *dialogue[-ANSWERED:], *questions]
        results = {
            **{
                f"search, {name}": await _search(workspace, asked, way)
                for name, way in _list_ways(SearchRequest("", settings.pipeline, 10))
            },
            "answers": await _answer(workspace, list(dict.fromkeys(answered))),
        }
    with open_database(database) as connection:
        stored = {
            name: _hash(sorted(map(repr, connection.execute(sql))))
            for name, sql in TABLES.items()
        }
    print(
        json.dumps(
            {name: _hash(sorted(found.items())) for name, found in results.items()}
            | stored,
            indent=2,
        )
    )
    if each:
        print(json.dumps(results, indent=2, ensure_ascii=False))


def _list_ways(asked: SearchRequest) -> list[tuple[str, SearchRequest]]:
    fused = replace(asked, rerank=False)
    return [
        ("fused", fused),
        ("words", replace(fused, dense=False)),
        ("meaning", replace(fused, lexical=False)),
        ("up to chapter 5", replace(fused, horizon=Horizon(5))),
        ("story order", replace(fused, sort=PassageSort.STORY)),
    ]


async def _search(
    workspace: Workspace, questions: Sequence[str], way: SearchRequest
) -> Mapping[str, str]:
    finder = workspace.finder()
    order = await finder.story_order()
    return {
        question: _hash(await finder.find(replace(way, question=question), order))
        for question in questions
    }


async def _answer(workspace: Workspace, questions: Sequence[str]) -> Mapping[str, str]:
    answers: dict[str, str] = {}
    for question in questions:
        turn = workspace.sessions().ask(TurnRequest(question))
        async for event in turn:
            if isinstance(event, TurnDone):
                # Steps and calls have times.
                output = replace(event.turn.output, steps=(), calls=())
                answers[question] = _hash(output)
    return answers


def _hash(value: object) -> str:
    return sha256(repr(value).encode()).hexdigest()[:16]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--each", action="store_true")
    args = parser.parse_args()
    questions = [
        line.strip()
        for file in args.files
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.strip()
    ]
    asyncio.run(_main(questions, each=args.each))


if __name__ == "__main__":
    main()
