"""Runs all checks of `lrwr doctor` on a library and its services."""

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lrwr import __version__
from lrwr.app.container import open_workspace
from lrwr.app.egress import Keyring
from lrwr.app.maintenance.automatic_backup import load_newest_backup
from lrwr.app.maintenance.check_result import (
    HealthFinding,
    HealthState,
    end_with_full_stop,
    finding_from_error,
)
from lrwr.app.maintenance.checks.database import (
    PART,
    check_changes,
    check_database,
    check_folders,
    check_index,
    check_jobs,
    check_missing_database,
    check_sample,
    check_unembedded_passages,
    check_verification,
    check_word_index,
)
from lrwr.app.maintenance.checks.environment import (
    check_decisions,
    check_python,
    check_root,
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
from lrwr.app.maintenance.checks.qdrant import check_qdrant
from lrwr.app.maintenance.checks.remote_services import PART as INGESTION
from lrwr.app.maintenance.checks.remote_services import (
    REMOTE_EMBEDDING_MODELS,
    ServerEmbeddingSpace,
    check_cohere,
    check_embeddings,
    check_langsmith,
    check_modal,
    check_openai,
    check_web,
    describe_outgoing_data,
    resolve_server_space,
)
from lrwr.app.maintenance.checks.supabase import PART as RECORDS
from lrwr.app.maintenance.checks.supabase import check_supabase, is_project_configured
from lrwr.app.maintenance.damage import advise_on_threads
from lrwr.app.pending_changes import create_scanner
from lrwr.app.retrieval import EDGE_MIN_CHUNKS
from lrwr.core.adapters.chat.connection import ChatConnection
from lrwr.core.adapters.chat.factory import build_chat_connection
from lrwr.core.adapters.chat.local_servers import (
    LOOPBACK_HOST,
    LocalServer,
    fetch_server_models,
    probe_local_server,
)
from lrwr.core.adapters.embed.fastembed_model import (
    inspect_fastembed_model,
    resolve_fastembed_model,
)
from lrwr.core.adapters.embed.minilm import (
    EmbeddingModelReport,
    inspect_embedding_model,
)
from lrwr.core.adapters.embed.profile import resolve_profile
from lrwr.core.adapters.storage.sqlite.checksums import is_marked_damaged
from lrwr.core.adapters.storage.sqlite.maintenance import (
    ChangeFeedReport,
    DatabaseCounts,
    inspect_change_feed,
    inspect_database,
)
from lrwr.core.adapters.storage.sqlite.pages import has_damaged_log
from lrwr.core.adapters.storage.sqlite.verification import (
    load_indexed_chunks,
    verify_database,
)
from lrwr.core.adapters.vectors.base import build_shard_name
from lrwr.core.adapters.vectors.maintenance import (
    inspect_shard,
    list_shards,
    verify_shard,
)
from lrwr.core.model.errors import LrwrError, SettingsProblem, StoreProblem
from lrwr.core.settings.chat_models import list_chat_models
from lrwr.core.settings.consent import ConsentStore, find_model_service
from lrwr.core.settings.library import (
    SETTINGS_FILE_NAME,
    Library,
    get_consent_folder,
    get_models_folder,
    get_user_settings_path,
    resolve_library,
)
from lrwr.core.settings.loader import load_settings
from lrwr.core.settings.model import Settings
from lrwr.core.settings.service_access import OLLAMA_URL

_MODEL, _WEB = "language model", "web search"


@dataclass(frozen=True, slots=True)
class DoctorContext:
    """The folder, environment and options that the checks of `lrwr doctor` use.

    Settings are searched from the folder `start`; `flags` are settings from the command
    line. `now` is in seconds since 1970. `servers` are the local model servers to look
    for. With `verify`, everything stored is compared with its checksums, else a sample.
    """

    start: Path
    env: Mapping[str, str]
    flags: Mapping[str, object]
    now: float
    servers: tuple[LocalServer, ...] = ()
    verify: bool = False


async def run_doctor(context: DoctorContext) -> list[HealthFinding]:
    """Run all checks of `lrwr doctor`; return their results, always in the same order.

    Nothing is changed. Only the configured services, the user's own model server and
    the loopback ports of `context.servers` are contacted; no text of the user is sent.
    """
    findings = [check_python(sys.version_info[:3], __version__)]
    try:
        settings = load_settings(context.start, context.env, context.flags)
        library = resolve_library(settings)
    except SettingsProblem as error:
        rest = "Correct the settings first."
        findings += [
            finding_from_error("settings", error),
            HealthFinding("everything else", HealthState.NOT_CHECKED, rest),
        ]
        return findings + await _check_local_servers(context.servers)
    findings += await _check_library(context, settings, library)
    used = settings.model.base_url or OLLAMA_URL
    return findings + await _check_local_servers(
        context.servers, used if settings.model.use == "local" else ""
    )


async def _check_library(
    context: DoctorContext, settings: Settings, library: Library
) -> list[HealthFinding]:
    """Run the checks that need readable settings."""
    files = (get_user_settings_path(), library.root / SETTINGS_FILE_NAME)
    findings = [check_settings(settings, files)]
    findings.append(check_root(library, inspect_folder(library.root)))
    findings.append(check_state(inspect_folder(library.state_dir)))
    findings.append(check_decisions(library))
    keyring = Keyring(
        settings, library, ConsentStore(get_consent_folder()), context.env
    )
    model, embedding = await _check_embedding_model(settings, library)
    findings += await asyncio.to_thread(
        _check_records, settings, library, model, context
    )
    if settings.vectors.keeper == "qdrant":
        in_order = _database_is_ok(findings)
        qdrant = await check_qdrant(settings, context.env, model, in_order=in_order)
        findings = [
            *(finding for finding in findings if finding.part != qdrant.part),
            qdrant,
        ]
    service_findings = await _check_remote_services(
        settings, library, keyring, findings
    )
    findings.append(embedding or service_findings["embedding"])
    embeds = model is not None or "embedding" in service_findings
    findings.append(
        service_findings.get("reranker") or check_reranker(settings, embeds=embeds)
    )
    keys = (
        key for key in (RECORDS, "traces", INGESTION, _WEB) if key in service_findings
    )
    findings += [service_findings[part] for part in keys]
    findings.append(await _check_manuscript(settings, findings))
    findings += await _check_language_models(
        settings, keyring, service_findings.get(_MODEL)
    )
    return findings


async def _check_embedding_model(
    settings: Settings, library: Library
) -> tuple[EmbeddingModelReport | ServerEmbeddingSpace | None, HealthFinding | None]:
    """Return the embedding space, and the finding about a model on this machine."""
    if settings.embedding.model in REMOTE_EMBEDDING_MODELS:
        return resolve_server_space(settings), None
    if settings.embedding.model == "off":
        detail = "`[embedding] model` is off: search finds exact words only."
        return None, HealthFinding("embedding", HealthState.OFF, detail)
    if settings.embedding.model == "fastembed":
        return await _check_fastembed_model(settings)
    folder_setting = settings.embedding.folder
    folder = library.resolve(folder_setting) if folder_setting else None
    try:
        profile = resolve_profile(settings.embedding, is_folder=True)
        facts = await asyncio.to_thread(inspect_embedding_model, folder, profile)
    except LrwrError as error:
        return None, finding_from_error("embedding", error)
    return facts, check_model(facts)


async def _check_fastembed_model(
    settings: Settings,
) -> tuple[ServerEmbeddingSpace | None, HealthFinding]:
    model = resolve_fastembed_model(settings.embedding, get_models_folder())
    try:
        dimensions = await asyncio.to_thread(inspect_fastembed_model, model)
    except LrwrError as error:
        return None, finding_from_error("embedding", error)
    detail = f"{model.name}, by fastembed on this machine: {dimensions} dimensions."
    finding = HealthFinding("embedding", HealthState.OK, detail)
    return ServerEmbeddingSpace(model.space, dimensions), finding


async def _check_remote_services(
    settings: Settings,
    library: Library,
    keyring: Keyring,
    findings: list[HealthFinding],
) -> dict[str, HealthFinding]:
    """Check the configured services, by part.

    Requests are recorded in the send log if there is a library.
    """
    checks = {
        "embedding": check_embeddings
        if settings.embedding.model in REMOTE_EMBEDDING_MODELS
        else None,
        "reranker": check_cohere if settings.rerank.model == "cohere" else None,
        "traces": check_langsmith if settings.traces.keeper != "off" else None,
        RECORDS: check_supabase if is_project_configured(settings) else None,
        INGESTION: check_modal if settings.ingest.runner == "modal" else None,
        _WEB: check_web if settings.web.use != "off" else None,
        _MODEL: check_openai if settings.model.use == "openai" else None,
    }
    parts = {part: check for part, check in checks.items() if check is not None}
    if not parts or not library.database.exists():
        return {part: await ask(settings, keyring, None) for part, ask in parts.items()}
    if not _database_is_ok(findings):
        detail = "Not checked, because the send log cannot be written. Repair the database first."
        return {
            part: HealthFinding(part, HealthState.NOT_CHECKED, detail) for part in parts
        }
    try:
        async with open_workspace(settings) as workspace:
            request_logger = workspace.egress.request_logger
            return {
                part: await ask(settings, keyring, request_logger)
                for part, ask in parts.items()
            }
    except LrwrError as error:
        return {part: finding_from_error(part, error) for part in parts}


def _check_records(
    settings: Settings,
    library: Library,
    model: EmbeddingModelReport | ServerEmbeddingSpace | None,
    context: DoctorContext,
) -> list[HealthFinding]:
    if not library.database.exists():
        backup = load_newest_backup(library)
        return [check_missing_database(library, backup.day if backup else None)]
    try:
        # First of all: SQLite merges the log into the file when the file is closed.
        is_log_damaged = context.verify and has_damaged_log(library.database)
        facts = inspect_database(library.database, now=context.now)
        backup = load_newest_backup(library)
        findings = [check_database(facts, backup.day if backup else None)]
        if facts.counts is None:
            return findings
        is_marked = is_marked_damaged(library.database)
        findings.append(
            _verify(library, is_log_damaged=is_log_damaged)
            if context.verify
            else check_sample(facts, is_marked=is_marked)
        )
    except StoreProblem as error:
        return [finding_from_error("database", error)]
    embeds = settings.embedding.model != "off"
    findings += [
        check_word_index(facts),
        check_unembedded_passages(
            facts.counts,
            expects_vectors=embeds,
            feed=_inspect_feed(settings, library, model),
        ),
        check_jobs(_without_deleted(facts.counts, library)),
    ]
    if model is not None:
        findings.append(_check_index(settings, library, model, context))
    return findings


def _verify(library: Library, *, is_log_damaged: bool) -> HealthFinding:
    report = verify_database(library.database)
    return check_verification(
        report,
        is_log_damaged=is_log_damaged,
        thread_advice=advise_on_threads(library, report.threads),
    )


def _inspect_feed(
    settings: Settings,
    library: Library,
    model: EmbeddingModelReport | ServerEmbeddingSpace | None,
) -> ChangeFeedReport | None:
    """Return the state of the change feed; None without a model or a readable file."""
    if model is None:
        return None
    try:
        return inspect_change_feed(library.database, settings.pipeline, model.space)
    except StoreProblem:  # reported by `_check_index`
        return None


def _without_deleted(counts: DatabaseCounts, library: Library) -> DatabaseCounts:
    """Return `counts` without the failed documents whose files were deleted."""
    existing = [d for d in counts.failed_documents if library.resolve(d).exists()]
    return replace(counts, failed=len(existing))


def _check_index(
    settings: Settings,
    library: Library,
    model: EmbeddingModelReport | ServerEmbeddingSpace,
    context: DoctorContext,
) -> HealthFinding:
    name = build_shard_name(settings.pipeline, model.space)
    try:
        feed = inspect_change_feed(library.database, settings.pipeline, model.space)
        shard = inspect_shard(library.index_dir, name, model.dimensions)
        if (
            context.verify
            and shard.cursor
            and shard.cursor.follows(feed.epoch, feed.seq)
        ):
            chunks = load_indexed_chunks(
                library.database, settings.pipeline, model.space
            )
            shard = verify_shard(library.index_dir, name, model.dimensions, chunks)
        leftover = [
            shard_name
            for shard_name in list_shards(library.index_dir)
            if shard_name != name
        ]
    except (StoreProblem, OSError) as error:
        problem = error if isinstance(error, LrwrError) else StoreProblem(str(error))
        return finding_from_error("vector index", problem)
    large = feed.vectors >= EDGE_MIN_CHUNKS
    return check_index(feed, shard, len(leftover), large=large)


async def _check_manuscript(
    settings: Settings, findings: list[HealthFinding]
) -> HealthFinding:
    try:
        async with open_workspace(settings) as workspace:
            folders = workspace.manuscript()
            if (problem := check_folders(folders)) is not None:
                return problem
            if not _database_is_ok(findings):
                folder_names = ", ".join(str(folder) for folder in folders)
                detail = (
                    f"{folder_names}: not compared, because the database has problems."
                )
                return HealthFinding(PART, HealthState.NOT_CHECKED, detail)
            return check_changes(folders, await create_scanner(workspace).compare())
    except LrwrError as error:
        return finding_from_error(PART, error)


def _database_is_ok(findings: list[HealthFinding]) -> bool:
    return any(
        finding.part == "database" and finding.state is HealthState.OK
        for finding in findings
    )


async def _check_language_models(
    settings: Settings, keyring: Keyring, hosted: HealthFinding | None
) -> list[HealthFinding]:
    """Check the user's own model server; `hosted` is the finding about OpenAI's."""
    try:
        others = describe_outgoing_data(settings, keyring.consent)
    except SettingsProblem:
        others = []  # the check of the service itself reports it
    try:
        connection = build_chat_connection(settings, keyring.env)
    except LrwrError as error:
        model = hosted or finding_from_error(_MODEL, error)
        return [model, check_services(None, others=others)]
    if connection is None:
        return [check_language_model(None), check_services(None, others=others)]
    status = LanguageModelStatus(connection)
    refusal = keyring.consent_refusal(find_model_service(settings))
    if connection.own and refusal is not None:
        detail = end_with_full_stop(str(refusal))
        hosted = HealthFinding(_MODEL, HealthState.OFF, detail, refusal.hint)
    elif connection.own:
        status = await asyncio.to_thread(_fetch_model_status, connection)
    status = replace(status, others=tuple(list_chat_models(settings).values()))
    # The finding about the model says that it is not allowed.
    services = check_services(None if refusal else connection, others=others)
    return [hosted or check_language_model(status), services]


def _fetch_model_status(connection: ChatConnection) -> LanguageModelStatus:
    try:
        return LanguageModelStatus(
            connection, True, fetch_server_models(connection.base_url)
        )
    except OSError:
        return LanguageModelStatus(connection, False)


async def _check_local_servers(
    servers: tuple[LocalServer, ...], used: str = ""
) -> list[HealthFinding]:
    probes = [asyncio.to_thread(probe_local_server, server) for server in servers]
    answers = await asyncio.gather(*probes)
    return [
        check_server(server, answered, used=_is_at(server, used))
        for server, answered in zip(servers, answers, strict=True)
    ]


def _is_at(server: LocalServer, address: str) -> bool:
    local_addresses = (
        f"http://{host}:{server.port}/" for host in (LOOPBACK_HOST, "localhost")
    )
    return f"{address}/".startswith(tuple(local_addresses))
