import CLinux
import CaptureSystem
import Glibc

// Must come first: the next file would take the number of a closed standard descriptor.
StandardDescriptors.fill()
// A peer that is gone is an error of the call that finds out.
clinux_ignore_sigpipe()
// Strangers may send megabytes, which are needed only for a moment.
_ = clinux_return_freed_memory()
exit(await CapturedCommand.serve(Array(CommandLine.arguments.dropFirst())))
