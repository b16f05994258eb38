"""State folders where a database is not safe."""

from pathlib import Path

import pytest

from lrwr.core.settings.drives import describe_unsafe_folder

MOUNTS = """\
/dev/sda1 / ext4 rw,relatime 0 0
server:/export /mnt/share nfs4 rw 0 0
//nas/books /mnt/my\\040books cifs rw 0 0
me@host: /mnt/far fuse.sshfs rw 0 0
/dev/sdb1 /mnt/share/local ext4 rw 0 0
"""


@pytest.mark.parametrize(
    "path",
    [
        "/u/ann/Dropbox/novel/.lrwr",
        "/u/ann/Dropbox (Personal)/.lrwr",
        "/u/ann/OneDrive - Big House/novel/.lrwr",
        "/u/ann/Google Drive/novel/.lrwr",
        "/u/ann/Library/Mobile Documents/com~apple~CloudDocs/.lrwr",
        "/u/ann/Library/CloudStorage/GoogleDrive-ann/.lrwr",
        "/u/ann/nextcloud/.lrwr",
    ],
)
def test_a_synced_folder_is_noticed_by_its_name(path: str) -> None:
    warning = describe_unsafe_folder(Path(path), "")
    assert warning is not None
    assert "a synced drive" in warning
    assert "`state_dir`" in warning


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/mnt/share/novel/.lrwr", "nfs4"),
        ("/mnt/my books/.lrwr", "cifs"),
        ("/mnt/far", "fuse.sshfs"),
    ],
)
def test_a_network_drive_is_noticed_by_its_file_system(path: str, kind: str) -> None:
    assert f"a network drive ({kind})" in (
        describe_unsafe_folder(Path(path), MOUNTS) or ""
    )


@pytest.mark.parametrize(
    "path",
    [
        "/u/ann/novel/.lrwr",
        "/u/ann/dropboxes/.lrwr",
        "/mnt/share/local/novel/.lrwr",
        "/mnt/shared/.lrwr",
    ],
)
def test_an_ordinary_folder_gets_no_warning(path: str) -> None:
    assert describe_unsafe_folder(Path(path), MOUNTS) is None


def test_a_folder_shared_by_syncthing_is_noticed(tmp_path: Path) -> None:
    (tmp_path / ".stfolder").mkdir()
    assert "Syncthing" in (
        describe_unsafe_folder(tmp_path / "novel" / ".lrwr", "") or ""
    )


def test_without_a_list_of_mounts_nothing_is_claimed() -> None:
    assert describe_unsafe_folder(Path("/mnt/share/.lrwr"), "") is None
