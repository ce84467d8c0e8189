import CaptureSystem
import Glibc

// First of all: what is opened next would get the number of one that is closed.
StandardDescriptors.fill()
// A closed pipe is an error to be told, not an end without a word.
_ = signal(SIGPIPE, SIG_IGN)
exit(await Program.run(Array(CommandLine.arguments.dropFirst())))
