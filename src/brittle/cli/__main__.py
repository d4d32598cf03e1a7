"""`python -m brittle.cli`, for where the `brittle` script is not on the path."""

from __future__ import annotations

import sys

from brittle.cli import main

if __name__ == "__main__":
    sys.exit(main())
