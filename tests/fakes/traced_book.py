"""A small book whose readings and answers are told to a stand-in for LangSmith."""

from pathlib import Path

from tests.fakes.hosted_server import Hang, Turn
from tests.fakes.langsmith_server import KEY
from tests.fakes.terminal import Ran, Terminal

SENTENCES = (
    "Nell Tallow climbed the ladder, and the lamp burned low.",
    "Corin Vale came over the marsh with a letter for the Reeve.",
    "OchraMags lit the lamp again, long after dusk, and said nothing.",
)


class TracedBook:
    """A book in a folder of that name, its writer's own settings, and a terminal."""

    def __init__(self, place: Path, name: str) -> None:
        self.book = place / name
        self.book.mkdir()
        for number, sentence in enumerate(SENTENCES, 1):
            text = f"# Part {number}\n\n{sentence}\n"
            (self.book / f"weir-{number}.md").write_text(text, encoding="utf-8")
        self.own = place / "home/config/lrwr/lrwr.toml"
        self.own.parent.mkdir(parents=True)
        self.terminal = Terminal(self.book, home=place / "home", LANGSMITH_API_KEY=KEY)

    def set(
        self, address: str, keeper: str = "langsmith", own: str = "", library: str = ""
    ) -> None:
        """Write the writer's own file, and the folder's."""
        kept = f'keeper = "{keeper}"\nbase_url = "{address}"\n'
        text = f'[embedding]\nmodel = "off"\n[traces]\n{kept}{own}'
        self.own.write_text(text, encoding="utf-8")
        (self.book / "lrwr.toml").write_text(library, encoding="utf-8")

    def run(self, *words: str, **env: str) -> Ran:
        """Run a command; no key may be in what it says or keeps."""
        ran = self.terminal.run(*words, **env)
        kept = [one.read_bytes() for one in self.book.rglob("*") if one.is_file()]
        assert KEY not in ran.out + ran.err
        assert not any(KEY.encode() in content for content in kept)
        return ran


def patience(turn: Turn) -> dict[str, str]:
    """Return what has lrwr wait briefly, where a server says nothing."""
    return {"LRWR_TRACES_TIMEOUT": "2"} if isinstance(turn, Hang) else {}
