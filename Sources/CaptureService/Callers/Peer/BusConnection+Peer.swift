import CaptureBus
import CaptureCore
import CaptureSystem

extension BusConnection {
    /// Identifies the process behind a connection.
    ///
    /// It pins the process with the bus's pidfd. If the bus has none (dbus 1.14), it opens one for the number that the
    /// bus names, and asks the bus again whether the connection still has that number. Then it reads `/proc`, and
    /// checks that the pinned process still lives and started when it did. A thread of its own reads `/proc`, because a
    /// program's file may be on a file system that does not answer.
    ///
    /// - Parameter uniqueName: As in `BusCall.sender`.
    /// - Throws: `.notPermitted` if anything cannot be read or changes meanwhile, because a caller that cannot be
    ///   identified is refused. `.unreachable` if the bus is gone.
    func credentials(of uniqueName: String) async throws(CaptureError) -> PeerFacts {
        let first = try await busCredentials(of: uniqueName)
        let (look, started) = try await WorkerThread.run("who-calls") { () throws(CaptureError) in
            try BusConnection.pin(first)
        }
        let second = try await busCredentials(of: uniqueName)
        guard second.pid == first.pid, second.user == first.user, second.groups == first.groups,
            second.label == first.label
        else { throw ProcessLook.refusal("its connection belongs to another process now") }
        return try await BusConnection.look("who-calls", at: first.user) { () throws(CaptureError) in
            try BusConnection.facts(first, look, started)
        }
    }

    /// How many threads look at programs of one user at a time. A user's file system can hold each of them for ever.
    static let looks = FairSlots<UInt32>(32)
    /// The same for looks at every process for a user, which those of other users can hold: what is stuck there keeps nobody
    /// from being identified.
    static let searches = FairSlots<UInt32>(4)

    /// Looks at a program of a user on a thread of its own. If many threads look at the user's programs already, this waits
    /// for one of them.
    ///
    /// - Throws: What `work` throws.
    static func look<Value: Sendable>(
        _ name: String,
        at user: UInt32,
        among slots: FairSlots<UInt32> = looks,
        _ work: @escaping @Sendable () throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        // A task of its own, so that it waits even if the caller is cancelled, who still has to be identified.
        _ = await Task { await slots.take(user) }.value
        defer { slots.give(user) }
        return try await WorkerThread.run(name, work)
    }

    private static func pin(
        _ first: BusCredentials
    ) throws(CaptureError) -> (look: ProcessLook, started: ProcessLook.Status) {
        let process: Descriptor
        if let given = first.process {
            guard ProcessLook.pid(of: given) == first.pid else {
                throw ProcessLook.refusal("the bus names process \(first.pid), but hands over another one's descriptor")
            }
            process = given
        } else {
            process = try ProcessLook.pin(first.pid)
        }
        let look = ProcessLook(pid: first.pid, process: process)
        return (look, try look.status())
    }

    private static func facts(
        _ first: BusCredentials,
        _ look: ProcessLook,
        _ started: ProcessLook.Status
    ) throws(CaptureError) -> PeerFacts {
        var facts = try look.facts(of: first.user, first.groups, since: started)
        facts.viaProcessFD = first.process != nil
        facts.securityLabel = first.label ?? facts.securityLabel
        return facts
    }

    private struct BusCredentials: Sendable {
        var user: UInt32
        var groups: [UInt32]
        var pid: Int32
        var process: Descriptor?
        var label: String?
    }

    private func busCredentials(of uniqueName: String) async throws(CaptureError) -> BusCredentials {
        guard uniqueName.hasPrefix(":") else {
            throw ProcessLook.refusal("'\(uniqueName)' is not the name of one connection")
        }
        let values: [String: BusValue]
        do throws(CaptureError) {
            values = try await connectionCredentials(of: uniqueName)
        } catch {
            guard try await isConnected() else { throw error }
            throw ProcessLook.refusal("its connection \(uniqueName) is gone")
        }
        guard let user = values["UnixUserID"]?.integer(as: UInt32.self), user != UInt32.max,
            let pid = values["ProcessID"]?.integer(as: Int32.self), pid > 0
        else { throw ProcessLook.refusal("the bus does not name its user and process") }
        let groups = values["UnixGroupIDs"]?.elements?.compactMap { $0.integer(as: UInt32.self) }
        let label = values["LinuxSecurityLabel"]?.elements?.compactMap { $0.integer(as: UInt8.self) }
        return BusCredentials(
            user: user,
            groups: groups ?? [],
            pid: pid,
            process: values["ProcessFD"]?.file,
            label: label.map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        )
    }

    /// Whether the bus itself still answers.
    private func isConnected() async throws(CaptureError) -> Bool {
        try await owner(of: uniqueName) != nil
    }
}
