"""Compare the pinned packages with the vulnerability list of osv.dev.

`python -m tools.audit` sends the names and versions of requirements/*.txt in one request
and exits with 1 if one of them has a known vulnerability. If the list cannot be reached,
it says so and exits with 0, so that `make check` gives the same result offline.

A line `ID reason` in requirements/accepted-vulnerabilities.txt accepts one that does not
concern lrwr, or that no version corrects yet.
"""

import argparse
import json
import re
import sys
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path("requirements")
ACCEPTED = "accepted-vulnerabilities.txt"
OSV = "https://api.osv.dev/v1/querybatch"
TIMEOUT = 5.0
"""Seconds to wait for the list."""
_MAX_BYTES = 16 * 1024 * 1024
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, order=True)
class PinnedPackage:
    """A package with its version, as in the lock files."""

    name: str
    version: str


class ListUnreachable(Exception):
    """The vulnerability list did not answer, or not in its format."""


def list_pinned_packages(folder: Path) -> list[PinnedPackage]:
    """Return the packages in all lock files of `folder`, sorted, each version once."""
    return sorted(
        {
            PinnedPackage(name, version)
            for file in folder.glob("*.txt")
            for name, version in _PIN.findall(file.read_text(encoding="utf-8"))
        }
    )


def load_accepted_ids(folder: Path) -> set[str]:
    """Return the ids of vulnerabilities that the project accepts."""
    file = folder / ACCEPTED
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {line.split()[0] for line in lines if line.strip() and line[0] != "#"}


def find_vulnerabilities(
    packages: Sequence[PinnedPackage], url: str
) -> dict[PinnedPackage, list[str]]:
    """Return the ids of known vulnerabilities by package; without entry if it has none.

    Raises:
        ListUnreachable: The list did not answer within `TIMEOUT`, or not in its format.
    """
    queries = [
        {
            "package": {"name": package.name, "ecosystem": "PyPI"},
            "version": package.version,
        }
        for package in packages
    ]
    request = urllib.request.Request(
        url,
        data=json.dumps({"queries": queries}).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            results = json.loads(response.read(_MAX_BYTES))["results"]
        found = [
            [str(entry["id"]) for entry in result.get("vulns", ())]
            for result in results
        ]
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ListUnreachable(type(error).__name__) from error
    if len(found) != len(packages):
        raise ListUnreachable("an incomplete answer")
    return {package: ids for package, ids in zip(packages, found, strict=True) if ids}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print known vulnerabilities of the pinned packages; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--url", default=OSV, help="address of the list")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="the lock files")
    options = parser.parse_args(arguments)
    packages = list_pinned_packages(options.folder)
    try:
        known = find_vulnerabilities(packages, options.url)
    except ListUnreachable as error:
        print(f"Vulnerabilities were not checked: no answer from the list ({error}).")
        return 0
    accepted = load_accepted_ids(options.folder)
    open_ids = {
        package: [entry for entry in ids if entry not in accepted]
        for package, ids in known.items()
    }
    for package, ids in open_ids.items():
        for entry in ids:
            print(f"{package.name} {package.version}: https://osv.dev/{entry}")
    if any(open_ids.values()):
        print("Update the packages with `make lock`, or accept an id with a reason.")
        return 1
    print(f"No known vulnerability in {len(packages)} packages.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
