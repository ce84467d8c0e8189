import CLinux
import CaptureSystem
import Glibc

// First of all: what is opened next would get the number of one that is closed.
StandardDescriptors.fill()
// A peer that is gone is an error of the call that finds out.
clinux_ignore_sigpipe()
// What strangers send may be megabytes, for a moment.
_ = clinux_return_freed_memory()
exit(await CapturedCommand.serve(Array(CommandLine.arguments.dropFirst())))
