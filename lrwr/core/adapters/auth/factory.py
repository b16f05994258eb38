"""Who signs the writer in, and where their session is kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lrwr.core.adapters.auth.project import Project, project_of
from lrwr.core.adapters.auth.sessions import Keeping, SessionKeeper
from lrwr.core.adapters.auth.supabase import SupabaseAuth
from lrwr.core.settings.model import Settings
from lrwr.core.settings.places import session_file


@dataclass(frozen=True, slots=True)
class SigningIn:
    """The way into one project. `file` keeps the session where no keyring does."""

    auth: SupabaseAuth
    project: Project
    sessions: SessionKeeper
    file: Path

    def place(self) -> Keeping:
        """Return where the session is.

        Raises:
            ServiceUnavailable: The keyring is locked.
        """
        return self.sessions.place(self.project.url)


def choose_auth(settings: Settings, env: Mapping[str, str]) -> SigningIn:
    """Return the way into the project that the settings name. Nothing is sent yet.

    Raises:
        SettingsProblem: There is none or no key for it, the key is a secret one, or a
            downloaded setting leads elsewhere.
        ServiceUnavailable: The keyring is locked.
    """
    project = project_of(settings, env)
    file = session_file()
    sessions = SessionKeeper(file)
    return SigningIn(SupabaseAuth(project, sessions), project, sessions, file)
