"""`python -m mipsim`, and the command `mipsim`."""

import sys


def main() -> int:
    """Run the command; returns its exit status."""
    from mipsim._signals import begin, ended

    begin()  # before what takes long to import
    from mipsim.referee.command import main as command

    return ended(command())


if __name__ == "__main__":
    sys.exit(main())
