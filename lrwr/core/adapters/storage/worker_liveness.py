"""Whether the process behind a worker's name still lives.

A lease protects a job from a worker that nobody can ask, such as one on another
machine. One on this machine can be asked: a killed ingestion must not keep the next
one waiting for its lease to run out.
"""

import os
import platform
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path


def build_worker_name(name: str) -> str:
    """Return the name of a worker of this process: `machine/process id/name`."""
    return f"{_machine()}/{os.getpid()}/{name}"


def is_worker_dead(worker: str) -> bool:
    """Say whether `worker` ran on this machine and its process is gone.

    A worker is named as `build_worker_name` does. Any doubt means that it lives.
    """
    machine, _, process_part = worker.partition("/")
    process = process_part.partition("/")[0]
    if machine != _machine() or not process.isdecimal() or os.name == "nt":
        return False  # on Windows signal 0 is no question: it would end the process
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


@cache
def _machine() -> str:
    """Name this machine since it started; a container's processes are its own.

    Two of one name are told apart where the system says what tells them apart: Linux.
    """
    apart = ""
    with suppress(OSError):
        apart = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        apart += str(Path("/proc/self/ns/pid").readlink())
    name = platform.node().replace("/", "-")
    return f"{name}.{sha256(apart.encode()).hexdigest()[:8]}"
