"""`python -m verify`: judge the claims and write the report."""

import sys

if __name__ == "__main__":
    from mipsim._signals import begin, ended

    begin()  # before what takes long to import
    from verify.command import main

    sys.exit(ended(main()))
