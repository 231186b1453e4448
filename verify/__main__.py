"""`python -m verify`: judge the claims and write the report."""

import sys

from verify.command import main

if __name__ == "__main__":
    sys.exit(main())
