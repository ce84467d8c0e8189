#!/usr/bin/env python3
"""Runs a command in the foreground of a terminal of its own.

terminal.py KEYS [--owner UID] -- COMMAND...

KEYS is a named pipe: what is written to it is typed. What the terminal shows goes to standard output. Exits as the command
does; a signal as 128 and its number. Hangs up when it is killed itself.
"""
import os, pty, select, sys

keys, rest = sys.argv[1], sys.argv[2:]
owner = int(rest[rest.index("--owner") + 1]) if "--owner" in rest[: rest.index("--")] else -1
command = rest[rest.index("--") + 1 :]

# Open for writing too, so that it never ends.
typed = os.open(keys, os.O_RDWR)
child, terminal = pty.fork()
if child == 0:
    os.close(typed)
    # So that a suite can look at its settings.
    with open(keys + ".tty", "w") as file:
        file.write(os.ttyname(0))
    if owner >= 0:
        os.fchown(0, owner, -1)
    os.execvp(command[0], command)
while True:
    for ready in select.select([typed, terminal], [], [])[0]:
        try:
            data = os.read(ready, 4096)
        except OSError:  # EIO: nobody has the terminal any more
            data = b""
        if ready == typed:
            os.write(terminal, data)
        elif data:
            os.write(1, data)
        else:
            status = os.waitpid(child, 0)[1]
            sys.exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
