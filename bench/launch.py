"""Run one command and write down its cost.

A process of its own: a child's peak memory starts at its parent's at the fork, so the
parent must be small. Arguments: the report file, the CPU seconds after which the command
is killed (0 for no limit), the command. Standard library only; started with `python -I -S`.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path


def main() -> None:
    report, cpu_limit, *command = sys.argv[1:]
    if int(cpu_limit):
        # The child inherits the limit; this process uses next to no CPU time.
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_limit), most))
    began = time.monotonic()
    done = subprocess.run(command, check=False)
    wall = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 1 if sys.platform == "darwin" else 1024
    cost = {
        "cpu": used.ru_utime + used.ru_stime,
        "wall": wall,
        "peak_mb": used.ru_maxrss * unit / 1e6,
        "code": done.returncode,
    }
    Path(report).write_text(json.dumps(cost), encoding="utf-8")


if __name__ == "__main__":
    main()
