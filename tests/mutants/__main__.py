"""`python -m tests.mutants [name ...]` breaks the product in copies, all by default, and names what notices."""

from __future__ import annotations

import sys

from tests.mutants.run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
