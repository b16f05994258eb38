"""Whether the process behind a worker's name still lives.

A lease protects a job from a worker that nobody can ask, such as one on another
machine. One on this machine can be asked: a killed ingestion must not keep the next
one waiting for its lease to run out.
"""

import os
import platform


def is_dead(worker: str) -> bool:
    """Say whether `worker` ran on this machine and its process is gone.

    A worker is named `machine/process id/…`. Any doubt means that it lives.
    """
    machine, _, rest = worker.partition("/")
    process = rest.partition("/")[0]
    if machine != platform.node() or not process.isdecimal() or os.name == "nt":
        return False  # on Windows signal 0 is no question: it would end the process
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False
