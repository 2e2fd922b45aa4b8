"""What the user typed to start this program: messages and help name commands as he can paste them."""

from __future__ import annotations

import os
import sys

COMMAND = "knights-tours"


def program() -> str:
    """`./run.sh`, `python -m enumerate` or `knights-tours`."""
    script = os.path.basename(sys.argv[0]) if sys.argv else ""
    return os.environ.get("KNIGHTS_TOURS_CALLED") or (COMMAND if script == COMMAND else "python -m enumerate")
