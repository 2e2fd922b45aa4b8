"""`python -m enumerate`, and the command `knights-tours`."""

import sys


def main() -> int:
    """Worker processes import this module too, so the rest waits until it is called."""
    try:
        from .cli.app import main as run  # noqa: PLC0415

        return run()
    except KeyboardInterrupt:  # before anything began
        return 130


if __name__ == "__main__":
    sys.exit(main())
