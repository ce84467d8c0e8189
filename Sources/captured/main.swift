import CLinux
import Glibc

// A peer that is gone is an error of the call that finds out.
clinux_ignore_sigpipe()
exit(await CapturedCommand.serve(Array(CommandLine.arguments.dropFirst())))
