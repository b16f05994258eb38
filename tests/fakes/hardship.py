"""Runs a command in want: `hardship.py no-rights | BYTES COMMAND...`.

`no-rights` takes away what lets the superuser write where nobody may; a number is the
length that no file may exceed, as on a full disk.
"""

import ctypes
import os
import resource
import sys

_DROP_CAPABILITY = 24
_OVERRIDE_RIGHTS = (1, 2)


def main() -> None:
    want, *command = sys.argv[1:]
    if want == "no-rights":
        if os.geteuid() == 0:
            system = ctypes.CDLL(None, use_errno=True)
            for capability in _OVERRIDE_RIGHTS:
                assert system.prctl(_DROP_CAPABILITY, capability, 0, 0, 0) == 0
    else:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(want), int(want)))
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
