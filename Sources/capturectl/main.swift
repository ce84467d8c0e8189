import CaptureSystem
import Glibc

// Must come first: the next file would take the number of a closed standard descriptor.
StandardDescriptors.fill()
// A closed pipe is an error to be told, not an end without a word.
_ = signal(SIGPIPE, SIG_IGN)
exit(await Program.run(Array(CommandLine.arguments.dropFirst())))
