"""`python -m verify`: judge the claims and write the report."""

import os
import sys

if __name__ == "__main__":
    from sims.process import ending_on_signals, open_streams

    open_streams()
    with ending_on_signals(lambda: "Interrupted before the first statement: nothing was written."):
        from mipsim._streams import complain
        from verify.arguments import parser, select
        from verify.listing import STATEMENTS, list_all

        # What it answers by itself, such as --help, and by the kept list wait for none of the imports below.
        asked = parser().parse_args()
        if asked == parser().parse_args(["--list"]):
            sys.exit(list_all())
        if asked.claims and (rows := STATEMENTS.current()) is not None:
            try:
                select(asked.claims, {row[0]: row for row in rows})
            except ValueError as error:
                complain(f"python -m verify: {error}")
                sys.exit(2)
        from verify.command import main

    code = main()
    if code > 128:  # a signal
        # Threads may still be in compiled code, which an orderly exit would wait for or tear down under them.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
