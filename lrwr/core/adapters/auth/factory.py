"""Who signs the writer in, and where their session is kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lrwr.core.adapters.auth.project import (
    SupabaseConnection,
    build_supabase_connection,
)
from lrwr.core.adapters.auth.sessions import KeyringSessionStore, SessionLocation
from lrwr.core.adapters.auth.supabase import SupabaseAuth
from lrwr.core.settings.library import get_session_path
from lrwr.core.settings.model import Settings


@dataclass(frozen=True, slots=True)
class SupabaseSignIn:
    """The way into one project. `file` keeps the session where no keyring does."""

    auth: SupabaseAuth
    project: SupabaseConnection
    sessions: KeyringSessionStore
    file: Path

    def place(self) -> SessionLocation:
        """Return where the session is.

        Raises:
            ServiceUnavailable: The keyring is locked.
        """
        return self.sessions.place(self.project.url)


def create_supabase_sign_in(
    settings: Settings, env: Mapping[str, str]
) -> SupabaseSignIn:
    """Return the way into the project that the settings name. Nothing is sent yet.

    Raises:
        SettingsProblem: There is none or no key for it, the key is a secret one, or a
            downloaded setting leads elsewhere.
        ServiceUnavailable: The keyring is locked.
    """
    project = build_supabase_connection(settings, env)
    file = get_session_path()
    sessions = KeyringSessionStore(file)
    return SupabaseSignIn(SupabaseAuth(project, sessions), project, sessions, file)
