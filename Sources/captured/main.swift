import CLinux
import Glibc

// Before anything else starts a thread: threads inherit the mask, and a signal that finds one of them unmasked would
// end the daemon with its files unfinished.
for signal in [SIGTERM, SIGINT, SIGHUP] { clinux_block_signal(signal) }
clinux_ignore_sigpipe()
exit(await CapturedCommand.serve(Array(CommandLine.arguments.dropFirst())))
