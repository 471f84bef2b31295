"""`python -m tests.interleavings [name ...]` explores scenarios in full, all by default."""

from __future__ import annotations

import sys

from tests.interleavings.full_run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
