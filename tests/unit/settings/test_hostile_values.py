"""No value of a setting keeps lrwr busy, whatever a downloaded file says."""

import subprocess
import sys

import pytest

HARD = """
import random, resource, sys
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import mkdtemp

from lrwr.core.adapters.source.folder import ExclusionRules
from lrwr.core.model.errors import LrwrError
from lrwr.core.model.language_model import parse_prices

from lrwr.core.settings.loader import load_settings
from lrwr.core.settings.model import index_settings
from lrwr.core.settings.service_access import mask_credentials, resolve_address

resource.setrlimit(resource.RLIMIT_CPU, (90, 90))
random.seed(int(sys.argv[1]))
pieces = ["*a", "a", "[", "(", "a@", ":", "/", "?", "#", "//", ".", " ", "**/", "-", "0"]
texts = [s for s in index_settings().values() if isinstance(s.default, str)]
lists = [s for s in index_settings().values() if isinstance(s.default, tuple)]
folder = Path(mkdtemp())


def read(settings):
    for setting in texts:
        with suppress(LrwrError):
            mask_credentials(settings.value(setting.key))
            resolve_address(settings, setting.key, "http://127.0.0.1", secret=False)
    with suppress(LrwrError):
        ExclusionRules(settings.manuscript.exclude, ".").explain("a" * 200 + "/b.md")
    with suppress(LrwrError):
        parse_prices(settings.model.prices)
    with suppress(LrwrError):
        any(fnmatchcase("a" * 200 + ".md", p) for p in settings.manuscript.order)


for _ in range(250):
    chosen = random.sample(pieces, random.randint(1, 3))
    value = "".join(random.choice(chosen) for _ in range(random.choice((20, 5000))))
    setting = random.choice(lists if random.random() < 0.4 else texts)
    quoted = f'"{value}"'
    shown = f"[{quoted}]" if setting in lists else quoted
    (folder / "lrwr.toml").write_text(f"{setting.key} = {shown}")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    with suppress(LrwrError):
        read(load_settings(folder, {}, {}, user=folder / "none.toml"))
    took = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    assert took < 1, (took, setting.key, value[:80])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of CPU time")
@pytest.mark.parametrize("seed", ["1", "2"])
def test_no_value_takes_a_second(seed: str) -> None:
    command = [sys.executable, "-c", HARD, seed]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-600:]
