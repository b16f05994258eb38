"""`lrwr eval` on a small book whose questions and answers are known."""

import json
from pathlib import Path
from typing import Any

import pytest

from lrwr.core.model.errors import ExitCode
from lrwr.core.retrieval.confidence import SIGNAL_NAMES
from lrwr.pipeline.evaluation.embedding_weight import FACTORS
from tests.fakes.embedding_server import EmbeddingServer
from tests.fakes.terminal import Terminal, check_refusal

THINGS = (
    "kettle", "ledger", "anchor", "violin", "candle", "hammer", "mirror", "lantern",
    "saddle", "basket", "compass", "thimble", "bucket", "feather", "pistol", "rosary",
    "spindle", "trumpet", "whistle", "ribbon", "bottle", "carpet", "dagger", "easel",
    "flagon", "goblet", "harness", "inkwell", "jacket", "kennel",
)  # fmt: skip
HIDDEN = (
    "marzipan", "griffin", "telescope", "umbrella", "bicycle", "sextant", "parrot",
    "balloon", "camera", "diamond", "elephant", "fiddle", "guitar", "helmet",
)  # fmt: skip
ROOMS = ("attic", "cellar", "kitchen", "stable", "hall")


def sentence(n: int) -> str:
    return f"Nell Tallow hid the {THINGS[n]} in the {ROOMS[n % len(ROOMS)]}."


def questions() -> list[dict[str, Any]]:
    there = [
        {
            "question": f"Where is the {THINGS[n]} hidden?",
            "kind": "fact",
            "gold": [{"file": f"{n}.md", "quote": sentence(n)}],
        }
        for n in range(len(THINGS))
    ]
    gone = [
        {"question": f"Who took the {thing} home in the rain?", "kind": "unanswerable"}
        for thing in HIDDEN
    ]
    return [*there, *gone]


def write(path: Path, asked: list[dict[str, Any]]) -> str:
    path.write_text("\n".join(json.dumps(one) for one in asked), encoding="utf-8")
    return str(path)


def write_book(folder: Path) -> Path:
    folder.mkdir()
    for n in range(len(THINGS)):
        text = f"# {n}\n\n{sentence(n)} Rain fell, and Corin Vale went home.\n"
        (folder / f"{n}.md").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    place = tmp_path_factory.mktemp("eval")
    folder = write_book(place / "book")
    terminal = Terminal(folder, home=place / "home", LRWR_EMBEDDING_MODEL="off")
    assert terminal.run("ingest", ".").code == 0
    write(folder / "q.jsonl", questions())
    return terminal


@pytest.fixture
def book(read: Terminal) -> Terminal:
    kept(read).unlink(missing_ok=True)
    return read


def kept(book: Terminal) -> Path:
    return book.folder / ".lrwr/confidence.json"


def test_a_fit_is_shown_and_kept_only_when_asked(book: Terminal) -> None:
    ran = book.run("eval", "--calibrate", "--questions", "q.jsonl")
    assert ran.code == 0
    assert (
        "44 questions: 30 with the answer in the first passages, 0 missed, 14"
        in ran.out
    )
    assert "as shipped" in ran.out and "fitted here" in ran.out
    assert "Nothing was saved" in ran.err
    assert not kept(book).exists()


def test_what_is_saved_is_used_until_it_is_reset(book: Terminal) -> None:
    before = book.run("search", "Where is the anchor hidden?", "--json").json
    told = book.run(
        "eval", "--calibrate", "--questions", "q.jsonl", "--save", "--json"
    ).json
    (one,) = told["rankings"]
    assert (one["found"], one["unanswerable"], one["short_of"]) == (30, 14, "")
    assert one["fitted"]["found"]["value"] > 0.95
    assert {term["signal"] for term in one["calibration"]["terms"]} <= set(SIGNAL_NAMES)
    assert told["saved"] == str(kept(book))
    assert told["embedding_weight"] is None

    after = book.run("search", "Where is the anchor hidden?", "--json").json
    assert before["confidence"] is None  # “hidden” is not in the text
    assert after["confidence"] > 0.5
    assert after["low_confidence"] is False
    gone = book.run("search", "Who took the umbrella home in the rain?", "--json").json
    assert gone["low_confidence"] is True
    asked = ["--pipeline", "b", "--questions", "q.jsonl", "--budget-tokens", "50"]
    assert "fitted on your questions" in book.run("eval", *asked).err

    assert book.run("eval", "--reset").code == 0
    assert not kept(book).exists()
    again = book.run("search", "Where is the anchor hidden?", "--json").json
    assert again["confidence"] == before["confidence"]
    assert "There is no saved calibration" in book.run("eval", "--reset").err


def test_another_embedding_model_gets_its_own_weight(tmp_path: Path) -> None:
    with EmbeddingServer(key="", sizes={"first": 64}) as server:
        book = Terminal(
            write_book(tmp_path / "book"),
            home=tmp_path / "home",
            LRWR_EMBEDDING_MODEL="server",
            LRWR_EMBEDDING_NAME="first",
            LRWR_EMBEDDING_DIMENSIONS="64",
            LRWR_EMBEDDING_BASE_URL=server.base_url,
        )
        assert book.run("ingest", ".").code == 0
        calibrate = ("eval", "--calibrate", "--questions", "q.jsonl")
        write(book.folder / "q.jsonl", questions())
        ran = book.run(*calibrate, "--save", "--json")
        weight = ran.json["embedding_weight"]
        assert weight["factor"] in FACTORS
        assert weight["questions"] == 30
        assert 0 < weight["default_mrr"] <= 1
        stored = json.loads(kept(book).read_text(encoding="utf-8"))
        assert stored["embedding_weights"] == [weight]
        assert "Weight of the embeddings of" in book.run(*calibrate).out
        # A stored weight is used: without embeddings, only the words rank.
        stored["embedding_weights"][0]["factor"] = 0.0
        kept(book).write_text(json.dumps(stored), encoding="utf-8")
        search = ("search", "Where is the anchor hidden?", "--no-rerank", "--json")
        by_words = [one["score"] for one in book.run(*search).json["passages"]]
        kept(book).unlink()
        assert by_words != [one["score"] for one in book.run(*search).json["passages"]]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 2}', '{"format": 1, "calibrations": [{}]}']
)
def test_a_broken_file_is_not_used_and_a_word_says_so(
    book: Terminal, text: str
) -> None:
    sound = book.run("search", "anchor", "--json")
    kept(book).write_text(text, encoding="utf-8")
    broken = book.run("search", "anchor", "--json")
    assert broken.json == sound.json
    assert "confidence.json is damaged" in broken.err


def test_a_search_says_in_words_how_far_it_can_be_trusted(book: Terminal) -> None:
    ran = book.run("search", "Who hid the anchor?")
    assert "of 100 test questions with similar scores, the first five" in ran.out
    avoiding = book.run("search", "Where is the anchor hidden?")
    assert "Confidence: not evaluated, because the passages contain few" in avoiding.out
    by_words = book.run("search", "hidden anchor", "--lexical").out
    assert "Confidence: not computed with `--lexical` or `--dense`." in by_words
    assert "onfidence" not in book.run("search", "anchor").out
    asked = write(book.folder / "b.jsonl", [{"id": "1", "question": "the anchor"}])
    (line,) = book.run("search", "--batch", asked).out.splitlines()
    keys = {"id", "ranked", "confidence", "low_confidence", "remarks"}
    assert set(json.loads(line)) == keys


def test_questions_whose_quote_is_gone_are_left_out_by_name(book: Terminal) -> None:
    asked = questions()
    gold = [{"file": "1.md", "quote": "Nell Tallow sold the ledger."}]
    asked += [
        {"id": "sold", "question": "Who sold the ledger?", "gold": gold},
        {"id": "lost", "question": "Who?", "gold": [{"file": "x.md", "quote": "y"}]},
        {"id": "late", "question": "Who?", "kind": "unanswerable", "as_of": "ch99"},
    ]
    write(book.folder / "more.jsonl", asked)
    ran = book.run("eval", "--calibrate", "--questions", "more.jsonl", "--json")
    assert ran.json["rankings"][0]["questions"] == 44
    assert [remark.split(":")[0] for remark in ran.json["remarks"]] == [
        "Left out sold",
        "Left out lost",
        "Left out late",
    ]


def test_too_few_questions_or_all_alike_are_refused(book: Terminal) -> None:
    write(book.folder / "few.jsonl", questions()[:12])
    few = book.run("eval", "--calibrate", "--questions", "few.jsonl")
    check_refusal(few, ExitCode.FAILED, "there are 12", "40", "a quarter")
    write(book.folder / "alike.jsonl", [*questions()[:30], *questions()[:30]])
    alike = book.run("eval", "--calibrate", "--questions", "alike.jsonl")
    check_refusal(alike, ExitCode.FAILED, "unanswerable, and 0 of 60 are")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--save"], ExitCode.SETTINGS, "--calibrate"),
        (
            ["--calibrate", "--questions", "q.jsonl", "--reset"],
            ExitCode.SETTINGS,
            "cannot be combined",
        ),
        (
            ["--calibrate", "--questions", "nowhere.jsonl"],
            ExitCode.NOT_FOUND,
            "nowhere.jsonl",
        ),
        (["--calibrate", "--questions", "1.md"], ExitCode.SETTINGS, "1.md:1"),
    ],
)
def test_a_mistake_is_refused_with_what_to_try(
    book: Terminal, words: list[str], code: ExitCode, said: str
) -> None:
    check_refusal(book.run("eval", *words), code, said)


def test_help_shows_how_it_is_asked(book: Terminal) -> None:
    ran = book.run("eval", "--help")
    assert "lrwr eval --calibrate --save" in " ".join(ran.out.split())
