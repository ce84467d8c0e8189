"""What bash, zsh and fish offer when a person presses the tabulator key."""
import contextlib, os

from checks import LIMIT, wait_until
from terminal import Terminal
from terminals import allow_library


class Shell:
    """A bash on a terminal, with capturectl's completions."""

    def __init__(self, daemon, folder):
        script = folder / "completions"
        script.write_text(daemon.control("--generate-completion-script", "bash"))
        environment = {**daemon.environment, "PATH": f"{daemon.programs}:{os.environ['PATH']}", "PS1": "ready> ", "TERM": "dumb",
                       "HISTFILE": "", "INPUTRC": "/dev/null", "COLUMNS": "500"}
        self.terminal, self.count = Terminal(["/bin/bash", "--norc", "--noprofile", "-i"], environment), 0
        for setting in ["bell-style none", "show-all-if-ambiguous on", "page-completions off", "completion-query-items 0",
                        "enable-bracketed-paste off", "horizontal-scroll-mode off"]:
            self.terminal.type(f"bind 'set {setting}'\n")
        self.terminal.type(f"stty columns 500; cd {folder}; source {script}\n")
        self.run("")

    def run(self, typed):
        """What is shown of what was typed, until the shell has done it."""
        self.count += 1
        # The typed line itself does not contain the sum.
        self.terminal.type(f"{typed}\necho end-$((1000 + {self.count}))\n")
        said = self.terminal.until(f"end-{1000 + self.count}")
        # Before that the key would be the terminal's, not the shell's.
        self.terminal.until("ready> ")
        return said

    def offered(self, line, words=()):
        """What stands there after the key: the line, longer by what is beyond doubt, and all that it may go on with. A
        shell offers nothing if the daemon does not answer within half a second, so the key is pressed again while words are
        missing."""
        for _ in range(20):
            # Then the line is made a comment.
            said = self.run(f"{line}\t\x01#").split("echo end-")[0]
            if all(word in said for word in words):
                break
        return said

    def end(self):
        self.terminal.type("exit\n")
        self.terminal.end()


def others(daemon, folder, it):
    """Ids with colons in the other shells: zsh takes what follows a colon for a description."""
    environment = {**daemon.environment, "PATH": f"{daemon.programs}:{os.environ['PATH']}", "TERM": "dumb", "HOME": str(folder),
                   "XDG_CONFIG_HOME": str(folder), "PS1": "ready> ", "fish_greeting": ""}
    for shell, name, begin, command in [
        ("zsh", "_capturectl", f"fpath=({folder}/zsh $fpath); autoload -U compinit; compinit -u -d {folder}/dump", ["-f", "-i"]),
        ("fish", "capturectl.fish", f"source {folder}/fish/capturectl.fish", ["-N", "-i"]),
    ]:
        (folder / shell).mkdir()
        (folder / shell / name).write_text(daemon.control("--generate-completion-script", shell))
        terminal = Terminal([f"/usr/bin/{shell}", *command], environment)
        terminal.type(f"{begin}; echo be''gun\n")
        terminal.until("begun")
        for line, whole in [("capturectl formats synthetic:c", "synthetic:camera"), ("capturectl auth reset exe:/bin/c", "exe:/bin/cat")]:
            def completed():
                # Ctrl-U takes away what stands there.
                terminal.type(f"\x15{line}\t")
                with contextlib.suppress(AssertionError):
                    return terminal.until(whole, 10)
            it(f"{shell} completes '{line}'", wait_until(completed, LIMIT), terminal.shown)
        terminal.type("\x15exit\n")
        terminal.end()


def completion(daemon, folder, it):
    allow_library(daemon)
    daemon.control("library", "album", "create", "Trip to Rome")
    daemon.control("library", "album", "create", "Sea")
    # A name that would run what it says if the shell took it for a script.
    daemon.control("library", "album", "create", "$(touch ran)")
    daemon.control("auth", "set", "exe:/bin/cat", "camera", "denied")
    first = daemon.control("start", "--camera", "none", folder / "a.flac").strip()
    shell = Shell(daemon, folder)
    for line, words in [
        ("capturectl form", ["formats "]), ("capturectl formats sy", ["synthetic:camera", "synthetic:depth", "synthetic:microphone"]),
        ("capturectl formats synthetic:c", ["synthetic:camera"]), ("capturectl formats synthetic:", ["camera", "depth", "microphone"]),
        ("capturectl record --camera ", ["synthetic:camera", "synthetic:depth", "none"]), ("capturectl record -m synthetic:m", ["synthetic:microphone"]),
        ("capturectl frames -c synthetic:camera --video-format YUYV:640x480@", ["60", "30", "15"]),
        ("capturectl frames --video-format NV", ["NV12:"]), ("capturectl listen --audio-format S16_LE:4", ["44100x1", "48000x2"]),
        ("capturectl record --video-codec ", ["h264", "mjpeg"]), ("capturectl record --audio-codec ", ["opus", "flac"]),
        ("capturectl photo -f ", ["jpeg", "png"]), ("capturectl photo --flash ", ["on", "off"]), ("capturectl record -p ", ["720p", "hd1280x720"]),
        ("capturectl stop ", [first]), ("capturectl status ", [first]), ("capturectl photo --session ", [first]),
        ("capturectl auth set exe:/bin/c", ["exe:/bin/cat "]), ("capturectl auth set exe:/bin/cat cam", ["camera "]),
        ("capturectl auth set exe:/bin/cat camera d", ["denied "]), ("capturectl auth reset ex", ["exe:/bin/cat"]),
        ("capturectl history --program ex", ["exe:/bin/cat"]), ("capturectl library list --album ", ["Sea", "Trip to Rome"]),
        ("capturectl library album delete Tr", ["Trip\\ to\\ Rome"]), ("capturectl control d", ["drop_every", "disconnect"]),
    ]:
        shown = shell.offered(line, words)
        it(f"completion knows '{line}'", all(word in shown for word in words), shown)
    others(daemon, folder, it)
    it("a name with a command in it is not run", not (folder / "ran").exists())
    daemon.control("auth", "reset", "--all")
    shown = shell.offered("capturectl library list --album ")
    it("who may not read the library is offered no album, and asked nothing", "Sea" not in shown, shown)
    for child in reversed(daemon.running):
        child.terminate()
        child.wait()
    daemon.running = []
    shown = shell.offered("capturectl formats sy")
    it("without a daemon nothing is offered, without a word", "synthetic" not in shown and "capturectl:" not in shown, shown)
    shell.end()
