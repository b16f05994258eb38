"""Runs a command without rights or disk space.

Usage: `restricted_process.py no-rights | BYTES COMMAND...`. `no-rights` drops the
capabilities that let the superuser write read-only files; a number is the largest size
of a file in bytes, as on a full disk.
"""

import ctypes
import os
import resource
import sys

_DROP_CAPABILITY = 24
_OVERRIDE_RIGHTS = (1, 2)


def main() -> None:
    restriction, *command = sys.argv[1:]
    if restriction == "no-rights":
        if os.geteuid() == 0:
            system = ctypes.CDLL(None, use_errno=True)
            for capability in _OVERRIDE_RIGHTS:
                assert system.prctl(_DROP_CAPABILITY, capability, 0, 0, 0) == 0
    else:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(restriction), int(restriction)))
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
