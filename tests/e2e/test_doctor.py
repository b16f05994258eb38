import json

from lrwr.core.model.errors import ExitCode
from tests.fakes.terminal import Terminal


def states(terminal: Terminal, *words: str) -> dict[str, str]:
    findings = terminal.run("doctor", "--json", *words).json["findings"]
    return {finding["part"]: finding["state"] for finding in findings}


def test_the_doctor_finds_the_sample_healthy_a_line_a_part(marsh: Terminal) -> None:
    ran = marsh.run("doctor")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    found = marsh.run("doctor", "--json").json
    assert found["healthy"] is True
    assert len(lines) == len(found["findings"]) + 1
    assert set(states(marsh).values()) == {"ok", "off"}
    assert "Ollama" not in ran.out


def test_model_servers_are_looked_for_only_when_asked(empty: Terminal) -> None:
    parts = states(empty, "--servers")
    assert {"Ollama", "LM Studio", "llama-server"} <= parts.keys()


def test_what_is_broken_ends_with_code_one_and_is_repaired(empty: Terminal) -> None:
    (empty.folder / "1.md").write_text("# One\n\nThe frog.", encoding="utf-8")
    empty.run("ingest", ".")
    database = empty.folder / ".lrwr" / "library.db"
    content = database.read_bytes()
    database.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    searched = empty.run("search", "frog")
    assert searched.code == ExitCode.STORE
    assert "lrwr repair" in searched.err
    assert empty.run("doctor").code == ExitCode.FAILED
    repaired = empty.run("repair")
    assert repaired.code == 0
    assert "was not changed" in repaired.out
    assert "lrwr ingest" in repaired.err
    assert list((empty.folder / ".lrwr").glob("library.db.broken-*"))
    assert empty.run("ingest").code == 0
    assert "frog" in empty.run("search", "frog").out
    assert empty.run("doctor").code == 0


def test_repair_speaks_json(empty: Terminal) -> None:
    (empty.folder / "1.md").write_text("# One\n\nThe frog.", encoding="utf-8")
    empty.run("ingest", ".")
    report = json.loads(empty.run("repair", "--json").out)
    assert report["moved"] is None
    assert report["steps"]


def test_a_broken_settings_file_is_told_by_the_doctor(empty: Terminal) -> None:
    (empty.folder / "lrwr.toml").write_text("[[[")
    ran = empty.run("doctor")
    assert ran.code == ExitCode.FAILED
    assert "lrwr.toml" in ran.out
    assert "not checked" in ran.out


def test_keys_are_shown_as_set_or_not(empty: Terminal) -> None:
    ran = empty.run("config", "keys", OPENAI_API_KEY="sk-secret")
    assert "sk-secret" not in ran.out + ran.err
    assert ["openai", "environment", "OPENAI_API_KEY"] in [
        line.split() for line in ran.out.splitlines()
    ]


def test_help_has_examples(empty: Terminal) -> None:
    for words in (
        ["doctor"],
        ["repair"],
        ["backup"],
        ["restore"],
        ["config", "keys"],
        ["config", "set-key"],
        ["config", "unset-key"],
    ):
        ran = empty.run(*words, "--help")
        assert ran.code == 0
        assert f"lrwr {' '.join(words)}" in ran.out
        assert "Example" in ran.out


def test_a_decision_that_cannot_be_read_is_named_with_its_line(empty: Terminal) -> None:
    (empty.folder / "1.md").write_text("# One\n\nThe frog.", encoding="utf-8")
    empty.run("ingest", ".")
    assert states(empty)["decisions"] == "ok"
    canon = empty.folder / "lrwr.canon.toml"
    canon.write_text('[types]\n"1.md" = "dragon"\n', encoding="utf-8")
    ran = empty.run("doctor")
    assert ran.code == ExitCode.FAILED
    assert "lrwr.canon.toml:2" in ran.out
    assert states(empty)["decisions"] == "broken"
    canon.write_text("", encoding="utf-8")
    (empty.folder / ".lrwr/canon-history.jsonl").write_text("[\n", encoding="utf-8")
    ran = empty.run("doctor")
    assert ran.code == 0
    assert "canon-history.jsonl:1" in ran.out
