"""`python -m enumerate`."""

if __name__ == "__main__":  # worker processes import this module too, and must not run it
    import sys

    try:
        from .cli.app import main

        sys.exit(main())
    except KeyboardInterrupt:  # before anything began
        sys.exit(130)
