"""`python -m brittle` is the command line."""

import sys

from brittle.cli import main

sys.exit(main())
