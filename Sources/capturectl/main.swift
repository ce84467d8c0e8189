import CaptureSystem
import Glibc
import Logging

// Must come first: the next file would take the number of a closed standard descriptor.
StandardDescriptors.fill()
// A closed pipe is an error to be told, not an end without a word.
_ = signal(SIGPIPE, SIG_IGN)
// Before the first of the loggers, which keep what they begin with.
let levels = LogLevels.ofEnvironment
LoggingSystem.bootstrap { MessageLog(level: levels.level(of: $0, usual: .warning)) }
for problem in levels.problems { MessageLog.show(problem) }
exit(await Program.run(Array(CommandLine.arguments.dropFirst())))
