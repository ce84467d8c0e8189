import CaptureOutputs
import CaptureSystem
import Glibc

// Must come first: the next file would take the number of a closed standard descriptor. If the connection was closed,
// the recorder finds /dev/null in its place and ends.
StandardDescriptors.fill()

// One process, one job. The connection to the daemon is standard input, as systemd's Accept=yes has it, or the
// descriptor that `--socket` names.
var number: Int32 = 0
if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--socket", let given = Int32(CommandLine.arguments[2])
{
    number = given
} else if CommandLine.arguments.count != 1 {
    Recorder.log("usage: captured-recorder [--socket FD]")
    exit(64)
}

do {
    // Before any thread: those that start inherit what is blocked.
    let signals = try RecorderSignals(connection: number)
    let recorder = try Recorder(PacketSocket(Descriptor(owning: number)), isSandboxed: true)
    try signals.listen { recorder.stop() }
    exit(recorder.run())
} catch {
    Recorder.log("\(error)")
    exit(70)
}
