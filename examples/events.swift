// Follows cameras, microphones and what uses them, until Ctrl-C.
//
//     swift run --package-path examples events
//
// It captures nothing, so nobody is asked. It sees the sessions of its own user, and as root everybody's.
import CaptureKit
import Glibc

/// Prints why the program cannot go on, and ends it.
func fail(_ message: String, _ code: Int32) -> Never {
    let line = "\(message)\n"
    write(STDERR_FILENO, line, line.utf8.count)
    exit(code)
}

guard CommandLine.arguments.count == 1 else { fail("usage: events", 64) }

do throws(CaptureError) {
    let daemon = try await CaptureDaemon.shared()
    // Before the list: nothing that happens after it is missed.
    let events = try await daemon.events()
    for device in try await CaptureDevice.devices() { print("here: \(Printable.text(device.name))") }
    fflush(nil)  // at once, into a pipe, too

    for await event in events {
        defer { fflush(nil) }
        // Names come from devices and programs. Printable keeps them from controlling the terminal.
        switch event {
        case .deviceAdded(let device): print("plugged in: \(Printable.text(device.name))")
        case .deviceRemoved(let id): print("unplugged: \(Printable.text(id.rawValue))")
        case .sessionAdded(let number): print("session \(number): new")
        case .sessionChanged(let number, let status):
            let reason = status.reason.map { ", \($0.message)" } ?? ""
            print("session \(number): \(status.state.rawValue)\(reason)")
        case .outputFinished(let number, let output):
            print("session \(number): \(output.name) has \(output.statistics.bytes) bytes")
        case .sessionRemoved(let number): print("session \(number): gone")
        case .useChanged(let use): print("\(use.service): \(use.phase.rawValue), \(Printable.text(use.program))")
        case .consentChanged(_, let program, let service, let status):
            print("consent: \(Printable.text(program)) \(service) \(status.map(\.word) ?? "reset")")
        case .daemonAppeared: print("captured is here")
        case .daemonVanished: print("captured is gone")
        }
    }
    throw CaptureError(.unreachable, "the bus is gone")
} catch {
    fail(error.message, error.code.exitCode)
}
