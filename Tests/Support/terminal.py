"""A terminal with a person at it: what is shown is read, and lines are typed when it asks for them."""
import os, pty, re, select, time

GRAPHICS = re.compile(r"\x1b_G.*?\x1b\\|\x1bP.*?\x1b\\|\x1b\]1337;.*?\x07", re.S)


class Terminal:
    """Runs a program in the foreground of a terminal of its own."""

    def __init__(self, command, environment):
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execve(command[0], [str(part) for part in command], environment)
        self.shown, self.seen = "", 0

    def until(self, text, timeout=240):
        """Reads until a text is shown that was not there at the last call; what was shown since then."""
        end = time.monotonic() + timeout
        while text not in self.shown[self.seen:]:
            left = end - time.monotonic()
            if left <= 0 or not self._read(left):
                raise AssertionError(f"the terminal never showed {text!r}:\n{self.shown[-2000:]}")
        begin, self.seen = self.seen, self.shown.index(text, self.seen) + len(text)
        return self.shown[begin:self.seen]

    def more(self, other=None, timeout=240):
        """Waits until more is shown; whether that is so, and not that something else can be read."""
        ready = select.select([self.master] + ([] if other is None else [other]), [], [], timeout)[0]
        if not ready or self.master in ready and not self._read(0):
            raise AssertionError(f"the terminal shows nothing more:\n{self.shown[-2000:]}")
        return self.master in ready

    def type(self, text):
        os.write(self.master, text.encode())

    def end(self, timeout=240):
        """Waits for the program: its exit code and all that was shown."""
        end = time.monotonic() + timeout
        while self._read(max(0.0, end - time.monotonic())):
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.master)
        return os.waitstatus_to_exitcode(status), self.shown

    def _read(self, timeout):
        if not select.select([self.master], [], [], timeout)[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:  # The program has closed its side.
            return False
        self.shown += data.decode(errors="replace").replace("\r\n", "\n")
        return bool(data)
