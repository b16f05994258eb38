"""What a downloaded folder may not turn on by itself."""

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from lrwr.core.model.errors import SettingsProblem, StoreProblem
from lrwr.core.settings.consent import (
    HOSTED_SERVICES,
    ConsentState,
    ConsentStore,
    find_consent_problem,
    find_hosted_service,
    resolve_consent,
)
from lrwr.core.settings.library import Library, prepare_state_dir, resolve_library
from lrwr.core.settings.loader import load_settings
from lrwr.core.settings.model import Settings, index_settings
from lrwr.core.settings.service_access import KEY_VARIABLES


@pytest.fixture
def consents(tmp_path: Path) -> ConsentStore:
    return ConsentStore(tmp_path / "state/consent")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    folder = tmp_path / "book"
    folder.mkdir()
    (folder / "lrwr.toml").write_text('[model]\nuse = "openai"\n', encoding="utf-8")
    return folder


def settings_in(folder: Path, env: dict[str, str] | None = None) -> Settings:
    user = folder.parent / "user.toml"
    return load_settings(folder, env or {}, {}, user=user)


def library_in(folder: Path) -> Library:
    library = resolve_library(settings_in(folder))
    prepare_state_dir(library)
    return library


def leave(
    book: Path, consents: ConsentStore, env: dict[str, str] | None = None
) -> ConsentState:
    return resolve_consent(settings_in(book, env), library_in(book), "openai", consents)


def test_what_is_off_needs_no_leave(book: Path, consents: ConsentStore) -> None:
    settings = settings_in(book)
    library = library_in(book)
    assert resolve_consent(settings, library, "tavily", consents) is ConsentState.OFF
    assert find_consent_problem(settings, library, "tavily", consents) is None


def test_what_the_folder_turns_on_waits_for_the_writer(
    book: Path, consents: ConsentStore
) -> None:
    assert leave(book, consents) is ConsentState.UNASKED
    refused = find_consent_problem(
        settings_in(book), library_in(book), "openai", consents
    )
    assert refused is not None
    assert f"{book / 'lrwr.toml'}:2 turns on OpenAI" in str(refused)
    assert refused.hint == "To allow it, run `lrwr privacy allow openai`."


def test_what_the_writer_turns_on_does_not(book: Path, consents: ConsentStore) -> None:
    assert leave(book, consents, {"LRWR_MODEL_USE": "openai"}) is ConsentState.GIVEN
    (book / "lrwr.toml").unlink()
    user = book.parent / "user.toml"
    user.write_text('[model]\nuse = "openai"\n', encoding="utf-8")
    assert leave(book, consents) is ConsentState.GIVEN


def test_an_answer_is_kept_and_may_be_changed(
    book: Path, consents: ConsentStore
) -> None:
    consents.store_answer(library_in(book), "openai", allowed=True)
    assert leave(book, consents) is ConsentState.ALLOWED
    consents.store_answer(library_in(book), "openai", allowed=False)
    assert leave(book, consents) is ConsentState.DENIED
    assert consents.find_answer(library_in(book), "tavily") is None


def test_what_was_denied_stays_so_whoever_turns_it_on(
    book: Path, consents: ConsentStore
) -> None:
    consents.store_answer(library_in(book), "openai", allowed=False)
    assert leave(book, consents, {"LRWR_MODEL_USE": "openai"}) is ConsentState.DENIED


def test_a_copy_of_the_folder_is_asked_about_again(
    book: Path, consents: ConsentStore
) -> None:
    consents.store_answer(library_in(book), "openai", allowed=True)
    shutil.copytree(book, book.parent / "copy")
    assert leave(book.parent / "copy", consents) is ConsentState.UNASKED
    assert leave(book, consents) is ConsentState.ALLOWED


def test_another_folder_in_the_same_place_is_asked_about_again(
    book: Path, consents: ConsentStore
) -> None:
    consents.store_answer(library_in(book), "openai", allowed=True)
    shutil.copytree(book, book.parent / "copy")
    shutil.rmtree(book)
    shutil.copytree(book.parent / "copy", book)
    assert leave(book, consents) is ConsentState.UNASKED


def test_a_state_folder_that_was_made_anew_is_asked_about_again(
    book: Path, consents: ConsentStore
) -> None:
    consents.store_answer(library_in(book), "openai", allowed=True)
    shutil.rmtree(book / ".lrwr")
    assert leave(book, consents) is ConsentState.UNASKED


@pytest.mark.parametrize(
    "kept", ["", "{", "[]", "null", '{"allowed": 1}', "[" * 9_000, '{"allowed": true}']
)
def test_what_cannot_be_understood_allows_nothing(
    book: Path, consents: ConsentStore, tmp_path: Path, kept: str
) -> None:
    consents.store_answer(library_in(book), "openai", allowed=True)
    (answer,) = (tmp_path / "state/consent").iterdir()
    answer.write_text(kept, encoding="utf-8")
    assert leave(book, consents) is ConsentState.UNASKED


def test_being_told_is_kept_apart_from_the_answer(
    book: Path, consents: ConsentStore
) -> None:
    library = library_in(book)
    assert not consents.has_notice(library, "openai")
    consents.store_notice(library, "openai")
    assert consents.has_notice(library, "openai")
    assert not consents.has_notice(library, "tavily")
    assert leave(book, consents) is ConsentState.UNASKED


@pytest.mark.skipif(os.name == "nt", reason="needs the rights of Unix")
def test_answers_are_for_their_owner_alone(
    book: Path, consents: ConsentStore, tmp_path: Path
) -> None:
    consents.store_answer(library_in(book), "openai", allowed=True)
    folder = tmp_path / "state/consent"
    (answer,) = folder.iterdir()
    assert stat.S_IMODE(answer.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_an_answer_without_a_state_folder_cannot_be_kept(
    book: Path, consents: ConsentStore
) -> None:
    library = resolve_library(settings_in(book))
    with pytest.raises(StoreProblem, match="does not exist"):
        consents.store_answer(library, "openai", allowed=True)
    assert consents.find_answer(library, "openai") is None


def test_an_answer_that_cannot_be_written_is_told(book: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    consents = ConsentStore(tmp_path / "file")
    with pytest.raises(StoreProblem, match="cannot be stored") as caught:
        consents.store_answer(library_in(book), "openai", allowed=True)
    assert caught.value.hint


def folder_with(book: Path, text: str) -> Path:
    (book / "lrwr.toml").write_text(text, encoding="utf-8")
    return book


def consent_to(
    service: str, book: Path, consents: ConsentStore, env: dict[str, str] | None = None
) -> ConsentState:
    return resolve_consent(settings_in(book, env), library_in(book), service, consents)


HERE = "http://127.0.0.1:9001/v1"
LOCAL = 'model.use = "local"\nmodel.name = "m"\n'


def test_a_local_model_of_the_folder_waits_for_the_user(
    book: Path, consents: ConsentStore
) -> None:
    folder_with(book, LOCAL)
    assert consent_to("model-server", book, consents) is ConsentState.UNASKED
    problem = find_consent_problem(
        settings_in(book), library_in(book), "model-server", consents
    )
    assert problem is not None
    assert "lrwr.toml:1 turns on the model server, and you" in str(problem)
    assert problem.hint == "To allow it, run `lrwr privacy allow model-server`."


def test_a_local_model_of_the_user_s_own_settings_needs_no_consent(
    book: Path, consents: ConsentStore
) -> None:
    (book / "lrwr.toml").unlink()
    env = {"LRWR_MODEL_USE": "local", "LRWR_MODEL_BASE_URL": HERE}
    assert consent_to("model-server", book, consents, env) is ConsentState.OFF


@pytest.mark.parametrize("service", ["openai", "model-server"])
def test_an_address_of_the_folder_waits_for_the_user_whoever_turns_it_on(
    book: Path, consents: ConsentStore, service: str
) -> None:
    folder_with(book, f'model.base_url = "{HERE}"\n')
    env = {"LRWR_MODEL_USE": HOSTED_OR_OWN[service]}
    assert consent_to(service, book, consents, env) is ConsentState.UNASKED
    problem = find_consent_problem(
        settings_in(book, env), library_in(book), service, consents
    )
    assert f"to {HERE}, and you have not allowed it" in str(problem)


HOSTED_OR_OWN = {"openai": "openai", "model-server": "local"}


def test_consent_holds_for_the_address_that_was_shown(
    book: Path, consents: ConsentStore
) -> None:
    folder_with(book, f'{LOCAL}model.base_url = "{HERE}"\n')
    library = library_in(book)
    consents.store_answer(library, "model-server", allowed=True, address=HERE)
    assert consent_to("model-server", book, consents) is ConsentState.ALLOWED
    folder_with(book, f'{LOCAL}model.base_url = "http://127.0.0.1:2375"\n')
    assert consent_to("model-server", book, consents) is ConsentState.UNASKED
    consents.store_answer(library, "model-server", allowed=False, address=HERE)
    assert consent_to("model-server", book, consents) is ConsentState.DENIED


def test_a_consent_stored_without_an_address_stays_valid(
    book: Path, consents: ConsentStore, tmp_path: Path
) -> None:
    folder_with(book, f'model.use = "openai"\nmodel.base_url = "{HERE}"\n')
    consents.store_answer(library_in(book), "openai", allowed=True)
    (answer,) = (tmp_path / "state/consent").iterdir()
    stored = json.loads(answer.read_text(encoding="utf-8"))
    del stored["address"]
    answer.write_text(json.dumps(stored), encoding="utf-8")
    assert leave(book, consents) is ConsentState.ALLOWED


def test_a_service_is_known_by_its_name() -> None:
    assert find_hosted_service(" OpenAI ") is HOSTED_SERVICES["openai"]
    with pytest.raises(SettingsProblem) as caught:
        find_hosted_service("tavilly")
    assert "Did you mean tavily?" in caught.value.hint


def test_every_service_has_its_settings_and_its_key(book: Path) -> None:
    for name, hosted in HOSTED_SERVICES.items():
        assert name == hosted.name
        assert hosted.value in index_settings()[hosted.setting].choices
        needs_no_key = name == "huggingface"
        keys = [names[0] for names in KEY_VARIABLES.values()]
        assert hosted.key in ([""] if needs_no_key else keys)
        assert hosted.find_host(settings_in(book)) == hosted.host
    elsewhere = settings_in(book, {"LRWR_MODEL_BASE_URL": "https://m.example/v1"})
    assert HOSTED_SERVICES["openai"].find_host(elsewhere) == "m.example"
