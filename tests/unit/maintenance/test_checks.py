from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from lrwr.app.maintenance.check_result import (
    HealthFinding,
    HealthState,
    format_size,
    is_healthy,
)
from lrwr.app.maintenance.checks.database import (
    check_changes,
    check_database,
    check_folders,
    check_index,
    check_jobs,
    check_unembedded_passages,
    check_word_index,
)
from lrwr.app.maintenance.checks.environment import (
    FolderFacts,
    check_python,
    check_settings,
    check_state,
    inspect_folder,
)
from lrwr.app.maintenance.checks.models import (
    LanguageModelStatus,
    check_language_model,
    check_model,
    check_reranker,
    check_server,
    check_services,
)
from lrwr.app.presenters.text import format_count
from lrwr.core.adapters.chat.connection import ChatConnection
from lrwr.core.adapters.chat.local_servers import LocalServer, LocalServerModels
from lrwr.core.adapters.embed.minilm import EmbeddingModelReport
from lrwr.core.adapters.storage.sqlite.maintenance import (
    ChangeFeedReport,
    DatabaseCounts,
    DatabaseReport,
)
from lrwr.core.adapters.vectors.base import EdgeShardCursor
from lrwr.core.adapters.vectors.maintenance import ShardReport, ShardState
from lrwr.core.model.documents import DocumentId
from lrwr.core.settings.model import RerankSettings, Settings
from lrwr.pipeline.changes import DocumentChanges

ROOT = Path("novel")
IDLE = DatabaseCounts(3, 9, bare=0, waiting=0, running=0, stuck=0, failed=0)
WHOLE = DatabaseReport(schema=2, wanted=2, damage=(), words_fit=True, counts=IDLE)
FOLDER = FolderFacts(ROOT, True, "", free=10**12, size=1_500_000, drive=None)
MODEL = EmbeddingModelReport(
    Path("w.onnx"), "minilm", 384, True, genuine=True, agrees=True
)
FEED = ChangeFeedReport("library.0", seq=90, vectors=9)
OPENED = ShardReport("a-x", ShardState.OPENED, EdgeShardCursor("library.0", 90, 9))


def said(finding: HealthFinding) -> tuple[HealthState, str]:
    return finding.state, f"{finding.detail} {finding.remedy}"


@pytest.mark.parametrize(
    ("facts", "state", "word"),
    [
        (WHOLE, HealthState.OK, "3 documents, 9 passages"),
        (replace(WHOLE, damage=("Tree 5 page 9",)), HealthState.BROKEN, "lrwr repair"),
        (replace(WHOLE, schema=3, counts=None), HealthState.BROKEN, "Upgrade"),
        (
            replace(WHOLE, schema=1, counts=None),
            HealthState.WARNING,
            "updates the database",
        ),
    ],
)
def test_the_database_is_whole_damaged_newer_or_older(
    facts: DatabaseReport, state: HealthState, word: str
) -> None:
    found = said(check_database(facts))
    assert found[0] is state
    assert word in found[1]


@pytest.mark.parametrize("facts", [WHOLE, replace(WHOLE, damage=("Tree 5",))])
def test_the_newest_automatic_backup_is_named(facts: DatabaseReport) -> None:
    found = said(check_database(facts, date(2026, 11, 23)))
    assert "automatic backup is of 2026-11-23." in found[1]
    assert "backup" not in said(check_database(facts))[1]


@pytest.mark.parametrize(
    ("fit", "state"),
    [
        (True, HealthState.OK),
        (False, HealthState.BROKEN),
        (None, HealthState.NOT_CHECKED),
    ],
)
def test_the_word_index_matches_or_not_or_nobody_can_tell(
    fit: bool | None, state: HealthState
) -> None:
    assert check_word_index(replace(WHOLE, words_fit=fit)).state is state


@pytest.mark.parametrize(
    ("counts", "state", "word"),
    [
        (IDLE, HealthState.OK, "No jobs are waiting"),
        (replace(IDLE, failed=1), HealthState.WARNING, "--state failed"),
        (
            replace(IDLE, stuck=2),
            HealthState.WARNING,
            "2 jobs unfinished: the lrwr process",
        ),
        (replace(IDLE, waiting=2), HealthState.WARNING, "lrwr ingest"),
        (replace(IDLE, waiting=2, running=1), HealthState.OK, "Another lrwr process"),
    ],
)
def test_work_that_waits_hangs_or_failed_is_told(
    counts: DatabaseCounts, state: HealthState, word: str
) -> None:
    found = said(check_jobs(counts))
    assert found[0] is state
    assert word in found[1]


def test_passages_without_vectors_are_counted() -> None:
    bare = check_unembedded_passages(replace(IDLE, bare=4), expects_vectors=True)
    assert said(bare)[0] is HealthState.WARNING
    assert "4 of 9 passages" in bare.detail
    assert check_unembedded_passages(IDLE, expects_vectors=True).state is HealthState.OK
    assert (
        check_unembedded_passages(replace(IDLE, bare=9), expects_vectors=False).state
        is HealthState.OFF
    )


@pytest.mark.parametrize(
    ("shard", "state", "word"),
    [
        (OPENED, HealthState.OK, "matching the database"),
        (ShardReport("a-x", ShardState.MISSING), HealthState.OK, "no shard yet"),
        (ShardReport("a-x", ShardState.HELD), HealthState.NOT_CHECKED, "Another lrwr"),
        (ShardReport("a-x", ShardState.BROKEN), HealthState.WARNING, "damaged"),
        (
            replace(OPENED, cursor=EdgeShardCursor("other.0", 90, 9)),
            HealthState.OK,
            "outdated",
        ),
        (
            replace(OPENED, cursor=EdgeShardCursor("library.0", 80, 5)),
            HealthState.OK,
            "10 changes",
        ),
        (
            replace(OPENED, cursor=EdgeShardCursor("library.0", 90, 5)),
            HealthState.BROKEN,
            "lrwr repair",
        ),
    ],
)
def test_a_shard_is_compared_with_the_records(
    shard: ShardReport, state: HealthState, word: str
) -> None:
    found = said(check_index(FEED, shard, 0, large=True))
    assert found[0] is state
    assert word in found[1]


def test_shards_that_nothing_uses_are_told() -> None:
    missing = ShardReport("a-x", ShardState.MISSING)
    assert check_index(FEED, missing, 0, large=False).state is HealthState.OK
    for left, shard in ((2, missing), (0, OPENED)):
        found = check_index(FEED, shard, left, large=False)
        assert found.state is HealthState.WARNING
        assert "lrwr repair" in found.remedy
    assert check_index(FEED, OPENED, 1, large=True).state is HealthState.WARNING


@pytest.mark.parametrize(
    ("facts", "state", "word"),
    [
        (MODEL, HealthState.OK, "works on this machine"),
        (replace(MODEL, fused=False), HealthState.OK, "slower"),
        (replace(MODEL, genuine=False), HealthState.BROKEN, "w.onnx is not"),
        (replace(MODEL, agrees=False), HealthState.BROKEN, "self-test failed"),
        (replace(MODEL, genuine=None, agrees=None), HealthState.OK, "Your own model"),
    ],
)
def test_the_embedding_model_is_genuine_and_agrees(
    facts: EmbeddingModelReport, state: HealthState, word: str
) -> None:
    found = said(check_model(facts))
    assert found[0] is state
    assert word in found[1]


def test_the_reranker_is_off_by_setting_or_for_want_of_a_model() -> None:
    on = Settings(ROOT)
    off = Settings(ROOT, rerank=RerankSettings(model="off"))
    assert check_reranker(on, embeds=True).state is HealthState.OK
    assert "20 candidates" in check_reranker(on, embeds=True).detail
    assert check_reranker(on, embeds=False).state is HealthState.OFF
    assert check_reranker(off, embeds=True).state is HealthState.OFF


@pytest.mark.parametrize(
    ("facts", "state", "word"),
    [
        (FOLDER, HealthState.OK, "1.5 MB"),
        (replace(FOLDER, exists=False), HealthState.OFF, "lrwr ingest FOLDER"),
        (
            replace(FOLDER, refusal="permission denied"),
            HealthState.WARNING,
            "read-only",
        ),
        (replace(FOLDER, free=0), HealthState.BROKEN, "Free some disk space"),
        (replace(FOLDER, free=10**8), HealthState.WARNING, "Free some disk space"),
        (replace(FOLDER, drive="It is on Dropbox."), HealthState.WARNING, "Dropbox"),
    ],
)
def test_the_state_folder_can_be_used_or_says_why_not(
    facts: FolderFacts, state: HealthState, word: str
) -> None:
    found = said(check_state(facts))
    assert found[0] is state
    assert word in found[1]


def test_looking_at_a_folder_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"12345")
    facts = inspect_folder(tmp_path)
    assert (facts.exists, facts.refusal, facts.size) == (True, "", 5)
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
    absent = inspect_folder(tmp_path / "not" / "there")
    assert (absent.exists, absent.size) == (False, 0)
    assert absent.free > 0


def test_what_settings_warn_of_is_passed_on(tmp_path: Path) -> None:
    quiet = check_settings(Settings(tmp_path), [tmp_path / "lrwr.toml"])
    assert said(quiet)[0] is HealthState.OK
    assert "No settings file" in quiet.detail
    (tmp_path / "lrwr.toml").touch()
    warned = Settings(tmp_path, warnings=("LRWR_X sets nothing",))
    loud = check_settings(warned, [tmp_path / "lrwr.toml"])
    assert loud.state is HealthState.WARNING
    assert "LRWR_X sets nothing." in loud.detail
    assert str(tmp_path / "lrwr.toml") in loud.detail


def test_an_old_python_is_broken() -> None:
    assert check_python((3, 11, 0), "1.0").state is HealthState.OK
    assert check_python((3, 10, 9), "1.0").state is HealthState.BROKEN


def test_the_manuscript_is_missing_behind_or_as_it_was_read(tmp_path: Path) -> None:
    assert check_folders([tmp_path]) is None
    unknown, missing = check_folders([]), check_folders([tmp_path / "gone"])
    assert unknown is not None
    assert unknown.state is HealthState.OFF
    assert missing is not None
    assert missing.state is HealthState.WARNING
    assert str(tmp_path / "gone") in missing.detail
    one = (DocumentId("1.md"),)
    calm = check_changes([tmp_path], DocumentChanges((), (), (), one))
    assert said(calm) == (
        HealthState.OK,
        f"{tmp_path}: 1 document, all unchanged since the last ingest. ",
    )
    behind = check_changes([tmp_path], DocumentChanges(one, one, one, ()))
    assert behind.state is HealthState.WARNING
    for word in (
        "1 new or changed",
        "1 ingested with other settings",
        "1 without a file",
    ):
        assert word in behind.detail


def test_a_model_server_is_told_with_what_it_serves_and_how_to_use_it() -> None:
    server = LocalServer("Ollama", 11434)
    names = tuple(f"m{n}" for n in range(8))
    found = check_server(server, LocalServerModels(server, names))
    assert found.state is HealthState.OK
    assert "m5 and 2 more" in found.detail
    assert 'use = "local"' in found.remedy
    assert "http://127.0.0.1:11434/v1" in found.remedy
    assert (
        check_server(server, LocalServerModels(server, names), used=True).remedy == ""
    )
    assert check_server(server, None).state is HealthState.OFF
    assert (
        check_server(server, LocalServerModels(server, None)).state
        is HealthState.NOT_CHECKED
    )
    assert (
        check_server(server, LocalServerModels(server, ())).state is HealthState.WARNING
    )


OWN = ChatConnection("qwen3", "http://127.0.0.1:11434/v1", own=True)
AFAR = ChatConnection("gpt-6-luna", key="sk-frog")
AFAR_TOO = replace(AFAR, base_url="https://models.example.org/v1")


@pytest.mark.parametrize(
    ("asked", "state", "word"),
    [
        (None, HealthState.OFF, "`[model] use` is off"),
        (
            LanguageModelStatus(AFAR),
            HealthState.NOT_CHECKED,
            "gpt-6-luna, with an API key",
        ),
        (
            LanguageModelStatus(AFAR, True),
            HealthState.NOT_CHECKED,
            "does not list the models",
        ),
        (
            LanguageModelStatus(AFAR, True, ("gpt-6-luna",)),
            HealthState.OK,
            "the key and has it",
        ),
        (
            LanguageModelStatus(AFAR, True, ("gpt-6-sol",)),
            HealthState.BROKEN,
            "no model gpt-6-luna",
        ),
        (
            LanguageModelStatus(AFAR_TOO, True, ("x",)),
            HealthState.WARNING,
            "no model gpt-6-luna",
        ),
        (
            LanguageModelStatus(OWN, False),
            HealthState.WARNING,
            "no server answers at http://127",
        ),
        (LanguageModelStatus(OWN, True), HealthState.WARNING, "lists no models"),
        (LanguageModelStatus(OWN, True, ()), HealthState.WARNING, "has no model qwen3"),
        (
            LanguageModelStatus(OWN, True, ("a", "b")),
            HealthState.WARNING,
            "It has a, b.",
        ),
        (
            LanguageModelStatus(OWN, True, ("qwen3",)),
            HealthState.OK,
            "answers and has it",
        ),
        (
            LanguageModelStatus(OWN, True, ("a", "qwen3:latest")),
            HealthState.OK,
            "and has it",
        ),
    ],
)
def test_the_language_model_is_off_not_asked_not_there_or_works(
    asked: LanguageModelStatus | None, state: HealthState, word: str
) -> None:
    found = said(check_language_model(asked))
    assert found[0] is state
    assert word in found[1]
    assert "sk-frog" not in found[1]


def test_who_else_gets_to_read_the_manuscript_is_told() -> None:
    for here in (None, OWN):
        assert said(check_services(here))[0] is HealthState.OFF
        assert "Nothing is sent" in check_services(here).detail
    assert "sent to OpenAI" in check_services(AFAR).detail
    lan = replace(OWN, base_url="http://192.168.1.20:8080/v1")
    assert "sent to 192.168.1.20" in check_services(lan).detail
    assert "Nothing is sent" not in check_services(lan).detail


def test_only_what_is_broken_makes_lrwr_unhealthy() -> None:
    parts = [
        HealthFinding("x", state, "")
        for state in HealthState
        if state != HealthState.BROKEN
    ]
    assert is_healthy(parts)
    assert not is_healthy([*parts, HealthFinding("x", HealthState.BROKEN, "")])


def test_numbers_are_said_as_people_say_them() -> None:
    assert [format_count(n, "passage") for n in (0, 1, 2_000)] == [
        "0 passages",
        "1 passage",
        "2,000 passages",
    ]
    sizes = [format_size(n) for n in (0, 999, 1_500, 2_000_000, 3 * 10**9, 4 * 10**12)]
    assert sizes == ["0 bytes", "999 bytes", "1.5 KB", "2.0 MB", "3.0 GB", "4.0 TB"]


def test_every_role_s_model_is_looked_for() -> None:
    asked = LanguageModelStatus(
        OWN, True, ("qwen3:latest", "small"), ("small", "qwen3")
    )
    state, detail = said(check_language_model(asked))[:2]
    assert state is HealthState.OK
    assert "qwen3 and small" in detail
    missing = LanguageModelStatus(OWN, True, ("qwen3",), ("small", "large"))
    state, detail = said(check_language_model(missing))[:2]
    assert state is HealthState.WARNING
    assert "has no model small and large" in detail


def test_a_service_that_is_not_allowed_gets_nothing() -> None:
    finding = check_services(AFAR, refusal="You denied it.")
    assert finding.state is HealthState.OFF
    assert finding.detail == "Nothing is sent from this machine. You denied it."
