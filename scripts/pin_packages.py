"""Print the hashes of wheels: for src/brittle/safety/hashed and packages.py.

    python -m pip download --no-deps PACKAGE==VERSION     (--platform … for other systems)
    python scripts/pin_packages.py WHEEL…

For each wheel: the line of a requirements file with the SHA-256 of the wheel, which pip checks when
it installs the package, and the digest of its unpacked files, which brittle checks when it opens
them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

from brittle.safety import files
from brittle.safety.packages import hash_files


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wheels", type=Path, nargs="+", metavar="WHEEL")
    for wheel in parser.parse_args().wheels:
        name, version, *_ = wheel.name.split("-")
        print(f"{name.replace('_', '-')}=={version} --hash=sha256:{files.digest(wheel)}")
        print(f"  {name}: {unpacked_digest(wheel, name)}")
    return 0


def unpacked_digest(wheel: Path, module: str) -> str:
    """Unpack a wheel and hash the files of its package."""
    with tempfile.TemporaryDirectory() as folder, ZipFile(wheel) as archive:
        archive.extractall(folder)
        return hash_files(Path(folder) / module)


if __name__ == "__main__":
    sys.exit(main())
