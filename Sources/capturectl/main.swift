import Glibc

// A closed pipe is an error to be told, not an end without a word.
_ = signal(SIGPIPE, SIG_IGN)
exit(await Program.run(Array(CommandLine.arguments.dropFirst())))
