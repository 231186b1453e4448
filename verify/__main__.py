"""`python -m verify`: judge the claims and write the report."""

import os
import sys

if __name__ == "__main__":
    from mipsim._signals import begin

    begin()  # before what takes long to import
    from verify.command import main

    code = main()
    if code > 128:  # a signal
        # Threads may still be in compiled code, which an orderly exit would wait for or tear down under them.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
