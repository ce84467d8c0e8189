import CaptureKit
import CaptureSystem
import Glibc

/// What the bridges want of the system's programs.
protocol BridgeTools {
    /// Makes sure that a program starts with a library, and says nothing about it.
    func tryLoading(_ library: String) throws(CaptureError)
    /// Enables a user unit for everybody, and starts it for those who are logged in.
    func enable(_ unit: String) throws(CaptureError)
    /// The opposite.
    func disable(_ unit: String) throws(CaptureError)
}

extension SystemTools: BridgeTools {
    func tryLoading(_ library: String) throws(CaptureError) {
        let said: String
        let status: Int32
        do throws(SystemError) {
            let nothing = try Descriptor.open("/dev/null", O_RDONLY)
            let pipe = try Descriptor.pipe()
            let child = try ChildProcess.spawn(
                "/bin/sh",
                ["-c", "LD_PRELOAD=$1 exec /bin/true 2>&1", "sh", library],
                standardInput: nothing,
                standardOutput: pipe.writing,
                inOwnSession: false
            )
            status = ChildProcess.reap(child)
            said = SystemTools.contents(of: pipe.reading)
        } catch {
            throw CaptureError(.internalFault, "cannot try \(library): \(error)")
        }
        guard status == 0, said.isEmpty else {
            let why = said.isEmpty ? "a program that loads it does not end well" : Printable.text(said, limit: 300)
            throw CaptureError(.badData, "\(library) is not put into all programs: \(why)")
        }
    }

    /// What fits into a pipe.
    private static func contents(of pipe: Descriptor) -> String {
        let flags = fcntl(pipe.descriptor, F_GETFL)
        _ = fcntl(pipe.descriptor, F_SETFL, flags | O_NONBLOCK)
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(pipe.descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).split(whereSeparator: \.isNewline).first
            .map(String.init) ?? ""
    }

    func enable(_ unit: String) throws(CaptureError) { try change(unit, "enable", now: "start") }

    func disable(_ unit: String) throws(CaptureError) { try change(unit, "disable", now: "stop") }

    private func change(_ unit: String, _ verb: String, now: String) throws(CaptureError) {
        try run(SystemTools.systemctl, ["--quiet", "--global", verb, unit])
        forUsers(now, unit)
    }

    /// Has the service manager of each who is logged in do something. Their units are their own and may take for ever, so
    /// nobody is waited for longer than half a minute. Tells what one of them cannot do.
    func forUsers(_ verb: String, _ unit: String) {
        for user in users {
            let command = ["30", SystemTools.systemctl, "--quiet", "--user", "--machine=\(user)@.host", verb, unit]
            do throws(CaptureError) {
                try run("/usr/bin/timeout", command)
            } catch {
                Output.message(error.message)
            }
        }
    }

    /// Those whose service manager runs.
    var users: [String] {
        let machine = Machine()
        return machine.names(in: "/run/user").filter {
            UInt32($0) != nil && machine.exists("/run/user/\($0)/systemd/private")
        }
    }
}

extension Bridges.Outcome {
    /// Says what was done.
    ///
    /// - Throws: What could not be done.
    func tell() throws(CaptureError) {
        for text in done { Output.note(text) }
        guard let first = failures.first else { return }
        for failure in failures.dropFirst() { Output.message(failure.message) }
        throw first
    }
}
