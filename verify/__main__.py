"""`python -m verify`: judge the claims and write the report."""

import os
import sys

from verify.command import INTERRUPTED, main

if __name__ == "__main__":
    code = main()
    if code == INTERRUPTED:
        # Threads may still be in compiled code, which an orderly exit would wait for or tear down under them.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
