import CLinux
import CaptureSystem
import Glibc

// First of all: what is opened next would get the number of one that is closed.
StandardDescriptors.fill()
// A peer that is gone is an error of the call that finds out.
clinux_ignore_sigpipe()
exit(await CapturedCommand.serve(Array(CommandLine.arguments.dropFirst())))
