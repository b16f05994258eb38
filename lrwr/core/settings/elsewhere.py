"""Settings of whoever keeps an account of the writer's elsewhere."""

from dataclasses import dataclass

from lrwr.core.settings.declaring import setting


@dataclass(frozen=True, slots=True)
class SupabaseSettings:
    """Which Supabase project `lrwr login` signs in to; nothing is kept there yet."""

    url: str = setting(
        "",
        "The address of your Supabase project, for `lrwr login`. It turns nothing else"
        " on: records are still kept on this machine.",
        example="https://abcdefghijkl.supabase.co",
    )
    timeout: int = setting(
        20, "How many seconds the project may take to answer.", low=1, high=300
    )
