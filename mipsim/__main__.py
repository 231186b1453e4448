"""`python -m mipsim`, and the command `mipsim`."""

import sys

from mipsim.referee.command import main

if __name__ == "__main__":
    sys.exit(main())
