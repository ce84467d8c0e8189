"""Programs that capture with capturekit, by the names of functions: `subject.py SCENE [ARGUMENT...]`. Each prints a line for
every thing that it looks at: `ok` or `not ok`, and lines for the test to read."""
import signal, sys

import living, reading
from support import say


def main():
    # A shell has what it starts in the background ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    name, *arguments = sys.argv[1:]
    {**vars(reading), **vars(living)}[name](*arguments)
    say("done")


if __name__ == "__main__":
    main()
