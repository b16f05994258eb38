"""Searching with services elsewhere: what a writer sees, and what leaves the machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes import cohere_server, embedding_server
from tests.fakes.cohere_server import CohereServer
from tests.fakes.embedding_server import EmbeddingServer
from tests.fakes.hosted_server import CutShort, Hang, Nonsense, Refuse, Turn
from tests.fakes.read_books import BY_WORDS, ReadBooks, write_files
from tests.fakes.terminal import Ran, Terminal

FILES = {
    "1.md": "# One\n\nNell Tallow climbed the ladder, and the lamp burned low.\n",
    "2.md": "# Two\n\nCorin Vale came over the marsh with a letter for the Reeve.\n",
    "3.md": "# Three\n\nMags lit the lamp again, long after dusk, and said nothing.\n",
}
LAMP = "Who lit the lamp again?"
KEYS = (cohere_server.KEY, embedding_server.KEY)


@pytest.fixture
def cohere() -> Iterator[CohereServer]:
    with CohereServer() as opened:
        yield opened


@pytest.fixture
def openai() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as opened:
        yield opened


class Desk:
    """A book, its writer's own settings, and a terminal."""

    def __init__(self, place: Path, **env: str) -> None:
        self.book = place / "book"
        if not self.book.exists():
            write_files(FILES)(self.book)
        self.own = place / "home/config/lrwr/lrwr.toml"
        self.own.parent.mkdir(parents=True)
        self.terminal = Terminal(self.book, home=place / "home", **env)

    def set(self, text: str, *, library: str = "") -> None:
        """Write the writer's own file, and the folder's."""
        self.own.write_text(text, encoding="utf-8")
        (self.book / "lrwr.toml").write_text(library, encoding="utf-8")

    def run(self, *words: str, **env: str) -> Ran:
        """Run a command; no key may be in what it says or keeps."""
        ran = self.terminal.run(*words, **env)
        kept = [one.read_bytes() for one in self.book.rglob("*") if one.is_file()]
        for key in KEYS:
            assert key not in ran.out + ran.err
            assert not any(key.encode() in content for content in kept)
        return ran


@pytest.fixture
def desk(tmp_path: Path, books: ReadBooks, cohere: CohereServer) -> Desk:
    """A desk at which Cohere looks again, after words alone."""
    books.copy("lamps", write_files(FILES), tmp_path, **BY_WORDS)
    opened = Desk(tmp_path, COHERE_API_KEY=cohere_server.KEY)
    opened.set(with_cohere(cohere))
    return opened


def with_cohere(server: CohereServer, model: str = "cohere") -> str:
    return (
        '[embedding]\nmodel = "off"\n[rerank]\ntimeout = 3\n'
        f'model = "{model}"\nbase_url = "{server.origin}"\n'
    )


def files_in(ran: Ran) -> list[str]:
    return [passage["file"] for passage in ran.json["passages"]]


def test_cohere_looks_again_and_the_writer_is_told_what_it_gets(
    desk: Desk, cohere: CohereServer
) -> None:
    found = desk.run("search", LAMP)
    assert found.code == 0
    assert "Cohere is on (" in found.err
    assert "your search queries, with the passages found for them" in found.err
    (asked,) = cohere.asked
    assert asked.body["query"] == LAMP
    assert found.out.index("3.md") < found.out.index("1.md")
    assert "Confidence: not computed, because no test questions" in found.out
    assert "first time" not in desk.run("search", LAMP).err

    report = desk.run("privacy", "--json").json
    newest = report["newest"][0]
    assert (newest["service"], newest["purpose"]) == ("cohere", "second look")
    assert (newest["model"], newest["outcome"]) == ("rerank-v5.0-fast", "answered")
    assert newest["sent_bytes"] == asked.size
    assert newest["price"] > 0
    assert len(report["newest"]) == 2


@pytest.mark.parametrize(
    ("turn", "says"),
    [
        (
            Refuse(401),
            "Cohere does not accept the key (HTTP 401). Set the key again with",
        ),
        (Refuse(404), "Cohere has no model rerank-v5.0-fast (HTTP 404). Set"),
        (Refuse(429, headers={"retry-after": "60"}), "too many requests (HTTP 429)."),
        (Hang(), "Cohere did not answer within 1 second. Try again, or raise"),
        (CutShort(), "Cohere stopped in the middle of its answer. Try again."),
        (Nonsense("<html>"), "an answer that lrwr does not understand. Check"),
    ],
)
def test_a_search_goes_on_without_cohere_and_says_why(
    desk: Desk, cohere: CohereServer, turn: Turn, says: str
) -> None:
    cohere.will(*[turn] * 4)
    hasty = {"LRWR_RERANK_TIMEOUT": "1"} if isinstance(turn, Hang) else {}
    found = desk.run("search", LAMP, "--json", **hasty)
    assert found.code == 0
    assert len(files_in(found)) == 2
    (remark,) = found.json["remarks"]
    assert remark.startswith("Results were not reranked. ")
    assert says in remark
    assert remark not in " ".join(found.err.split())


def test_a_key_turns_nothing_on_and_a_setting_without_a_key_says_so(
    desk: Desk, cohere: CohereServer
) -> None:
    desk.set(with_cohere(cohere, "off"))
    assert desk.run("search", LAMP).code == 0
    desk.set(with_cohere(cohere))
    found = desk.run("search", LAMP, COHERE_API_KEY="")
    assert found.code == 0
    assert "`rerank.model` is cohere, but there is no API key." in found.out
    assert "lrwr config set-key cohere" in " ".join(found.out.split())
    assert cohere.asked == []


def test_a_folder_cannot_turn_cohere_on_by_itself(
    desk: Desk, cohere: CohereServer
) -> None:
    desk.set(with_cohere(cohere, "off"), library='[rerank]\nmodel = "cohere"\n')
    desk.own.write_text(
        f'[embedding]\nmodel = "off"\n[rerank]\nbase_url = "{cohere.origin}"\n',
        encoding="utf-8",
    )
    found = desk.run("search", LAMP, "--json")
    assert "you have not allowed it" in found.json["remarks"][0]
    assert "lrwr privacy allow cohere" in found.json["remarks"][0]
    assert cohere.asked == []
    assert desk.run("privacy", "allow", "cohere").code == 0
    assert desk.run("search", LAMP, "--json").json["remarks"] == []
    assert len(cohere.asked) == 1


def test_sentences_of_an_answer_are_not_sent_to_be_weighed(
    desk: Desk, cohere: CohereServer
) -> None:
    assert desk.run("ask", LAMP).code == 0
    assert {one.body["query"] for one in cohere.asked} == {LAMP}
    assert all(len(one.body["documents"]) <= len(FILES) for one in cohere.asked)


def with_openai(server: EmbeddingServer, model: str = "openai") -> str:
    return (
        f'[embedding]\nmodel = "{model}"\nname = "{embedding_server.MODEL}"\n'
        f'dimensions = 64\nbase_url = "{server.base_url}"\n[rerank]\nmodel = "off"\n'
    )


@pytest.fixture
def hosted(tmp_path: Path, openai: EmbeddingServer) -> Desk:
    """A desk at which OpenAI embeds."""
    opened = Desk(tmp_path, OPENAI_API_KEY=embedding_server.KEY)
    opened.set(with_openai(openai))
    return opened


def test_openai_embeds_what_is_read_and_what_is_asked(
    hosted: Desk, openai: EmbeddingServer
) -> None:
    dry = hosted.run("ingest", ".", "--dry-run", OPENAI_API_KEY="")
    assert "tokens would be sent to text-embedding-3-small" in dry.out
    assert openai.asked == []
    read = hosted.run("ingest", ".")
    assert read.code == 0
    assert "OpenAI (embeddings) is on (" in read.err
    assert "whole text of your manuscript and your notes" in " ".join(read.err.split())
    before = len(openai.asked)
    found = hosted.run("search", LAMP, "--dense", "--json")
    assert files_in(found)[0] == "3.md"
    assert openai.texts[before:] == [[LAMP]]
    assert hosted.run("ingest", ".").code == 0
    assert len(openai.asked) == before + 1

    report = hosted.run("privacy", "--json").json
    (total,) = report["totals"]
    assert (total["service"], total["purpose"]) == ("openai", "embedding")
    assert total["requests"] == len(openai.asked)
    assert total["unpriced"] == 0
    assert total["price"] > 0
    assert all(one["prompt_tokens"] for one in report["newest"])


def test_what_could_not_be_embedded_is_found_by_words_and_embedded_later(
    hosted: Desk, openai: EmbeddingServer
) -> None:
    read = hosted.run("ingest", ".", OPENAI_API_KEY="")
    assert "Keyword search only until the next ingest." in read.out + read.err
    assert "there is no API key" in read.out + read.err
    assert openai.asked == []
    found = hosted.run("search", LAMP, OPENAI_API_KEY="")
    assert found.code == 0
    assert "3.md" in found.out
    assert hosted.run("ingest", ".").code == 0
    assert openai.asked
    assert files_in(hosted.run("search", LAMP, "--dense", "--json"))[0] == "3.md"


def test_a_search_whose_question_cannot_be_embedded_goes_by_words(
    hosted: Desk, openai: EmbeddingServer
) -> None:
    assert hosted.run("ingest", ".").code == 0
    openai.will(Refuse(401))
    found = hosted.run("search", LAMP, "--json")
    assert files_in(found)[0] == "3.md"
    assert found.json["remarks"][0].startswith("Searched by words only. ")
    assert "does not accept the key (HTTP 401)" in found.json["remarks"][0]


def test_one_setting_brings_the_local_model_back(
    hosted: Desk, openai: EmbeddingServer
) -> None:
    assert hosted.run("ingest", ".").code == 0
    hosted.set('[embedding]\nmodel = "local"\n')
    assert hosted.run("ingest", ".").code == 0
    before = len(openai.asked)
    assert files_in(hosted.run("search", LAMP, "--dense", "--json"))[0] == "3.md"
    assert len(openai.asked) == before


def test_a_server_of_ones_own_needs_no_key_and_is_in_no_list(
    hosted: Desk, openai: EmbeddingServer
) -> None:
    openai.key = ""
    openai.sizes = {embedding_server.MODEL: 64}
    hosted.set(with_openai(openai, "server"))
    assert hosted.run("ingest", ".", OPENAI_API_KEY="").code == 0
    assert files_in(hosted.run("search", LAMP, "--dense", "--json"))[0] == "3.md"
    assert hosted.run("privacy", "--json").json["newest"] == []
    assert "dimensions" not in openai.asked[0].body


def test_settings_that_say_too_little_are_refused(hosted: Desk) -> None:
    hosted.set('[embedding]\nmodel = "server"\nname = "nomic"\n')
    ran = hosted.run("ingest", ".")
    assert ran.code == ExitCode.SETTINGS
    assert "length of the vectors of nomic is unknown" in ran.err


def finding(ran: Ran, part: str) -> tuple[str, str]:
    for one in ran.json["findings"]:
        if one["part"] == part:
            return one["state"], f"{one['detail']} {one['remedy']}".strip()
    raise LookupError(part)


def test_the_doctor_asks_both_and_says_what_to_do(
    desk: Desk, cohere: CohereServer, openai: EmbeddingServer
) -> None:
    both = with_openai(openai) + with_cohere(cohere).partition("[rerank]\n")[2]
    desk.set(both.replace('model = "off"\n', ""))
    keys = {"OPENAI_API_KEY": embedding_server.KEY}
    looked = desk.run("doctor", "--json", **keys)
    assert looked.code == 0
    assert finding(looked, "embedding")[0] == "ok"
    assert "Cohere answers and has rerank-v5.0-fast" in finding(looked, "reranker")[1]
    elsewhere = finding(looked, "hosted services")[1]
    assert "OpenAI (embeddings) receives the whole text" in elsewhere
    assert "Cohere receives your search queries" in elsewhere
    assert openai.texts == [["lrwr"]]

    cohere.will(Refuse(401))
    openai.will(Refuse(404))
    looked = desk.run("doctor", "--json", **keys)
    assert looked.code == ExitCode.FAILED
    assert finding(looked, "embedding")[0] == "broken"
    assert "embedding.name" in finding(looked, "embedding")[1]
    assert "lrwr config set-key cohere" in finding(looked, "reranker")[1]
    assert len(desk.run("privacy", "--json").json["newest"]) == 4


def test_the_doctor_without_a_network_warns_and_finds_nothing_broken(
    desk: Desk, cohere: CohereServer
) -> None:
    with CohereServer() as gone:
        desk.set(with_cohere(gone))
    looked = desk.run("doctor", "--json")
    assert looked.code == 0
    state, says = finding(looked, "reranker")
    assert state == "warning"
    assert "Cohere cannot be reached. Check your internet connection" in says


def test_the_doctor_says_the_length_of_a_servers_vectors(
    hosted: Desk, openai: EmbeddingServer
) -> None:
    openai.key = ""
    openai.sizes = {embedding_server.MODEL: 768}
    told = with_openai(openai, "server").replace("dimensions = 64\n", "")
    hosted.set(told)
    state, says = finding(hosted.run("doctor", "--json"), "embedding")
    assert state == "broken"
    assert "vectors with 768 dimensions, but `embedding.dimensions` is not set." in says
    assert "Set `embedding.dimensions` to 768" in says


def test_the_doctor_asks_nobody_who_is_off_or_not_allowed(
    desk: Desk, cohere: CohereServer
) -> None:
    assert desk.run("privacy", "deny", "cohere").code == 0
    state, says = finding(desk.run("doctor", "--json"), "reranker")
    assert state == "off"
    assert "You denied Cohere for this folder" in says
    desk.set(with_cohere(cohere, "off"))
    assert finding(desk.run("doctor", "--json"), "reranker")[0] == "off"
    assert cohere.asked == []
